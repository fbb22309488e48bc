"""Inline PTX for random kernels: each instruction beside the same in C++, by the PTX ISA's words."""

from __future__ import annotations

from dataclasses import dataclass

TYPES = {"h": "unsigned short", "r": "unsigned", "l": "unsigned long long", "f": "float", "d": "double"}
"""By constraint."""


@dataclass(frozen=True)
class Asm:
    """``%0`` is the result, ``%1`` and up the operands ``a``, ``b``, ``c``; ``@`` stands where a predicate may."""

    ptx: str
    letters: str
    """The constraint of the result and of each operand."""
    host: str
    """The result as C++."""

    @property
    def words(self) -> set[str]:
        """The opcodes in it, by their first words."""
        return {
            w.split(".")[0].lstrip("@")
            for w in self.ptx.replace("{", " ").replace(";", " ; ").split()
            if "." in w and "%" not in w
        }


def _rows() -> list[Asm]:
    rows: list[Asm] = []

    def add(ptx: str, letters: str, host: str) -> None:
        rows.append(Asm(ptx, letters, host))

    signed = {"h": "short", "r": "int", "l": "long long"}
    bits = {"h": 16, "r": 32, "l": 64}
    for k, n in bits.items():
        u, s = TYPES[k], signed[k]
        three = k * 3
        for name, op in (("add", "+"), ("sub", "-"), ("mul.lo", "*")):
            add(f"@{name}.u{n} %0, %1, %2;", three, f"({u})(({u})a {op} 1u * b)")
        for name, op in (("and", "&"), ("or", "|"), ("xor", "^")):
            add(f"@{name}.b{n} %0, %1, %2;", three, f"a {op} b")
        add(f"@not.b{n} %0, %1;", k * 2, f"({u})~a")
        add(f"@neg.s{n} %0, %1;", k * 2, f"({u})(0u - a)")
        add(f"@abs.s{n} %0, %1;", k * 2, f"({s})a < 0 ? ({u})(0u - a) : a")
        add(f"@min.u{n} %0, %1, %2;", three, "a < b ? a : b")
        add(f"@max.s{n} %0, %1, %2;", three, f"({s})a > ({s})b ? a : b")
        add(f"@shl.b{n} %0, %1, %2;", f"{k}{k}r", f"b >= {n} ? 0 : ({u})(a << (b & {n - 1}))")
        add(f"@shr.u{n} %0, %1, %2;", f"{k}{k}r", f"b >= {n} ? 0 : ({u})(a >> (b & {n - 1}))")
        add(f"@shr.s{n} %0, %1, %2;", f"{k}{k}r", f"({u})(({s})a >> (b >= {n} ? {n - 1} : b))")
        # What a division by zero gives is open.
        some = f"{{ .reg .b{n} t; or.b{n} t, %2, 5;"
        add(f"{some} @div.u{n} %0, %1, t; }}", three, "a / (b | 5)")
        add(f"{some} @rem.s{n} %0, %1, t; }}", three, f"({u})(({s})(b | 5) == -1 ? 0 : ({s})a % ({s})(b | 5))")
        add(f"@mad.lo.s{n} %0, %1, %2, %3;", k * 4, f"({u})(1u * a * b + c)")
        compare = (("lt", "u", u, "<"), ("ge", "s", s, ">="), ("eq", "u", u, "=="), ("ne", "s", s, "!="), ("gt", "u", u, ">"),
                   ("le", "s", s, "<="))  # fmt: skip
        for word, sign, type, op in compare:
            test = f"({type})a {op} ({type})b"
            add(
                f"{{ .reg .pred q; setp.{word}.{sign}{n} q, %1, %2; @selp.b{n} %0, %1, %3, q; }}",
                k * 4,
                f"{test} ? a : c",
            )
            add(f"@set.{word}.u32.{sign}{n} %0, %1, %2;", f"r{k}{k}", f"{test} ? ~0u : 0")
        for target, m in bits.items():
            for sign in "us":
                cast = u if sign == "u" else s
                add(f"@cvt.u{m}.{sign}{n} %0, %1;", f"{target}{k}", f"({TYPES[target]})({cast})a")
    for k, n, big in (("r", 32, "unsigned __int128"), ("l", 64, "unsigned __int128")):
        u, s = TYPES[k], signed[k]
        wide = "__int128"
        add(f"@mul.hi.u{n} %0, %1, %2;", k * 3, f"({u})(({big})a * b >> {n})")
        add(f"@mul.hi.s{n} %0, %1, %2;", k * 3, f"({u})(({wide})({s})a * ({s})b >> {n})")
        add(f"@mad.hi.u{n} %0, %1, %2, %3;", k * 4, f"({u})(({u})(({big})a * b >> {n}) + c)")
        add(f"@popc.b{n} %0, %1;", f"r{k}", "__builtin_popcountll(a)")
        add(f"@clz.b{n} %0, %1;", f"r{k}", f"a ? __builtin_clzll(a) - {64 - n} : {n}")
        add(f"@brev.b{n} %0, %1;", k * 2, f"({u})reversed(a, {n})")
        add(f"@bfind.u{n} %0, %1;", f"r{k}", "a ? 63 - __builtin_clzll(a) : ~0u")
        add(f"@bfind.shiftamt.u{n} %0, %1;", f"r{k}", f"a ? __builtin_clzll(a) - {64 - n} : ~0u")
        add(f"@bfe.u{n} %0, %1, %2, %3;", f"{k}{k}rr", f"({u})field(a, b & 255, c & 255, {n}, 0)")
        add(f"@bfe.s{n} %0, %1, %2, %3;", f"{k}{k}rr", f"({u})field(a, b & 255, c & 255, {n}, 1)")
        add(f"@bfi.b{n} %0, %1, %2, %3, 7;", f"{k}{k}{k}r", f"({u})inserted(a, b, c & 255, 7, {n})")
    for sign in "us":
        s16, s32 = ("unsigned short", "unsigned") if sign == "u" else ("short", "int")
        big = "unsigned long long" if sign == "u" else "long long"
        add(f"@mul.wide.{sign}16 %0, %1, %2;", "rhh", f"(unsigned)({s32})(({s32})({s16})a * ({s32})({s16})b)")
        add(f"@mul.wide.{sign}32 %0, %1, %2;", "lrr", f"({big})({s32})a * ({big})({s32})b")
        add(
            f"@mad.wide.{sign}32 %0, %1, %2, %3;",
            "lrrl",
            f"(unsigned long long)(({big})({s32})a * ({big})({s32})b) + c",
        )
        add(f"@cvt.{sign}32.{sign}8 %0, %1;", "rr", f"(unsigned)({'unsigned char' if sign == 'u' else 'signed char'})a")
        add(f"@dp4a.{sign}32.s32 %0, %1, %2, %3;", "rrrr", f"dot(a, b, {int(sign == 's')}, 1) + c")
        add(f"@sad.{sign}32 %0, %1, %2, %3;", "rrrr", f"(({s32})a > ({s32})b ? a - b : b - a) + c")
        add(
            f"@dp2a.hi.{sign}32.u32 %0, %1, %2, %3;",
            "rrrr",
            f"c + ({s16})a * (b >> 16 & 255) + ({s16})(a >> 16) * (b >> 24)",
        )
        low = "((a & 0xFFFFFF) ^ 0x800000) - 0x800000" if sign == "s" else "(a & 0xFFFFFF)"
        add(f"@mul24.lo.{sign}32 %0, %1, %2;", "rrr", f"(unsigned)({low}) * (unsigned)({low.replace('a &', 'b &')})")
    add("@mad24.hi.u32 %0, %1, %2, %3;", "rrrr", "(unsigned)((a & 0xFFFFFFull) * (b & 0xFFFFFF) >> 16) + c")
    add("@cvt.sat.u8.s32 %0, %1;", "rr", "(int)a < 0 ? 0 : (int)a > 255 ? 255 : a")
    add(
        "@cvt.sat.s16.s64 %0, %1;",
        "hl",
        "(unsigned short)((long long)a < -32768 ? -32768 : (long long)a > 32767 ? 32767 : (short)a)",
    )
    add("@cvt.sat.u32.s64 %0, %1;", "rl", "(long long)a < 0 ? 0 : a > 0xFFFFFFFFull ? ~0u : (unsigned)a")
    for side, name in (("l", "left"), ("r", "right")):
        add(f"@shf.{side}.wrap.b32 %0, %1, %2, %3;", "rrrr", f"funnel_{name}(a, b, c & 31)")
        add(f"@shf.{side}.clamp.b32 %0, %1, %2, %3;", "rrrr", f"funnel_{name}(a, b, c > 32 ? 32 : c)")
    for table in (0x96, 0xE8, 0x1B, 0xCA):
        add(f"@lop3.b32 %0, %1, %2, %3, {table};", "rrrr", f"looked_up(a, b, c, {table})")
    add("@prmt.b32 %0, %1, %2, %3;", "rrrr", "permuted(a, b, c)")
    add("@slct.u32.s32 %0, %1, %2, %3;", "rrrr", "(int)c >= 0 ? a : b")
    add("{ .reg .u32 lo, hi, e, g; mov.b64 {lo, hi}, %1; mov.b64 {e, g}, %2; add.cc.u32 lo, lo, e; addc.u32 hi, hi, g;"
        " @mov.b64 %0, {lo, hi}; }", "lll", "a + b")  # fmt: skip
    add("{ .reg .u32 lo, hi, e, g; mov.b64 {lo, hi}, %1; mov.b64 {e, g}, %2; sub.cc.u32 lo, lo, e; subc.u32 hi, hi, g;"
        " @mov.b64 %0, {lo, hi}; }", "lll", "a - b")  # fmt: skip
    add("{ .reg .u32 lo, hi; mad.lo.cc.u32 lo, %1, %2, %3; madc.hi.u32 hi, %1, %2, 0; @mov.b64 %0, {lo, hi}; }", "lrrr",
        "(unsigned long long)a * b + c")  # fmt: skip
    add("{ .reg .b16 x, y; mov.b32 {x, y}, %1; @mov.b32 %0, {y, x}; }", "rr", "a << 16 | a >> 16")
    add("{ .reg .pred q, s; setp.lt.u32 s, %1, 9; setp.gt.and.s32 q, %1, %2, s; @selp.u32 %0, 1, 0, q; }", "rrr",
        "(int)a > (int)b && a < 9")  # fmt: skip
    add("{ .reg .pred q, s; setp.eq.u32 q|s, %1, %2; @!q add.u32 %0, %1, 1; @q mov.u32 %0, 4; @s add.u32 %0, %0, 2; }", "rrr",
        "a == b ? 4u : a + 3")  # fmt: skip
    # Floating point: what IEEE 754 rounds in one way.
    for k, n, c in (("f", 32, "float"), ("d", 64, "double")):
        for name, op in (("add", "+"), ("sub", "-"), ("mul", "*")):
            add(f"@{name}.rn.f{n} %0, %1, %2;", k * 3, f"a {op} b")
        add(f"@fma.rn.f{n} %0, %1, %2, %3;", k * 4, "std::fma(a, b, c)")
        add(f"@div.rn.f{n} %0, %1, %2;", k * 3, "a / b")
        add(f"@sqrt.rn.f{n} %0, %1;", k * 2, "std::sqrt(a)")
        add(f"@min.f{n} %0, %1, %2;", k * 3, "std::fmin(a, b)")
        add(f"@max.f{n} %0, %1, %2;", k * 3, "std::fmax(a, b)")
        add(f"@abs.f{n} %0, %1;", k * 2, "std::fabs(a)")
        add(f"@neg.f{n} %0, %1;", k * 2, "-a")
        add(f"@copysign.f{n} %0, %1, %2;", k * 3, "std::copysign(b, a)")
        add(f"@cvt.rzi.s32.f{n} %0, %1;", f"r{k}", "(unsigned)(a < -2e9 ? INT32_MIN : a > 2e9 ? INT32_MAX : (int)a)")
        add(f"@cvt.rn.f{n}.u64 %0, %1;", f"{k}l", f"({c})a")
        add(f"@cvt.rn.f{n}.s32 %0, %1;", f"{k}r", f"({c})(int)a")
        add(f"@cvt.rmi.f{n}.f{n} %0, %1;", k * 2, "std::floor(a)")
        add(f"{{ .reg .pred q; setp.leu.f{n} q, %1, %2; @selp.f{n} %0, %1, %3, q; }}", k * 4, "!(a > b) ? a : c")
        for word, test in (
            ("finite", "std::isfinite(y)"),
            ("notanumber", "std::isnan(y)"),
            ("infinite", "std::isinf(y)"),
        ):
            number = f"{c} y = ({c})(a / b)"
            given = f"{{ .reg .pred q; .reg .f{n} y; div.rn.f{n} y, %1, %2; testp.{word}.f{n} q, y; @selp.u32 %0, 3, 4, q; }}"
            add(given, f"r{k}{k}", f"[&] {{ {number}; return {test}; }}() ? 3 : 4")
    add("@cvt.f64.f32 %0, %1;", "df", "(double)a")
    add("@cvt.rn.f32.f64 %0, %1;", "fd", "(float)a")
    add("@mov.b32 %0, %1;", "rf", "bits_of(a)")
    add("@mov.b64 %0, %1;", "dl", "number_of(a)")
    # Places.
    for name, value in (("tid.x", "threadIdx.x"), ("ctaid.x", "blockIdx.x"), ("ntid.x", "blockDim.x"), ("nctaid.x", "gridDim.x"),
                        ("laneid", "threadIdx.x % 32"), ("warpid", "threadIdx.x / 32"), ("lanemask_lt", "(1u << threadIdx.x % 32) - 1"),
                        ("envreg3", "0")):  # fmt: skip
        add(f"@mov.u32 %0, %%{name};", "r", value)
    return rows


