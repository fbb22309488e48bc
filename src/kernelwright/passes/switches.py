"""Turns ``PassOptions`` into LLVM's command-line switches, sets them, and checks that LLVM took them.

``set_option`` silently ignores what it does not know, and the pass gate does not hear of contexts that were used before.
So nothing is believed: the gate must *say*, on a probe module, that it skips each pass, and a threshold's option must
complain about a value that is no number.
"""

from __future__ import annotations

import re

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.errors import ToolError
from kernelwright.passes.llvm import binding, parsed, run_once, target_machine
from kernelwright.passes.options import PassOptions
from kernelwright.passes.pipeline import step, threshold
from kernelwright.passes.stderr_capture import stderr_captured

GATE = "-opt-disable="
VERBOSE = "-opt-disable-enable-verbosity"

# One loop and one load are enough for every pass of the table to be asked to run; one function keeps their order plain.
PROBE = """
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @probe(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %a = getelementptr float, ptr %p, i64 %i
  %v = load float, ptr %a
  %t = fadd float %s, %v
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store float %t, ptr %p
  ret void
}
"""

_REPORT = re.compile(r"OptDisable: (NOT )?running pass (.+?) on ")


def process_switches(options: PassOptions) -> tuple[str, ...]:
    """The switches that a process must be started with for ``options``; empty when any process will do."""
    left_out = [step(name) for name in options.without]
    gated = sorted({name for s in left_out if s.gated for name in s.llvm})
    return (
        *([GATE + ",".join(gated)] if gated else []),
        *sorted(switch for s in left_out for switch in s.switches),
        *(f"{threshold(name).option}={value}" for name, value in options.thresholds),
    )


def apply(switches: tuple[str, ...]) -> None:
    """Sets the switches in this process, for good: none of them can be taken back.

    Raises ``ToolError`` naming the switch that LLVM does not know or did not obey.
    """
    if not switches:
        return
    llvm = binding()
    for switch in switches:
        name, _, _ = switch.partition("=")
        if name != GATE[:-1] and name not in _complaint(f"{name}=no-number").replace("--", "-"):
            raise ToolError(f"this LLVM has no option {name}", hint="pip install 'llvmlite==0.50.*'")
        llvm.set_option("kernelwright", switch)
    wanted = {name for s in switches if s.startswith(GATE) for name in s.removeprefix(GATE).split(",")}
    deaf = sorted(wanted - skipped_passes()) if wanted else []
    if deaf:
        raise ToolError(f"LLVM did not switch off {', '.join(deaf)}", hint="pip install 'llvmlite==0.50.*'")


def skipped_passes() -> set[str]:
    """The passes that this process's gate skips on the probe."""
    return {name for name, skipped in _gate_log() if skipped}


def _gate_log() -> list[tuple[str, bool]]:
    llvm = binding()
    llvm.set_option("kernelwright", VERBOSE)
    with stderr_captured() as log:
        machine = target_machine(DEFAULT_ARCHITECTURE, 3)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
        with parsed(PROBE) as module:
            run_once(builder.getModulePassManager(), module, builder)
            machine.emit_assembly(module)
    llvm.set_option("kernelwright", VERBOSE + "=0")
    return [(name, bool(negation)) for negation, name in _REPORT.findall("".join(log))]


def _complaint(switch: str) -> str:
    with stderr_captured() as log:
        binding().set_option("kernelwright", switch)
    return "".join(log)
