"""What each PTX instruction that ``inline_asm`` knows is in IR. One function per family, found by the opcode's first word.

Arguments are the builder, the words after the first (``["lo", "cc", "u32"]``) and the operands as text, the result first.
"""

from __future__ import annotations

from kernelwright.codegen.inline_asm.builder import SPACES, Builder, Family, Texts, UnknownPtx, Words, type_of, typed_as
from kernelwright.codegen.inline_asm.ptx_effects import EFFECTS
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.types import FloatType, IntType, PointerType, Type
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


# -- integer and floating point arithmetic -----------------------------------------------------------------------------


def _add(b: Builder, words: Words, operands: Texts) -> None:
    type, _, flags = typed_as(words)
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
    ending = {"float": "f", "double": "d", "half": "f16"}[type.kind]
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
    if isinstance(type, FloatType):
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
    assert isinstance(type, FloatType)
    values = [b.read(o, type) for o in operands[1:4]]
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
    """``rcp``, ``sqrt``, ``rsqrt``, ``sin``, ``cos``, ``lg2``, ``ex2``, ``tanh``."""
    type, _, flags = typed_as(words)
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
    if isinstance(type, FloatType):
        nan = ".nan" * ("NaN" in flags)
        ending = {"float": "f", "double": "d", "half": "f16"}[type.kind]
        name = f"llvm.nvvm.f{words[0]}{'.ftz' * ('ftz' in flags)}{nan}.{ending}"
    else:
        name = f"llvm.{'s' if is_signed else 'u'}{words[0]}.{type}"
    b.write(operands[0], b.call(name, type, x, y))


def _abs_neg(b: Builder, words: Words, operands: Texts) -> None:
    type, _, flags = typed_as(words)
    if "ftz" in flags:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    x = b.read(operands[1], type)
    if words[0] == "neg":
        made = b.make("fneg", type, x) if isinstance(type, FloatType) else b.make("sub", type, ConstantInt(type, 0), x)
    elif isinstance(type, FloatType):
        made = b.call(f"llvm.fabs.f{type.bits}", type, x)
    else:
        made = b.call(f"llvm.abs.{type}", type, x, ConstantInt(ty.i1, 0))
    b.write(operands[0], made)


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
    amount = b.cast(b.read(operands[2], ty.i32), type)
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


def _dot(b: Builder, words: Words, operands: Texts) -> None:
    """``dp4a.s32.u32 d, a, b, c``."""
    signs = ".".join(w[0] for w in words[1:3])
    values = [b.read(o, ty.i32) for o in operands[1:4]]
    b.write(operands[0], b.call(f"llvm.nvvm.idp4a.{signs}", ty.i32, *values))


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


def _cvt(b: Builder, words: Words, operands: Texts) -> None:
    """Between integers; between floats; and across, rounded as the modifier says."""
    target, source = type_of(words[-2]), type_of(words[-1])
    to_signed, from_signed = words[-2][0] == "s", words[-1][0] == "s"
    flags = set(words[1:-2])
    x = b.read(operands[1], source)
    if isinstance(target, IntType) and isinstance(source, IntType):
        if flags:
            raise UnknownPtx(f"'{'.'.join(words)}'")
        b.write(operands[0], b.cast(x, target, from_signed))
    elif isinstance(target, FloatType) and isinstance(source, FloatType):
        _cvt_float(b, words, operands[0], target, x, flags)
    elif isinstance(target, IntType):
        mode = next((m[:2] for m in ("rni", "rzi", "rmi", "rpi") if m in flags), "rz")
        word = {(32, True): "i", (32, False): "ui", (64, True): "ll", (64, False): "ull"}[target.bits, to_signed]
        letter = {"float": "f", "double": "d"}[source.text]
        ftz = ".ftz" * ("ftz" in flags)
        b.write(operands[0], b.call(f"llvm.nvvm.{letter}2{word}.{mode}{ftz}", target, x))
    else:
        assert isinstance(source, IntType)
        mode = next((m for m in ("rz", "rm", "rp") if m in flags), "rn")
        word = {(32, True): "i", (32, False): "ui", (64, True): "ll", (64, False): "ull"}[source.bits, from_signed]
        letter = {"float": "f", "double": "d"}[target.text]
        b.write(operands[0], b.call(f"llvm.nvvm.{word}2{letter}.{mode}", target, x))


