"""A kernel as edits see it: every instruction has a number, every value a name, every line is ready to print.

Made once per kernel; variants are drafts on top of it. The module it was made from is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from kernelwright.edits.line_templates import Template, altered_template
from kernelwright.edits.setting import PLAIN, Register, Setting, given_name, head, register_asked
from kernelwright.errors import Misuse
from kernelwright.ir import (
    Argument,
    BasicBlock,
    ConstantFloat,
    ConstantInt,
    Dominators,
    Function,
    InlineAsm,
    Instruction,
    Location,
    MetadataOperand,
    Module,
    Type,
    Value,
    clone_module,
    local_names,
    loop_latches,
    print_function,
    print_module,
    source_location,
    types,
    zero,
)
from kernelwright.ir.constants import float_value
from kernelwright.ir.fences import is_fence
from kernelwright.ir.text.printer import instruction_line
from kernelwright.ir.types import FloatType, IntType, StructType, VectorType
from kernelwright.lazy_dataclasses import dataclass

Id = int | str
"""An instruction: its place in the original kernel, counted from 0, or the name a copy was given (``c3f09a11b2d``)."""
CLONE = re.compile(r"c[0-9a-f]{10}")
Use = tuple[Id, int]
"""Operand ``[1]`` of instruction ``[0]``."""

OWN_HEADERS = "kernelwright/cuda/include"
_DROPPED = ("llvm.assume", "llvm.lifetime.", "llvm.experimental.noalias.scope.decl", "llvm.dbg.", "llvm.invariant.")
"""Calls that say something about the original program only; LLVM would believe them of a changed one."""
_MEMORY = frozenset({"load", "store", "atomicrmw", "cmpxchg", "call"})


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """An instruction, original or copied. Operands are written as in IR (``%x``, ``0``, ``@tile``), types apart."""

    id: Id
    origin: int
    """The original instruction that it is or was copied from, over however many copies."""
    instruction: Instruction
    """What is printed, with its own operands in it."""
    result: str
    """``%sum``, or nothing."""
    type: str
    operand_types: tuple[str, ...]
    operands: tuple[str, ...]
    editable: tuple[int, ...]
    """Operands that may be another value: no callee, no field of a struct, no argument that must be a constant."""
    block: int
    blocks: tuple[int, ...]
    """Of a phi: the block each operand comes from."""
    is_free: bool
    """Whether it can be copied, moved and deleted: no phi, no terminator, no stack slot, no fence."""

    @property
    def is_phi(self) -> bool:
        """Whether it has an operand for each block that leads to its own."""
        return bool(self.blocks)

    @property
    def touches_memory(self) -> bool:
        """Whether it may read or write memory, as far as its opcode says: any call counts."""
        return self.instruction.opcode in _MEMORY

    @property
    def reaches_memory(self) -> bool:
        """Whether it touches memory, or makes or uses a pointer, which decides what others touch."""
        return self.touches_memory or any("ptr" in text for text in (self.type, *self.operand_types))


class Original:
    """One kernel of a module, numbered. Raises ``Misuse`` for a kernel the module does not define."""

    def __init__(self, module: Module, kernel: str) -> None:
        found = module.functions.get(kernel)
        if found is None or not found.blocks:
            known = ", ".join(f.name for f in module.kernels) or "none"
            raise Misuse(f"the module does not define a kernel {kernel!r}", hint=f"its kernels are {known}")
        self.kernel = kernel
        self.module, twins = clone_module(module)
        self.function = self.module.functions[kernel]
        numbered = [twins[i] for i in found.instructions()]
        self._drop_promises()
        _name_everything(self.function)
        self.names = local_names(self.function)
        dominators = Dominators(self.function)
        place = {block: n for n, block in enumerate(self.function.blocks)}
        self.labels = [self.names[b] for b in self.function.blocks]
        self.reachable = [dominators.is_reachable(b) for b in self.function.blocks]
        self.above = [tuple(_dominating(b, dominators, place)) for b in self.function.blocks]
        """By block: the blocks that dominate it, itself first, then nearest first."""
        self.dominated_by = [frozenset(above) for above in self.above]
        self.nodes: dict[Id, Node] = {}
        self.order: list[list[Id]] = [[] for _ in place]
        self.position: dict[Id, int] = {}
        self.defined: dict[str, Id] = {}
        self.uses: dict[str, list[Use]] = {}
        self.constants: dict[str, list[str]] = {}
        """By type: constants an operand may become, those of the kernel and the plainest ones."""
        self.types: dict[str, Type] = {}
        for id, instruction in enumerate(numbered):
            assert isinstance(instruction, Instruction)
            if instruction.parent is not None:
                self._add(id, instruction, place)
        self.phis = [len(b.phis) for b in self.function.blocks]
        self.arguments: dict[str, str] = {self.names[a]: a.type.text for a in self.function.arguments}
        self.free = [id for id, node in self.nodes.items() if node.is_free]
        """What can be copied, moved and deleted."""
        self.places = [id for id, node in self.nodes.items() if self.reachable[node.block]]
        """What something can be put before."""
        self.users = [id for id, node in self.nodes.items() if node.editable]
        """What has an operand that may be another value."""
        self.lines = {id: instruction_line(node.instruction, self.names) for id, node in self.nodes.items()}
        """Each line as every variant prints it unless it was touched."""
        self.registers: dict[Id, Register] = {}
        """The instructions that ask for the launch's geometry, and for what."""
        for node in self.nodes.values():
            if asked := register_asked(node.instruction):
                self.registers[node.id] = asked
        self.latches = self._loops(dominators)
        """The branches back to the header of a loop, and the numbers of two metadata nodes for what is asked of the loop."""
        self._texts = self._cut()
        self._those: dict[Callable[[Node], bool], list[Id]] = {}
        self._uses_of: dict[Callable[[str, str], bool], list[Use]] = {}
        self.unchanged: object = None
        """The draft without edits, once it was asked for."""
        self._heads: dict[tuple[Setting, bool], str] = {}
        self._templates: dict[tuple[Instruction, tuple[str, ...], bool], Template] = {}

    # -- reading

    def _drop_promises(self) -> None:
        for instruction in list(self.function.instructions()):
            callee = instruction.callee if instruction.opcode == "call" else None
            if instruction.opcode.startswith("#dbg") or (
                isinstance(callee, Function) and callee.name.startswith(_DROPPED) and not instruction.is_used
            ):
                instruction.erase()

    def _add(self, id: int, i: Instruction, place: dict[BasicBlock, int]) -> None:
        assert i.parent is not None
        block = place[i.parent]
        reachable = self.reachable[block]
        node = Node(
            id,
            id,
            i,
            self.names[i] if i.has_result else "",
            i.type.text,
            tuple(v.type.text for v in i.operands),
            tuple(self.names[v] for v in i.operands),
            tuple(_editable(i)) if reachable else (),
            block,
            tuple(place[b] for b in i.blocks) if i.is_phi else (),
            reachable and _is_free(i),
        )
        self.nodes[id] = node
        self.position[id] = len(self.order[block])
        self.order[block].append(id)
        if node.result:
            self.defined[node.result] = id
            self.types[node.type] = i.type
        for index, (value, text) in enumerate(zip(i.operands, node.operands, strict=True)):
            self.types[value.type.text] = value.type
            if isinstance(value, Instruction):
                self.uses.setdefault(text, []).append((id, index))
        for index in node.editable:
            self._note_constant(i.operands[index])

    def _note_constant(self, value: Value) -> None:
        known = self.constants.get(value.type.text)
        if known is None:
            known = self.constants[value.type.text] = [self.names[c] for c in _plainest(value.type)]
        if value.is_constant and self.names[value] not in known:
            known.append(self.names[value])

    def _loops(self, dominators: Dominators) -> dict[Id, tuple[int, int]]:
        closing = [
            latches[0].terminator
            for latches in loop_latches(dominators).values()
            if len(latches) == 1 and not latches[0].instructions[-1].is_opaque
        ]
        number = max((int(name[1:]) for name in self.module.metadata), default=-1) + 1
        ids = [id for id, node in self.nodes.items() if node.instruction in closing]
        return {id: (number + 2 * n, number + 2 * n + 1) for n, id in enumerate(ids)}

    def _cut(self) -> tuple[str, str, list[str]]:
        """The module's text before the kernel, what follows its blocks, and the blocks."""
        before, _, after = print_module(self.module).partition(print_function(self.function))
        blocks = []
        for label, ids in zip(self.labels, self.order, strict=True):
            blocks.append("\n".join([label[1:] + ":", *("  " + self.lines[id] for id in ids)]))
        return before, "\n}\n" + after, blocks

    # -- asking

    def location(self, id: Id) -> Location | None:
        """Where an original instruction was written, in a file of the user's if it can be said."""
        return source_location(self.nodes[id].instruction, skip=lambda file: OWN_HEADERS in file)

    def template(self, instruction: Instruction, extras: tuple[str, ...], touched: bool) -> Template:
        """The line of an altered instruction, its gaps open."""
        key = (instruction, extras, touched)
        made = self._templates.get(key)
        if made is None:
            made = self._templates[key] = altered_template(instruction, self.names, extras, touched)
        return made

    def text(
        self, blocks: dict[int, str], other_memory: bool = False, setting: Setting = PLAIN, nodes: str = ""
    ) -> str:
        """The module with some blocks printed anew, and more declarations and metadata ``nodes``. ``other_memory``: the kernel
        may use memory as the original did not."""
        before, after, old = self._texts
        body = "\n\n".join([blocks.get(n, text) for n, text in enumerate(old)]) if blocks else "\n\n".join(old)
        return before + self._head(setting, other_memory) + body + after + nodes

    def _head(self, setting: Setting, other_memory: bool) -> str:
        # The values of fixed arguments are not printed there.
        key = (replace(setting, fixed=tuple((index, "") for index, _ in setting.fixed)), other_memory)
        made = self._heads.get(key)
        if made is None:
            made = self._heads[key] = head(self.function, setting, other_memory)
        return made

    @cached_property
    def finds_pointers(self) -> bool:
        """Whether the kernel finds pointers in memory, or may: it loads or makes one, or calls a function that could."""
        return any(_finds_pointer(i) for i in self.function.instructions())

    @cached_property
    def slots(self) -> dict[str, list[Use]]:
        """By type: the operands that may be another value."""
        found: dict[str, list[Use]] = {}
        for id, node in self.nodes.items():
            for index in node.editable:
                found.setdefault(node.operand_types[index], []).append((id, index))
        return found

    def those(self, fits: Callable[[Node], bool]) -> list[Id]:
        """The instructions that a condition holds for. Not to be changed."""
        found = self._those.get(fits)
        if found is None:
            found = self._those[fits] = [id for id, node in self.nodes.items() if fits(node)]
        return found

    def uses_of(self, fits: Callable[[str, str], bool]) -> list[Use]:
        """The operands that may be another value and that a condition on type and value holds for. Not to be changed."""
        found = self._uses_of.get(fits)
        if found is None:
            found = self._uses_of[fits] = [
                (id, k)
                for id, node in self.nodes.items()
                for k in node.editable
                if fits(node.operand_types[k], node.operands[k])
            ]
        return found

    @cached_property
    def made(self) -> list[dict[str, list[tuple[int, str]]]]:
        """By block, by type: position and name of the values made there, last first."""
        found: list[dict[str, list[tuple[int, str]]]] = []
        for ids in self.order:
            by_type: dict[str, list[tuple[int, str]]] = {}
            for position in range(len(ids) - 1, -1, -1):
                node = self.nodes[ids[position]]
                if node.result:
                    by_type.setdefault(node.type, []).append((position, node.result))
            found.append(by_type)
        return found

    def is_constant(self, type: str, text: str) -> bool:
        """Whether ``text`` can be written for an operand of this type: it occurs in the kernel, or is plain and well-formed."""
        if text in self.constants.get(type, ()):
            return True
        known = self.types.get(type)
        if known is None:
            return False
        if text == "poison" or text == self.zero(type):
            return True
        try:
            if isinstance(known, IntType):
                number = {"true": 1, "false": 0}.get(text)
                return ConstantInt(known, int(text) if number is None else number).text == text
            if isinstance(known, FloatType):
                return ConstantFloat.of(known, float_value(text)).text == text
        except (ValueError, OverflowError, AssertionError):
            return False
        return False

    def zero(self, type: str) -> str:
        """The plainest constant of a type."""
        return self.names[zero(self.types[type])]


