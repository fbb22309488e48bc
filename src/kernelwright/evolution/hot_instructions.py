"""Where a program spends its time, instruction by instruction: what edits are drawn by.

An instruction weighs what its class costs times how often its block ran in the cases of a workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.settings import OVERREAD
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.edits.genome import apply
from kernelwright.edits.original import Id, Original
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Runner, Stopped
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.guards import LaunchFacts
from kernelwright.lazy_dataclasses import dataclass

COST: Mapping[str, float] = {
    "load": 8.0, "store": 4.0, "atomicrmw": 12.0, "cmpxchg": 12.0, "call": 6.0,
    "fdiv": 10.0, "sdiv": 10.0, "udiv": 10.0, "srem": 10.0, "urem": 10.0, "frem": 20.0, "phi": 0.5,
}  # fmt: skip
"""Issue slots, roughly, by opcode; 1 for all others. A branch is worth more than it costs: see ``BRANCH``."""
BRANCH = 4.0

Weights = dict[str, dict[Id, float]]


@dataclass(frozen=True)
class Heat:
    """What a run of the original over the cases of a workload shows."""

    weights: Weights
    """By kernel, by instruction: its share of the whole program's work."""
    launches: dict[str, list[LaunchFacts]]
    """By kernel: its launches, as guards ask about them."""
    first: dict[str, list[LaunchFacts]]
    """By kernel: those on the first data set."""


def hot(workload: Workload, originals: Mapping[str, Original]) -> Heat:
    """Runs the original, unchanged, once."""
    modules = {name: apply(original, ()).module for name, original in originals.items()}
    found: Weights = {name: dict.fromkeys(original.nodes, 0.0) for name, original in originals.items()}
    launches: dict[str, list[LaunchFacts]] = {}
    in_first: dict[str, list[LaunchFacts]] = {}
    weights = workload.weights or (1.0,) * len(workload.in_process)
    one = workload.in_process[0]
    gpu = VirtualGpu()
    for case, weight in zip(workload.in_process, weights, strict=True):
        is_first = (
            not isinstance(case, RecordedCase) or not isinstance(one, RecordedCase) or case.capture is one.capture
        )

        def run(execution: Execution, arena: Arena) -> Launched:
            facts = facts_of_execution(execution, arena)
            launches.setdefault(execution.launch.kernel, []).append(facts)
            if is_first:  # noqa: B023
                in_first.setdefault(execution.launch.kernel, []).append(facts)
            return gpu.run(execution, arena)

        with case.arena() if isinstance(case, RecordedCase) else Arena() as arena:
            runner = Runner(modules, run, arena, overread=OVERREAD)
            with suppress(Stopped):  # the original is judged elsewhere; here it only says where it has been
                case.run(runner, workload.kernel)
            for launched in runner.results:
                assert isinstance(launched, Launched)
                _count(launched, originals[launched.kernel], found[launched.kernel], weight)
    total = sum(sum(each.values()) for each in found.values()) or 1.0
    return Heat({name: {id: w / total for id, w in each.items()} for name, each in found.items()}, launches, in_first)


def _count(launched: Launched, original: Original, into: dict[Id, float], weight: float) -> None:
    runs: dict[str, int] = {}
    for block, count in zip(launched.compiled.kernel.blocks, launched.result.executions.tolist(), strict=True):
        if block.origin is not None and block.part == 0 and block.function == launched.kernel:
            runs[block.origin.name] = runs.get(block.origin.name, 0) + count
    for id, node in original.nodes.items():
        opcode = node.instruction.opcode
        cost = BRANCH if opcode in ("br", "condbr", "select", "switch") else COST.get(opcode, 1.0)
        into[id] += weight * cost * runs.get(original.labels[node.block].removeprefix("%"), 0)
