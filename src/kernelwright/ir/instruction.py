"""One class for all instructions; which extra fields an instruction has depends on its opcode alone (``FIELDS``).

Operands are values only. Blocks are reached through ``successors`` (terminators) and ``blocks`` (phi).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelwright.ir import types as ty
from kernelwright.ir.types import FunctionType, Type
from kernelwright.ir.values import Local, User, Value

if TYPE_CHECKING:
    from kernelwright.ir.constants import ConstantInt
    from kernelwright.ir.module import BasicBlock, Function

INTEGER_BINARY = ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
FLOAT_BINARY = ("fadd", "fsub", "fmul", "fdiv", "frem")
BINARY = frozenset(INTEGER_BINARY + FLOAT_BINARY)
CASTS = frozenset(
    {"trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"}
    | {"ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast"}
)
TERMINATORS = frozenset(
    {"ret", "br", "switch", "unreachable", "indirectbr", "invoke", "callbr", "resume"}
    | {"catchswitch", "catchret", "cleanupret"}
)

FIELDS: dict[str, tuple[str, ...]] = {
    "icmp": ("predicate",),
    "fcmp": ("predicate",),
    "phi": ("blocks",),
    "br": ("successors",),
    "switch": ("successors", "cases"),
    "getelementptr": ("source_type",),
    "alloca": ("allocated_type", "align", "address_space"),
    "load": ("volatile", "ordering", "syncscope", "align"),
    "store": ("volatile", "ordering", "syncscope", "align"),
    "fence": ("ordering", "syncscope"),
    "atomicrmw": ("volatile", "operation", "ordering", "syncscope", "align"),
    "cmpxchg": ("volatile", "ordering", "failure_ordering", "syncscope", "align"),
    "extractvalue": ("indices",),
    "insertvalue": ("indices",),
    "call": (
        "tail",
        "calling_convention",
        "return_attributes",
        "function_type",
        "argument_attributes",
        "call_attributes",
        "bundles",
    ),
}
"""The fields an opcode has besides operands, flags and metadata. Opcodes not listed have none, or are kept as text."""

OPAQUE_FIELDS = ("text", "successors")

_ABSENT: dict[str, Any] = {
    "volatile": False,
    "align": 0,
    "ordering": "",
    "syncscope": "",
}
"""What an instruction answers for a field its opcode does not have, where that answer is harmless."""


class Instruction(User, Local):
    """An instruction, in a block or free. Its ``type`` is the type of its result (``void``: none)."""

    __slots__ = (
        "address_space",
        "align",
        "allocated_type",
        "argument_attributes",
        "blocks",
        "bundles",
        "call_attributes",
        "calling_convention",
        "cases",
        "failure_ordering",
        "flags",
        "function_type",
        "indices",
        "metadata",
        "opcode",
        "operation",
        "ordering",
        "parent",
        "predicate",
        "return_attributes",
        "source_type",
        "successors",
        "syncscope",
        "tail",
        "text",
        "volatile",
    )

    opcode: str
    flags: tuple[str, ...]
    """``nsw``, ``nuw``, ``exact``, ``inbounds``, ``contract``, ... in the order they are printed."""
    metadata: dict[str, str]
    """Attachments by kind: ``{"dbg": "!12"}``; the nodes are text in ``module.metadata``."""
    parent: BasicBlock | None
    predicate: str
    """``icmp``: eq, ne, ugt, ...; ``fcmp``: oeq, olt, ..., uno."""
    successors: tuple[BasicBlock, ...]
    """Terminators: where control may go (``br``: taken first; ``switch``: default first). Others: ``()``."""
    blocks: tuple[BasicBlock, ...]
    """``phi``: the block each operand comes from."""
    cases: tuple[ConstantInt, ...]
    """``switch``: ``cases[i]`` goes to ``successors[i + 1]``."""
    source_type: Type
    """``getelementptr``: the type the indices step through."""
    allocated_type: Type
    address_space: int
    """``alloca``: the address space written out, 0 when none is."""
    align: int
    """Bytes; 0 when not written."""
    volatile: bool
    ordering: str
    """Atomics: monotonic, acquire, release, acq_rel, seq_cst; empty for a plain load or store."""
    failure_ordering: str
    syncscope: str
    """The scope's name (``device``, ``block``), empty for the whole system."""
    operation: str
    """``atomicrmw``: add, xchg, fadd, umax, ..."""
    indices: tuple[int, ...]
    """``extractvalue`` and ``insertvalue``."""
    tail: str
    """``call``: tail, musttail, notail or empty."""
    calling_convention: str
    return_attributes: str
    function_type: FunctionType
    argument_attributes: tuple[str, ...]
    """``call``: the attributes of each argument as text."""
    call_attributes: str
    """``call``: what follows the arguments (``#5 nounwind``)."""
    bundles: tuple[tuple[str, int], ...]
    """``call``: operand bundles as (tag, number of operands)."""
    text: tuple[str, ...]
    """An instruction we have no reader for: its words between operands and blocks (see ``printer``)."""

    def __init__(
        self,
        opcode: str,
        type: Type,
        operands: tuple[Value, ...] = (),
        flags: tuple[str, ...] = (),
        name: str = "",
        metadata: dict[str, str] | None = None,
        **fields: Any,
    ) -> None:
        """``fields`` are those of ``FIELDS[opcode]``; missing ones get their neutral value."""
        self.type = type
        self.name = name
        self._uses = []
        self._operands = operands
        for value in operands:
            uses = value._uses
            if uses is not None:
                uses.append(self)
        self.opcode = opcode
        self.flags = flags
        self.metadata = {} if metadata is None else metadata
        self.parent = None
        self.successors = ()
        self.text = ()
        for field, content in fields.items():
            setattr(self, field, content)

    def __getattr__(self, field: str) -> Any:
        # Reached only for a slot that was never filled.
        if field in _ABSENT:
            return _ABSENT[field]
        if field in FIELDS.get(self.opcode, ()) and field in _NEUTRAL:
            return _NEUTRAL[field]
        raise AttributeError(f"'{self.opcode}' has no field '{field}'")

    def __repr__(self) -> str:
        return f"<Instruction {str(self).strip()}>"

    def __str__(self) -> str:
        """The line as it is printed in its function (numbers included), without indentation."""
        from kernelwright.ir.text.printer import print_instruction  # the printer is built on this module

        return print_instruction(self)

    @property
    def is_terminator(self) -> bool:
        return self.opcode in TERMINATORS

    @property
    def has_result(self) -> bool:
        """Whether the instruction makes a value."""
        return self.type is not ty.void

    @property
    def is_phi(self) -> bool:
        return self.opcode == "phi"

    @property
    def is_opaque(self) -> bool:
        """Whether the line is kept as text because we have no reader for its opcode."""
        return bool(self.text)

    @property
    def function(self) -> Function | None:
        return self.parent.parent if self.parent is not None else None

    # -- phi

    @property
    def incoming(self) -> list[tuple[Value, BasicBlock]]:
        """``phi``: its (value, block) pairs."""
        return list(zip(self.operands, self.blocks, strict=True))

    def add_incoming(self, value: Value, block: BasicBlock) -> None:
        """``phi``: one more pair."""
        self.operands = (*self.operands, value)
        self.blocks = (*self.blocks, block)

    def remove_incoming(self, block: BasicBlock) -> None:
        """``phi``: drop the first pair that comes from ``block`` (``ValueError`` when there is none)."""
        i = self.blocks.index(block)
        self.operands = self.operands[:i] + self.operands[i + 1 :]
        self.blocks = self.blocks[:i] + self.blocks[i + 1 :]

    def incoming_value(self, block: BasicBlock) -> Value:
        """``phi``: the value that comes from ``block`` (``ValueError`` when none does)."""
        return self.operands[self.blocks.index(block)]

    def replace_block(self, old: BasicBlock, new: BasicBlock) -> None:
        """In a phi's blocks and a terminator's successors, ``old`` becomes ``new``."""
        if self.opcode == "phi":
            self.blocks = tuple(new if b is old else b for b in self.blocks)
        elif self.successors:
            self.successors = tuple(new if b is old else b for b in self.successors)

    # -- call

    @property
    def callee(self) -> Value:
        """``call``: the function, pointer or inline assembly called."""
        if self.opcode != "call":
            raise AttributeError(f"'{self.opcode}' has no field 'callee'")
        return self._operands[-1]

    @property
    def arguments(self) -> tuple[Value, ...]:
        """``call``: the values passed."""
        if self.opcode != "call":
            raise AttributeError(f"'{self.opcode}' has no field 'arguments'")
        return self._operands[: len(self.argument_attributes)]

    # -- place

    @property
    def index(self) -> int:
        """The position in its block (``ValueError`` when it is in none)."""
        if self.parent is None:
            raise ValueError("the instruction is in no block")
        return self.parent.instructions.index(self)

    def unlink(self) -> None:
        """Take the instruction out of its block; its operands and users stay."""
        if self.parent is not None:
            self.parent.instructions.remove(self)
            self.parent = None

    def erase(self) -> None:
        """Take the instruction out and drop its operands. Whoever still uses it keeps a value without a place."""
        self.unlink()
        self.operands = ()

    def move_before(self, other: Instruction) -> None:
        """Take this instruction out of its place and put it right before ``other``."""
        if other is self:
            return
        if other.parent is None:
            raise ValueError("cannot move before an instruction that is in no block")
        self.unlink()
        other.parent.insert(other.index, self)

    def clone(self) -> Instruction:
        """The same instruction on the same operands, in no block, without a name and without users."""
        made = Instruction(self.opcode, self.type, self.operands, self.flags, "", dict(self.metadata))
        for field in OPAQUE_FIELDS if self.is_opaque else FIELDS.get(self.opcode, ()):
            setattr(made, field, getattr(self, field))
        return made


_NEUTRAL: dict[str, Any] = {
    "tail": "",
    "calling_convention": "",
    "return_attributes": "",
    "call_attributes": "",
    "bundles": (),
    "address_space": 0,
}
