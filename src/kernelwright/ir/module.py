"""Blocks, functions, globals and the module that holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kernelwright.ir import types as ty
from kernelwright.ir.text.tokens import global_reference, quoted
from kernelwright.ir.types import FunctionType, PointerType, StructType, Type
from kernelwright.ir.values import Argument, Local, Names, Use, User, Value

if TYPE_CHECKING:
    from kernelwright.ir.instruction import Instruction


class BasicBlock(Value, Local):
    """Instructions that run one after another; phis first, one terminator last.

    A block keeps no list of its uses: ``users`` looks through the terminators and phis of its function.
    """

    __slots__ = ("instructions", "parent")

    def __init__(self, name: str = "", parent: Function | None = None) -> None:
        self.type = ty.label
        self.name = name
        self._uses = None
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
        """Put a free instruction at ``index``."""
        if instruction.parent is not None:
            raise ValueError("the instruction is in a block already: unlink it first")
        self.instructions.insert(index, instruction)
        instruction.parent = self

    def append(self, instruction: Instruction) -> None:
        """Put a free instruction at the end."""
        self.insert(len(self.instructions), instruction)

    @property
    def users(self) -> list[User]:
        """The terminators and phis of the function that name this block."""
        if self.parent is None:
            return []
        found: list[User] = []
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
        """Every terminator and phi that names this block names the block ``value`` instead."""
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

    def __str__(self) -> str:
        from kernelwright.ir.text.printer import print_function

        return print_function(self)

    @property
    def is_declaration(self) -> bool:
        return not self.blocks

    @property
    def is_kernel(self) -> bool:
        """Whether a host can launch it (calling convention ``ptx_kernel``)."""
        return self.calling_convention == "ptx_kernel"

    @property
    def is_intrinsic(self) -> bool:
        return self.name.startswith("llvm.")

    @property
    def return_type(self) -> Type:
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


class GlobalVariable(User):
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
        super().__init__(PointerType(address_space), () if initializer is None else (initializer,), name)
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

    def __str__(self) -> str:
        from kernelwright.ir.text.printer import print_module

        return print_module(self)

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
