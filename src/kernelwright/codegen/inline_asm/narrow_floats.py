"""Arithmetic of 16-bit floating point in inline PTX: ``.f16`` and ``.bf16``, alone and in pairs (``.f16x2``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelwright.codegen.inline_asm.builder import Builder, UnknownPtx
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt, Poison
from kernelwright.ir.types import FloatType, IntType, Type, VectorType
from kernelwright.ir.values import Value

NAMES: dict[Type, str] = {
    ty.f16: "f16",
    ty.bf16: "bf16",
    VectorType(2, ty.f16): "f16x2",
    VectorType(2, ty.bf16): "bf16x2",
}
"""PTX's names of the types; NVVM's intrinsics end with them."""


def is_narrow(type: Type) -> bool:
    """Whether a PTX type is a 16-bit floating-point one, or a pair."""
    return type in NAMES


def element_of(type: Type) -> Type:
    """The type of one number of a pair, or the type itself."""
    return type.element if isinstance(type, VectorType) else type


def fused(b: Builder, flags: set[str], x: Value, y: Value | float, z: Value | float) -> Value:
    """``x * y + z``, rounded once; a number among the operands is that number in each half."""
    type = x.type
    unknown = flags - {"rn", "ftz", "sat", "relu", "noftz"}
    if unknown:
        raise UnknownPtx(f"'.{unknown.pop()}.{NAMES[type]}'")
    operands = [v if isinstance(v, Value) else filled(b, type, v) for v in (x, y, z)]
    words = "".join(f".{w}" for w in ("ftz", "sat", "relu") if w in flags)
    return b.call(f"llvm.nvvm.fma.rn{words}.{NAMES[type]}", type, *operands)


_BITS: dict[tuple[Type, float], int] = {
    (ty.f16, 1.0): 0x3C00,
    (ty.f16, -1.0): 0xBC00,
    (ty.bf16, 1.0): 0x3F80,
    (ty.bf16, -1.0): 0xBF80,
}


def filled(b: Builder, type: Type, number: float) -> Value:
    """``1``, ``-1`` or ``-0`` in each half of a narrow type."""
    bits = _BITS.get((element_of(type), number), 0x8000)
    return b.cast(words_of(type, bits), type)


def words_of(type: Type, bits: int) -> ConstantInt:
    """16 bits in each half of an integer as wide as the type."""
    return ConstantInt(ty.i32, bits << 16 | bits) if isinstance(type, VectorType) else ConstantInt(ty.i16, bits)


def each(
    b: Builder, type: Type, values: Sequence[Value], make: Callable[[Sequence[Value]], Value], result: Type
) -> Value:
    """What ``make`` gives of each half of the values, as a pair again where they are pairs."""
    if not isinstance(type, VectorType):
        return make(values)
    made: Value = Poison(VectorType(2, result))
    for n in range(2):
        place = ConstantInt(ty.i32, n)
        halves = [b.make("extractelement", element_of(v.type), v, place) for v in values]
        made = b.make("insertelement", made.type, made, make(halves), place)
    return made


def by_halves(b: Builder, x: Value, make: Callable[[Value], Value]) -> Value:
    """A function of ``float`` on each half, rounded to nearest."""
    element = element_of(x.type)
    return each(
        b, x.type, [x],
        lambda v: b.make("fptrunc", element, make(b.make("fpext", ty.f32, v[0]))),
        element,
    )  # fmt: skip


def sign_bits(b: Builder, name: str, x: Value) -> Value:
    """``neg`` and ``abs``: the sign of each half turned round or taken away."""
    integer = IntType(32 if isinstance(x.type, VectorType) else 16)
    bits = b.cast(x, integer)
    opcode, mask = ("xor", 0x8000) if name == "neg" else ("and", 0x7FFF)
    return b.cast(b.make(opcode, integer, bits, words_of(x.type, mask)), x.type)


def narrowed(b: Builder, x: Value, type: Type, mode: str) -> Value:
    """A ``float`` or ``double`` in a narrow type. ``mode``: ``rn``, ``rz``, ``rm`` or ``rp``."""
    assert isinstance(type, FloatType) and isinstance(x.type, FloatType)
    if x.type is ty.f64:
        x = _sticky(b, b.call("llvm.nvvm.d2f.rz", ty.f32, x), lambda f: b.compare("une", b.make("fpext", ty.f64, f), x))
    near = b.make("fptrunc", type, x)
    if mode == "rn":
        return near
    back, bits = b.make("fpext", ty.f32, near), b.cast(near, ty.i16)
    negative = b.compare("slt", bits, ConstantInt(ty.i16, 0))
    down = b.make("add", ty.i16, bits, ConstantInt(ty.i16, -1))
    up = b.make("add", ty.i16, bits, ConstantInt(ty.i16, 1))
    if mode == "rz":
        beyond, step = b.compare("ogt", _magnitude(b, back), _magnitude(b, x)), down
    elif mode == "rm":
        beyond, step = b.compare("ogt", back, x), b.select(negative, up, down)
    else:
        beyond, step = b.compare("olt", back, x), b.select(negative, down, up)
    return b.cast(b.select(beyond, step, bits), type)


def from_integer(b: Builder, x: Value, is_signed: bool, type: Type, mode: str) -> Value:
    """An integer in a narrow type, rounded once."""
    wide = x.type if isinstance(x.type, IntType) and x.type.bits in (32, 64) else ty.i32
    x = b.cast(x, wide, is_signed)
    word = {(32, True): "i", (32, False): "ui", (64, True): "ll", (64, False): "ull"}[wide.bits, is_signed]
    cut = b.call(f"llvm.nvvm.{word}2f.rz", ty.f32, x)
    return narrowed(
        b, _sticky(b, cut, lambda f: b.compare("ne", b.call(f"llvm.nvvm.f2{word}.rz", wide, f), x)), type, mode
    )


def _sticky(b: Builder, cut: Value, is_inexact: Callable[[Value], Value]) -> Value:
    """A ``float`` that was rounded towards zero, its last bit set where something was lost: rounding it once more to half
    its digits gives what rounding once would have given."""
    lost = b.make("zext", ty.i32, is_inexact(cut))
    return b.cast(b.make("or", ty.i32, b.cast(cut, ty.i32), lost), ty.f32)


def _magnitude(b: Builder, x: Value) -> Value:
    assert isinstance(x.type, FloatType)
    return b.call(f"llvm.fabs.f{x.type.bits}", x.type, x)
