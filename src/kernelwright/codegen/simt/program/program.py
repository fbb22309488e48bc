"""The noun of this folder: a kernel as warps will run it.

A ``Program`` is one function without calls, vectors, aggregates or pointers: every value is one number per lane, every
pointer an ``i64``. Blocks end where a warp can stop (barriers, warp operations), loops have one latch.

    b2 (part 0 of %for.body)
      %7:float = load [access 0] %5
      %8:float = fma %7 %1 %6
      branch %9 -> b2, b3
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from typing import Any

from kernelwright.ir.module import BasicBlock, Instruction
from kernelwright.lazy_dataclasses import dataclass

INTEGER_BITS = {f"i{n}": n for n in (1, 8, 16, 32, 64, 128)}
FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


def bits_of(type: str) -> int:
    """The width of a lane type: ``i32`` and ``float`` are 32."""
    found = INTEGER_BITS.get(type) or FLOAT_BITS.get(type)
    return found if found else int(type[1:])


def bytes_of(type: str) -> int:
    """The bytes a lane value of this type takes in memory."""
    return (bits_of(type) + 7) // 8


def is_float(type: str) -> bool:
    """Whether a type's name is that of a floating-point number."""
    return type in FLOAT_BITS


ROUNDED = "rounded"
"""The detail of a division whose quotient is the nearest number: it may take a slow path."""


class Const:
    """A number known now. ``text`` is how LLVM writes it; ``value`` is the signed integer, ``None`` for floats."""

    __slots__ = ("text", "type", "value")

    def __init__(self, type: str, text: str, value: int | None = None) -> None:
        self.type, self.text, self.value = type, text, value

    def __repr__(self) -> str:
        return f"{self.type} {self.text}"


@lru_cache(maxsize=4096)
def integer(type: str, value: int) -> Const:
    """The integer constant, wrapped to the type. The same few come again and again."""
    bits = bits_of(type)
    value &= (1 << bits) - 1
    if bits == 1:
        return Const(type, "true" if value else "false", value)
    if value >> (bits - 1):
        value -= 1 << bits
    return Const(type, str(value), value)


def zero_of(type: str) -> Const:
    """What ``undef`` and ``poison`` are here."""
    if not is_float(type):
        return integer(type, 0)
    return Const(type, {"half": "0xH0000", "bfloat": "0xR0000"}.get(type, "0.0"))


class Var:
    """One value per lane, made by one operation. ``shape`` and ``slots`` are filled in by the steps that follow."""

    __slots__ = ("blend", "block", "crosses", "mirror", "number", "op", "pointer", "saved", "shape", "slots", "type")

    def __init__(self, type: str, number: int) -> None:
        self.type = type
        self.number = number
        self.op: Op | None = None
        self.block: Block | None = None
        self.pointer = -1
        """Address space of a pointer, -1: not a pointer."""
        self.shape: Any = None
        self.crosses = False
        """Whether another block than its own uses it."""
        self.saved = False
        """Whether it must outlive a suspension of the warp."""
        self.blend = False
        """Whether writing it must leave inactive lanes as they are."""
        self.mirror: Loop | None = None
        """The divergent loop after which its lanes differ though they agree inside."""
        self.slots: Any = None

    def __repr__(self) -> str:
        return f"%{self.number}"


Operand = Var | Const


class Op:
    """One operation on lanes. ``detail`` depends on ``code``: a predicate, an ``Access``, an intrinsic's name, ..."""

    __slots__ = ("args", "code", "detail", "origin", "outs", "targets")

    def __init__(
        self,
        code: str,
        args: tuple[Operand, ...] = (),
        outs: tuple[Var, ...] = (),
        detail: Any = None,
        origin: Instruction | None = None,
        targets: tuple[Block, ...] = (),
    ) -> None:
        self.code, self.args, self.outs, self.detail, self.origin, self.targets = (
            code,
            args,
            outs,
            detail,
            origin,
            targets,
        )

    def __repr__(self) -> str:
        outs = ", ".join(f"{v}:{v.type}" for v in self.outs)
        words = [f"{outs} =" if outs else "", self.code, "" if self.detail is None else f"[{self.detail}]"]
        words += [str(a) for a in self.args]
        words += ["-> " + ", ".join(t.name for t in self.targets)] if self.targets else []
        return " ".join(w for w in words if w)


class Phi(Op):
    """``args[i]`` comes from ``sources[i]``."""

    __slots__ = ("sources",)

    def __init__(self, args: tuple[Operand, ...], sources: tuple[Block, ...], out: Var) -> None:
        super().__init__("phi", args, (out,))
        self.sources = sources

    def from_block(self, block: Block) -> Operand:
        """The operand that comes from ``block``. Raises ``ValueError`` for a block that is no source."""
        return self.args[self.sources.index(block)]


