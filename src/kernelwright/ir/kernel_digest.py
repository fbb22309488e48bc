"""Whether two modules hold the same kernel, whatever else is in them.

    kernel_digest(module, "_Z6smoothPKfPfiii") == kernel_digest(other, "_Z6smoothPKfPfiii")

What counts is the kernel and what it reaches: functions it calls, variables it names. Names of values, debug information, metadata
nodes, numbers of attribute groups, the processor that the module is for and other kernels do not.
"""

from __future__ import annotations

import hashlib
import re

from kernelwright.ir.module import Function, GlobalVariable, Module
from kernelwright.ir.text.canonical import canonical
from kernelwright.ir.text.printer import global_line, print_function
from kernelwright.ir.values import Names, Value

_COMMENT = re.compile(r"^;.*\n", re.MULTILINE)
_GROUP = re.compile(r" #\d+\b")
_ATTACHED = re.compile(r",? ![\w.]+ !\d+")


def kernel_digest(module: Module, kernel: str) -> str:
    """Equal for equal kernels. Raises ``KeyError`` for a kernel that the module does not define."""
    made = hashlib.sha256()
    for value in _reached(module.functions[kernel]):
        made.update(_text(value).encode("utf-8", "surrogateescape"))
        made.update(b"\0")
    return made.hexdigest()


def reached_variables(module: Module, kernel: str) -> frozenset[str]:
    """Variables that a kernel uses, or that what it calls uses. Raises ``KeyError`` for a kernel that is not defined."""
    return frozenset(v.name for v in _reached(module.functions[kernel]) if isinstance(v, GlobalVariable))


def _text(value: Function | GlobalVariable) -> str:
    text = global_line(value, Names()) if isinstance(value, GlobalVariable) else print_function(value)
    return canonical(_ATTACHED.sub("", _GROUP.sub("", _COMMENT.sub("", text))))


def _reached(kernel: Function) -> list[Function | GlobalVariable]:
    """The kernel, and every function and variable that it uses or that those use, in the order they are met."""
    found: dict[Function | GlobalVariable, None] = {kernel: None}
    waiting: list[Function | GlobalVariable] = [kernel]
    while waiting:
        for value in _named_by(waiting.pop()):
            if value not in found:
                found[value] = None
                waiting.append(value)
    return list(found)


def _named_by(value: Function | GlobalVariable) -> list[Function | GlobalVariable]:
    """Functions and variables among its operands, also inside constants."""
    operands: list[Value] = list(value.operands)
    if isinstance(value, Function):
        operands = [operand for instruction in value.instructions() for operand in instruction.operands]
    found: list[Function | GlobalVariable] = []
    while operands:
        operand = operands.pop(0)
        if isinstance(operand, Function | GlobalVariable):
            found.append(operand)
        elif operand.is_composed:
            operands += operand.operands
    return found
