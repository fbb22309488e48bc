"""The lowering on one page: a kernel's IR → program → spaces → order → shapes → host IR and the tables beside it."""

from __future__ import annotations

from functools import cached_property

from kernelwright.codegen.simt.analyses.address_spaces import infer_spaces
from kernelwright.codegen.simt.emission.emitter import Emitter
from kernelwright.codegen.simt.emission.slow_quotients import dividing_blocks
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.program.control_flow import arrange, note_uses
from kernelwright.codegen.simt.program.flatten import flatten
from kernelwright.codegen.simt.program.program import Block, Program, bytes_of
from kernelwright.codegen.simt.program.spin_yields import add_yields
from kernelwright.codegen.simt.program.warp_gathers import settle
from kernelwright.errors import CompileError
from kernelwright.ir.module import BasicBlock, Instruction, Module
from kernelwright.lazy_dataclasses import dataclass

NO_PART = -1


@dataclass(frozen=True)
class BlockInfo:
    """A counted block: part ``part`` of the IR block ``origin`` of ``function``, instructions ``start`` to ``end``.

    Part 0 runs as often as the IR block; ``NO_PART`` of it is no run of it. ``origin`` is ``None`` for a block the lowering made.
    """

    function: str
    origin: BasicBlock | None
    part: int
    start: int
    end: int
    whole: bool
    """Whether it always runs with all lanes of the warp, so that lanes are not counted."""
    is_slow_path: bool = False
    """Whether it counts the slow paths that the block's divisions take."""


@dataclass(frozen=True)
class AccessInfo:
    """A load, store or atomic: where it comes from, and what the runtime is told of it."""

    index: int
    kind: str
    space: int
    size: int
    components: int
    align: int
    operation: str
    type: str
    volatile: bool
    """Volatile, or an atomic load or store: what others do at the same address is meant to be seen."""
    constant: bool
    """A load from constant memory or from kernel parameters alone."""
    form: dict[str, int]
    origin: Instruction
    function: str
    block: int
    """Position in ``HostKernel.blocks``."""


@dataclass(frozen=True)
class PointInfo:
    """A place where lanes can wait: a barrier (``checked``: all live lanes must be there, and need not be) or a gather."""

    origin: Instruction | None
    checked: bool
    operation: str
    """A gather's operation, empty for a barrier."""
    number: int = 0
    """The barrier's number, and how many threads it waits for; 0: all."""
    threads: int = 0
    is_grid: bool = False
    """Whether it waits for all blocks."""
    reduces: bool = False
    """Whether each thread gets what their predicates come to."""
    passing: Instruction | None = None
    """In code that is checked: where a thread is that has passed the point by (``analyses/passing_by.py``)."""


@dataclass(frozen=True)
class NoteInfo:
    """An instruction that is no plain access but can end a launch or be noticed: ``trap``, ``copy``, ``fill``, ``print``."""

    code: str
    origin: Instruction


@dataclass(frozen=True)
class HostKernel:
    """Host IR of one kernel for one block shape, and what is needed to run it and to read its counters."""

    module: Module
    name: str
    text: str
    options: SimtOptions
    blocks: tuple[BlockInfo, ...]
    accesses: tuple[AccessInfo, ...]
    points: tuple[PointInfo, ...]
    notes: tuple[NoteInfo, ...]
    symbols: tuple[str, ...]
    """Device variables whose addresses a launch must give."""
    parameter_bytes: int
    by_value: tuple[tuple[int, int, int], ...]
    """Of each struct among the parameters: its offset there, its size, its offset in the threads' local frames."""
    static_shared: int
    dynamic_offset: int
    local_bytes: int
    """Of a thread, without its stack."""
    has_stack: bool
    """Whether its threads have one: functions may be called while they run."""
    frame_bytes: int

    @property
    def prints(self) -> bool:
        """Whether the kernel calls printf."""
        return any(n.code == "print" for n in self.notes)

    @cached_property
    def waits_for_grid(self) -> bool:
        """Whether it has a barrier of all blocks."""
        return any(p.is_grid for p in self.points)

    def shared_total(self, dynamic_bytes: int) -> int:
        """Bytes of shared memory of a block launched with so many dynamic ones."""
        return self.dynamic_offset + dynamic_bytes if dynamic_bytes else self.static_shared


def lower(module: Module, kernel_name: str, options: SimtOptions | None = None) -> HostKernel:
    """The host IR of a kernel. Raises ``CompileError`` naming what the virtual GPU does not run."""
    options = options or SimtOptions()
    kernel = module.functions.get(kernel_name)
    if kernel is None or kernel.is_declaration:
        known = ", ".join(f.name for f in module.kernels) or "none"
        raise CompileError(f"the module has no kernel '{kernel_name}'", hint=f"its kernels are: {known}")
    program = flatten(kernel)
    arrange(program)
    note_uses(program)
    infer_spaces(program)
    if add_yields(program):
        arrange(program)
        note_uses(program)
    control = settle(program, options)
    emitter = Emitter(program, control, options)
    text = emitter.function()
    return _tables(module, program, emitter, text, options)


def _tables(module: Module, program: Program, emitter: Emitter, text: str, options: SimtOptions) -> HostKernel:
    partial = emitter.control.divergence.partial
    home = {op.detail.index: b.id for b in program.blocks for op in b.ops if op.code in ("load", "store", "atomic")}
    # Accesses in blocks that nothing reaches have no home: they keep their number and never count.
    return HostKernel(
        module=module,
        name=program.kernel,
        text=text,
        options=options,
        blocks=tuple(
            BlockInfo(b.function, b.origin, b.part, b.start, b.end, options.geometry.full and b not in partial)
            for b in program.blocks
        )
        + tuple(
            BlockInfo(b.function, b.origin, NO_PART, b.start, b.start, False, is_slow_path=True)
            for b in dividing_blocks(program)
        ),
        accesses=tuple(
            AccessInfo(
                a.index, a.kind, a.space, bytes_of(a.type), a.components, a.align, a.operation, a.type,
                a.volatile, a.constant, a.form, a.origin,
                a.function, home.get(a.index, 0),
            )
            for a in program.accesses
        ),
        points=tuple(_point(b, b in partial, emitter.control.passing.get(b)) for b in emitter.control.points),
        notes=tuple(NoteInfo(code, origin) for code, origin, _ in program.notes),
        symbols=tuple(program.symbols),
        parameter_bytes=program.parameter_bytes,
        by_value=tuple(program.by_value),
        static_shared=program.shared_bytes,
        dynamic_offset=program.dynamic_offset,
        local_bytes=program.local_bytes,
        has_stack=program.has_stack,
        frame_bytes=emitter.control.frame_end,
    )  # fmt: skip


def _point(block: Block, partial: bool, passing: Instruction | None) -> PointInfo:
    detail = block.term.detail
    if block.term.code == "gather":
        return PointInfo(block.term.origin, partial, str(detail), passing=passing)
    return PointInfo(
        block.term.origin, partial, "", detail.number, detail.threads, detail.is_grid, bool(detail.reduce), passing
    )