def _name_everything(function: Function) -> None:
    """Numbered values get names, which do not change when an instruction goes; names that copies may take are changed."""
    number = 0
    values: list[Value] = [*function.arguments, *function.blocks, *function.instructions()]
    taken = {v.name for v in values}
    for value in values:
        if value.type is types.void or (value.name and not CLONE.fullmatch(value.name)):
            continue
        letter = "a" if isinstance(value, Argument) else "b" if isinstance(value, BasicBlock) else "v"
        while f"{letter}{number}" in taken:
            number += 1
        value.name = f"{letter}{number}"
        number += 1
    names = {v.name for v in values}
    for index, argument in enumerate(function.arguments):
        while given_name(function, index) in names:  # the name its parameter gets when it is fixed
            argument.name += "_"


def _dominating(block: BasicBlock, dominators: Dominators, place: dict[BasicBlock, int]) -> Iterator[int]:
    step: BasicBlock | None = block
    while step is not None:
        yield place[step]
        step = dominators.immediate(step)


def _is_free(i: Instruction) -> bool:
    if i.is_phi or i.is_terminator or i.is_opaque or i.opcode == "alloca" or i.type.text == "token":
        return False
    if is_fence(i):  # no run here shows what becomes possible without it
        return False
    return i.opcode != "call" or (i.tail != "musttail" and not i.bundles)


