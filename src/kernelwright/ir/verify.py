"""Our own verifier: structure, types and dominance, with the IR line and a caret in the message.

Runs at the seams, before text is handed to LLVM: LLVM ends the process on some modules this refuses with a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NoReturn

from kernelwright.errors import IRError, Place
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantAggregate, ConstantExpr, MetadataOperand
from kernelwright.ir.control_flow import Dominators
from kernelwright.ir.flags import check_flags
from kernelwright.ir.module import Argument, BasicBlock, Function, GlobalVariable, Instruction, Module
from kernelwright.ir.rules import RULES, UNREAD, Wrong, gep_type, scalar, wrong
from kernelwright.ir.text.printer import global_line, instruction_line, local_names, print_module
from kernelwright.ir.values import ForwardValue, Names, Value

_HINT = "LLVM would refuse this IR: undo or repair the change that made this line"


def verify(module: Module) -> None:
    """Raise ``IRError`` at the first thing in ``module`` that is no valid IR; do nothing when all is well."""
    for name, variable in module.globals.items():
        _check_global(module, name, variable)
    for name, function in module.functions.items():
        if function.name != name or function.module is not module:
            _fail_entity(module, f"@{name}", f"the function listed as '{name}' is named '{function.name}' or elsewhere")
        verify_function(function)


def verify_function(function: Function) -> None:
    """``verify`` for one function."""
    _check_signature(function)
    if not function.blocks:
        return
    _check_blocks(function)
    dominators = Dominators(function)
    place = {i: n for block in function.blocks for n, i in enumerate(block.instructions)}
    edges: dict[BasicBlock, Counter[BasicBlock]] = {block: Counter() for block in function.blocks}
    for block in function.blocks:
        for successor in block.successors:
            edges[successor][block] += 1
    members = set(function.blocks)
    for block in function.blocks:
        for i in block.instructions:
            try:
                _check_type(i)
                _check_operands(i, function, members, dominators, place)
                if i.opcode == "phi":
                    _check_phi(i, edges[block])
            except Wrong as error:
                _fail(i, str(error), error.operand)


# -- parts


def _check_global(module: Module, name: str, variable: GlobalVariable) -> None:
    initializer = variable.initializer
    if variable.name != name or variable.module is not module:
        _fail_entity(module, f"@{name}", f"the global listed as '{name}' is named '{variable.name}' or elsewhere")
    if initializer is None:
        return
    wanted = variable.type if variable.kind in ("alias", "ifunc") else variable.value_type
    line = global_line(variable, Names())
    if initializer.type is not wanted:
        message = f"the initializer must have type {wanted} but has type {initializer.type}"
        raise IRError(message, place=_place(module, line, 1), hint=_HINT)
    try:
        _check_constant(initializer, module)
    except Wrong as error:
        raise IRError(str(error), place=_place(module, line, 1), hint=_HINT) from None


def _check_signature(function: Function) -> None:
    types = tuple(a.type for a in function.arguments)
    if types != function.function_type.parameters:
        _fail_entity(function.module, f"@{function.name}", f"@{function.name} has arguments that differ from its type")
    for i, argument in enumerate(function.arguments):
        if argument.function is not function or argument.index != i:
            _fail_entity(function.module, f"@{function.name}", f"argument {i} of @{function.name} belongs elsewhere")


def _check_blocks(function: Function) -> None:
    """Every block is in this function, phis come first, one terminator comes last, nothing leads back to the entry."""
    names: set[str] = set()
    values: list[Value] = [*function.arguments, *function.blocks, *function.instructions()]
    for value in values:
        if value.name and value.name in names:
            message = f"the name %{value.name} is taken twice in @{function.name}"
            _fail_value(function, value, message)
        names.add(value.name)
    members = set(function.blocks)
    for block in function.blocks:
        if block.parent is not function:
            _fail_entity(function.module, f"@{function.name}", f"a block of @{function.name} believes it is elsewhere")
        if block.terminator is None:
            _fail_value(function, block, "this block does not end in a terminator")
        body = False
        for i in block.instructions:
            if i.parent is not block:
                _fail(i, "this instruction is listed in a block that is not its parent")
            if i.opcode == "phi" and body:
                _fail(i, "a phi must come before the other instructions of its block")
            body = body or i.opcode != "phi"
            if i.is_terminator and i is not block.instructions[-1]:
                _fail(i, f"'{i.opcode}' ends a block, but instructions follow it")
            for successor in i.successors:
                if successor not in members:
                    _fail(i, f"'{i.opcode}' leads to a block that is not in @{function.name}")
                if successor is function.entry:
                    _fail(i, "no branch may lead back to the entry block")
    for i in function.entry.instructions:
        if i.opcode == "phi":
            _fail(i, "the entry block has no predecessors, so it can have no phi")


def _check_type(i: Instruction) -> None:
    if i.is_opaque:
        if i.opcode not in UNREAD:
            wrong(f"'{i.opcode}' is no instruction of LLVM")
        return
    rule = RULES.get(i.opcode)
    if rule is None:
        wrong(f"'{i.opcode}' is no instruction of LLVM")
    try:
        rule(i)
    except AttributeError as error:  # a field the opcode needs was never given
        wrong(str(error))
    if i.flags:
        check_flags(i)
    if "range" in i.metadata:
        _check_range(i)


def _check_range(i: Instruction) -> None:
    """``!range !{i8 0, i8 2}`` speaks of the type of the result."""
    function = i.function
    module = function.module if function is not None else None
    node = i.metadata["range"]
    text = module.metadata.get(node, node) if module is not None else node
    if not text.startswith(f"!{{{scalar(i.type)} "):
        wrong(f"the range {text} is not one of values of type {i.type}")


def _check_operands(
    i: Instruction,
    function: Function,
    members: set[BasicBlock],
    dominators: Dominators,
    place: dict[Instruction, int],
) -> None:
    """Operands live here and are defined before they are used."""
    for index, value in enumerate(i.operands):
        if isinstance(value, Instruction):
            if value.parent not in members or value not in place:
                wrong(f"operand {index} is an instruction that is not in @{function.name}", index)
            if not value.has_result:
                wrong(f"operand {index} is a '{value.opcode}', which makes no value", index)
            if not _is_before(value, i, index, dominators, place):
                wrong("this operand is not defined on every way that leads here", index)
        elif isinstance(value, Argument):
            if value.function is not function:
                wrong(f"operand {index} is an argument of another function", index)
        elif isinstance(value, ForwardValue | BasicBlock):
            wrong(f"operand {index} is no value", index)
        elif value.is_constant:
            _check_constant(value, function.module, index, function)


def _is_before(
    value: Instruction, user: Instruction, index: int, dominators: Dominators, place: dict[Instruction, int]
) -> bool:
    """``Dominators.reaches_operand`` with the positions at hand."""
    if user.opcode == "phi" or value.parent is not user.parent:
        return dominators.reaches_operand(value, user, index)
    assert user.parent is not None
    return place[value] < place[user] or not dominators.is_reachable(user.parent)


def _check_constant(
    value: Value, module: Module | None, index: int | None = None, home: Function | None = None
) -> None:
    """Globals belong to the module; expressions and aggregates fit together."""
    if isinstance(value, Function | GlobalVariable):
        if value.module is not module:
            wrong(f"@{value.name} is not in this module", index)
        return
    if isinstance(value, ConstantExpr):
        if value.opcode == "getelementptr" and value.source_type is not None:
            try:
                found = gep_type(value.source_type, value.operands)
            except Wrong as error:
                wrong(str(error), index)
            if found is not value.type:
                wrong(f"this constant 'getelementptr' has type {found}, not {value.type}", index)
    elif isinstance(value, ConstantAggregate):
        _check_elements(value, index)
    if value.is_composed and not isinstance(value, MetadataOperand):
        for operand in value.operands:
            if not operand.is_constant:
                wrong("a constant can only be made of constants", index)
            _check_constant(operand, module, index, home)


def _check_elements(value: ConstantAggregate, index: int | None) -> None:
    """An aggregate has the elements its type asks for."""
    type = value.type
    if isinstance(type, ty.StructType):
        wanted = type.fields or ()
    elif isinstance(type, ty.ArrayType | ty.VectorType):
        wanted = (type.element,) * type.count
    else:
        wrong(f"{type} is no aggregate", index)
    if tuple(v.type for v in value.operands) != wanted:
        wrong(f"the elements of this constant do not fit its type {type}", index)


def _check_phi(i: Instruction, edges: Counter[BasicBlock]) -> None:
    """One value per incoming edge; the same value for edges from the same block."""
    given = Counter(i.blocks)
    for block in given | edges:
        if given[block] != edges[block]:
            name = block.name or "a numbered block"
            wrong(f"this phi has {given[block]} values for {name}, from which {edges[block]} edges come")
    seen: dict[BasicBlock, Value] = {}
    for index, (value, block) in enumerate(i.incoming):
        if seen.setdefault(block, value) is not value:
            wrong("this phi has two different values for the same block", index)


# -- errors


def _fail(i: Instruction, message: str, operand: int | None = None) -> NoReturn:
    """Point at an instruction, or at one of its operands."""
    function = i.function
    names = local_names(function) if function is not None else Names()
    line = "  " + instruction_line(i, names)
    column = 3 if operand is None else _column(i, line, names, operand)
    module = function.module if function is not None else None
    name = function.name if function is not None else None
    raise IRError(message, place=_place(module, line, column, name), hint=_HINT)


def _column(i: Instruction, line: str, names: Names, operand: int) -> int:
    """Where operand ``operand`` stands in the line: its text, taken as often as it has appeared in operands before."""
    order = list(range(len(i.operands)))
    if i.opcode == "call":
        order = [order[-1], *order[:-1]]
    at = line.find(" = ") + 3 if i.has_result else 2
    for index in order:
        text = re.escape(names[i.operands[index]])
        if i.opcode in ("phi",):
            text = rf"(?<=\[ ){text}"
        found = re.compile(rf"(?<![\w.$%@-]){text}(?![\w$-])").search(line, at)
        if found is None:
            return 3
        if index == operand:
            return found.start() + 1
        at = found.end()
    return 3


def _fail_value(function: Function, value: Value, message: str) -> NoReturn:
    """Point at the line of an instruction, or of a block's label, or at the function."""
    if isinstance(value, Instruction):
        _fail(value, message)
    if isinstance(value, BasicBlock):
        label = local_names(function)[value][1:] + ":"
        raise IRError(message, place=_place(function.module, label, 1, function.name, prefix=True), hint=_HINT)
    _fail_entity(function.module, f"@{function.name}", message)


def _fail_entity(module: Module | None, name: str, message: str) -> NoReturn:
    raise IRError(message, place=Place(_file(module, name)), hint=_HINT)


def _file(module: Module | None, name: str | None) -> str:
    source = (module.source_filename if module is not None else "") or "<ir>"
    return f"{source} (IR of {name})" if name else f"{source} (IR)"


def _place(
    module: Module | None, line: str, column: int, function: str | None = None, *, prefix: bool = False
) -> Place:
    """The place of a line in the printed module: the first such line at or after the start of the function."""
    shown = line.split("\n")[0]
    number = 0
    if module is not None:
        start = function is None
        for n, text in enumerate(print_module(module).split("\n"), 1):
            start = start or (text.startswith("define") and f"@{function}(" in text)
            if start and (text.startswith(shown) if prefix else text == shown):
                number = n
                shown = text
                break
    return Place(_file(module, f"@{function}" if function else None), number, column, shown)
