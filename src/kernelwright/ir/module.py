"""Instructions, blocks, functions, globals and the module that holds them.

They lie in one file because each knows the one it is in. The printer (``text/printer.py``) is built on them and gives
instructions, functions and modules their ``str``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.opcodes import ABSENT, FIELDS, NEUTRAL, OPAQUE_FIELDS, TERMINATORS
from kernelwright.ir.text.tokens import global_reference, quoted
from kernelwright.ir.types import FunctionType, PointerType, StructType, Type
from kernelwright.ir.values import Local, Names, Use, Value


class Instruction(Value, Local):
    """An instruction, in a block or free. Its ``type`` is the type of its result (``void``: none).

    One class for all; which extra fields an instruction has depends on its opcode alone (``opcodes.FIELDS``). Operands are
    values only: blocks are reached through ``successors`` (terminators) and ``blocks`` (phi). ``str`` gives the line as it is
    printed in its function, numbers included, without indentation.
    """

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
        if field in ABSENT:
            return ABSENT[field]
        if field in FIELDS.get(self.opcode, ()) and field in NEUTRAL:
            return NEUTRAL[field]
        raise AttributeError(f"'{self.opcode}' has no field '{field}'")

    def __repr__(self) -> str:
        return f"<Instruction {str(self).strip()}>"

    @property
    def is_terminator(self) -> bool:
        """Whether it ends its block: a branch, a return, ``unreachable`` and the like."""
        return self.opcode in TERMINATORS

    @property
    def has_result(self) -> bool:
        """Whether the instruction makes a value."""
        return self.type is not ty.void

    @property
    def is_phi(self) -> bool:
        """Whether its value depends on the block that control came from."""
        return self.opcode == "phi"

    @property
    def is_opaque(self) -> bool:
        """Whether the line is kept as text because we have no reader for its opcode."""
        return bool(self.text)

    @property
    def function(self) -> Function | None:
        """The function of its block; None for an instruction in no block, or in a block of no function."""
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
        """Take the instruction out and drop its operands. What still uses it keeps a value without a place."""
        self.unlink()
        self.operands = ()

    def move_before(self, other: Instruction) -> None:
        """Take this instruction out of its place and put it right before ``other``.
        Raises ``ValueError`` where that is in no block."""
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


class BasicBlock(Value, Local):
    """Instructions that run one after another; phis first, one terminator last.

    A block keeps no list of its uses: ``users`` looks through the terminators and phis of its function.
    """

    __slots__ = ("instructions", "parent")

    def __init__(self, name: str = "", parent: Function | None = None) -> None:
        self.type = ty.label
        self.name = name
        self._uses = None
        self._operands = ()
        self.parent = parent
        self.instructions: list[Instruction] = []

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.instructions)

    def __len__(self) -> int:
        return len(self.instructions)

    def __repr__(self) -> str:
        return f"<BasicBlock {self.name or '(numbered)'}, {len(self.instructions)} instructions>"

    @property
    def terminator(self) -> Instruction | None:
        """The last instruction when it is a terminator."""
        if self.instructions and self.instructions[-1].is_terminator:
            return self.instructions[-1]
        return None

    @property
    def successors(self) -> tuple[BasicBlock, ...]:
        """Where its terminator may go; a block named twice appears twice."""
        terminator = self.terminator
        return terminator.successors if terminator is not None else ()

    @property
    def predecessors(self) -> list[BasicBlock]:
        """The blocks that may come before this one, each once, in the function's order. Looks at every block."""
        return [b for b in self.parent.blocks if self in b.successors] if self.parent is not None else []

    @property
    def phis(self) -> list[Instruction]:
        """The phis at the top."""
        return self.instructions[: self.first_non_phi]

    @property
    def first_non_phi(self) -> int:
        """The index of the first instruction that is no phi."""
        for i, instruction in enumerate(self.instructions):
            if instruction.opcode != "phi":
                return i
        return len(self.instructions)

    def insert(self, index: int, instruction: Instruction) -> None:
        """Put a free instruction at ``index``. Raises ``ValueError`` for one that is in a block already."""
        if instruction.parent is not None:
            raise ValueError("the instruction is in a block already: unlink it first")
        self.instructions.insert(index, instruction)
        instruction.parent = self

    def append(self, instruction: Instruction) -> None:
        """Put a free instruction at the end."""
        self.insert(len(self.instructions), instruction)

    @property
    def users(self) -> list[Value]:
        """The terminators and phis of the function that name this block."""
        if self.parent is None:
            return []
        found: list[Value] = []
        for block in self.parent.blocks:
            found += [phi for phi in block.phis if self in phi.blocks]
            if self in block.successors and block.terminator is not None:
                found.append(block.terminator)
        return found

    @property
    def uses(self) -> list[Use]:
        """Blocks are no operands: always empty. ``users`` tells who names the block."""
        return []

    @property
    def is_used(self) -> bool:
        return bool(self.users)

    def replace_all_uses_with(self, value: Value) -> None:
        """Every terminator and phi that names this block names the block ``value`` instead.
        Raises ``ValueError`` for a value that is no block."""
        if not isinstance(value, BasicBlock):
            raise ValueError(f"cannot replace a block by a {value.type}")
        for user in self.users:
            user.replace_block(self, value)  # type: ignore[attr-defined]

    def erase(self) -> None:
        """Take the block and its instructions out of the function. Phis of its successors are left to the caller."""
        for instruction in self.instructions:
            instruction.operands = ()
            instruction.parent = None
        self.instructions = []
        if self.parent is not None:
            self.parent.blocks.remove(self)
            self.parent = None