_KEEP_POINTERS = frozenset({"getelementptr", "phi", "select", "addrspacecast", "bitcast", "freeze", "alloca"})
"""What makes pointers of those there are, and only of those."""


def _finds_pointer(i: Instruction) -> bool:
    if i.opcode == "call" and not (isinstance(i.callee, Function) and i.callee.is_intrinsic):
        return True
    return "ptr" in i.type.text and i.opcode not in _KEEP_POINTERS


def _plainest(type: Type) -> Sequence[Value]:
    if isinstance(type, IntType):
        return [ConstantInt(type, 1), ConstantInt(type, 0)]
    if isinstance(type, FloatType) and type.kind in ("half", "bfloat", "float", "double"):
        return [ConstantFloat.of(type, 1.0), ConstantFloat.of(type, 0.0)]
    return []


# -- which operands may be another value


def _editable(i: Instruction) -> Iterator[int]:
    if i.is_opaque or i.opcode == "alloca":
        return
    fixed = _FIXED[i.opcode](i) if i.opcode in _FIXED else frozenset()
    for index, value in enumerate(i.operands):
        unfit = isinstance(value, MetadataOperand | InlineAsm) or value.type in (types.metadata, types.label)
        if index not in fixed and not unfit and value.type.text != "token":
            yield index


