"""Copies: of a whole module, and of a function beside the original."""

from __future__ import annotations

import re

from kernelwright.ir.constants import ConstantAggregate, ConstantExpr, MetadataOperand
from kernelwright.ir.module import BasicBlock, Function, GlobalVariable, Instruction, Module
from kernelwright.ir.opcodes import FIELDS, OPAQUE_FIELDS
from kernelwright.ir.values import Value

Twins = dict[Value, Value]
"""From a value to its copy. Values that are in no table (plain constants) are their own copies."""

_REFERENCE = re.compile(r"![0-9]+")


def clone_module(module: Module) -> tuple[Module, Twins]:
    """A copy that shares nothing that can change, and the table from every old value to its copy.

    Faster than printing and parsing; numbered values, names, metadata and order stay as they are.
    """
    made = Module()
    made.header = list(module.header)
    made.source_filename = module.source_filename
    made.data_layout = module.data_layout
    made.target_triple = module.target_triple
    made.named_types = dict(module.named_types)
    made.comdats = dict(module.comdats)
    made.attribute_groups = dict(module.attribute_groups)
    made.named_metadata = dict(module.named_metadata)
    made.metadata = dict(module.metadata)
    twins: Twins = {}
    for variable in module.globals.values():
        made.add(_global_shell(variable, twins))
    for function in module.functions.values():
        made.add(_function_shell(function, function.name, twins))
    for variable in module.globals.values():
        if variable.initializer is not None:
            copy = twins[variable]
            assert isinstance(copy, GlobalVariable)
            copy.initializer = _copied(variable.initializer, twins)
    for function in module.functions.values():
        copy = twins[function]
        assert isinstance(copy, Function)
        _fill(function, copy, twins)
    return made, twins


def clone_function(function: Function, name: str) -> tuple[Function, Twins]:
    """A copy under another name, added to the same module; calls of the original stay calls of the original.

    Metadata that can describe one function only (debug scopes and locations, loop names) is copied too.
    Raises ``ValueError`` for a function that is in no module.
    """
    module = function.module
    if module is None:
        raise ValueError("the function is in no module")
    twins: Twins = {}
    made = _function_shell(function, name, twins)
    del twins[function]
    module.add(made)
    _fill(function, made, twins)
    _own_nodes(module, made)
    return made, twins


def _global_shell(variable: GlobalVariable, twins: Twins) -> GlobalVariable:
    made = GlobalVariable(
        variable.name,
        variable.value_type,
        address_space=variable.address_space,
        kind=variable.kind,
        linkage=variable.linkage,
        visibility=variable.visibility,
        prefix=variable.prefix,
        suffix=variable.suffix,
        align=variable.align,
    )
    made.metadata = dict(variable.metadata)
    twins[variable] = made
    return made


def _function_shell(function: Function, name: str, twins: Twins) -> Function:
    made = Function(
        name,
        function.function_type,
        linkage=function.linkage,
        visibility=function.visibility,
        calling_convention=function.calling_convention,
        return_attributes=function.return_attributes,
        attributes=function.attributes,
        address_space=function.type.address_space,  # type: ignore[attr-defined]
    )
    made.metadata = dict(function.metadata)
    for old, new in zip(function.arguments, made.arguments, strict=True):
        new.name, new.attributes = old.name, old.attributes
        twins[old] = new
    twins[function] = made
    return made


def _fill(function: Function, made: Function, twins: Twins) -> None:
    """Copy the body. Operands that come later in the order are put in at the end."""
    for block in function.blocks:
        copy = BasicBlock(block.name, made)
        made.blocks.append(copy)
        twins[block] = copy
    later: list[tuple[Instruction, int, Value]] = []
    for block in function.blocks:
        into = twins[block]
        assert isinstance(into, BasicBlock)
        for old in block.instructions:
            new = _copied_instruction(old, twins, later)
            new.parent = into
            into.instructions.append(new)
            twins[old] = new
    for new, index, value in later:
        new.set_operand(index, _copied(value, twins))


def _copied_instruction(old: Instruction, twins: Twins, later: list[tuple[Instruction, int, Value]]) -> Instruction:
    operands = []
    waiting = []
    for index, value in enumerate(old.operands):
        found = twins.get(value)
        if found is None:
            if isinstance(value, Instruction) or (isinstance(value, MetadataOperand) and value.operands):
                waiting.append((index, value))
                found = value
            else:
                found = _copied(value, twins)
        operands.append(found)
    new = Instruction(old.opcode, old.type, tuple(operands), old.flags, old.name, dict(old.metadata))
    for field in OPAQUE_FIELDS if old.is_opaque else FIELDS.get(old.opcode, ()):
        content = getattr(old, field)
        if field in ("blocks", "successors"):
            content = tuple([twins[block] for block in content])
        setattr(new, field, content)
    later += [(new, index, value) for index, value in waiting]
    return new


def _copied(value: Value, twins: Twins) -> Value:
    """The copy of an operand: its twin, a new expression over twins, or the value itself."""
    found = twins.get(value)
    if found is not None:
        return found
    if not value.is_composed:
        return value
    operands = tuple(_copied(v, twins) for v in value.operands)
    made: Value
    if isinstance(value, ConstantExpr):
        made = ConstantExpr(value.opcode, value.type, operands, value.flags, value.source_type)
    elif isinstance(value, MetadataOperand):
        made = MetadataOperand(value.text, operands)
    else:
        assert isinstance(value, ConstantAggregate)
        made = ConstantAggregate(value.type, operands)
    twins[value] = made
    return made


def _own_nodes(module: Module, made: Function) -> None:
    """Copy the metadata that can describe one function only: its ``DISubprogram``, what lies below it, and loop names.

    LLVM drops all lines of a module when a location leads to another function's ``DISubprogram``.
    """
    reached: dict[str, list[str]] = {}
    instructions = list(made.instructions())
    work = [node for i in instructions for node in i.metadata.values()] + list(made.metadata.values())
    loops = {i.metadata["llvm.loop"] for i in instructions if "llvm.loop" in i.metadata}
    while work:
        node = work.pop()
        if node not in reached and node in module.metadata:
            reached[node] = _REFERENCE.findall(module.metadata[node])
            work += reached[node]
    own = {n for n in (made.metadata.get("dbg"), *loops) if n in reached}
    grown = True
    while grown:
        more = {n for n, inner in reached.items() if n not in own and not own.isdisjoint(inner)}
        own |= more
        grown = bool(more)
    number = max((int(key[1:]) for key in module.metadata), default=-1) + 1
    renamed = {node: f"!{number + i}" for i, node in enumerate(n for n in reached if n in own)}
    for node, new in renamed.items():
        module.metadata[new] = _REFERENCE.sub(lambda m: renamed.get(m.group(), m.group()), module.metadata[node])
    holders: list[Function | Instruction] = [made, *instructions]
    for holder in holders:
        holder.metadata = {kind: renamed.get(node, node) for kind, node in holder.metadata.items()}
