"""Sums, products, quotients and functions of numbers in inline PTX, as IR; see ``ptx_instructions``."""

from __future__ import annotations

from kernelwright.codegen.inline_asm.builder import Builder, Family, Texts, UnknownPtx, Words, type_of, typed_as
from kernelwright.codegen.inline_asm.narrow_floats import NAMES, by_halves, fused, is_narrow, sign_bits
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.types import FloatType, IntType, Type
from kernelwright.ir.values import Value


def _add(b: Builder, words: Words, operands: Texts) -> None:
    type, _, flags = typed_as(words)
    if is_narrow(type):
        # a + b is a * 1 + b, and a - b is b * -1 + a: rounded once, so the fused form is the same number.
        first, second = b.read(operands[1], type), b.read(operands[2], type)
        made = fused(b, flags, first, 1.0, second) if words[0] == "add" else fused(b, flags, second, -1.0, first)
        b.write(operands[0], made)
        return
    if isinstance(type, FloatType):
        _float_add(b, words, operands, type, flags)
        return
    subtract = words[0] in ("sub", "subc")
    x, y = b.read(operands[1], type), b.read(operands[2], type)
    carry_in = b.carry if words[0] in ("addc", "subc") else None
    if carry_in is None and words[0] in ("addc", "subc"):
        raise UnknownPtx(f"'{'.'.join(words)}' without a carry before it")
    total, carry = _with_carry(b, subtract, x, y, carry_in)
    if "cc" in flags:
        b.carry = carry
    b.write(operands[0], total)


def _with_carry(b: Builder, subtract: bool, x: Value, y: Value, carry: Value | None) -> tuple[Value, Value]:
    """``x ± y ± carry`` and the carry (or borrow) out of it."""
    opcode = "sub" if subtract else "add"
    total: Value = b.make(opcode, x.type, x, y)
    out: Value = b.compare("ult", x, y) if subtract else b.compare("ult", total, x)
    if carry is not None:
        step = b.make("zext", x.type, carry)
        again = b.make(opcode, x.type, total, step)
        second = b.compare("ult", total, step) if subtract else b.compare("ult", again, total)
        total, out = again, b.make("or", ty.i1, out, second)
    return total, out


def _float_add(b: Builder, words: Words, operands: Texts, type: FloatType, flags: set[str]) -> None:
    x, y = b.read(operands[1], type), b.read(operands[2], type)
    if words[0] == "sub":
        y = b.make("fneg", type, y)
    elif words[0] != "add":
        raise UnknownPtx(f"'{'.'.join(words)}'")
    b.write(operands[0], b.call(_rounded_name("add", type, flags), type, x, y))


def _rounded_name(name: str, type: FloatType, flags: set[str]) -> str:
    """``llvm.nvvm.add.rz.ftz.f``; rounding to nearest is the default."""
    mode = next((m for m in ("rz", "rm", "rp") if m in flags), "rn")
    ending = {"float": "f", "double": "d"}[type.kind]
    return f"llvm.nvvm.{name}.{mode}{'.ftz' * ('ftz' in flags)}{'.sat' * ('sat' in flags)}.{ending}"


def _product(b: Builder, words: Words, x: str, y: str) -> tuple[Value, Type]:
    """The low half, high half or whole of an integer product, and its type."""
    type, is_signed, flags = typed_as(words)
    assert isinstance(type, IntType)
    left, right = b.read(x, type), b.read(y, type)
    if "lo" in flags:
        return b.make("mul", type, left, right), type
    wide = IntType(2 * type.bits)
    extend = "sext" if is_signed else "zext"
    product = b.make("mul", wide, b.make(extend, wide, left), b.make(extend, wide, right))
    if "wide" in flags:
        return product, wide
    if "hi" not in flags:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    return b.make("trunc", type, b.make("lshr", wide, product, ConstantInt(wide, type.bits))), type