class Argument(Value, Local):
    """A parameter of a function. ``attributes`` is text (``noundef readonly``), ``index`` its position."""

    __slots__ = ("attributes", "function", "index")

    def __init__(
        self, type: Type, name: str, index: int, attributes: str = "", function: Function | None = None
    ) -> None:
        super().__init__(type, name)
        self.index = index
        self.attributes = attributes
        self.function = function


class Function(Value):
    """A function: declared (no blocks) or defined. As a value it is a pointer.

    ``linkage``, ``visibility`` (``dso_local``, ``hidden``, ...), ``calling_convention``, ``return_attributes`` stand before
    the name and ``attributes`` after the parameters (``#0 comdat align 2``), all as text.
    """

    __slots__ = (
        "arguments",
        "attributes",
        "blocks",
        "calling_convention",
        "function_type",
        "linkage",
        "metadata",
        "module",
        "return_attributes",
        "visibility",
    )
    is_constant = True

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        *,
        linkage: str = "",
        visibility: str = "",
        calling_convention: str = "",
        return_attributes: str = "",
        attributes: str = "",
        address_space: int = 0,
        module: Module | None = None,
    ) -> None:
        super().__init__(PointerType(address_space), name)
        self.function_type = function_type
        self.linkage = linkage
        self.visibility = visibility
        self.calling_convention = calling_convention
        self.return_attributes = return_attributes
        self.attributes = attributes
        self.metadata: dict[str, str] = {}
        self.module = module
        self.blocks: list[BasicBlock] = []
        self.arguments = [Argument(t, "", i, "", self) for i, t in enumerate(function_type.parameters)]

    def __repr__(self) -> str:
        return f"<Function @{self.name} {self.function_type}, {len(self.blocks)} blocks>"

    def __iter__(self) -> Iterator[BasicBlock]:
        return iter(self.blocks)

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body here."""
        return not self.blocks

    @property
    def is_kernel(self) -> bool:
        """Whether a host can launch it (calling convention ``ptx_kernel``)."""
        return self.calling_convention == "ptx_kernel"

    @property
    def is_intrinsic(self) -> bool:
        """Whether LLVM itself defines what it does (``llvm.*``)."""
        return self.name.startswith("llvm.")

    @property
    def return_type(self) -> Type:
        """``void`` for one that returns nothing."""
        return self.function_type.result

    @property
    def entry(self) -> BasicBlock:
        """The first block (``IndexError`` for a declaration)."""
        return self.blocks[0]

    def instructions(self) -> Iterator[Instruction]:
        """All instructions in order."""
        for block in self.blocks:
            yield from block.instructions

    def add_block(self, name: str = "", after: BasicBlock | None = None) -> BasicBlock:
        """A new empty block at the end, or right after another."""
        block = BasicBlock(name, self)
        at = len(self.blocks) if after is None else self.blocks.index(after) + 1
        self.blocks.insert(at, block)
        return block

    def reference(self, names: Names) -> str:
        return global_reference(self.name)


class GlobalVariable(Value):
    """A global variable, constant, alias or ifunc (``kind``). As a value it is a pointer; its operand is its initializer.

    ``value_type`` is what it points at. ``linkage``, ``visibility``, ``prefix`` (``unnamed_addr``,
    ``externally_initialized``, ``thread_local``, ...) and ``suffix`` (``, section "s", comdat``) are text.
    """

    __slots__ = ("align", "kind", "linkage", "metadata", "module", "prefix", "suffix", "value_type", "visibility")
    is_constant = True

    def __init__(
        self,
        name: str,
        value_type: Type,
        initializer: Value | None = None,
        *,
        address_space: int = 0,
        kind: str = "global",
        linkage: str = "",
        visibility: str = "",
        prefix: str = "",
        suffix: str = "",
        align: int = 0,
        module: Module | None = None,
    ) -> None:
        super().__init__(PointerType(address_space), name, () if initializer is None else (initializer,))
        self.value_type = value_type
        self.kind = kind
        self.linkage = linkage
        self.visibility = visibility
        self.prefix = prefix
        self.suffix = suffix
        self.align = align
        self.metadata: dict[str, str] = {}
        self.module = module

    def __repr__(self) -> str:
        return f"<GlobalVariable @{self.name} {self.value_type}>"

    @property
    def initializer(self) -> Value | None:
        """The value it starts with (an alias: what it stands for); ``None`` when it is external."""
        return self.operands[0] if self.operands else None

    @initializer.setter
    def initializer(self, value: Value | None) -> None:
        self.operands = () if value is None else (value,)

    @property
    def address_space(self) -> int:
        """CUDA: 1 global, 3 shared, 4 constant."""
        assert isinstance(self.type, PointerType)
        return self.type.address_space

    @property
    def is_read_only(self) -> bool:
        """Whether it is declared ``constant``."""
        return self.kind == "constant"

    def reference(self, names: Names) -> str:
        return global_reference(self.name)


class Module:
    """A module. Everything is in the order it is printed."""

    __slots__ = (
        "attribute_groups",
        "comdats",
        "data_layout",
        "functions",
        "globals",
        "header",
        "metadata",
        "named_metadata",
        "named_types",
        "source_filename",
        "target_triple",
    )

    def __init__(self) -> None:
        self.header: list[str] = []
        """Comment lines at the top and lines we do not interpret (module assembly), verbatim."""
        self.source_filename = ""
        self.data_layout = ""
        self.target_triple = ""
        self.named_types: dict[str, StructType] = {}
        self.comdats: dict[str, str] = {}
        self.globals: dict[str, GlobalVariable] = {}
        self.functions: dict[str, Function] = {}
        self.attribute_groups: dict[str, str] = {}
        """``"#0"`` to the text between the braces."""
        self.named_metadata: dict[str, str] = {}
        """``"llvm.dbg.cu"`` to ``"!{!6}"``."""
        self.metadata: dict[str, str] = {}
        """``"!12"`` to the node's text."""

    def __repr__(self) -> str:
        return f"<Module {self.source_filename!r}, {len(self.functions)} functions>"

    def function(self, name: str) -> Function:
        """The function of this name; ``KeyError`` lists those there are."""
        try:
            return self.functions[name]
        except KeyError:
            known = ", ".join(self.functions) or "none"
            raise KeyError(f"the module has no function '{name}'; it has: {known}") from None

    @property
    def kernels(self) -> list[Function]:
        """The defined functions a host can launch."""
        return [f for f in self.functions.values() if f.is_kernel and f.blocks]

    @property
    def definitions(self) -> list[Function]:
        """The functions that have a body."""
        return [f for f in self.functions.values() if f.blocks]

    def add(self, *values: Function | GlobalVariable) -> None:
        """Put functions or globals at the end. Raises ``ValueError`` for a name that is taken."""
        for value in values:
            if value.name in self.functions or value.name in self.globals:
                raise ValueError(f"the module has an '{value.name}' already")
            value.module = self
            if isinstance(value, Function):
                self.functions[value.name] = value
            else:
                self.globals[value.name] = value

    def rename(self, value: Function | GlobalVariable, name: str) -> None:
        """Give a function or global another name; its place, its uses and metadata that mentions it follow.

        Raises ``ValueError`` for a name that is taken.
        """
        if name in self.functions or name in self.globals:
            raise ValueError(f"the module has an '{name}' already")
        old, value.name = value.name, name
        table: dict[str, Any] = self.functions if isinstance(value, Function) else self.globals
        entries = [(name if key == old else key, entry) for key, entry in table.items()]
        table.clear()
        table.update(entries)
        mention = re.compile(re.escape(global_reference(old)) + r"(?![-\w$.])", re.ASCII)
        for nodes in (self.metadata, self.named_metadata):
            for key, text in nodes.items():
                nodes[key] = mention.sub(lambda _: global_reference(name), text)
        # 'comdat' alone means the one that has the name of its owner.
        field = "attributes" if isinstance(value, Function) else "suffix"
        text = re.sub(r"\bcomdat\b(?!\()", lambda _: f"comdat(${quoted(old)})", getattr(value, field))
        setattr(value, field, text)

    def remove(self, values: Iterable[Function | GlobalVariable]) -> None:
        """Take functions and globals out, their bodies and initializers with them. Users keep a dangling reference."""
        for value in values:
            if isinstance(value, Function):
                for block in list(value.blocks):
                    block.erase()
                del self.functions[value.name]
            else:
                value.operands = ()
                del self.globals[value.name]
            value.module = None
