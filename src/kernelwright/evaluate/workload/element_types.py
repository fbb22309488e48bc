"""What a buffer holds, as the kernel sees it: a recording is bytes, the kernel's loads and stores say which type.

A pointer parameter is followed through address arithmetic, casts, phis, selects and calls of device functions. When all
loads, stores and atomics through it agree on one scalar type, that is the type; when they do not, it has none, and the
buffer is compared byte by byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.ir import Function, GlobalVariable, Instruction, Value
from kernelwright.ir.constants import ConstantExpr
from kernelwright.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type, VectorType

_FLOATS = {"half": "<f2", "float": "<f4", "double": "<f8"}
# The sign of an integer is in the operations, not in its type; differences are the same either way for small values.
_INTEGERS = {8: "<i1", 16: "<i2", 32: "<i4", 64: "<i8"}
_SAME_POINTER = frozenset({"getelementptr", "addrspacecast", "bitcast", "phi", "select"})


def scalar_type(type: Type) -> np.dtype[Any] | None:
    """The NumPy type of a number, of a vector's or an array's elements, or of a struct whose fields agree; else None."""
    if isinstance(type, FloatType) and type.text in _FLOATS:
        return np.dtype(_FLOATS[type.text])
    if isinstance(type, IntType) and type.bits in _INTEGERS:
        return np.dtype(_INTEGERS[type.bits])
    if isinstance(type, VectorType | ArrayType):
        return scalar_type(type.element)
    if isinstance(type, StructType) and type.fields:
        kinds = {scalar_type(field) for field in type.fields}
        return kinds.pop() if len(kinds) == 1 else None
    return None


def parameter_types(kernel: Function) -> list[np.dtype[Any] | None]:
    """For each parameter of the kernel: the element type of the buffer it points to, None where it is not known."""
    return [_pointed_to(a, set()) if isinstance(a.type, PointerType) else None for a in kernel.arguments]


def variable_type(variable: GlobalVariable) -> np.dtype[Any] | None:
    """The element type of a device variable."""
    return scalar_type(variable.value_type)


def _pointed_to(value: Value, seen: set[Value]) -> np.dtype[Any] | None:
    kinds = {scalar_type(type) for type in _accessed(value, seen)}
    return kinds.pop() if len(kinds) == 1 else None


def _accessed(pointer: Value, seen: set[Value]) -> list[Type]:
    """The types of every access through ``pointer`` or a pointer made from it."""
    if pointer in seen:
        return []
    seen.add(pointer)
    found: list[Type] = []
    for use in pointer.uses:
        user = use.user
        if isinstance(user, ConstantExpr):
            found += _accessed(user, seen)
        elif isinstance(user, Instruction):
            found += _accessed_by(user, use.index, seen)
    return found


def _accessed_by(user: Instruction, index: int, seen: set[Value]) -> list[Type]:
    """The types that instruction ``user`` accesses through the pointer that is its operand ``index``."""
    opcode = user.opcode
    if opcode in _SAME_POINTER:
        return _accessed(user, seen)
    if opcode == "load":
        return [user.type]
    if opcode in ("store", "atomicrmw", "cmpxchg"):
        # The address is the last operand of a store and the first of an atomic; a pointer that is stored is data.
        address = 1 if opcode == "store" else 0
        return [user.operands[1 - address if opcode == "store" else 1].type] if index == address else []
    if opcode == "call":
        callee = user.callee
        if isinstance(callee, Function) and index < len(callee.arguments):
            return _accessed(callee.arguments[index], seen) if callee.blocks else _by_intrinsic(user, callee)
    return []


def _by_intrinsic(call: Instruction, callee: Function) -> list[Type]:
    """``llvm.nvvm.ldg`` and ``llvm.nvvm.ldu`` load what they return; others say nothing about types."""
    return [call.type] if callee.name.startswith(("llvm.nvvm.ldg.", "llvm.nvvm.ldu.")) else []
