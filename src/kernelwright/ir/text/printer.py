"""A ``Module`` to LLVM-IR text, as LLVM prints it: one table from opcode to the words of a line.

Numbered values are numbered anew at each printing, by LLVM's rule: arguments, then block after block the block itself and
its results, unnamed ones only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantExpr, typed
from kernelwright.ir.module import BasicBlock, Function, GlobalVariable, Instruction, Module
from kernelwright.ir.opcodes import CASTS, FLOAT_BINARY, INTEGER_BINARY
from kernelwright.ir.text.tokens import escape, global_reference, quoted
from kernelwright.ir.values import Names

_STRING_ATTRIBUTE = re.compile(r' ?"[^"]*"(?:="[^"]*")?')


def local_names(function: Function) -> Names:
    """How each argument, block and result of a function is written as an operand (``%x``, ``%12``)."""
    names = Names()
    number = 0
    void = ty.void
    for argument in function.arguments:
        if argument.name:
            names[argument] = "%" + quoted(argument.name)
        else:
            names[argument] = f"%{number}"
            number += 1
    for block in function.blocks:
        if block.name:
            names[block] = "%" + quoted(block.name)
        else:
            names[block] = f"%{number}"
            number += 1
        for instruction in block.instructions:
            if instruction.type is void:
                continue
            if instruction.name:
                names[instruction] = "%" + quoted(instruction.name)
            else:
                names[instruction] = f"%{number}"
                number += 1
    return names


# -- instructions


def _flags(i: Instruction) -> str:
    return f"{i.opcode} {' '.join(i.flags)} " if i.flags else i.opcode + " "


def _binary(i: Instruction, n: Names) -> str:
    left, right = i._operands
    return f"{_flags(i)}{left.type.text} {n[left]}, {n[right]}"


def _plain(i: Instruction, n: Names) -> str:
    return _flags(i) + ", ".join([f"{v.type.text} {n[v]}" for v in i._operands])


def _compare(i: Instruction, n: Names) -> str:
    left, right = i._operands
    return f"{_flags(i)}{i.predicate} {left.type.text} {n[left]}, {n[right]}"


def _cast(i: Instruction, n: Names) -> str:
    value = i._operands[0]
    return f"{_flags(i)}{value.type.text} {n[value]} to {i.type.text}"


def _phi(i: Instruction, n: Names) -> str:
    pairs = [f"[ {n[v]}, {n[b]} ]" for v, b in zip(i._operands, i.blocks, strict=True)]
    return f"{_flags(i)}{i.type.text} {', '.join(pairs)}"


def _getelementptr(i: Instruction, n: Names) -> str:
    return f"{_flags(i)}{i.source_type.text}, " + ", ".join([f"{v.type.text} {n[v]}" for v in i._operands])


def _alloca(i: Instruction, n: Names) -> str:
    text = _flags(i) + i.allocated_type.text
    for value in i._operands:
        text += f", {typed(value, n)}"
    if i.align:
        text += f", align {i.align}"
    return f"{text}, addrspace({i.address_space})" if i.address_space else text


def _memory_words(i: Instruction) -> str:
    words = f"{i.opcode} atomic" if i.ordering and i.opcode in ("load", "store") else i.opcode
    return f"{words} volatile " if i.volatile else words + " "


def _memory_end(i: Instruction) -> str:
    text = ""
    if i.syncscope:
        text += f' syncscope("{i.syncscope}")'
    if i.ordering:
        text += f" {i.ordering}"
    if i.opcode == "cmpxchg":
        text += f" {i.failure_ordering}"
    return f"{text}, align {i.align}" if i.align else text


def _load(i: Instruction, n: Names) -> str:
    pointer = i._operands[0]
    return f"{_memory_words(i)}{i.type.text}, {pointer.type.text} {n[pointer]}{_memory_end(i)}"


def _store(i: Instruction, n: Names) -> str:
    value, pointer = i._operands
    return f"{_memory_words(i)}{value.type.text} {n[value]}, {pointer.type.text} {n[pointer]}{_memory_end(i)}"


def _fence(i: Instruction, n: Names) -> str:
    return "fence" + _memory_end(i)


def _atomicrmw(i: Instruction, n: Names) -> str:
    return f"{_memory_words(i)}{i.operation} " + ", ".join([typed(v, n) for v in i._operands]) + _memory_end(i)


def _cmpxchg(i: Instruction, n: Names) -> str:
    volatile = "volatile " if i.volatile else ""
    return f"{_flags(i)}{volatile}" + ", ".join([typed(v, n) for v in i._operands]) + _memory_end(i)


def _indexed(i: Instruction, n: Names) -> str:
    return _plain(i, n) + "".join([f", {index}" for index in i.indices])


def _call(i: Instruction, n: Names) -> str:
    words = [i.tail] if i.tail else []
    words.append("call")
    words += i.flags
    if i.calling_convention:
        words.append(i.calling_convention)
    if i.return_attributes:
        words.append(i.return_attributes)
    # LLVM writes the whole function type only when it is needed to know the parameters.
    words.append(i.function_type.text if i.function_type.variadic else i.type.text)
    arguments = ", ".join(
        [
            f"{v.type.text} {a} {n[v]}" if a else f"{v.type.text} {n[v]}"
            for v, a in zip(i._operands, i.argument_attributes, strict=False)
        ]
    )
    text = f"{' '.join(words)} {n[i._operands[-1]]}({arguments})"
    if i.call_attributes:
        text += " " + i.call_attributes
    return f"{text} [ {_bundles(i, n)} ]" if i.bundles else text


def _bundles(i: Instruction, n: Names) -> str:
    at = len(i.argument_attributes)
    texts = []
    for tag, count in i.bundles:
        texts.append(f'"{tag}"({", ".join([typed(v, n) for v in i._operands[at : at + count]])})')
        at += count
    return ", ".join(texts)


def _return(i: Instruction, n: Names) -> str:
    return f"ret {typed(i._operands[0], n)}" if i._operands else "ret void"


def _branch(i: Instruction, n: Names) -> str:
    labels = ", ".join([f"label {n[b]}" for b in i.successors])
    return f"br i1 {n[i._operands[0]]}, {labels}" if i._operands else f"br {labels}"


def _switch(i: Instruction, n: Names) -> str:
    lines = [f"switch {typed(i._operands[0], n)}, label {n[i.successors[0]]} ["]
    lines += [f"    {typed(c, n)}, label {n[b]}" for c, b in zip(i.cases, i.successors[1:], strict=True)]
    return "\n".join([*lines, "  ]"])


def _unreachable(i: Instruction, n: Names) -> str:
    return "unreachable"


def _va_arg(i: Instruction, n: Names) -> str:
    return f"va_arg {typed(i._operands[0], n)}, {i.type.text}"


def _opaque(i: Instruction, n: Names) -> str:
    """The kept words with the names put back: a piece that ends in ``label`` is followed by a block."""
    operands, successors = iter(i._operands), iter(i.successors)
    text = i.opcode
    for piece in i.text[:-1]:
        text += piece + (n[next(successors)] if piece.endswith("label ") else n[next(operands)])
    return text + i.text[-1]


PRINTERS: dict[str, Callable[[Instruction, Names], str]] = {
    **dict.fromkeys(INTEGER_BINARY + FLOAT_BINARY, _binary),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(("fneg", "freeze", "select", "extractelement", "insertelement", "shufflevector"), _plain),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys(("extractvalue", "insertvalue"), _indexed),
    "phi": _phi,
    "getelementptr": _getelementptr,
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "fence": _fence,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "call": _call,
    "ret": _return,
    "br": _branch,
    "switch": _switch,
    "unreachable": _unreachable,
    "va_arg": _va_arg,
}


def _body(i: Instruction, n: Names) -> str:
    """What stands after ``%x =``. A broken instruction is still shown: ``verify`` prints it, and LLVM refuses it."""
    if i.text:
        return _opaque(i, n)
    try:
        return PRINTERS[i.opcode](i, n)
    except (KeyError, ValueError, IndexError, AttributeError):
        return f"{_flags(i)}<broken> {', '.join([typed(v, n) for v in i._operands])}"


def instruction_line(i: Instruction, names: Names) -> str:
    """The line of an instruction, without indentation."""
    text = _body(i, names)
    if i.type is not ty.void:
        text = f"{names[i]} = {text}"
    for kind, node in i.metadata.items():
        text += f", !{kind} {node}"
    return text


def print_instruction(instruction: Instruction) -> str:
    """The line of one instruction with the names it has in its function."""
    function = instruction.function
    return instruction_line(instruction, local_names(function) if function is not None else Names())


# -- functions


def _label(block: BasicBlock, names: Names, predecessors: dict[BasicBlock, list[str]]) -> str:
    """``name:``, with LLVM's comment on the predecessors at column 50."""
    text = names[block][1:] + ":"
    before = predecessors.get(block)
    comment = f"; preds = {', '.join(reversed(before))}" if before else "; No predecessors!"
    return f"{text:<50}{comment}" if len(text) < 50 else f"{text} {comment}"