def _cvt_float(b: Builder, words: Words, to: str, target: FloatType, x: Value, flags: set[str]) -> None:
    assert isinstance(x.type, FloatType)
    if target.bits > x.type.bits and not flags - {"ftz"}:
        b.write(to, b.make("fpext", target, x))
    elif target.bits < x.type.bits and flags <= {"rn"}:
        b.write(to, b.make("fptrunc", target, x))
    elif target is x.type and flags & {"rni", "rzi", "rmi", "rpi"}:
        name = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}[next(iter(flags - {"ftz", "sat"}))]
        b.write(to, b.call(f"llvm.{name}.f{target.bits}", target, x))
    elif target is x.type and flags == {"sat"}:
        b.write(to, b.call("llvm.nvvm.saturate.f" if target is ty.f32 else "llvm.nvvm.saturate.d", target, x))
    else:
        raise UnknownPtx(f"'{'.'.join(words)}'")


def _cvta(b: Builder, words: Words, operands: Texts) -> None:
    """``cvta.to.global.u64`` and back."""
    to = "to" in words
    space = PointerType(SPACES[next(w for w in words if w in SPACES)])
    x = b.read(operands[1], ty.i64)
    pointer = b.make("inttoptr", PointerType(0) if to else space, x)
    made = b.make("addrspacecast", space if to else PointerType(0), pointer)
    b.write(operands[0], b.make("ptrtoint", type_of(words[-1]), made))


def _setp(b: Builder, words: Words, operands: Texts) -> None:
    type, is_signed, _ = typed_as(words)
    if len(words) != 3:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    word = words[1]
    if isinstance(type, FloatType):
        predicate = {"num": "ord", "nan": "uno"}.get(word) or (word if len(word) == 3 else f"o{word}")
        predicate = "une" if word == "ne" else predicate
    elif word in ("eq", "ne"):
        predicate = word
    else:
        plain = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(word, word)
        predicate = ("s" if is_signed else "u") + plain
    made = b.compare(predicate, b.read(operands[1], type), b.read(operands[2], type))
    names = operands[0].split("|")
    b.write(names[0], made)
    if len(names) > 1:
        b.write(names[1], b.make("xor", ty.i1, made, ConstantInt(ty.i1, 1)))


def _selp(b: Builder, words: Words, operands: Texts) -> None:
    type = type_of(words[-1])
    condition = b.read(operands[3], ty.i1)
    b.write(operands[0], b.select(condition, b.read(operands[1], type), b.read(operands[2], type)))


FAMILIES: dict[str, Family] = {
    **EFFECTS,
    **dict.fromkeys(("add", "sub", "addc", "subc"), _add),
    **dict.fromkeys(("mad", "madc"), _mad),
    **dict.fromkeys(("div", "rem"), _div),
    **dict.fromkeys(("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"), _unary_float),
    **dict.fromkeys(("min", "max"), _min_max),
    **dict.fromkeys(("abs", "neg"), _abs_neg),
    **dict.fromkeys(("and", "or", "xor", "not"), _logic),
    **dict.fromkeys(("shl", "shr"), _shift),
    **dict.fromkeys(("popc", "clz", "brev"), _count),
    "mul": _mul,
    "fma": _fma,
    "shf": _funnel,
    "lop3": _lop3,
    "bfind": _find,
    "bfe": _extract_field,
    "bfi": _insert_field,
    "prmt": _permute,
    "dp4a": _dot,
    "mov": _mov,
    "cvt": _cvt,
    "cvta": _cvta,
    "setp": _setp,
    "selp": _selp,
}
