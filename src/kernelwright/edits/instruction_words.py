"""Instructions and values in words, as a person who reads the source would say them.

describe_instruction(original, 12)                   "the load at blur.cu:19", and that location
describe_operand(original, 12, 0)      "%in"
describe_argument(original, 3)                "'resistance_x'"
describe_value("float 0x403AAAAAA0000000")    "26.666666"
"""

from __future__ import annotations

import re
import struct

from kernelwright.edits.barriers import is_barrier
from kernelwright.edits.original import Id, Node, Original
from kernelwright.ir import Function, Location
from kernelwright.lazy_dataclasses import dataclass

CHANGES = (
    "removed barrier",
    "redundant store",
    "redundant load",
    "redundant work",
    "repeated work",
    "condition",
    "skipped iterations",
    "reused value",
    "unused value",
    "specialised constant",
    "specialised input",
    "promise",
    "order",
    "precision",
    "caching",
    "compile recipe",
)
"""The kinds of change that people who studied evolved kernels found (paper 000, section 6)."""


@dataclass(frozen=True)
class Words:
    """``kind`` is one of ``CHANGES``; ``location`` is the source line that the edit is about, where one is known."""

    kind: str
    sentence: str
    location: Location | None = None

    @property
    def place(self) -> str:
        """``blur.cu:19``, or nothing."""
        return _at(self.location)


_NOUNS = {
    "br": "branch", "icmp": "comparison", "fcmp": "comparison", "getelementptr": "address", "phi": "phi", "select": "choice",
    "add": "addition", "fadd": "addition", "sub": "subtraction", "fsub": "subtraction", "mul": "multiplication",
    "fmul": "multiplication", "sdiv": "division", "udiv": "division", "fdiv": "division", "srem": "remainder",
    "urem": "remainder", "frem": "remainder", "shl": "shift", "lshr": "shift", "ashr": "shift", "fneg": "negation",
    "zext": "widening", "sext": "widening", "fpext": "widening", "trunc": "narrowing", "fptrunc": "narrowing",
    "sitofp": "conversion", "uitofp": "conversion", "fptosi": "conversion", "fptoui": "conversion", "atomicrmw": "atomic",
    "cmpxchg": "atomic",
}  # fmt: skip
"""Opcodes in words; others are called what they are."""
_INTRINSICS = {
    f"llvm.nvvm.read.ptx.sreg.{register}.{axis}": f"{name}.{axis}"
    for register, name in {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim", "nctaid": "gridDim"}.items()
    for axis in "xyz"
}
_FLOATS = {"float": "<f", "double": "<d"}
_NO_NAME = re.compile(r"a?\d+")
"""What an argument is called that has no name in the source."""


def describe_instruction(original: Original, id: Id) -> tuple[str, Location | None]:
    """An instruction as a person would point at it, and its location."""
    node = original.nodes.get(id)
    if node is None:
        return "a copied instruction", None
    location = original.location(id)
    at = _at(location)
    return f"the {_noun(node)}{f' at {at}' if at else f' {node.result}' if node.result else ''}", location


def _noun(node: Node) -> str:
    instruction = node.instruction
    if is_barrier(instruction):
        return "barrier"
    callee = instruction.callee if instruction.opcode == "call" else None
    if isinstance(callee, Function):
        return _INTRINSICS.get(callee.name) or f"call of {callee.name.removeprefix('llvm.')}"
    return _NOUNS.get(instruction.opcode, instruction.opcode)


def describe_operand(original: Original, id: Id, index: int) -> str:
    """An operand in words; *another value* where the original has none there."""
    node = original.nodes.get(id)
    if node is None or index >= len(node.operands):
        return "another value"
    return describe_value(f"{node.operand_types[index]} {node.operands[index]}")


def describe_argument(original: Original, index: int) -> str:
    """An argument by its name in the source, or by its number."""
    arguments = original.function.arguments
    name = original.names[arguments[index]].lstrip("%") if index < len(arguments) else ""
    return name if name and not _NO_NAME.fullmatch(name) else f"argument {index}"


def describe_value(value: str) -> str:
    """A constant without its type; floats as people write them, with as many digits as tell them from their neighbours.

    before   ``float 0x403AAAAAA0000000``
    after    ``26.666666``
    """
    type, _, text = value.partition(" ")
    if type in _FLOATS and not text.startswith("%"):
        number = _float(text)
        return text if number is None else _shortest(number, _FLOATS[type])
    return text or value


def _shortest(number: float, form: str) -> str:
    for digits in range(1, 17):
        text = f"{number:.{digits}g}"
        try:
            if struct.pack(form, float(text)) == struct.pack(form, number):
                return repr(float(text)).removesuffix(".0")
        except OverflowError:  # rounded up, it is more than a float can be
            continue
    return repr(number)


def _float(text: str) -> float | None:
    try:
        return (
            float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0]) if text.startswith("0x") else float(text)
        )
    except (ValueError, struct.error):
        return None


def _at(location: Location | None) -> str:
    return f"{location.file.rsplit('/', 1)[-1]}:{location.line}" if location is not None and location.line else ""