def _signature(function: Function, names: Names) -> str:
    words = [function.linkage, function.visibility, function.calling_convention, function.return_attributes]
    words = [w for w in words if w]
    words.append(function.function_type.result.text)
    parameters = []
    for a in function.arguments:
        parts = [a.type.text, a.attributes] if a.attributes else [a.type.text]
        if function.blocks or a.name:
            parts.append(names[a])
        parameters.append(" ".join(parts))
    if function.function_type.variadic:
        parameters.append("...")
    text = f"{' '.join(words)} {global_reference(function.name)}({', '.join(parameters)})"
    return f"{text} {function.attributes}" if function.attributes else text


def _write_function(function: Function, lines: list[str]) -> None:
    names = local_names(function)
    comment = _attribute_comment(function)
    if comment:
        lines.append(f"; Function Attrs: {comment}")
    attachments = "".join([f" !{kind} {node}" for kind, node in function.metadata.items()])
    if not function.blocks:
        lines.append(f"declare{attachments} {_signature(function, names)}")
        return
    lines.append(f"define {_signature(function, names)}{attachments} {{")
    predecessors: dict[BasicBlock, list[str]] = {}
    for block in function.blocks:
        for successor in block.successors:
            predecessors.setdefault(successor, []).append(names[block])
    append = lines.append
    entry = function.blocks[0]
    for block in function.blocks:
        if block is not entry:
            append("")
            append(_label(block, names, predecessors))
        elif block.name:
            append(names[block][1:] + ":")
        for i in block.instructions:
            text = instruction_line(i, names)
            append("  " + text if text[0] != "#" else "    " + text)  # debug records stand further in
    append("}")


