"""Which flags an operation may carry."""

from __future__ import annotations

from kernelwright.ir.module import Instruction
from kernelwright.ir.opcodes import FLOAT_BINARY
from kernelwright.ir.rules import scalar, wrong
from kernelwright.ir.types import ArrayType, FloatType, StructType, Type

_FAST = frozenset(["fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"])
FLAGS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("add", "sub", "mul", "shl", "trunc"), frozenset(["nuw", "nsw"])),
    **dict.fromkeys(("udiv", "sdiv", "lshr", "ashr"), frozenset(["exact"])),
    "or": frozenset(["disjoint"]),
    "icmp": frozenset(["samesign"]),
    "zext": frozenset(["nneg"]),
    "uitofp": frozenset(["nneg"]),
    "getelementptr": frozenset(["inbounds", "nusw", "nuw"]),
    "alloca": frozenset(["inalloca", "swifterror"]),
    "cmpxchg": frozenset(["weak"]),
    **dict.fromkeys((*FLOAT_BINARY, "fneg", "fcmp", "fptrunc", "fpext"), _FAST),
    **dict.fromkeys(("phi", "select", "call"), _FAST),
}
"""The flags an opcode may carry. Fast-math flags on phi, select and call ask for a floating point result besides."""


def check_flags(i: Instruction) -> None:
    """Calls ``wrong`` for a flag the opcode does not have."""
    allowed = FLAGS.get(i.opcode, frozenset())
    for flag in i.flags:
        if flag not in allowed:
            wrong(f"'{i.opcode}' has no flag '{flag}'")
    if i.opcode in ("phi", "select", "call") and not is_floating(i.type):
        wrong(f"the flag '{i.flags[0]}' is for floating point results, not for {i.type}")


def is_floating(type: Type) -> bool:
    """Whether fast-math flags apply to results of the type: floats, vectors and arrays of them, structs of one kind."""
    while isinstance(type, ArrayType):
        type = type.element
    if isinstance(type, StructType):
        return bool(type.fields) and len(set(type.fields or ())) == 1 and is_floating((type.fields or ())[0])
    return isinstance(scalar(type), FloatType)
