"""Operations on lanes: one table of how each is written, the same for a number and for a vector of lanes.

Where LLVM would leave the result open (a shift too far, a division by zero, a conversion out of range) the GPU has an
answer, and that answer is written out. Flags (``nsw``, ``exact``, ...) are never passed on: a changed kernel may break them.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission import bfloat
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.number_or_lanes import Width
from kernelwright.codegen.simt.emission.representation import Rep, signed, stored
from kernelwright.codegen.simt.emission.row_functions import BITS, CONVERSIONS
from kernelwright.codegen.simt.program.program import Const, Op, Operand, Var, bits_of
from kernelwright.errors import CompileError


def operation(e: Lanes, op: Op) -> None:
    """Write an operation with one result."""
    out = op.outs[0]
    if out.shape is V:
        if op.code == "select" and not _is_vector(e, op.args[0]):
            e.define(out, [_select_by_one(e, op)])
            return
        args = [e.vector(a) for a in op.args]
        e.define(out, [TABLE[op.code](Width(e, True), op, args)])
    elif out.shape[0] == "x":
        e.define(out, extended(e, op))
    elif op.code == "trunc" and e.get(op.args[0]).shape[0] == "x":
        e.define(out, _truncated(e, op))
    else:
        reps = [e.get(a) for a in op.args]
        count = max((len(r.parts) for r in reps), default=1)
        if out.shape[0] == "u":
            count = 1
        elif out.shape[0] == "s":
            count = e.parts
        write, width = TABLE[op.code], Width(e, False)
        e.define(out, per_segment(reps, count, lambda row: write(width, op, row)))


def per_segment(reps: list[Rep], count: int, write: Callable[[list[str]], str]) -> list[str]:
    """What ``write`` makes of the numbers of each segment; made once of the same ones, so that others see that it is one number."""
    made: dict[tuple[str, ...], str] = {}
    parts = []
    for i in range(count):
        row = tuple(r.part(i) for r in reps)
        if row not in made:
            made[row] = write(list(row))
        parts.append(made[row])
    return parts


def _is_vector(e: Lanes, operand: Operand) -> bool:
    return bool(e.get(operand).shape[0] != "u")


def _select_by_one(e: Lanes, op: Op) -> str:
    """All lanes choose the same of two vectors."""
    type = e.vector_type(op.outs[0].type)
    condition = e.get(op.args[0]).parts[0]
    a, b = (e.vector(x) for x in op.args[1:])
    return e.let(f"select i1 {condition}, {type} {a}, {type} {b}")


# -- numbers that are extended later ------------------------------------------------------------------------------------


def extended(e: Lanes, op: Op) -> list[str]:
    """The plain part of a value of shape ``x``: the rest is a matter of the shape alone."""
    code = op.code
    if code in ("zext", "sext"):
        return ["0"]
    reps = [_index(e, op, i) for i in range(len(op.args))]
    count = e.parts if op.outs[0].shape[4][0] == "s" else 1

    def write(row: list[str]) -> str:
        if code == "gep":
            return _gep(Width(e, False), op, row)
        if code == "select":
            return e.let(f"select i1 {row[0]}, i64 {row[1]}, i64 {row[2]}")
        return TABLE["add" if code == "or" else code](Width(e, False), op, row)

    return per_segment(reps, count, write)


def _index(e: Lanes, op: Op, i: int) -> Rep:
    """An operand of an address computation; an index that is yet to be extended adds nothing to the plain part."""
    rep = e.get(op.args[i])
    if op.code == "gep" and i and op.args[i].type == "i32" and rep.shape[0] == "s" and rep.stride:
        return Rep("i32", ("u",), ["0"])
    if op.code == "gep" and i and rep.shape is V:
        return Rep("i32", ("u",), ["0"])
    return rep


def _truncated(e: Lanes, op: Op) -> list[str]:
    rep = e.get(op.args[0])
    root = e.get(rep.root)
    coefficient = Const("i32", str(signed(rep.shape[3])))

    def write(row: list[str]) -> str:
        rest, start = row
        low = rest if rest.lstrip("-").isdigit() else e.let(f"trunc i64 {rest} to i32")
        if low.lstrip("-").isdigit():
            low = str(signed(int(low)))
        scaled = e.let(f"mul i32 {start}, {coefficient.text}")
        return e.let(f"add i32 {scaled}, {low}")

    return per_segment([rep, root], e.parts if op.outs[0].shape[0] == "s" else 1, write)


# -- the table ----------------------------------------------------------------------------------------------------------

Writer = Callable[[Width, Op, list[str]], str]


def _plain(code: str) -> Writer:
    def write(w: Width, op: Op, a: list[str]) -> str:
        return w.let(f"{code} {w.type(op.outs[0].type)} {a[0]}, {a[1]}")

    return write


def _logic(code: str) -> Writer:
    def write(w: Width, op: Op, a: list[str]) -> str:
        return w.logic(code, op.outs[0].type, a[0], a[1])

    return write


def _mul(w: Width, op: Op, a: list[str]) -> str:
    type = op.outs[0].type
    if w.in_calls and type == "i64" and not any(isinstance(each, Const) for each in op.args):
        return w.call("mul64", type, [(type, each) for each in a])
    return w.let(f"mul {w.type(type)} {a[0]}, {a[1]}")


def _float(code: str) -> Writer:
    def write(w: Width, op: Op, a: list[str]) -> str:
        type = op.outs[0].type
        if type == "bfloat":
            wide = [bfloat.widen(w, x) for x in a]
            return bfloat.narrow(w, w.let(f"{code} {w.type('float')} {wide[0]}, {wide[1]}"))
        return w.let(f"{code} {w.type(type)} {a[0]}, {a[1]}")

    return write


def _shift(code: str) -> Writer:
    """A shift by the width or more gives zero, or the sign for ``ashr``."""

    def write(w: Width, op: Op, a: list[str]) -> str:
        type, amount = op.outs[0].type, op.args[1]
        bits, t = bits_of(type), w.type(type)
        if isinstance(amount, Const) and amount.value is not None:
            by = amount.value % (1 << bits)
            if by < bits:
                return w.let(f"{code} {t} {a[0]}, {w.const(type, str(by))}")
            if code != "ashr":
                return w.const(type, "0")
            return w.let(f"ashr {t} {a[0]}, {w.const(type, str(bits - 1))}")
        last = w.const(type, str(bits - 1))
        if code == "ashr":
            by_ = w.intrinsic("umin", type, [a[1], last])
            return w.let(f"ashr {t} {a[0]}, {by_}")
        near = w.let(f"icmp ule {t} {a[1]}, {last}")
        shifted = w.let(f"{code} {t} {a[0]}, {a[1]}")
        return w.let(f"select {w.type('i1')} {near}, {t} {shifted}, {t} {w.const(type, '0')}")

    return write


def _divide(code: str) -> Writer:
    """Division by zero gives all ones, the smallest number by -1 itself, with remainder 0."""

    def write(w: Width, op: Op, a: list[str]) -> str:
        type, divisor = op.outs[0].type, op.args[1]
        bits, t = bits_of(type), w.type(type)
        known = divisor.value if isinstance(divisor, Const) else None
        if known == 0:
            return w.const(type, "-1") if bits > 1 else w.const(type, "true")
        if (w.lanes and bits in (32, 64) and (known is None or bits == 64)) or bits == 128:
            if known is not None and known > 0 and known & (known - 1) == 0:
                return w.let(f"{code} {t} {a[0]}, {a[1]}")
            return w.call(f"{code}{bits}", type, [(type, a[0]), (type, a[1])])
        if known is not None and (known != -1 or code[0] == "u"):
            return w.let(f"{code} {t} {a[0]}, {a[1]}")
        ones = w.const(type, "-1" if bits > 1 else "true")
        zero = w.let(f"icmp eq {t} {a[1]}, {w.const(type, '0' if bits > 1 else 'false')}")
        avoid = zero
        if code[0] == "s" and bits > 1:
            least = w.const(type, str(-(1 << (bits - 1))))
            smallest = w.let(f"icmp eq {t} {a[0]}, {least}")
            minus = w.let(f"icmp eq {t} {a[1]}, {ones}")
            over = w.let(f"and {w.type('i1')} {smallest}, {minus}")
            avoid = w.let(f"or {w.type('i1')} {zero}, {over}")
        one = w.const(type, "1" if bits > 1 else "true")
        safe = w.let(f"select {w.type('i1')} {avoid}, {t} {one}, {t} {a[1]}")
        result = w.let(f"{code} {t} {a[0]}, {safe}")
        return w.let(f"select {w.type('i1')} {zero}, {t} {ones}, {t} {result}")

    return write


def _compare(w: Width, op: Op, a: list[str]) -> str:
    type = op.args[0].type
    if type == "bfloat":
        a, type = [bfloat.widen(w, x) for x in a], "float"
    made = w.let(f"{op.code} {op.detail} {w.type(type)} {a[0]}, {a[1]}")
    if w.lanes:
        w.e.compared[made] = bits_of(type)
    return made


def _select(w: Width, op: Op, a: list[str]) -> str:
    if w.lanes and op.outs[0].type == "i1":
        # A choice between bits, as the logic it is: see ``Lanes.keep``.
        if a[2] == "zeroinitializer":
            return w.logic("and", "i1", a[0], a[1])
        if a[1] == "splat (i1 true)":
            return w.logic("or", "i1", a[0], a[2])
        return w.logic("xor", "i1", w.logic("and", "i1", a[0], w.logic("xor", "i1", a[1], a[2])), a[2])
    t = w.type(stored(op.outs[0].type))
    return w.let(f"select {w.type('i1')} {a[0]}, {t} {a[1]}, {t} {a[2]}")


def _trunc(w: Width, op: Op, a: list[str]) -> str:
    source = op.args[0].type
    if w.lanes and op.outs[0].type == "i1":
        odd = w.let(f"and {w.type(source)} {a[0]}, {w.const(source, '1')}")
        made = w.let(f"icmp ne {w.type(source)} {odd}, {w.const(source, '0')}")
        w.e.compared[made] = bits_of(source)
        return made
    if w.in_calls and (source, op.outs[0].type) == ("i64", "i32"):
        return _half(w, op.args[0], a[0])
    return _cast(w, op, a)


def _half(w: Width, whole: Operand, text: str) -> str:
    """The low half of 64-bit numbers; of numbers shifted down by 32 in this block, the upper half of what was shifted."""
    shift = whole.op if isinstance(whole, Var) and whole.block is w.e.block else None
    if shift is not None and shift.code == "lshr" and isinstance(shift.args[1], Const) and shift.args[1].value == 32:
        return w.call("high64", "i32", [("i64", w.e.vector(shift.args[0]))])
    return w.call("low64", "i32", [("i64", text)])


def _cast(w: Width, op: Op, a: list[str]) -> str:
    return w.let(f"{op.code} {w.type(op.args[0].type)} {a[0]} to {w.type(op.outs[0].type)}")


def _bitcast(w: Width, op: Op, a: list[str]) -> str:
    source, target = stored(op.args[0].type), stored(op.outs[0].type)
    return a[0] if source == target else w.let(f"bitcast {w.type(source)} {a[0]} to {w.type(target)}")


def _to_float(w: Width, op: Op, a: list[str]) -> str:
    source, target = op.args[0].type, op.outs[0].type
    if target == "double" or (target == "float" and bits_of(source) <= 64):
        row = f"{op.code[0]}{bits_of(source)}_to_{target}"
        if w.in_calls and row in CONVERSIONS:
            return w.call(row, target, [(source, a[0])])
        return _cast(w, op, a)
    if target == "half" and bits_of(source) <= 8:
        return _cast(w, op, a)
    if bits_of(source) > 64:
        raise CompileError(f"conversions from {source} to {target} do not run on the virtual GPU")
    name = {"uitofp": "u", "sitofp": "s"}[op.code]
    wide = a[0]
    if bits_of(source) < 64:
        wide = w.let(f"{'zext' if name == 'u' else 'sext'} {w.type(source)} {wide} to {w.type('i64')}")
    return w.call(f"{target}_from_{name}64", target, [("i64", wide)])


def _to_integer(w: Width, op: Op, a: list[str]) -> str:
    """Towards zero, saturating; a NaN is 0, but 1 << (width - 1) from ``double`` and to 64 bits, as PTX has it."""
    source, target = op.args[0].type, op.outs[0].type
    value = a[0]
    if source == "bfloat":
        value, source = bfloat.widen(w, value), "float"
    bits = bits_of(target)
    through = f"i{16 if bits <= 8 else bits}"
    result = _saturated(w, op.code, source, through, value)
    if source == "double" or bits == 64:
        nan = w.let(f"fcmp uno {w.type(source)} {value}, {value}")
        top = w.const(through, str(-(1 << (bits_of(through) - 1))))
        result = w.let(f"select {w.type('i1')} {nan}, {w.type(through)} {top}, {w.type(through)} {result}")
    return result if through == target else w.let(f"trunc {w.type(through)} {result} to {w.type(target)}")


def _fptrunc(w: Width, op: Op, a: list[str]) -> str:
    source, target = op.args[0].type, op.outs[0].type
    if target == "bfloat" and source != "double":
        return bfloat.narrow(
            w, a[0] if source == "float" else w.let(f"fpext {w.type(source)} {a[0]} to {w.type('float')}")
        )
    if target in ("half", "bfloat") and source == "double":
        return w.call(f"{target}_from_double", stored(target), [("double", a[0])])
    return _cast(w, op, a)


def _fpext(w: Width, op: Op, a: list[str]) -> str:
    if op.args[0].type != "bfloat":
        return _cast(w, op, a)
    single = bfloat.widen(w, a[0])
    if op.outs[0].type == "float":
        return single
    return w.let(f"fpext {w.type('float')} {single} to {w.type(op.outs[0].type)}")


def _fneg(w: Width, op: Op, a: list[str]) -> str:
    type = op.outs[0].type
    if type == "bfloat":
        return w.let(f"xor {w.type('i16')} {a[0]}, {w.const('i16', '-32768')}")
    return w.let(f"fneg {w.type(type)} {a[0]}")


def _fma(w: Width, op: Op, a: list[str]) -> str:
    type = op.outs[0].type
    if type in ("half", "bfloat"):
        return w.call(f"fma_{type}", type, [(type, x) for x in a])
    return w.intrinsic("fma", type, a)


def _frem(w: Width, op: Op, a: list[str]) -> str:
    type = op.outs[0].type
    if type == "double":
        return w.call("frem_double", "double", [("double", x) for x in a])
    if type == "float":
        return w.call("frem_float", "float", [("float", x) for x in a])
    return w.call(f"frem_{type}", stored(type), [(stored(type), x) for x in a])


def _gep(w: Width, op: Op, a: list[str]) -> str:
    offset, scales = op.detail
    t = w.type("i64")
    total = a[0]
    for arg, text, scale in zip(op.args[1:], a[1:], scales, strict=True):
        if text == "0":
            continue
        term = text
        bits = bits_of(arg.type)
        if bits < 64:
            term = w.let(f"sext {w.type(arg.type)} {text} to {t}")
        if scale != 1:
            power = scale & -scale == scale and scale > 0
            by = w.const("i64", str(scale.bit_length() - 1 if power else scale))
            term = w.let(f"{'shl' if power else 'mul'} {t} {term}, {by}")
        total = w.let(f"add {t} {total}, {term}")
    if offset:
        total = w.let(f"add {t} {total}, {w.const('i64', str(offset))}")
    return total


def _llvm(w: Width, op: Op, a: list[str]) -> str:
    name, extra = op.detail
    type = op.outs[0].type
    row = f"{name}{bits_of(type)}"
    if w.in_calls and row in BITS and type[0] == "i":
        return w.call(row, type, [(type, each) for each in a])
    return w.intrinsic(name, op.outs[0].type, a, extra)


def _row(w: Width, op: Op, a: list[str]) -> str:
    return w.call(op.detail, op.outs[0].type, [(x.type, text) for x, text in zip(op.args, a, strict=True)])


def _saturating(w: Width, op: Op, a: list[str]) -> str:
    """``llvm.fptosi.sat``: as LLVM defines it, a NaN is 0."""
    source, target = op.args[0].type, op.outs[0].type
    value = a[0]
    if source == "bfloat":
        value, source = bfloat.widen(w, value), "float"
    return _saturated(w, op.code.removesuffix(".sat"), source, target, value)


def _saturated(w: Width, code: str, source: str, target: str, value: str) -> str:
    row = f"{source}_to_{'s' if code == 'fptosi' else 'u'}{target[1:]}"
    if w.in_calls and row in CONVERSIONS:
        return w.call(row, target, [(source, value)])
    name = f"llvm.{code}.sat.{w.suffix(target)}.{w.suffix(source)}"
    w.e.declare(name, f"{w.type(target)} ({w.type(source)})")
    return w.let(f"call {w.type(target)} @{name}({w.type(source)} {value})")


def _class(w: Width, op: Op, a: list[str]) -> str:
    type = op.args[0].type
    name = f"llvm.is.fpclass.{w.suffix(type)}"
    w.e.declare(name, f"{w.type('i1')} ({w.type(type)}, i32)")
    return w.let(f"call {w.type('i1')} @{name}({w.type(type)} {a[0]}, i32 {op.detail})")


TABLE: dict[str, Writer] = {
    **{c: _plain(c) for c in ("add", "sub")},
    **{c: _logic(c) for c in ("and", "or", "xor")},
    "mul": _mul,
    **{c: _shift(c) for c in ("shl", "lshr", "ashr")},
    **{c: _divide(c) for c in ("udiv", "sdiv", "urem", "srem")},
    **{c: _float(c) for c in ("fadd", "fsub", "fmul", "fdiv")},
    "frem": _frem,
    "fneg": _fneg,
    "fma": _fma,
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
    "trunc": _trunc,
    "zext": _cast,
    "sext": _cast,
    "fptrunc": _fptrunc,
    "fpext": _fpext,
    "uitofp": _to_float,
    "sitofp": _to_float,
    "fptoui": _to_integer,
    "fptosi": _to_integer,
    "bitcast": _bitcast,
    "gep": _gep,
    "llvm": _llvm,
    "row": _row,
    "fptosi.sat": _saturating,
    "fptoui.sat": _saturating,
    "fpclass": _class,
}
