"""A user's arguments held against the kernel's signature, before anything is packed: each mistake a sentence that names the argument.

The signature is the source's where it is known (``cuda/signatures.py``), else the IR's, which has no types behind pointers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelwright.cuda.names import readable
from kernelwright.errors import Misuse, check_kind
from kernelwright.ir.module import Function
from kernelwright.ir.types import IntType, PointerType

ELEMENTS: dict[str, str] = {
    "bool": "b1", "char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4",
    "unsigned int": "u4", "long": "i8", "unsigned long": "u8", "long long": "i8", "unsigned long long": "u8", "float": "f4",
    "double": "f8",
}  # fmt: skip
"""C's types as NumPy's. Whole numbers of one size may stand for each other, signed or not."""


def check_arguments(function: Function, types: Sequence[str], arguments: Sequence[Any]) -> None:
    """``types``: of the parameters, as C writes them; an empty text for any. Raises ``Misuse`` that names the first argument which
    does not fit, and what would."""
    parameters = function.arguments
    check_kind(
        arguments, (Sequence, np.ndarray), f"what kernel '{readable(function.name)}' is launched with",
        f"give a tuple of arguments: {_signature(function, types)}",
    )  # fmt: skip
    if len(arguments) != len(parameters):
        raise Misuse(
            f"kernel '{readable(function.name)}' takes {len(parameters)} arguments, {len(arguments)} were given",
            hint=f"give one per parameter, in the kernel's order: {_signature(function, types)}",
        )
    for number, (parameter, spelled, argument) in enumerate(zip(parameters, types, arguments, strict=True)):
        trouble = _trouble(parameter.type, spelled, argument)
        if trouble:
            what, remedy = trouble
            name = f"{parameter.name!r} (number {number})" if parameter.name else f"number {number}"
            wanted = spelled or str(parameter.type)
            raise Misuse(
                f"argument {name} of kernel '{readable(function.name)}' is {what}; the parameter is {wanted}",
                hint=remedy,
            )


def _signature(function: Function, types: Sequence[str]) -> str:
    parameters = zip(function.arguments, types, strict=True)
    return ", ".join(f"{spelled or p.type} {p.name}".strip() for p, spelled in parameters) or "none"


def _trouble(kind: object, spelled: str, argument: Any) -> tuple[str, str] | None:
    """What an argument is, and what to give instead; None where it fits, or where packing it will tell."""
    is_pointer = isinstance(kind, PointerType)
    element = spelled.removeprefix("const ").removesuffix("*")
    if isinstance(argument, np.ndarray):
        if not is_pointer:
            return _described(argument), "give one number: a[0], len(a), a.size"
        if not (argument.flags.c_contiguous or argument.flags.f_contiguous):
            return f"{_described(argument)}, which is not contiguous", "give numpy.ascontiguousarray(array)"
        return _wrong_elements(element if spelled.endswith("*") else "", argument)
    if isinstance(argument, list | tuple | str | bytearray | dict | set):
        dtype = np.dtype(ELEMENTS[element]).name if element in ELEMENTS else "float32"
        shown = f"a {type(argument).__name__}"
        if is_pointer and not isinstance(argument, str | dict | set):
            return shown, f"give an array, which the kernel can change in place: numpy.array(values, numpy.{dtype})"
        return shown, "give an array for a pointer, a number for a number, bytes for a struct"
    if argument is None:
        return None if is_pointer else ("None", "give a number")
    if isinstance(argument, bytes | np.void):
        return None
    if isinstance(argument, complex | np.complexfloating):
        return f"{argument!r}", "give its real and imaginary part, or an array of complex64"
    if not isinstance(argument, int | float | np.number | np.bool_):
        remedy = "give a NumPy array (numpy.asarray of it, if it is in this machine's memory) or a number"
        return f"a {type(argument).__module__}.{type(argument).__qualname__}".replace("a builtins.", "a "), remedy
    if is_pointer and argument != 0:
        return f"the number {argument!r}", "give an array, or None for a null pointer"
    if isinstance(kind, IntType) and isinstance(argument, float | np.floating):
        whole = float(argument).is_integer()
        return f"{argument!r}, a real number", f"give a whole number{f': {int(argument)}' if whole else ''}"
    return None


def _wrong_elements(element: str, array: np.ndarray[Any, Any]) -> tuple[str, str] | None:
    if element.endswith("*") or element not in ELEMENTS or array.dtype.hasobject or not array.dtype.isnative:
        return None  # unknown, or refused as it is placed
    wanted, have = np.dtype(ELEMENTS[element]), array.dtype
    whole = "iub"
    if have == wanted or (have.kind in whole and wanted.kind in whole and have.itemsize == wanted.itemsize):
        return None
    if have.names is not None or (wanted.kind == "f" and have.kind == "c" and have.itemsize == 2 * wanted.itemsize):
        return None  # structures, and pairs of real numbers
    return _described(array), f"give an array of {wanted.name}: array.astype(numpy.{wanted.name})"


def _described(array: np.ndarray[Any, Any]) -> str:
    return f"an array of {array.dtype.name}, shape {array.shape}"


def triple(what: str, extent: Any) -> tuple[int, int, int]:
    """A grid or a block, from one to three whole numbers. Raises ``Misuse`` that says which of both is wrong."""
    numbers = [extent] if isinstance(extent, int | float | np.number | str | bytes) else extent
    try:
        numbers = list(numbers)
    except TypeError:
        numbers = []
    remedy = f"give one to three whole numbers, as CUDA's dim3: {what}=256 or {what}=(16, 16)"
    if not 1 <= len(numbers) <= 3:
        raise Misuse(f"the {what} {extent!r} is not one to three numbers", hint=remedy)
    for each in numbers:
        if isinstance(each, bool) or not isinstance(each, int | np.integer):
            raise Misuse(
                f"the {what} {extent!r} has {each!r}, which is no whole number",
                hint=f"{remedy}; // divides whole numbers",
            )
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return x, y, z
