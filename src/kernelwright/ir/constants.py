"""Constants: plain ones are interned like types, those that mention globals belong to a module and have uses.

``ConstantInt(i32, 5) is ConstantInt(i32, 5)``. A constant expression or aggregate is a *user* of its operands, so a pass
can follow ``global.users`` into ``addrspacecast (ptr addrspace(3) @tile to ptr)`` and fold it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeAlias

from kernelwright.ir import types as ty
from kernelwright.ir.text.tokens import unescape
from kernelwright.ir.types import ArrayType, FloatType, FunctionType, IntType, StructType, Type, VectorType
from kernelwright.ir.values import Names, Value


class ConstantInt(Value):
    """An integer. ``value`` is signed, wrapped to the width; for ``i1`` it is 0 or 1."""

    __slots__ = ("text", "value")
    is_constant = True
    value: int
    text: str

    def __new__(cls, type: Type, value: int) -> ConstantInt:
        assert isinstance(type, IntType), f"an integer constant of type {type}"
        value = wrapped(value, type.bits)
        text = str(value) if type.bits > 1 else ("false", "true")[value]
        found = type.constants.get(text)
        if found is not None:
            assert isinstance(found, ConstantInt)
            return found
        made = object.__new__(cls)
        made.type, made.name, made._uses, made._operands, made.value, made.text = type, "", None, (), value, text
        type.constants[text] = made
        return made

    def __init__(self, type: Type, value: int) -> None:
        """All is done in ``__new__``: the object may be an old one."""

    def __reduce__(self) -> tuple[object, ...]:
        return ConstantInt, (self.type, self.value)

    @property
    def unsigned(self) -> int:
        """The value read without a sign."""
        assert isinstance(self.type, IntType)
        return self.value % (1 << self.type.bits)

    def reference(self, names: Names) -> str:
        return self.text


def wrapped(value: int, bits: int) -> int:
    """``value`` in two's complement of ``bits`` bits (one bit: 0 or 1)."""
    value %= 1 << bits
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


class ConstantFloat(Value):
    """A floating point number, kept as the text LLVM wrote (``1.000000e+00``, ``0x3FB99999A0000000``)."""

    __slots__ = ("text",)
    is_constant = True
    text: str

    def __new__(cls, type: Type, text: str) -> ConstantFloat:
        assert isinstance(type, FloatType), f"a floating point constant of type {type}"
        found = type.constants.get(text)
        if found is not None:
            assert isinstance(found, ConstantFloat)
            return found
        made = object.__new__(cls)
        made.type, made.name, made._uses, made._operands, made.text = type, "", None, (), text
        type.constants[text] = made
        return made

    def __init__(self, type: Type, text: str) -> None:
        """All is done in ``__new__``: the object may be an old one."""

    def __reduce__(self) -> tuple[object, ...]:
        return ConstantFloat, (self.type, self.text)

    @staticmethod
    def of(type: Type, value: float) -> ConstantFloat:
        """The constant of this value, rounded to the type, spelled as LLVM spells it."""
        return ConstantFloat(type, float_text(type, value))

    @property
    def value(self) -> float:
        """The number. Raises ``ValueError`` for the 80 and 128 bit formats written in hexadecimal."""
        return float_value(self.text)

    def reference(self, names: Names) -> str:
        return self.text


def float_value(text: str) -> float:
    """The number an LLVM floating point literal spells. Raises ``ValueError`` for one that does not fit a Python float."""
    if not text.startswith("0x"):
        return float(text)
    if text[2] == "H":
        return float(struct.unpack(">e", bytes.fromhex(text[3:].zfill(4)))[0])
    if text[2] == "R":
        return float(struct.unpack(">f", bytes.fromhex(text[3:].zfill(4) + "0000"))[0])
    if text[2] in "KLM":
        raise ValueError(f"{text} does not fit in a Python float")
    return float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0])