def _fixed_in_call(i: Instruction) -> frozenset[int]:
    """The callee, bundles, constants of inline assembly, the numbers of barriers, arguments that must be constants."""
    callee, count = i.callee, len(i.argument_attributes)
    fixed = set(range(count, len(i.operands)))
    for index in range(count):
        value = i.operands[index]
        if isinstance(callee, InlineAsm):
            fixed |= {index} if value.is_constant else set()
        elif not isinstance(callee, Function) or "barrier" in callee.name or ".bar." in callee.name:
            # the number of a barrier, and which threads wait; a reducing barrier's predicate is its last argument
            fixed |= {index} if isinstance(value, ConstantInt) or "red" not in _name(callee) else set()
        else:
            formal = callee.arguments[index].attributes if index < len(callee.arguments) else ""
            fixed |= {index} if "immarg" in formal.split() or "byval" in i.argument_attributes[index] else set()
    return frozenset(fixed)


def _name(value: Value) -> str:
    return value.name if isinstance(value, Function) else ""


def _fields_of_structs(i: Instruction) -> frozenset[int]:
    """The indices of a ``getelementptr`` that choose a field."""
    fixed = set()
    here: Type | None = i.source_type
    for index in range(2, len(i.operands)):
        if isinstance(here, StructType):
            fixed.add(index)
            value = i.operands[index]
            fields = here.fields or ()
            here = fields[value.value] if isinstance(value, ConstantInt) and value.value < len(fields) else None
        else:
            here = getattr(here, "element", None)
    vectors = {n for n, v in enumerate(i.operands) if isinstance(v.type, VectorType)}
    return frozenset(fixed | vectors)


def _mask(i: Instruction) -> frozenset[int]:
    return frozenset({2})


_FIXED: dict[str, Callable[[Instruction], frozenset[int]]] = {
    "call": _fixed_in_call,
    "getelementptr": _fields_of_structs,
    "shufflevector": _mask,
}

__all__ = ["CLONE", "Id", "Node", "Original", "Use"]
