"""Whether two modules say the same, and if not, where they first differ."""

from __future__ import annotations

from kernelwright.ir.constants import ConstantAggregate, ConstantExpr, ConstantString, InlineAsm, MetadataOperand
from kernelwright.ir.module import BasicBlock, Function, GlobalVariable, Instruction, Module
from kernelwright.ir.opcodes import FIELDS, OPAQUE_FIELDS
from kernelwright.ir.values import Value

_MODULE_FIELDS = (
    "header",
    "source_filename",
    "data_layout",
    "target_triple",
    "named_types",
    "comdats",
    "attribute_groups",
    "named_metadata",
    "metadata",
)
_FUNCTION_FIELDS = (
    "name",
    "type",
    "function_type",
    "linkage",
    "visibility",
    "calling_convention",
    "return_attributes",
    "attributes",
    "metadata",
)
_GLOBAL_FIELDS = (
    "name",
    "type",
    "value_type",
    "kind",
    "linkage",
    "visibility",
    "prefix",
    "suffix",
    "align",
    "metadata",
)


def difference(a: Module, b: Module) -> str:
    """A sentence on the first difference between two modules, or ``""`` when they are the same but for identity.

    Order counts: functions, globals, blocks, instructions, metadata entries.
    """
    for field in _MODULE_FIELDS:
        found = _unequal(field, getattr(a, field), getattr(b, field))
        if found:
            return f"the modules differ in {found}"
    for kind, left, right in (("globals", a.globals, b.globals), ("functions", a.functions, b.functions)):
        if list(left) != list(right):
            return f"the modules differ in their {kind}: {list(left)} and {list(right)}"
    for name in a.globals:
        found = _global_difference(a.globals[name], b.globals[name])
        if found:
            return f"@{name}: {found}"
    for name in a.functions:
        found = function_difference(a.functions[name], b.functions[name])
        if found:
            return f"@{name}: {found}"
    return ""


def _unequal(what: str, a: object, b: object) -> str:
    if isinstance(a, dict) and isinstance(b, dict):
        same: bool = list(a.items()) == list(b.items())
    else:
        same = a == b
    return "" if same else f"{what}: {a!r} and {b!r}"


def _global_difference(a: GlobalVariable, b: GlobalVariable) -> str:
    for field in _GLOBAL_FIELDS:
        found = _unequal(field, getattr(a, field), getattr(b, field))
        if found:
            return found
    if (a.initializer is None) != (b.initializer is None):
        return "one has an initializer, the other has none"
    if a.initializer is not None and b.initializer is not None and not _same(a.initializer, b.initializer, {}):
        return "the initializers differ"
    return ""


def function_difference(a: Function, b: Function) -> str:
    """``difference`` for two functions. Globals are the same when their names are."""
    for field in _FUNCTION_FIELDS:
        found = _unequal(field, getattr(a, field), getattr(b, field))
        if found:
            return found
    twin: dict[Value, Value] = {}
    for left, right in zip(a.arguments, b.arguments, strict=True):
        if (left.name, left.attributes) != (right.name, right.attributes):
            return f"argument {left.index} differs"
        twin[left] = right
    if [(x.name, len(x)) for x in a.blocks] != [(x.name, len(x)) for x in b.blocks]:
        return "the names or lengths of the blocks differ"
    for x, y in zip(a.blocks, b.blocks, strict=True):
        twin[x] = y
        twin.update(zip(x.instructions, y.instructions, strict=True))
    for x, y in zip(a.blocks, b.blocks, strict=True):
        for i, j in zip(x.instructions, y.instructions, strict=True):
            if not _same_instruction(i, j, twin):
                return f"'{i}' and '{j}' differ"
    return ""


def _same_instruction(a: Instruction, b: Instruction, twin: dict[Value, Value]) -> bool:
    if (a.opcode, a.name, a.flags, a.text) != (b.opcode, b.name, b.flags, b.text) or a.type is not b.type:
        return False
    if list(a.metadata.items()) != list(b.metadata.items()) or len(a.operands) != len(b.operands):
        return False
    for field in OPAQUE_FIELDS if a.is_opaque else FIELDS.get(a.opcode, ()):
        left, right = getattr(a, field), getattr(b, field)
        if field in ("blocks", "successors"):
            left = tuple(twin.get(block) for block in left)
        if left != right:
            return False
    return all(_same(x, y, twin) for x, y in zip(a.operands, b.operands, strict=True))


def _same(a: Value, b: Value, twin: dict[Value, Value]) -> bool:
    """Whether two operands are the same: twins, the same constant, or alike in their parts."""
    if a is b:
        return True
    if type(a) is not type(b) or a.type is not b.type:
        return False
    if isinstance(a, Function | GlobalVariable):
        return a.name == b.name
    if isinstance(a, ConstantExpr) and isinstance(b, ConstantExpr):
        if (a.opcode, a.flags) != (b.opcode, b.flags) or a.source_type is not b.source_type:
            return False
    elif isinstance(a, InlineAsm) and isinstance(b, InlineAsm):
        return (a.text, a.constraints, a.flags) == (b.text, b.constraints, b.flags)
    elif isinstance(a, ConstantString) and isinstance(b, ConstantString):
        return a.text == b.text
    elif isinstance(a, MetadataOperand) and isinstance(b, MetadataOperand):
        if a.text != b.text:
            return False
    elif not isinstance(a, ConstantAggregate):
        return not isinstance(a, BasicBlock) and twin.get(a) is b
    left, right = a.operands, b.operands
    return len(left) == len(right) and all(_same(x, y, twin) for x, y in zip(left, right, strict=True))