class Block:
    """Straight-line code. ``part`` counts the pieces an IR block was cut into; the first carries its frequency."""

    __slots__ = (
        "end", "function", "id", "loop", "number", "ops", "origin", "part", "phis", "preds", "start", "term",
    )  # fmt: skip

    def __init__(self, number: int, function: str = "", origin: BasicBlock | None = None, part: int = 0) -> None:
        self.number = number
        self.function = function
        self.origin = origin
        self.part = part
        self.start = 0
        """The instruction of the IR block that this part begins with."""
        self.end = 0
        self.phis: list[Phi] = []
        self.ops: list[Op] = []
        self.term: Op = STOP
        self.preds: list[Block] = []
        self.id = -1
        """Position in the order of execution."""
        self.loop: Loop | None = None

    @property
    def name(self) -> str:
        """``b`` and the number, as texts of the program have it."""
        return f"b{self.number}"

    @property
    def succs(self) -> tuple[Block, ...]:
        """The blocks that may come next."""
        return self.term.targets

    def __repr__(self) -> str:
        return self.name


STOP = Op("stop")


class Loop:
    """A natural loop with one latch."""

    __slots__ = ("blocks", "depth", "divergent", "header", "latch", "parent")

    def __init__(self, header: Block, latch: Block, blocks: set[Block]) -> None:
        self.header, self.latch, self.blocks = header, latch, blocks
        self.parent: Loop | None = None
        self.depth = 1
        self.divergent = False
        """Whether lanes of a warp may leave it in different iterations."""


@dataclass
class Access:
    """A load, store or atomic. ``space``: 0 generic or global, 1 shared, 2 local; ``type`` is that of one component."""

    index: int
    kind: str
    type: str
    components: int
    align: int
    space: int
    origin: Instruction
    function: str
    block: str
    operation: str = ""
    base: int = 0
    """What is taken off a generic address whose space is known."""
    volatile: bool = False
    """Volatile, or an atomic load or store: what others do at the same address is meant to be seen."""
    constant: bool = False
    """A load that can name constant memory and kernel parameters alone, which have a cache of their own."""
    may_be_local: bool = False
    """Whether the address can name local memory, where every lane finds bytes of its own."""
    form: dict[str, int] = field(default_factory=dict)
    """How the address reaches the runtime; see ``simt_access``."""

    @property
    def bytes(self) -> int:
        """Bytes of a lane, all components together."""
        return bytes_of(self.type) * self.components

    def __str__(self) -> str:
        return f"access {self.index}"


class Program:
    """The kernel. ``entry`` is the first block; after ``order`` has run, ``blocks`` is the order of execution."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.blocks: list[Block] = []
        self.accesses: list[Access] = []
        self.symbols: dict[str, int] = {}
        """Device variables by name; the value is the index in the table of addresses a launch brings."""
        self.constants: set[str] = set()
        """Those of them that lie in constant memory."""
        self.sources: dict[tuple[str, Any], Var] = {}
        """Values that exist before the kernel starts: parameters, addresses, thread and block numbers."""
        self.shared_bytes = 0
        self.dynamic_offset = 0
        self.local_bytes = 0
        """Of a thread, without its stack."""
        self.has_stack = False
        """Whether functions may be called while they run: a stack follows, as long as the launch says."""
        self.parameter_bytes = 0
        self.by_value: list[tuple[int, int, int]] = []
        """Of each struct among the parameters: its offset there, its size, its offset in the threads' local frames."""
        self.loops: list[Loop] = []
        self.reducible = True
        self.notes: list[tuple[str, Instruction, Any]] = []
        """Traps and asserts by number: what the fault record's site means for them."""
        self._numbers = 0

    @property
    def entry(self) -> Block:
        """The block that a warp begins with."""
        return self.blocks[0]

    def var(self, type: str, pointer: int = -1) -> Var:
        """A new value that no operation makes yet. ``pointer``: as ``Var`` has it."""
        made = Var(type, self._numbers)
        made.pointer = pointer
        self._numbers += 1
        return made

    def source(self, kind: str, detail: Any, type: str, pointer: int = -1) -> Var:
        """The value a warp is born with: ``("parameter", offset)``, ``("tid", "x")``, ``("symbol", name)``, ..."""
        found = self.sources.get((kind, detail))
        if found is None:
            found = self.var(type, pointer)
            found.op = Op("source", (), (found,), (kind, detail))
            self.sources[kind, detail] = found
        return found

    def ops(self) -> Iterator[Op]:
        """All operations, block by block: phis first, the terminator last."""
        for block in self.blocks:
            yield from block.phis
            yield from block.ops
            yield block.term

    def __str__(self) -> str:
        lines = [f"kernel {self.kernel}"]
        for block in self.blocks:
            where = f"part {block.part} of {block.origin.name or '(numbered)'}" if block.origin else "made"
            lines.append(f"{block.name} ({where}, id {block.id})")
            for phi in block.phis:
                incoming = ", ".join(f"{a} from {b.name}" for a, b in zip(phi.args, phi.sources, strict=True))
                lines.append(f"  {phi.outs[0]}:{phi.outs[0].type} = phi {incoming}")
            lines += [f"  {op}" for op in block.ops]
            lines.append(f"  {block.term}")
        return "\n".join(lines)