def _mul(b: Builder, words: Words, operands: Texts) -> None:
    type, _, flags = typed_as(words)
    if is_narrow(type):
        b.write(operands[0], fused(b, flags, b.read(operands[1], type), b.read(operands[2], type), -0.0))
    elif isinstance(type, FloatType):
        x, y = b.read(operands[1], type), b.read(operands[2], type)
        b.write(operands[0], b.call(_rounded_name("mul", type, flags), type, x, y))
    else:
        b.write(operands[0], _product(b, words, operands[1], operands[2])[0])


def _mad(b: Builder, words: Words, operands: Texts) -> None:
    if isinstance(type_of(words[-1]), FloatType):
        _fma(b, words, operands)
        return
    product, type = _product(b, words, operands[1], operands[2])
    carry_in = b.carry if words[0] == "madc" else None
    total, carry = _with_carry(b, False, product, b.read(operands[3], type), carry_in)
    if "cc" in words:
        b.carry = carry
    b.write(operands[0], total)


def _fma(b: Builder, words: Words, operands: Texts) -> None:
    type, _, flags = typed_as(words)
    values = [b.read(o, type) for o in operands[1:4]]
    if is_narrow(type):
        b.write(operands[0], fused(b, flags, *values))
        return
    assert isinstance(type, FloatType)
    b.write(operands[0], b.call(_rounded_name("fma", type, flags), type, *values))


def _div(b: Builder, words: Words, operands: Texts) -> None:
    type, is_signed, flags = typed_as(words)
    x, y = b.read(operands[1], type), b.read(operands[2], type)
    if isinstance(type, IntType):
        opcode = ("s" if is_signed else "u") + words[0]
        b.write(operands[0], b.make(opcode, type, x, y))
        return
    assert isinstance(type, FloatType)
    kind = next((k for k in ("approx", "full") if k in flags), None)
    ftz = ".ftz" * ("ftz" in flags)
    endings = {"approx": f"approx{ftz}.f", "full": f"full{ftz}"}
    name = f"llvm.nvvm.div.{endings[kind]}" if kind else _rounded_name("div", type, flags)
    b.write(operands[0], b.call(name, type, x, y))


def _unary_float(b: Builder, words: Words, operands: Texts) -> None:
    """``rcp``, ``sqrt``, ``rsqrt``, ``sin``, ``cos``, ``lg2``, ``ex2``, ``tanh``; the last two of narrow types as well."""
    type, _, flags = typed_as(words)
    if is_narrow(type):
        name = f"llvm.nvvm.{words[0]}.approx{'.ftz' * ('ftz' in flags)}.{'f32' if words[0] == 'ex2' else 'f'}"
        b.write(operands[0], by_halves(b, b.read(operands[1], type), lambda x: b.call(name, ty.f32, x)))
        return
    assert isinstance(type, FloatType)
    x = b.read(operands[1], type)
    if "approx" in flags:
        ending = {"float": "f", "double": "d"}[type.kind]
        if words[0] == "ex2":
            ending = "f32"
        name = f"llvm.nvvm.{words[0]}.approx{'.ftz' * ('ftz' in flags)}.{ending}"
    else:
        name = _rounded_name(words[0], type, flags)
    b.write(operands[0], b.call(name, type, x))


def _min_max(b: Builder, words: Words, operands: Texts) -> None:
    type, is_signed, flags = typed_as(words)
    x, y = b.read(operands[1], type), b.read(operands[2], type)
    if isinstance(type, FloatType) or is_narrow(type):
        ending = NAMES.get(type) or {"float": "f", "double": "d"}[type.text]
        modes = {"ftz": ".ftz", "NaN": ".nan", "xorsign": ".xorsign.abs"}
        name = f"llvm.nvvm.f{words[0]}{''.join(text for word, text in modes.items() if word in flags)}.{ending}"
    else:
        name = f"llvm.{'s' if is_signed else 'u'}{words[0]}.{type}"
    b.write(operands[0], b.call(name, type, x, y))


