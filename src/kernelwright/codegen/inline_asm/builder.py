"""Makes IR out of PTX registers: the builder that ``ptx_instructions`` writes with."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import field

from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantFloat, ConstantInt, zero
from kernelwright.ir.module import Function, Instruction
from kernelwright.ir.types import FloatType, FunctionType, IntType, PointerType, Type, VectorType
from kernelwright.ir.values import Value
from kernelwright.lazy_dataclasses import dataclass


class UnknownPtx(Exception):
    """A PTX instruction or operand that has no translation."""


@dataclass
class Guarded:
    """Instructions that only the threads run for which a condition holds."""

    condition: Value
    instructions: list[Instruction]


Step = Instruction | Guarded


@dataclass
class Builder:
    """Makes IR instructions and knows what each PTX register holds."""

    steps: list[Step] = field(default_factory=list)
    inside: Guarded | None = None
    """What instructions are put into at present instead."""
    registers: dict[str, Value] = field(default_factory=dict)
    kinds: dict[str, Type] = field(default_factory=dict)
    """The type of each register that was declared or is an output."""
    carry: Value | None = None
    """The carry or borrow of the last ``.cc`` instruction, as ``i1``."""

    def make(self, opcode: str, type: Type, *operands: Value, **fields: object) -> Instruction:
        """Appends a new instruction with result type ``type``, inside the open guard if there is one, and returns it."""
        made = Instruction(opcode, type, operands, **fields)  # type: ignore[arg-type]
        (self.steps if self.inside is None else self.inside.instructions).append(made)
        return made

    def call(self, name: str, result: Type, *arguments: Value) -> Instruction:
        """A call of an intrinsic."""
        kind = FunctionType(result, tuple(a.type for a in arguments))
        return self.make(
            "call", result, *arguments, Function(name, kind),
            function_type=kind, argument_attributes=("",) * len(arguments),
        )  # fmt: skip

    def compare(self, predicate: str, a: Value, b: Value) -> Instruction:
        """An ``fcmp`` for floats, else an ``icmp``; the result is an ``i1``."""
        opcode = "fcmp" if isinstance(a.type, FloatType) else "icmp"
        return self.make(opcode, ty.i1, a, b, predicate=predicate)

    def select(self, condition: Value, yes: Value, no: Value) -> Instruction:
        """``yes`` where the ``i1`` ``condition`` holds, else ``no``; both have one type."""
        return self.make("select", yes.type, condition, yes, no)

    def cast(self, value: Value, type: Type, is_signed: bool = False) -> Value:
        """The bits of a value in another type: reinterpreted at equal width, else cut or extended."""
        source = value.type
        if source is type:
            return value
        if source is ty.i1 and isinstance(type, IntType):
            return self.make("zext", type, value)
        if not isinstance(source, IntType):
            value = self.make("ptrtoint" if _is_pointer(source) else "bitcast", IntType(_bits(source)), value)
        if isinstance(value, ConstantInt) and isinstance(type, IntType):
            return ConstantInt(type, value.value if is_signed else value.unsigned)
        width, target = _bits(value.type), _bits(type)
        if width != target:
            opcode = "trunc" if target < width else "sext" if is_signed else "zext"
            value = self.make(opcode, IntType(target), value)
        if isinstance(type, IntType):
            return value
        return self.make("inttoptr" if _is_pointer(type) else "bitcast", type, value)

    def read(self, text: str, type: Type) -> Value:
        """The value of an operand: a register, a literal or ``%tid.x``."""
        text = text.strip()
        if text.startswith("!"):
            return self.make("xor", ty.i1, self.read(text[1:], ty.i1), ConstantInt(ty.i1, 1))
        if text in self.registers:
            return self.cast(self.registers[text], type)
        literal = _literal(text, type)
        if literal is not None:
            return literal
        if text in self.kinds:
            return zero(self.kinds[text]) if self.kinds[text] is type else self.cast(zero(self.kinds[text]), type)
        if text.startswith("%"):
            wide = text.endswith("64") or text == "%globaltimer"
            name = text[1:].replace("lanemask_", "lanemask.")
            return self.cast(self.call(f"llvm.nvvm.read.ptx.sreg.{name}", ty.i64 if wide else ty.i32), type)
        raise UnknownPtx(f"operand '{text}'")

    def type_of(self, text: str) -> Type | None:
        """The type of what a register holds; ``None`` for other operands."""
        found = self.registers.get(text)
        return found.type if found is not None else self.kinds.get(text)

    def write(self, text: str, value: Value, is_signed: bool = False) -> None:
        """Puts a value into a register, in the register's own type: extended where that is wider."""
        text = text.strip()
        if text == "_":
            return
        kind = self.kinds.get(text)
        self.registers[text] = self.cast(value, kind, is_signed) if kind is not None else value


_REGISTER_TYPE: dict[str, Type] = {
    "pred": ty.i1,
    "f32": ty.f32,
    "f64": ty.f64,
    "f16": ty.f16,
    "bf16": ty.bf16,
    "f16x2": VectorType(2, ty.f16),
    "bf16x2": VectorType(2, ty.bf16),
}


def type_of(word: str) -> Type:
    """The IR type of a PTX type: ``u32``, ``b64``, ``f32``, ``pred``."""
    if word in _REGISTER_TYPE:
        return _REGISTER_TYPE[word]
    if re.fullmatch(r"[usb](8|16|32|64|128)", word):
        return IntType(int(word[1:]))
    raise UnknownPtx(f"type '.{word}'")


def _literal(text: str, type: Type) -> Value | None:
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)[uU]?", text):
        if text.lstrip("-").lower().startswith(("0f", "0d")):
            return None
        number = int(text.rstrip("uU"), 0)
        if isinstance(type, FloatType):
            return ConstantFloat.of(type, float(number))
        if isinstance(type, IntType):
            return ConstantInt(type, number)
    match = re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", text)
    if match:
        bits = ConstantInt(ty.i32 if match[1] else ty.i64, int(match[1] or match[2], 16))
        return bits if isinstance(type, IntType) else _float_of(bits, type)
    if re.fullmatch(r"-?\d+\.\d*([eE][-+]?\d+)?", text) and isinstance(type, FloatType):
        return ConstantFloat.of(type, float(text))
    return None


def _float_of(bits: ConstantInt, type: Type) -> Value:
    code, raw = ("f", 4) if bits.type is ty.i32 else ("d", 8)
    (value,) = struct.unpack(code, bits.unsigned.to_bytes(raw, "little"))
    return ConstantFloat.of(type, value)


def _bits(type: Type) -> int:
    if isinstance(type, IntType | FloatType):
        return type.bits
    if isinstance(type, VectorType):
        return type.count * _bits(type.element)
    if _is_pointer(type):
        return 64
    raise UnknownPtx(f"operands of type {type}")


def _is_pointer(type: Type) -> bool:
    return isinstance(type, PointerType)


SPACES = {"global": 1, "shared": 3, "const": 4, "local": 5}
"""PTX state spaces as address spaces."""

Words = list[str]
"""An opcode split at its dots."""
Texts = list[str]
"""Operands as they are written."""
Family = Callable[[Builder, Words, Texts], None]
"""Translates the PTX instructions that begin with one word."""


def typed_as(words: Words) -> tuple[Type, bool, set[str]]:
    """The last word as a type, whether it is signed, and the words between."""
    return type_of(words[-1]), words[-1][0] == "s", set(words[1:-1])
