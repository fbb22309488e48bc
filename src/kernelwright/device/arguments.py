"""Arguments of a kernel as people write them, packed as the kernel finds them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from kernelwright.codegen.memory_layout import Parameter, parameter_layout
from kernelwright.cuda.names import readable
from kernelwright.errors import Misuse
from kernelwright.ir.module import Function
from kernelwright.ir.types import FloatType, IntType, PointerType

Value = int | float | np.generic | bytes
"""A number for a number, an address for a pointer, bytes for a struct passed by value."""


def pack(kernel: Function, arguments: Sequence[Value]) -> bytes:
    """The parameter buffer of a launch, pointers given as addresses; every value as wide as its parameter.

    Raises ``Misuse`` naming the argument that does not fit.
    """
    layout = parameter_layout(kernel)
    if len(arguments) != len(layout.parameters):
        raise Misuse(
            f"kernel '{readable(kernel.name)}' takes {len(layout.parameters)} arguments, {len(arguments)} were given",
            hint="give one per parameter, in the kernel's order",
        )
    parameters = bytearray(layout.size)
    for number, (parameter, argument) in enumerate(zip(layout.parameters, arguments, strict=True)):
        raw = _raw(parameter, argument)
        if raw is None or len(raw) != parameter.size:
            called = kernel.arguments[number].name
            name = f"{called!r} (number {number})" if called else f"{number}"
            raise Misuse(
                f"argument {name} of kernel '{readable(kernel.name)}' is {_shown(argument)}, the parameter is "
                f"{parameter.type} of {parameter.size} bytes",
                hint="give an array for a pointer, a number that fits for a number, bytes for a struct",
            )
        parameters[parameter.offset : parameter.offset + parameter.size] = raw
    return bytes(parameters)


def _raw(parameter: Parameter, argument: Value) -> bytes | None:
    """An argument's bytes as the parameter holds them; None when it cannot hold them."""
    if isinstance(argument, bytes):
        return argument
    if isinstance(argument, np.void):
        return argument.tobytes()
    kind, size = parameter.type, parameter.size
    if isinstance(kind, IntType | PointerType) and not isinstance(argument, float | np.inexact):
        number = int(argument)
        if not -(1 << (8 * size - 1)) <= number < 1 << (8 * size):
            return None
        return (number & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    code = {"half": "<e", "float": "<f", "double": "<d"}.get(kind.text) if isinstance(kind, FloatType) else None
    if code is None or isinstance(argument, np.complexfloating):
        return None
    try:
        return struct.pack(code, float(argument))
    except OverflowError:
        return None


def _shown(argument: object) -> str:
    if isinstance(argument, bytes):
        return f"{len(argument)} bytes"
    return f"{argument!r} ({type(argument).__name__})"