def float_text(type: Type, value: float) -> str:
    """``value`` rounded to ``type`` as LLVM prints it: decimal when that is exact, else the bits in hexadecimal.
    Raises ``ValueError`` for a type whose constants have no decimal form."""
    assert isinstance(type, FloatType)
    if type.kind == "half":
        return f"0xH{_bits('e', value)}"
    if type.kind == "bfloat":
        return f"0xR{_bfloat_bits(value):04X}"
    if type.kind not in ("float", "double"):
        raise ValueError(f"constants of type {type} can only be made from their text")
    if type.kind == "float":
        value = _rounded_to_float(value)
    # LLVM takes decimal when six digits in all are exact, and then writes a seventh, a zero.
    text = f"{value:.5e}"
    if value - value == 0 and float(text) == value:
        return text.replace("e", "0e")
    return f"0x{int(_bits('d', value), 16):X}"


def _bits(code: str, value: float) -> str:
    try:
        return struct.pack(f">{code}", value).hex().upper()
    except OverflowError:  # struct refuses what would round to infinity
        return struct.pack(f">{code}", float("inf") if value > 0 else float("-inf")).hex().upper()


def _rounded_to_float(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _bfloat_bits(value: float) -> int:
    """Round to nearest even on the upper half of the 32 bit pattern."""
    bits: int = struct.unpack("I", struct.pack("f", _rounded_to_float(value)))[0]
    if value != value:
        return (bits >> 16) | 0x40
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


class _Word:
    """What constants share that are one word, the same for every type."""

    __slots__ = ()
    is_constant = True
    text: ClassVar[str]

    type: Type

    def __new__(cls, type: Type) -> Self:
        found = type.constants.get(cls.text)
        if found is None:
            made: Any = object.__new__(cls)  # the slots are those of ``Value``, which every word is too
            made.type, made.name, made._uses, made._operands = type, "", None, ()
            found = type.constants[cls.text] = made
        assert isinstance(found, cls)
        return found

    def __init__(self, type: Type) -> None:
        """All is done in ``__new__``: the object may be an old one."""

    def __reduce__(self) -> tuple[object, ...]:
        return self.__class__, (self.type,)

    def reference(self, names: Names) -> str:
        return self.text


class ConstantNull(_Word, Value):
    """The null pointer."""

    __slots__ = ()
    text = "null"


class Undef(_Word, Value):
    """Any value, another one at each use."""

    __slots__ = ()
    text = "undef"


class Poison(_Word, Value):
    """The value of an operation that went wrong."""

    __slots__ = ()
    text = "poison"


class ZeroInitializer(_Word, Value):
    """All bits zero, for aggregates and vectors."""

    __slots__ = ()
    text = "zeroinitializer"


class NoToken(_Word, Value):
    """``none``, the token that stands for no token."""

    __slots__ = ()
    text = "none"


class ConstantString(Value):
    """``c"..."``: an array of ``i8``. ``text`` is the literal, ``bytes`` what it spells."""

    __slots__ = ("text",)
    is_constant = True

    def __init__(self, type: Type, text: str) -> None:
        self.type, self.name, self._uses, self._operands, self.text = type, "", None, (), text

    @property
    def bytes(self) -> bytes:
        """The bytes of the array, the final zero included when there is one."""
        return unescape(self.text[2:-1])

    def reference(self, names: Names) -> str:
        return self.text


def typed(value: Value, names: Names) -> str:
    """An operand with its type in front."""
    return f"{value.type.text} {names[value]}"


class ConstantAggregate(Value):
    """``[i32 1, i32 2]``, ``{ ptr @f }``, ``<{ i8 0 }>`` or ``<float 1.0, float 2.0>``; operands are the elements."""

    __slots__ = ()
    is_constant = True
    is_composed = True

    def __init__(self, type: Type, operands: tuple[Value, ...]) -> None:
        super().__init__(type, "", operands)

    def reference(self, names: Names) -> str:
        inner = ", ".join(typed(v, names) for v in self.operands)
        if isinstance(self.type, ArrayType):
            return f"[{inner}]"
        if not isinstance(self.type, StructType):
            return f"<{inner}>"
        body = f"{{ {inner} }}" if inner else "{}"
        return f"<{body}>" if self.type.packed else body


class ConstantExpr(Value):
    """``opcode flags (operands)``: a cast, ``getelementptr``, ``splat``, or arithmetic on addresses.

    ``source_type`` is the element type of a ``getelementptr``.
    """

    __slots__ = ("flags", "opcode", "source_type")
    is_constant = True
    is_composed = True

    def __init__(
        self,
        opcode: str,
        type: Type,
        operands: tuple[Value, ...],
        flags: tuple[str, ...] = (),
        source_type: Type | None = None,
    ) -> None:
        super().__init__(type, "", operands)
        self.opcode = opcode
        self.flags = flags
        self.source_type = source_type

    def reference(self, names: Names) -> str:
        inner = ", ".join(typed(v, names) for v in self.operands)
        if self.opcode in CONSTANT_CASTS:
            inner += f" to {self.type.text}"
        elif self.source_type is not None:
            inner = f"{self.source_type.text}, {inner}"
        return f"{' '.join((self.opcode, *self.flags))} ({inner})"


CONSTANT_CASTS = frozenset(["trunc", "bitcast", "inttoptr", "ptrtoint", "ptrtoaddr", "addrspacecast"])


def _vector(value: Value) -> VectorType:
    if not isinstance(value.type, VectorType):
        raise ValueError(f"expected a vector, found a {value.type}")
    return value.type


def _shuffled(operands: tuple[Value, ...]) -> Type:
    mask = _vector(operands[-1])
    return VectorType(mask.count, _vector(operands[0]).element, mask.scalable)


def _extracted(operands: tuple[Value, ...]) -> Type:
    return _vector(operands[0]).element


def _first(operands: tuple[Value, ...]) -> Type:
    return operands[0].type


CONSTANT_EXPRESSIONS: dict[str, Callable[[tuple[Value, ...]], Type]] = {
    **dict.fromkeys(("getelementptr", "add", "sub", "xor", "insertelement"), _first),
    "extractelement": _extracted,
    "shufflevector": _shuffled,
}
"""The expressions that are neither casts nor ``splat``, and their result type from their operands (``ValueError``)."""


class InlineAsm(Value):
    """Inline assembly as a callee. ``flags`` holds ``sideeffect``, ``alignstack``, ``inteldialect``, ``unwind``."""

    __slots__ = ("constraints", "flags", "text")
    is_constant = True

    def __init__(self, text: str, constraints: str, flags: tuple[str, ...] = ()) -> None:
        self.type, self.name, self._uses, self._operands = ty.ptr, "", None, ()
        self.text, self.constraints, self.flags = text, constraints, flags

    def reference(self, names: Names) -> str:
        """``text`` and ``constraints`` are kept as LLVM wrote them, escapes included."""
        return " ".join(("asm", *self.flags, f'"{self.text}", "{self.constraints}"'))


class MetadataOperand(Value):
    """The operand of a ``metadata`` argument: a node as text, or a typed value (its only operand)."""

    __slots__ = ("text",)
    is_constant = True
    is_composed = True

    def __init__(self, text: str, operands: tuple[Value, ...] = ()) -> None:
        super().__init__(ty.metadata, "", operands)
        self.text = text

    def reference(self, names: Names) -> str:
        return typed(self.operands[0], names) if self.operands else self.text


Constant: TypeAlias = (
    ConstantInt
    | ConstantFloat
    | ConstantNull
    | Undef
    | Poison
    | ZeroInitializer
    | NoToken
    | ConstantString
    | ConstantAggregate
    | ConstantExpr
    | InlineAsm
)
"""Every kind of constant; ``value.is_constant`` asks the same question (and is true of globals and functions too)."""


def zero(type: Type) -> Value:
    """The zero of a type, spelled as LLVM does. Raises ``ValueError`` for a type without one."""
    if isinstance(type, IntType):
        return ConstantInt(type, 0)
    if isinstance(type, FloatType):
        return ConstantFloat.of(type, 0.0)
    if isinstance(type, ty.PointerType):
        return ConstantNull(type)
    if isinstance(type, FunctionType) or type is ty.void:
        raise ValueError(f"{type} has no zero")
    return ZeroInitializer(type)
