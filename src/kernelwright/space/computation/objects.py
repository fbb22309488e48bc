"""The objects a space of implementations is about: loops cut into dims, scalar instructions, what they pass to one another.

A computation is declared once (``declaration.py``); each of its statements gets dims of its own, and decisions say how the
dims of different statements are ordered, fused and mapped (paper 004, sections 2.2 and 4). The objects are constants of
the search: an object that only some implementations have (a temporary with its store and its load) is reserved here, too.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Protocol

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Access, Array, Loop, Named
from kernelwright.space.computation.expressions import Expression
from kernelwright.space.computation.sizes import LaunchSize
from kernelwright.space.computation.strip_mining import may_be_partly_there


@dataclass(frozen=True, eq=False)
class Dim(Named):
    """One level of one loop around one instruction; decisions order, fuse, unroll, vectorise and map it."""

    name: str
    loop: Loop
    level: int
    """0 is the rest, outermost; then the tiles."""
    universe: tuple[int, ...]
    """Candidate sizes of a tile, ascending; empty for the rest, whose size the tiles determine."""
    is_parallel: bool
    """Its iterations are independent: not a dim that a reduction runs over."""
    instruction: str
    vector_widths: tuple[int, ...] = ()
    """Sizes at which the instruction can be one vector access along this dim."""
    temporary: str | None = None
    """The temporary that it belongs to: it exists only where that does."""
    is_shareable: bool = False
    """Of a dim that a reduction runs over: whether it is worth while that threads share it."""

    @property
    def is_static(self) -> bool:
        """Whether it is a tile, whose size is a decision; the size of a rest follows from those of the tiles."""
        return bool(self.universe)


@dataclass(frozen=True, eq=False)
class Instruction(Named):
    """One scalar operation, executed once for each iteration of ``dims``.

    ``operation``: ``load`` and ``store`` of arguments, ``init`` and ``reduce`` of a reduction, ``compute``, and ``put``
    and ``get``, which write and read a temporary. ``operands`` are the names of the instructions whose values it reads, in the
    order of the computation; ``get`` reads none.
    """

    name: str
    operation: str
    dims: tuple[Dim, ...]
    operands: tuple[str, ...] = ()
    expression: Expression | None = None
    access: Access | None = None
    temporary: str | None = None

    @property
    def has_side_effect(self) -> bool:
        """Whether it writes an argument of the kernel."""
        return self.operation == "store"

    @property
    def is_global_access(self) -> bool:
        """A load or a store of an argument of the kernel, the ones a cache directive is about."""
        return self.access is not None

    def dim(self, loop: Loop, level: int) -> Dim:
        """The dim of a loop at a level, 0 for the rest. There must be one."""
        return next(d for d in self.dims if d.loop == loop and d.level == level)


Statement = Dim | Instruction


@dataclass(frozen=True, eq=False)
class DimPair(Named):
    """Two dims, of the producer and of the consumer of a value, whose iterations correspond one to one."""

    name: str
    lhs: Dim
    rhs: Dim
    producer: str
    consumer: str
    lowers_to: str | None = None
    """The temporary that passes the value where these two dims do not; None: it must pass in registers."""
    temporary: str | None = None
    """The temporary it belongs to: the pair exists only where that does."""


@dataclass(frozen=True, eq=False)
class Temporary(Named):
    """An array that may pass a value from a producer to a consumer through memory. Reserved; ``exists`` decides.

    ``axes`` are its dimensions: the dim of ``put`` that writes along it, and that of ``get``, which reads. An axis whose two
    dims are merged has size 1. Where it exists, the consumer reads what ``get`` read. ``rests`` are axes, too, along what the
    tiles leave, of a temporary that may lie in global memory: of one in shared memory they are merged.
    """

    name: str
    producer: Instruction
    consumer: Instruction
    put: Instruction
    get: Instruction
    axes: tuple[tuple[Dim, Dim], ...]
    rests: tuple[tuple[Dim, Dim], ...] = ()

    @property
    def may_be_global(self) -> bool:
        """Not of what a load gives: that lies in global memory already."""
        return self.producer.operation != "load"


@dataclass(frozen=True)
class Dependence:
    """``before`` is finished when ``after`` begins. Holds where both exist."""

    before: Statement
    after: Statement


@dataclass(frozen=True)
class Reduction:
    """``instruction`` adds to a value that ``init`` began, once for each iteration of ``dims``."""

    instruction: Instruction
    init: Instruction
    dims: tuple[Dim, ...]


@dataclass(frozen=True)
class Backbone:
    """What stays the same in all implementations of a computation (the paper's *semantic backbone*)."""

    name: str
    loops: tuple[Loop, ...]
    arrays: tuple[Array, ...]
    scalars: tuple[str, ...]
    dims: tuple[Dim, ...]
    instructions: tuple[Instruction, ...]
    pairs: tuple[DimPair, ...]
    temporaries: tuple[Temporary, ...]
    dependences: tuple[Dependence, ...]
    reductions: tuple[Reduction, ...]
    launch_sizes: tuple[LaunchSize, ...] = ()
    """Parameters of the kernel, after its scalars."""
    by_name: dict[str, Statement | DimPair | Temporary] = field(compare=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for group in (self.dims, self.instructions, self.pairs, self.temporaries):
            self.by_name.update((thing.name, thing) for thing in group)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All dims, then all instructions."""
        return (*self.dims, *self.instructions)

    @cached_property
    def partial_loops(self) -> tuple[Loop, ...]:
        """Loops of which some sizes of their tiles leave an iteration that is only partly there."""
        found = []
        for loop in self.loops:
            around = next(
                (i for i in self.instructions if i.temporary is None and any(d.loop == loop for d in i.dims)), None
            )
            tiles = [d.universe for d in around.dims if d.loop == loop and d.is_static] if around is not None else []
            if may_be_partly_there(loop.extent, tiles):
                found.append(loop)
        return tuple(found)

    @cached_property
    def static_dims(self) -> tuple[Dim, ...]:
        """The tiles, in the order of ``dims``."""
        return tuple(d for d in self.dims if d.is_static)

    def instruction(self, name: str) -> Instruction:
        """The instruction of this name. Raises ``KeyError`` where nothing has it."""
        found = self.by_name[name]
        assert isinstance(found, Instruction)
        return found

    def dim(self, name: str) -> Dim:
        """The dim of this name, as ``a.m1``. Raises ``KeyError`` where nothing has it."""
        found = self.by_name[name]
        assert isinstance(found, Dim)
        return found

    def temporary(self, name: str) -> Temporary:
        """The temporary of this name. Raises ``KeyError`` where nothing has it."""
        found = self.by_name[name]
        assert isinstance(found, Temporary)
        return found

    def reduction(self, instruction: Instruction) -> Reduction | None:
        """The reduction that an instruction accumulates; None for one that accumulates nothing."""
        return next((r for r in self.reductions if r.instruction == instruction), None)

    def own_dims(self, instruction: Instruction) -> list[Dim]:
        """The dims whose iterations are different values of an instruction: its own, and for those of a temporary without rests
        also the rests of the producer's loops, which are around it."""
        if instruction.temporary is None or self.temporary(instruction.temporary).rests:
            return list(instruction.dims)
        producer = self.temporary(instruction.temporary).producer
        reduction = self.reduction(producer)
        reduced = reduction.dims if reduction is not None else ()
        return [*instruction.dims, *(d for d in producer.dims if not d.is_static and d not in reduced)]


class Leaf(Protocol):
    """A complete decision vector, as code generation and bounds read it.

    | choice | objects | values |
    |---|---|---|
    | ``order`` | two different statements | BEFORE AFTER INNER OUTER MERGED, of the first to the second |
    | ``dim_kind`` | a dim | LOOP UNROLL VECTOR BLOCK THREAD |
    | ``size`` | a static dim | an integer of its universe |
    | ``thread_mapping`` | two static dims | NOT MAPPED OUT IN, of the first to the second |
    | ``dim_mapping`` | a pair | NONE REGISTER THREAD |
    | ``mem_space`` | a temporary | SHARED GLOBAL |
    | ``layout`` | two dims of one temporary's ``put`` | OUT IN, of the first to the second |
    | ``cache`` | a load or store of an argument | L1 L2 READ_ONLY NONE |

    Only objects that exist may be asked about.
    """

    def value(self, choice: str, *objects: Statement | DimPair | Temporary) -> str | int:
        """What was decided: a value's name, or a whole number for a size."""

    def exists(self, thing: Statement | DimPair | Temporary) -> bool:
        """Whether the object is there in this implementation; false only for optional ones."""
