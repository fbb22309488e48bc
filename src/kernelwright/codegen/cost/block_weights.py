"""What one execution of each IR block costs: a list of steps, from machine code where an assembler is installed.

A step is one instruction as a scoreboard sees it: where it is done, how long the next one has to wait, which results it
waits for and which one it makes. Machine code says all of that itself; PTX says only who needs whose result, and one
PTX instruction is a quarter of a machine instruction, or thirty. So weights say what they were read from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Literal

from kernelwright.codegen.cost.loop_copies import UnrolledLoop, original
from kernelwright.codegen.cost.ptx_counts import origins
from kernelwright.codegen.cost.ptx_steps import has_register_address, pressure, steps_of
from kernelwright.codegen.cost.scoreboard_steps import Segments, Step, split_at_barriers
from kernelwright.codegen.cost.slow_paths import slow_paths
from kernelwright.codegen.machine.assemble import Assembler, Cubin, assemble
from kernelwright.codegen.machine.block_counts import MachineModule, Placed, machine_code
from kernelwright.codegen.machine.resources import Resources, resources
from kernelwright.codegen.machine.sass import BARRIER, RANGE_CHECK
from kernelwright.codegen.ptx_text import PtxFunction, PtxInstruction, read_ptx
from kernelwright.codegen.source_lines import user_position
from kernelwright.errors import Misuse, ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import stand_ins

Source = Literal["machine code", "ptx"]
Labels = Mapping[str, Collection[str]]
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_ROUNDED = re.compile(r"div\.rn(\.ftz)?\.f32")
COUNTERS = 6
"""Of a warp, in machine code."""


@dataclass(frozen=True)
class Weights:
    """``blocks``: steps by (function, label of the IR block), cut behind each barrier; and what the slow path of a block's division
    costs (``slow_paths.py``). A block that is missing costs nothing of its own. ``loops``: those that the assembler has unrolled, whose
    blocks are here by copy (``loop_copies.py``).

    ``slots`` is how many results the steps number. ``instructions`` counts what is charged to blocks and ``cold`` what
    few executions enter. ``registers_from`` says whether the assembler counted the registers or we did.
    """

    kernel: str
    source: Source
    arch: str
    blocks: Mapping[tuple[str, str], Segments]
    slots: int
    instructions: int
    cold: int
    resources: Resources
    registers_from: Source
    loops: tuple[UnrolledLoop, ...] = ()

    def kinds(self) -> Counter[str]:
        """Static instructions by class."""
        return Counter(s.kind for segments in self.blocks.values() for steps in segments for s in steps)


def weigh(
    ptx: str,
    kernel: str,
    arch: str,
    labels: Labels | None = None,
    *,
    source: Source | None = None,
    assembler: Assembler | None = None,
    cuda_path: Path | None = None,
    isolate: bool = False,
) -> Weights:
    """The weights of one kernel; arguments and errors as ``weigh_all``, and ``Misuse`` for a kernel that is not there.
    Raises ``Misuse`` for a kernel that is not there."""
    found = weigh_all(ptx, arch, labels, source=source, assembler=assembler, cuda_path=cuda_path, isolate=isolate)
    if kernel not in found:
        raise Misuse(f"the PTX has no kernel {kernel!r}", hint=f"it has {', '.join(found) or 'none'}")
    return found[kernel]


def weigh_all(
    ptx: str,
    arch: str,
    labels: Labels | None = None,
    *,
    source: Source | None = None,
    assembler: Assembler | None = None,
    cuda_path: Path | None = None,
    isolate: bool = False,
    kept: bool = False,
) -> dict[str, Weights]:
    """The weights of every kernel in ``ptx`` for ``arch``, by name; ``labels`` are the block labels of each function's IR.

    From machine code of ``arch`` or of the nearest architecture an installed assembler knows; from PTX where there is
    none, or when ``source`` asks for it. ``kept``: whether machine code may come from the cache on disk, and goes there: for
    kernels that other processes weigh, too. Raises ``CompileError`` for PTX that the assembler refuses, ``ToolError`` when
    machine code is asked for and nothing can make it.
    """
    functions = read_ptx(ptx)
    kernels = [f.name for f in functions if f.kernel]
    if source == "ptx":
        return {name: _from_ptx(functions, name, arch, labels) for name in kernels}
    trouble: ToolError | None = None
    for name in stand_ins(arch):
        try:
            made = partial(assemble, ptx, assembler=assembler, cuda_path=cuda_path, isolate=isolate, kept=kept)
            code = machine_code(ptx, name, labels, assembler=assembler, cuda_path=cuda_path, isolate=isolate, kept=kept)
            found = _resources((arch, name), code, made)
        except ToolError as error:
            trouble = error
            continue
        return {kernel: _from_code(functions, code, kernel, name, found[kernel]) for kernel in kernels}
    if source == "machine code" and trouble:
        raise trouble
    return {name: _from_ptx(functions, name, arch, labels) for name in kernels}


def _resources(archs: tuple[str, str], code: MachineModule, cubin_for: Callable[[str], Cubin]) -> dict[str, Resources]:
    """Of the code as it will run, for the architecture asked for where an assembler knows it, all loops unrolled as the
    assembler likes: registers depend on both."""
    wanted, weighed = archs
    for arch in dict.fromkeys(archs):
        if arch == weighed and not code.rolled:
            return resources(code.cubin)
        try:
            return resources(cubin_for(arch))
        except ToolError:
            if arch == weighed:
                raise
    raise AssertionError(f"no code for {wanted} or {weighed}")


def _from_code(
    functions: tuple[PtxFunction, ...], code: MachineModule, kernel: str, arch: str, found: Resources
) -> Weights:
    reached = [code.functions[f.name] for f in _own(functions, kernel) if f.name in code.functions]
    blocks = {
        (function.name, label): split_at_barriers([_step(each) for each in placed])
        for function in reached
        for label, placed in function.blocks.items()
    }
    for function in reached:
        checks = (p for placed in function.blocks.values() for p in placed if p.instruction.opcode == RANGE_CHECK)
        paths = slow_paths((original(p.block), user_position(p.ptx.source) if p.ptx else None) for p in checks)
        blocks |= {(function.name, label): steps for label, steps in paths.items()}
    instructions, cold = sum(f.size for f in reached), sum(len(f.cold) for f in reached)
    loops = tuple(loop for function in reached for loop in function.loops)
    return Weights(kernel, "machine code", arch, blocks, COUNTERS, instructions, cold, found, "machine code", loops)


def _step(placed: Placed) -> Step:
    each = placed.instruction
    return Step(
        kind=each.kind,
        pipes=((each.pipe, 1.0),),
        stall=max(1, each.stall),
        waits=tuple(n for n in range(COUNTERS) if each.waits >> n & 1),
        sets=each.sets,
        frees=each.frees,
        barrier=each.opcode == BARRIER,
        block=placed.block,
        position=user_position(placed.ptx.source) if placed.ptx else None,
        bytes=each.bytes if each.kind != "load_const" or _names_constants(placed.ptx) else 0,
        guarded=each.guarded,
        turns=each.turns,
        counts_lanes=each.counts_lanes,
        spins=each.spins,
    )


def _names_constants(ptx: PtxInstruction | None) -> bool:
    """Whether it reads a variable in constant memory, or a chosen element of a parameter: plain parameters are no accesses."""
    if ptx is None:
        return False
    return ptx.opcode.startswith("ld.const") or (ptx.opcode.startswith("ld.param") and has_register_address(ptx))


def _from_ptx(functions: tuple[PtxFunction, ...], kernel: str, arch: str, labels: Labels | None) -> Weights:
    blocks: dict[tuple[str, str], list[Step]] = {}
    slots: dict[str, int] = {}
    slow: dict[tuple[str, str], Segments] = {}
    registers = 0
    for function in _own(functions, kernel):
        origin = origins(function, (labels or {}).get(function.name))
        registers = max(registers, pressure(function))
        for block in function.blocks:
            label = origin[block.label]
            blocks.setdefault((function.name, label), []).extend(steps_of(block, function.name, label, slots))
            divisions = (each for each in block.instructions if _ROUNDED.match(each.opcode))
            paths = slow_paths((label, user_position(each.source)) for each in divisions)
            slow |= {(function.name, of): steps for of, steps in paths.items()}
    cut = {key: split_at_barriers(steps) for key, steps in blocks.items()} | slow
    guessed = Resources(kernel, registers, 0, 0, None, None, 0, 0)
    return Weights(
        kernel, "ptx", arch, cut, max(1, len(slots)), sum(len(steps) for steps in blocks.values()), 0, guessed, "ptx"
    )


def _own(functions: tuple[PtxFunction, ...], kernel: str) -> list[PtxFunction]:
    """A kernel and the functions that it calls, or that those call."""
    by_name = {f.name: f for f in functions}
    found: dict[str, PtxFunction] = {}
    waiting = [kernel]
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found[name] = by_name[name]
            for each in by_name[name].instructions():
                if each.opcode.startswith("call"):
                    waiting += _NAME.findall(each.operands)
    return [f for f in functions if f.name in found]