ROWS = _rows()

HELPERS = r"""
#ifndef __CUDACC__
#include <cmath>
typedef unsigned long long u64;
static u64 reversed(u64 a, int n) { u64 r = 0; for (int i = 0; i < n; i++) r |= (a >> i & 1) << (n - 1 - i); return r; }
static u64 field(u64 a, unsigned from, unsigned count, unsigned n, int sign) {
    u64 r = 0, top = from + count - 1 < n - 1 ? from + count - 1 : n - 1;
    u64 fill = sign && count ? a >> top & 1 : 0;
    for (unsigned i = 0; i < n; i++) r |= (i < count && from + i < n ? a >> (from + i) & 1 : fill) << i;
    return r;
}
static u64 inserted(u64 a, u64 b, unsigned at, unsigned count, unsigned n) {
    for (unsigned i = 0; i < count && at + i < n; i++) b = (b & ~((u64)1 << (at + i))) | (a >> i & 1) << (at + i);
    return b;
}
static unsigned dot(unsigned a, unsigned b, int sa, int sb) {
    unsigned r = 0;
    for (int i = 0; i < 32; i += 8)
        r += (sa ? (int)(signed char)(a >> i) : (int)(a >> i & 255)) * (sb ? (int)(signed char)(b >> i) : (int)(b >> i & 255));
    return r;
}
static unsigned funnel_left(unsigned a, unsigned b, unsigned c) { return (unsigned)((((unsigned __int128)b << 32 | a) << c) >> 32); }
static unsigned funnel_right(unsigned a, unsigned b, unsigned c) { return (unsigned)(((u64)b << 32 | a) >> c); }
static unsigned looked_up(unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return r;
}
static unsigned permuted(unsigned a, unsigned b, unsigned s) {
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = s >> 4 * i, byte = (unsigned)(((u64)b << 32 | a) >> 8 * (pick & 7)) & 255;
        r |= (pick & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * i;
    }
    return r;
}
static unsigned bits_of(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
static double number_of(u64 b) { double x; memcpy(&x, &b, 8); return x; }
#endif
"""


