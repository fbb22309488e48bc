"""``cvt``: between integers, between floating-point formats, and across, rounded as the modifier says."""

from __future__ import annotations

from kernelwright.codegen.inline_asm.builder import Builder, Texts, UnknownPtx, Words, type_of
from kernelwright.codegen.inline_asm.narrow_floats import NAMES, from_integer, is_narrow, narrowed
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.types import FloatType, IntType, Type, VectorType
from kernelwright.ir.values import Value

_INTEGRAL = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_WORDS = {(32, True): "i", (32, False): "ui", (64, True): "ll", (64, False): "ull"}
_LETTERS: dict[Type, str] = {ty.f32: "f", ty.f64: "d"}


def convert(b: Builder, words: Words, operands: Texts) -> None:
    """Writes ``cvt`` as IR: ``words`` are the opcode's, ``operands`` its registers."""
    target, source = type_of(words[-2]), type_of(words[-1])
    to_signed, from_signed = words[-2][0] == "s", words[-1][0] == "s"
    flags = set(words[1:-2])
    if isinstance(target, VectorType):
        _pair(b, words, operands, target, flags)
        return
    x = b.read(operands[1], source)
    made: Value | None
    if isinstance(target, IntType) and isinstance(source, IntType):
        made = _between_integers(b, x, target, to_signed, from_signed, flags)
    elif isinstance(target, FloatType) and isinstance(source, FloatType):
        made = _between_floats(b, target, x, flags)
    elif isinstance(target, IntType):
        made = _to_integer(b, x, target, to_signed, flags)
    else:
        made = _from_integer(b, x, target, from_signed, flags)
    if made is None:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    b.write(operands[0], made, to_signed)


def _pair(b: Builder, words: Words, operands: Texts, target: VectorType, flags: set[str]) -> None:
    """``cvt.rn.f16x2.f32 d, a, b``: the first operand is the upper half."""
    if words[-1] != "f32" or len(operands) != 3 or flags - {"rn", "rz", "relu"}:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    name = f"llvm.nvvm.ff2{NAMES[target]}.{'rz' if 'rz' in flags else 'rn'}{'.relu' * ('relu' in flags)}"
    b.write(operands[0], b.call(name, target, *(b.read(o, ty.f32) for o in operands[1:])))


def _between_integers(
    b: Builder, x: Value, target: IntType, to_signed: bool, from_signed: bool, flags: set[str]
) -> Value | None:
    if flags - {"sat"}:
        return None
    if flags:
        x = _clamped(b, x, from_signed, target, to_signed)
    return b.cast(x, target, from_signed)


def _clamped(b: Builder, x: Value, is_signed: bool, target: IntType, to_signed: bool) -> Value:
    """``x`` brought into what the target holds, in its own type."""
    assert isinstance(x.type, IntType)
    own = _range(x.type.bits, is_signed)
    wanted = _range(target.bits, to_signed)
    sign = "s" if is_signed else "u"
    if wanted[0] > own[0]:
        x = b.call(f"llvm.{sign}max.{x.type}", x.type, x, ConstantInt(x.type, wanted[0]))
    if wanted[1] < own[1]:
        x = b.call(f"llvm.{sign}min.{x.type}", x.type, x, ConstantInt(x.type, wanted[1]))
    return x


def _range(bits: int, is_signed: bool) -> tuple[int, int]:
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


def _to_integer(b: Builder, x: Value, target: IntType, to_signed: bool, flags: set[str]) -> Value:
    """What is outside of the target's range becomes its nearest end, a NaN as the hardware has it."""
    if is_narrow(x.type):
        x = b.make("fpext", ty.f32, x)
    mode = next((m[:2] for m in _INTEGRAL if m in flags), "rz")
    ftz = ".ftz" * ("ftz" in flags)
    if target.bits >= 32:
        return b.call(f"llvm.nvvm.{_LETTERS[x.type]}2{_WORDS[target.bits, to_signed]}.{mode}{ftz}", target, x)
    whole = b.call(f"llvm.nvvm.{_LETTERS[x.type]}2i.{mode}{ftz}", ty.i32, x)
    return b.cast(_clamped(b, whole, True, target, to_signed), target)


def _from_integer(b: Builder, x: Value, target: Type, from_signed: bool, flags: set[str]) -> Value:
    assert isinstance(x.type, IntType)
    mode = next((m for m in ("rz", "rm", "rp") if m in flags), "rn")
    if is_narrow(target):
        return from_integer(b, x, from_signed, target, mode)
    if x.type.bits < 32:
        x = b.cast(x, ty.i32, from_signed)
    assert isinstance(x.type, IntType)
    made: Value = b.call(f"llvm.nvvm.{_WORDS[x.type.bits, from_signed]}2{_LETTERS[target]}.{mode}", target, x)
    return _saturated(b, made) if "sat" in flags else made


def _saturated(b: Builder, x: Value) -> Value:
    return b.call(f"llvm.nvvm.saturate.{_LETTERS[x.type]}", x.type, x)


def _between_floats(b: Builder, target: FloatType, x: Value, flags: set[str]) -> Value | None:
    mode = next((m for m in ("rn", "rz", "rm", "rp") if m in flags), "")
    whole = next((m for m in _INTEGRAL if m in flags), "")
    if flags - {mode, whole, "ftz", "sat", "relu"}:
        return None
    if is_narrow(x.type):
        x = b.make("fpext", ty.f32, x)
    if "ftz" in flags and x.type is ty.f32:
        x = b.call("llvm.nvvm.add.rn.ftz.f", ty.f32, x, b.cast(ConstantInt(ty.i32, 1 << 31), ty.f32))
    assert isinstance(x.type, FloatType)
    if "relu" in flags:
        if not is_narrow(target) or mode not in ("rn", "rz") or "sat" in flags:
            return None
        return b.call(f"llvm.nvvm.f2{NAMES[target]}.{mode}.relu", target, x)
    if whole:
        x = b.call(f"llvm.{_INTEGRAL[whole]}.f{x.type.bits}", x.type, x)
    if "sat" in flags:
        x = _saturated(b, x)
    assert isinstance(x.type, FloatType)
    if is_narrow(target):
        return narrowed(b, x, target, mode or "rn")
    if target.bits > x.type.bits:
        return b.make("fpext", target, x)
    if target.bits < x.type.bits:
        return b.call(f"llvm.nvvm.d2f.{mode or 'rn'}{'.ftz' * ('ftz' in flags)}", target, x)
    return x if flags & {"ftz", "sat"} or whole or not mode else None
