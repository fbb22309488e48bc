"""What each PTX instruction that ``inline_asm`` knows is in IR. One function per family, found by the opcode's first word.

Arguments are the builder, the words after the first (``["lo", "cc", "u32"]``) and the operands as text, the result first.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.codegen.inline_asm.builder import SPACES, Builder, Family, Texts, UnknownPtx, Words, type_of, typed_as
from kernelwright.codegen.inline_asm.narrow_floats import each
from kernelwright.codegen.inline_asm.ptx_arithmetic import ARITHMETIC
from kernelwright.codegen.inline_asm.ptx_conversions import convert
from kernelwright.codegen.inline_asm.ptx_effects import EFFECTS
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantFloat, ConstantInt, zero
from kernelwright.ir.types import FloatType, IntType, PointerType, Type, VectorType
from kernelwright.ir.values import Value


def translate(b: Builder, words: Words, operands: Texts) -> None:
    """Translates one instruction. Raises ``UnknownPtx`` for one that is not in ``FAMILIES``."""
    name = words[0]
    family = FAMILIES.get(name)
    whole = ".".join(words)
    if family is None:
        raise UnknownPtx(f"'{whole}'")
    try:
        family(b, words, operands)
    except (ValueError, IndexError, KeyError):
        raise UnknownPtx(f"'{whole} {', '.join(operands)}'") from None


# -- bits --------------------------------------------------------------------------------------------------------------


def _logic(b: Builder, words: Words, operands: Texts) -> None:
    type = type_of(words[-1])
    values = [b.read(o, type) for o in operands[1:]]
    if words[0] == "not":
        b.write(operands[0], b.make("xor", type, values[0], ConstantInt(type, -1)))
    else:
        b.write(operands[0], b.make(words[0], type, *values))


def _shift(b: Builder, words: Words, operands: Texts) -> None:
    type, is_signed, _ = typed_as(words)
    assert isinstance(type, IntType)
    # Amounts beyond the width count as the width.
    limit = ConstantInt(ty.i32, type.bits)
    amount = b.cast(b.call("llvm.umin.i32", ty.i32, b.read(operands[2], ty.i32), limit), type)
    opcode = "shl" if words[0] == "shl" else "ashr" if is_signed else "lshr"
    b.write(operands[0], b.make(opcode, type, b.read(operands[1], type), amount))


def _funnel(b: Builder, words: Words, operands: Texts) -> None:
    """``shf.l.wrap.b32 d, low, high, amount``."""
    low, high, amount = (b.read(o, ty.i32) for o in operands[1:4])
    side = words[1]
    name = f"llvm.fsh{side}.i32" if "wrap" in words else f"llvm.nvvm.fsh{side}.clamp.i32"
    b.write(operands[0], b.call(name, ty.i32, high, low, amount))


def _lop3(b: Builder, words: Words, operands: Texts) -> None:
    """Any function of three bits, given by its table: the union of the rows that are one."""
    table = int(operands[4], 0)
    x, y, z = (b.read(o, ty.i32) for o in operands[1:4])
    ones = ConstantInt(ty.i32, -1)
    inverse = {v: b.make("xor", ty.i32, v, ones) for v in (x, y, z)}
    total: Value = ConstantInt(ty.i32, 0)
    for row in range(8):
        if table >> row & 1:
            bits = [v if row >> n & 1 else inverse[v] for n, v in ((2, x), (1, y), (0, z))]
            both = b.make("and", ty.i32, bits[0], bits[1])
            total = b.make("or", ty.i32, total, b.make("and", ty.i32, both, bits[2]))
    b.write(operands[0], total)


def _count(b: Builder, words: Words, operands: Texts) -> None:
    """``popc``, ``clz`` and ``brev``: the first two give 32 bits whatever they count."""
    type = type_of(words[-1])
    x = b.read(operands[1], type)
    if words[0] == "clz":
        made = b.call(f"llvm.ctlz.{type}", type, x, ConstantInt(ty.i1, 0))
    else:
        made = b.call(f"llvm.{'ctpop' if words[0] == 'popc' else 'bitreverse'}.{type}", type, x)
    b.write(operands[0], made if words[0] == "brev" else b.cast(made, ty.i32))


def _find(b: Builder, words: Words, operands: Texts) -> None:
    type, is_signed, flags = typed_as(words)
    shift = ConstantInt(ty.i1, int("shiftamt" in flags))
    name = f"llvm.nvvm.flo.{'s' if is_signed else 'u'}.{type}"
    b.write(operands[0], b.call(name, ty.i32, b.read(operands[1], type), shift))


def _extract_field(b: Builder, words: Words, operands: Texts) -> None:
    """``bfe``: shifts left so that the field's top is the word's top, then right; PTX ISA, ``bfe``, for field ends."""
    type, is_signed, _ = typed_as(words)
    assert isinstance(type, IntType)
    bits = ConstantInt(type, type.bits)
    x = b.read(operands[1], type)
    position, length = (
        b.make("and", type, b.cast(b.read(o, ty.i32), type), ConstantInt(type, 255)) for o in operands[2:4]
    )
    end = b.make("add", type, position, length)
    end = b.call(f"llvm.umin.{type}", type, end, bits)
    top = b.make("shl", type, x, b.make("sub", type, bits, end))
    # Where the field starts beyond the word it is empty, or all sign.
    length = b.call(f"llvm.usub.sat.{type}", type, end, position)
    down = b.make("sub", type, bits, length)
    field = b.make("ashr" if is_signed else "lshr", type, top, down)
    if is_signed:
        sign = b.make("ashr", type, x, ConstantInt(type, type.bits - 1))
        beyond = b.compare("uge", position, bits)
        field = b.select(beyond, sign, field)
        asked = b.make("and", type, b.cast(b.read(operands[3], ty.i32), type), ConstantInt(type, 255))
        field = b.select(b.compare("eq", asked, ConstantInt(type, 0)), ConstantInt(type, 0), field)
    b.write(operands[0], field)


def _insert_field(b: Builder, words: Words, operands: Texts) -> None:
    """``bfi d, field, word, position, length``."""
    type = type_of(words[-1])
    field, word = b.read(operands[1], type), b.read(operands[2], type)
    position, length = (
        b.make("and", type, b.cast(b.read(o, ty.i32), type), ConstantInt(type, 255)) for o in operands[3:5]
    )
    ones = ConstantInt(type, -1)
    mask = b.make("xor", type, b.make("shl", type, ones, length), ones)
    mask = b.make("shl", type, mask, position)
    placed = b.make("and", type, b.make("shl", type, field, position), mask)
    kept = b.make("and", type, word, b.make("xor", type, mask, ones))
    b.write(operands[0], b.make("or", type, placed, kept))


def _permute(b: Builder, words: Words, operands: Texts) -> None:
    if len(words) > 2:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    b.write(operands[0], b.call("llvm.nvvm.prmt", ty.i32, *(b.read(o, ty.i32) for o in operands[1:4])))


# -- moves and conversions ---------------------------------------------------------------------------------------------


def _mov(b: Builder, words: Words, operands: Texts) -> None:
    target, source = operands
    type = type_of(words[-1])
    if source.startswith("{"):
        parts = source.strip("{} ").split(",")
        b.write(target, _packed(b, parts, type))
    elif target.startswith("{"):
        parts = target.strip("{} ").split(",")
        assert isinstance(type, IntType)
        element = IntType(type.bits // len(parts))
        value = b.read(source, type)
        for n, part in enumerate(parts):
            shifted = b.make("lshr", type, value, ConstantInt(type, n * element.bits)) if n else value
            b.write(part, b.make("trunc", element, shifted))
    else:
        b.write(target, b.read(source, type))


def _packed(b: Builder, parts: Texts, type: Type) -> Value:
    assert isinstance(type, IntType)
    step = type.bits // len(parts)
    total: Value = ConstantInt(type, 0)
    for n, part in enumerate(parts):
        piece = b.cast(b.read(part, IntType(step)), type)
        total = b.make("or", type, total, b.make("shl", type, piece, ConstantInt(type, n * step)))
    return total


def _cvta(b: Builder, words: Words, operands: Texts) -> None:
    """``cvta.to.global.u64`` and back."""
    to = "to" in words
    space = PointerType(SPACES[next(w for w in words if w in SPACES)])
    x = b.read(operands[1], ty.i64)
    pointer = b.make("inttoptr", PointerType(0) if to else space, x)
    made = b.make("addrspacecast", space if to else PointerType(0), pointer)
    b.write(operands[0], b.make("ptrtoint", type_of(words[-1]), made))


_CONNECT = ("and", "or", "xor")


def _setp(b: Builder, words: Words, operands: Texts) -> None:
    """``setp.lt.and.f32 p|q, a, b, r``: ``p`` is the comparison, ``q`` its opposite, each joined with ``r``. Of pairs of
    16-bit numbers ``p`` and ``q`` are the comparisons of the halves."""
    type = type_of(words[-1])
    _only(words, {words[1], "ftz", *_CONNECT})
    x, y = b.read(operands[1], type), b.read(operands[2], type)
    if isinstance(type, VectorType):
        halves = [_compared(b, words, *(b.make("extractelement", type.element, v, ConstantInt(ty.i32, n)) for v in (x, y)))
                  for n in range(2)]  # fmt: skip
    else:
        made = _compared(b, words, x, y)
        halves = [made, b.make("xor", ty.i1, made, ConstantInt(ty.i1, 1))]
    for name, value in zip(operands[0].split("|"), halves, strict=False):
        b.write(name, _joined(b, words, value, operands[3:]))


def _set(b: Builder, words: Words, operands: Texts) -> None:
    """``set.lt.u32.f32 d, a, b``: all bits set, or 1 where the result is a floating-point number."""
    result, type = type_of(words[-2]), type_of(words[-1])
    _only(words[:-1], {words[1], "ftz", *_CONNECT})
    values = [b.read(o, type) for o in operands[1:3]]

    def one(v: Sequence[Value]) -> Value:
        met = _joined(b, words, _compared(b, words, *v), operands[3:])
        kind = result.element if isinstance(result, VectorType) else result
        if isinstance(type, VectorType) and not isinstance(result, VectorType):
            return b.make("sext", ty.i16, met)
        return b.make("sext", kind, met) if isinstance(kind, IntType) else b.make("uitofp", kind, met)

    if isinstance(type, VectorType) and not isinstance(result, VectorType):
        made = b.cast(each(b, type, values, one, ty.i16), result)
    else:
        made = each(b, type, values, one, result.element if isinstance(result, VectorType) else result)
    b.write(operands[0], made)


def _only(words: Words, known: set[str]) -> None:
    if set(words[1:-1]) - known:
        raise UnknownPtx(f"'{'.'.join(words)}'")


def _compared(b: Builder, words: Words, x: Value, y: Value) -> Value:
    word = words[1]
    if isinstance(x.type, FloatType):
        # "leu" holds for NaNs as well, "le" does not.
        predicate = {"num": "ord", "nan": "uno"}.get(word) or (f"u{word[:2]}" if len(word) == 3 else f"o{word}")
        if "ftz" in words:
            x, y = (b.call("llvm.nvvm.add.rn.ftz.f", ty.f32, v, ConstantFloat.of(ty.f32, -0.0)) for v in (x, y))
    elif word in ("eq", "ne"):
        predicate = word
    else:
        plain = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(word, word)
        predicate = ("s" if words[-1][0] == "s" else "u") + plain
    return b.compare(predicate, x, y)


def _joined(b: Builder, words: Words, value: Value, further: Texts) -> Value:
    connect = next((w for w in _CONNECT if w in words), None)
    return b.make(connect, ty.i1, value, b.read(further[0], ty.i1)) if connect else value


def _selp(b: Builder, words: Words, operands: Texts) -> None:
    type = type_of(words[-1])
    condition = b.read(operands[3], ty.i1)
    b.write(operands[0], b.select(condition, b.read(operands[1], type), b.read(operands[2], type)))


def _slct(b: Builder, words: Words, operands: Texts) -> None:
    """``slct.f32.s32 d, a, b, c``: ``a`` where ``c`` is not negative."""
    type, sign = type_of(words[-2]), type_of(words[-1])
    of = b.read(operands[3], sign)
    chosen = b.compare("oge" if isinstance(sign, FloatType) else "sge", of, zero(sign))
    b.write(operands[0], b.select(chosen, b.read(operands[1], type), b.read(operands[2], type)))


def _is_in_space(b: Builder, words: Words, operands: Texts) -> None:
    """``isspacep.shared p, a``."""
    pointer = b.make("inttoptr", PointerType(0), b.read(operands[1], ty.i64))
    b.write(operands[0], b.call(f"llvm.nvvm.isspacep.{words[1].partition('::')[0]}", ty.i1, pointer))


FAMILIES: dict[str, Family] = {
    **EFFECTS,
    **ARITHMETIC,
    **dict.fromkeys(("and", "or", "xor", "not"), _logic),
    **dict.fromkeys(("shl", "shr"), _shift),
    **dict.fromkeys(("popc", "clz", "brev"), _count),
    "shf": _funnel,
    "lop3": _lop3,
    "bfind": _find,
    "bfe": _extract_field,
    "bfi": _insert_field,
    "prmt": _permute,
    "mov": _mov,
    "cvt": convert,
    "cvta": _cvta,
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "slct": _slct,
    "isspacep": _is_in_space,
}