def function(row: Asm, number: int, predicated: bool, volatile: bool) -> str:
    """A function of both sides. Under a predicate the first parameter says whether it happens, the second what is kept."""
    result = TYPES[row.letters[0]]
    operands = [(TYPES[k], name) for k, name in zip(row.letters[1:], "abc", strict=False)]
    parameters = [f"{t} {n}" for t, n in operands]
    inputs = [f'"{k}"({n})' for k, (_, n) in zip(row.letters[1:], operands, strict=True)]
    word = "asm volatile" if volatile else "asm"
    if not predicated:
        text = row.ptx.replace("@!", "\0").replace("@q", "\1").replace("@s ", "\2").replace("@", "")
        text = text.replace("\0", "@!").replace("\1", "@q").replace("\2", "@s ")
        code = f'{result} d; {word}("{text}" : "=&{row.letters[0]}"(d) : {", ".join(inputs)}); return d;'
        return _both(f"{result} asm{number}({', '.join(parameters)})", code, f"return {row.host};")
    text = row.ptx.replace("@!", "\0").replace("@q", "\1").replace("@s ", "\2").replace("@", "@p ")
    text = text.replace("\0", "@!").replace("\1", "@q").replace("\2", "@s ")
    last = len(operands) + 1
    inside = text.removeprefix("{").removesuffix("}")
    text = f"{{ .reg .pred p; setp.ne.s32 p, %{last}, 0; {inside} }}"
    inputs.append('"r"(when)')
    code = f'{result} d = old; {word}("{text}" : "+&{row.letters[0]}"(d) : {", ".join(inputs)}); return d;'
    head = f"{result} asm{number}({', '.join(['int when', f'{result} old', *parameters])})"
    return _both(head, code, f"return when ? ({result})({row.host}) : old;")


def _both(head: str, device: str, host: str) -> str:
    return f"FN {head} {{\n#ifdef __CUDACC__\n    {device}\n#else\n    {host}\n#endif\n}}\n"


def can_be_predicated(row: Asm) -> bool:
    return "@q" not in row.ptx
