"""Calls through pointers: which functions they may mean, as only the program knows.

    f = i ? square : cube; y = f(x);        of all functions whose address the module takes, those of this type

Such a call is one of its functions, chosen by comparing addresses, or a fault. The virtual GPU inlines them all, as it does what is
called by name. Virtual functions of a class are called so: their addresses are in its table.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.ir.constants import InlineAsm
from kernelwright.ir.module import Function, GlobalVariable, Instruction, Module
from kernelwright.ir.values import Value


def is_indirect(call: Instruction) -> bool:
    """Whether a call goes through a pointer."""
    return call.opcode == "call" and not isinstance(call.callee, Function | InlineAsm)


def meant_functions(call: Instruction) -> list[Function]:
    """The functions that a call through a pointer may mean, in the module's order."""
    function = call.function
    module = function.module if function is not None else None
    if module is None:
        return []
    types = [a.type for a in call.arguments]
    return [
        f for f in pointed_functions(module)
        if f.function_type.result == call.type and list(f.function_type.parameters) == types
    ]  # fmt: skip


def pointed_functions(module: Module) -> list[Function]:
    """The functions with a body, kernels apart, whose address something in the module holds."""
    kernels = set(module.kernels)
    found = {f for value in _held(module) for f in _functions_in(value)}
    return [f for f in module.functions.values() if f in found and f.blocks and f not in kernels]


def _held(module: Module) -> Iterator[Value]:
    """What instructions use otherwise than by calling it, and what variables begin with."""
    for function in module.functions.values():
        for i in function.instructions():
            yield from (
                v for v in (i.operands[:-1] if i.opcode == "call" else i.operands) if not isinstance(v, Instruction)
            )
    for variable in module.globals.values():
        yield from variable.operands


def _functions_in(value: Value) -> Iterator[Function]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Function):
            yield one
        elif one.is_composed and not isinstance(one, GlobalVariable):
            waiting += one.operands