def _attribute_comment(function: Function) -> str:
    """The words of the function's attribute group that are no strings, as LLVM repeats them above a function."""
    if function.module is None:
        return ""
    for word in function.attributes.split():
        if word[0] == "#":
            return _STRING_ATTRIBUTE.sub("", function.module.attribute_groups.get(word, "")).strip()
    return ""


def print_function(function: Function) -> str:
    """The text of one function."""
    lines: list[str] = []
    _write_function(function, lines)
    return "\n".join(lines) + "\n"


# -- module


def global_line(variable: GlobalVariable, names: Names) -> str:
    """The line of a global variable, constant, alias or ifunc."""
    external = not variable.operands and not variable.linkage
    words = ["external" if external else variable.linkage, variable.visibility, variable.prefix]
    if variable.address_space:
        at = -1 if variable.prefix.endswith("externally_initialized") else len(words)
        words = _with_address_space(words, variable, at)
    words.append(variable.kind)
    text = f"{global_reference(variable.name)} = {' '.join(w for w in words if w)} {variable.value_type.text}"
    if variable.initializer is not None:
        value = variable.initializer
        if variable.kind in ("alias", "ifunc"):
            text += f", {names[value]}" if isinstance(value, ConstantExpr) else f", {typed(value, names)}"
        else:
            text += f" {names[value]}"
    if variable.suffix:
        text += variable.suffix
    if variable.align:
        text += f", align {variable.align}"
    for kind, node in variable.metadata.items():
        text += f", !{kind} {node}"
    return text


def _with_address_space(words: list[str], variable: GlobalVariable, at: int) -> list[str]:
    """``addrspace(n)`` stands before ``externally_initialized``, after every other word."""
    place = f"addrspace({variable.address_space})"
    if at < 0:
        before = words[-1].removesuffix("externally_initialized").strip()
        return [*words[:-1], before, place, "externally_initialized"]
    return [*words, place]


def print_module(module: Module) -> str:
    """The text of a module; ``parse_module`` reads it back."""
    lines = [line for line in module.header if line.startswith(";")]
    if module.source_filename:
        lines.append(f'source_filename = "{escape(module.source_filename.encode("utf-8", "surrogateescape"))}"')
    if module.data_layout:
        lines.append(f'target datalayout = "{module.data_layout}"')
    if module.target_triple:
        lines.append(f'target triple = "{module.target_triple}"')
    assembly = [line for line in module.header if line.startswith("module asm")]
    _section(lines, assembly)
    _section(lines, [f"%{quoted(name)} = type {t.definition}" for name, t in module.named_types.items()])
    for name, rest in module.comdats.items():
        lines += ["", f"${quoted(name)} = {rest}"]
    names = Names()
    plain = [g for g in module.globals.values() if g.kind in ("global", "constant")]
    others = [g for g in module.globals.values() if g.kind not in ("global", "constant")]
    _section(lines, [global_line(g, names) for g in plain])
    _section(lines, [global_line(g, names) for g in others])
    for function in module.functions.values():
        lines.append("")
        _write_function(function, lines)
    _section(lines, [f"attributes {key} = {{ {text} }}" for key, text in module.attribute_groups.items()])
    _section(lines, [f"!{name} = {text}" for name, text in module.named_metadata.items()])
    _section(lines, [f"{key} = {text}" for key, text in module.metadata.items()])
    lines += [line for line in module.header if line.startswith("uselistorder")]
    return "\n".join(lines) + "\n"


def _section(lines: list[str], found: list[str]) -> None:
    if found:
        lines.append("")
        lines += found


# Defined here, above the classes, because printing needs all of them; ``kernelwright.ir`` always imports this file.
Instruction.__str__ = print_instruction  # type: ignore[assignment,method-assign]
Function.__str__ = print_function  # type: ignore[assignment,method-assign]
Module.__str__ = print_module  # type: ignore[assignment,method-assign]

__all__ = ["instruction_line", "local_names", "print_function", "print_instruction", "print_module"]