def _abs_neg(b: Builder, words: Words, operands: Texts) -> None:
    type, _, flags = typed_as(words)
    if "ftz" in flags:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    x = b.read(operands[1], type)
    made: Value
    if is_narrow(type):
        made = sign_bits(b, words[0], x)
    elif words[0] == "neg":
        made = b.make("fneg", type, x) if isinstance(type, FloatType) else b.make("sub", type, ConstantInt(type, 0), x)
    elif isinstance(type, FloatType):
        made = b.call(f"llvm.fabs.f{type.bits}", type, x)
    else:
        made = b.call(f"llvm.abs.{type}", type, x, ConstantInt(ty.i1, 0))
    b.write(operands[0], made)


def _copysign(b: Builder, words: Words, operands: Texts) -> None:
    """``copysign d, a, b``: the sign of the first operand, the magnitude of the second."""
    type = type_of(words[-1])
    assert isinstance(type, FloatType)
    sign, size = b.read(operands[1], type), b.read(operands[2], type)
    b.write(operands[0], b.call(f"llvm.copysign.f{type.bits}", type, size, sign))


def _dot(b: Builder, words: Words, operands: Texts) -> None:
    """``dp4a.s32.u32 d, a, b, c``, and ``dp2a.lo`` with half as many products."""
    signs = ".".join(w[0] for w in words[-2:])
    first, second, total = (b.read(o, ty.i32) for o in operands[1:4])
    if words[0] == "dp4a":
        made = b.call(f"llvm.nvvm.idp4a.{signs}", ty.i32, first, second, total)
    else:
        high = ConstantInt(ty.i1, int(words[1] == "hi"))
        made = b.call(f"llvm.nvvm.idp2a.{signs}", ty.i32, first, second, high, total)
    b.write(operands[0], made)


def _absolute_difference(b: Builder, words: Words, operands: Texts) -> None:
    """``sad d, a, b, c``: the distance of the first two, and the third."""
    type, is_signed, _ = typed_as(words)
    x, y, total = (b.read(o, type) for o in operands[1:4])
    above = b.compare("sgt" if is_signed else "ugt", x, y)
    distance = b.select(above, b.make("sub", type, x, y), b.make("sub", type, y, x))
    b.write(operands[0], b.make("add", type, total, distance))


def _product24(b: Builder, words: Words, operands: Texts) -> None:
    """``mul24`` and ``mad24``: bits 0 to 31 (``lo``) or 16 to 47 (``hi``) of the product of the lower 24 bits."""
    _, is_signed, _ = typed_as(words)
    if words[1] not in ("lo", "hi") or len(words) != 3:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    factors = [b.cast(b.cast(b.read(o, ty.i32), IntType(24)), ty.i64, is_signed) for o in operands[1:3]]
    product: Value = b.make("mul", ty.i64, *factors)
    if words[1] == "hi":
        product = b.make("lshr", ty.i64, product, ConstantInt(ty.i64, 16))
    made = b.cast(product, ty.i32)
    b.write(operands[0], b.make("add", ty.i32, made, b.read(operands[3], ty.i32)) if words[0] == "mad24" else made)


_CLASSES = {
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x108,
    "subnormal": 0x090,
}
"""The classes of ``llvm.is.fpclass`` that each word of ``testp`` names."""


def _test(b: Builder, words: Words, operands: Texts) -> None:
    """``testp.finite.f32 p, a``."""
    type = type_of(words[-1])
    assert isinstance(type, FloatType)
    classes = ConstantInt(ty.i32, _CLASSES[words[1]])
    b.write(operands[0], b.call(f"llvm.is.fpclass.f{type.bits}", ty.i1, b.read(operands[1], type), classes))


ARITHMETIC: dict[str, Family] = {
    **dict.fromkeys(("add", "sub", "addc", "subc"), _add),
    **dict.fromkeys(("mad", "madc"), _mad),
    **dict.fromkeys(("div", "rem"), _div),
    **dict.fromkeys(("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"), _unary_float),
    **dict.fromkeys(("min", "max"), _min_max),
    **dict.fromkeys(("abs", "neg"), _abs_neg),
    **dict.fromkeys(("dp4a", "dp2a"), _dot),
    **dict.fromkeys(("mul24", "mad24"), _product24),
    "mul": _mul,
    "fma": _fma,
    "sad": _absolute_difference,
    "copysign": _copysign,
    "testp": _test,
}
