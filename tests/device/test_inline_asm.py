"""Inline PTX that runs as IR: each instruction against Python, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.inline_asm.expand import expand_asm, statements
from kernelwright.errors import CompileError
from kernelwright.ir import Module, parse_module
from tests.device.conftest import Launcher
from tests.device.ir_kernels import HEADER, Array, evaluate, floats, integers, pairs, same
from tests.device.test_reference_ops import to_signed, wrap

Compile = Callable[[str], Module]


def asm(ptx: str, constraints: str, result: str, *arguments: str) -> str:
    return f'  %r = call {result} asm "{ptx}", "{constraints}"({", ".join(arguments)})'


A, B, C = integers(32), integers(32)[::-1].copy(), np.roll(integers(32), 9)


def numbers(*arrays: Array) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in zip(*arrays, strict=True)]


def bfe(a: int, position: int, length: int, signed: bool) -> int:
    """PTX ISA, bfe, pseudo-code."""
    position, length = position & 255, length & 255
    fill = a >> min(position + length - 1, 31) & 1 if signed and length else 0
    found = 0
    for i in range(32):
        inside = i < length and position + i <= 31
        found |= (a >> (position + i) & 1 if inside else fill) << i
    return found


def bfi(a: int, b: int, position: int, length: int) -> int:
    found = b
    for i in range(length & 255):
        if (position & 255) + i > 31:
            break
        at = (position & 255) + i
        found = found & ~(1 << at) | (a >> i & 1) << at
    return found


def lop3(a: int, b: int, c: int, table: int) -> int:
    return sum((table >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | c >> n & 1) & 1) << n for n in range(32))


THREE: dict[str, Callable[[int, int, int], int]] = {
    "mad.lo.s32 $0, $1, $2, $3;": lambda a, b, c: a * b + c,
    "mad.hi.u32 $0, $1, $2, $3;": lambda a, b, c: (a * b >> 32) + c,
    "mad.hi.s32 $0, $1, $2, $3;": lambda a, b, c: (to_signed(a, 32) * to_signed(b, 32) >> 32) + c,
    "lop3.b32 $0, $1, $2, $3, 0x96;": lambda a, b, c: a ^ b ^ c,
    "lop3.b32 $0, $1, $2, $3, 0xE2;": lambda a, b, c: lop3(a, b, c, 0xE2),
    "bfe.u32 $0, $1, $2, $3;": lambda a, b, c: bfe(a, b, c, False),
    "bfe.s32 $0, $1, $2, $3;": lambda a, b, c: bfe(a, b, c, True),
    "bfi.b32 $0, $1, $2, 5, $3;": lambda a, b, c: bfi(a, b, 5, c),
    "bfi.b32 $0, $1, $2, $3, 7;": lambda a, b, c: bfi(a, b, c, 7),
    "shf.l.wrap.b32 $0, $1, $2, $3;": lambda a, b, c: (b << 32 | a) << (c & 31) >> 32,
    "shf.r.wrap.b32 $0, $1, $2, $3;": lambda a, b, c: (b << 32 | a) >> (c & 31),
    "shf.r.clamp.b32 $0, $1, $2, $3;": lambda a, b, c: (b << 32 | a) >> min(c, 32),
    "{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.u32 $0, $3, 11, p; }": lambda a, b, c: (
        c if to_signed(a, 32) < to_signed(b, 32) else 11
    ),
    "{ .reg .pred p; setp.hs.u32 p, $1, $2; mov.u32 $0, $3; @p add.u32 $0, $0, 1; @!p not.b32 $0, $0; }": lambda a, b, c: (
        c + 1 if a >= b else ~c
    ),
    "{ .reg .b64 t; mov.b64 t, {$1, $2}; shr.u64 t, t, 20; cvt.u32.u64 $0, t; xor.b32 $0, $0, $3; }": lambda a, b, c: (
        (b << 32 | a) >> 20 ^ c
    ),
    "add.u32 $0, $1, $2; // a comment\\0A sub.u32 $0, $0, $3;": lambda a, b, c: a + b - c,
    "{ max.s32 $0, $1, $2; min.u32 $0, $0, $3; }": lambda a, b, c: min(
        max(to_signed(a, 32), to_signed(b, 32)) % 2**32, c
    ),
    "{ popc.b32 $0, $1; clz.b32 $0, $0; brev.b32 $0, $0; add.s32 $0, $0, $2; and.b32 $0, $0, $3; }": lambda a, b, c: (
        int(f"{32 - a.bit_count().bit_length():032b}"[::-1], 2) + b & c
    ),
}


@pytest.mark.parametrize("ptx", THREE)
def test_three_operands(ptx: str) -> None:
    b, c = B, C
    if "bf" in ptx:  # positions and lengths around the word's end, and beyond what a byte holds
        small = np.array([0, 1, 5, 7, 8, 20, 31, 32, 33, 200, 255, 256, 261], np.uint32)
        b = np.resize(small, len(A)) if "bfe" in ptx else B
        c = np.resize(np.roll(small, 4), len(A))
    found = evaluate(asm(ptx, "=r,r,r,r", "i32", "i32 %a", "i32 %b", "i32 %c"), ["i32"] * 3, "i32", A, b, c)
    same(found, wrap([THREE[ptx](*row) for row in numbers(A, b, c)], 32))


def test_carries_across_words() -> None:
    """libdevice's 128-bit sums and differences from four 32-bit steps."""
    words = [f"a{n}" for n in range(4)] + [f"b{n}" for n in range(4)] + [f"r{n}" for n in range(4)]
    head = f".reg .u32 {', '.join(words)}; "
    inputs = (("a", 0), ("a", 2), ("b", 0), ("b", 2))
    head += " ".join(f"mov.b64 {{{x}{n}, {x}{n + 1}}}, ${k};" for k, (x, n) in enumerate(inputs, 2))
    tail = " mov.b64 $0, {r0, r1}; mov.b64 $1, {r2, r3}; "
    a, b = pairs(integers(128))
    for word, step in (("add", 1), ("sub", -1)):
        body = (
            f"{word}.cc.u32 r0, a0, b0; {word}c.cc.u32 r1, a1, b1; {word}c.cc.u32 r2, a2, b2; {word}c.u32 r3, a3, b3;"
        )
        ir = f"""
  %a0 = trunc i128 %a to i64
  %as = lshr i128 %a, 64
  %a1 = trunc i128 %as to i64
  %b0 = trunc i128 %b to i64
  %bs = lshr i128 %b, 64
  %b1 = trunc i128 %bs to i64
  %p = call {{ i64, i64 }} asm "{{ {head}{body}{tail} }}", "=l,=l,l,l,l,l"(i64 %a0, i64 %a1, i64 %b0, i64 %b1)
  %lo = extractvalue {{ i64, i64 }} %p, 0
  %hi = extractvalue {{ i64, i64 }} %p, 1
  %loz = zext i64 %lo to i128
  %hiz = zext i64 %hi to i128
  %his = shl i128 %hiz, 64
  %r = or i128 %loz, %his"""
        found = evaluate(ir, ["i128"] * 2, "i128", a, b)
        x, y = ([int(v[0]) | int(v[1]) << 64 for v in side] for side in (a, b))
        same(found, wrap([p + step * q for p, q in zip(x, y, strict=True)], 128))


def test_multiply_add_with_carry_is_a_wide_product() -> None:
    ir = """
  %p = call { i32, i32 } asm "{ mad.lo.cc.u32 $0, $2, $3, $4; madc.hi.u32 $1, $2, $3, 0; }", "=r,=r,r,r,r"(i32 %a, i32 %b, i32 %c)
  %lo = extractvalue { i32, i32 } %p, 0
  %hi = extractvalue { i32, i32 } %p, 1
  %loz = zext i32 %lo to i64
  %hiz = zext i32 %hi to i64
  %his = shl i64 %hiz, 32
  %r = or i64 %loz, %his"""
    found = evaluate(ir, ["i32"] * 3, "i64", A, B, C)
    same(found, wrap([a * b + c for a, b, c in numbers(A, B, C)], 64))


FLOATS: dict[str, Callable[[Array, Array], Array]] = {
    "sub.rn.f32 $0, $1, $2;": lambda a, b: a - b,
    "add.f32 $0, $1, $2;": lambda a, b: a + b,
    "mul.rn.f32 $0, $1, $2;": lambda a, b: a * b,
    "div.rn.f32 $0, $1, $2;": lambda a, b: a / b,
    "{ rcp.approx.f32 $0, $1; }": lambda a, b: (1 / a.astype(np.float64)).astype(np.float32),
    "{ neg.f32 $0, $1; abs.f32 $0, $0; add.f32 $0, $0, 0f3F800000; }": lambda a, b: np.abs(a) + np.float32(1),
    "{ .reg .pred p; setp.gt.f32 p, $1, $2; mov.f32 $0, $1; @p add.f32 $0, $0, $2; }": lambda a, b: np.where(
        a > b, a + b, a
    ),
    "{ .reg .pred p; setp.gt.f32 p, $1, $2; selp.f32 $0, $1, $2, p; }": lambda a, b: np.where(a > b, a, b),
    "{ cvt.rzi.s32.f32 $0, $1; cvt.rn.f32.s32 $0, $0; }": lambda a, b: (
        np.clip(np.trunc(np.nan_to_num(a.astype(np.float64), nan=0)), -(2**31), 2**31 - 1).astype(np.float32) + 0
    ),
}


@pytest.mark.parametrize("ptx", FLOATS)
def test_floating_point(ptx: str) -> None:
    a, b = pairs(floats("float"))
    found = evaluate(asm(ptx, "=f,f,f", "float", "float %a", "float %b"), ["float"] * 2, "float", a, b)
    with np.errstate(all="ignore"):
        same(found, FLOATS[ptx](a, b))


def test_votes_without_a_mask_and_sums_by_shuffles(compiled: Compile, launch: Launcher) -> None:
    """Block-wide sums and radix sorts write these two: a conditional floating-point sum, and the older vote."""
    module = compiled(r"""
__global__ void k(float* sums, unsigned* votes) {
    float v = threadIdx.x, sum;
    asm volatile("{ .reg .f32 r0; .reg .pred p; shfl.sync.down.b32 r0|p, %1, %2, %3, %4; @p add.f32 r0, r0, %5; mov.f32 %0, r0; }"
                 : "=f"(sum) : "f"(v), "r"(1), "r"(31), "r"(~0u), "f"(v));
    sums[threadIdx.x] = sum;
    unsigned all;
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 7; vote.ballot.b32 %0, p; }" : "=r"(all) : "r"(threadIdx.x));
    votes[threadIdx.x] = all;
}""")
    sums, votes = np.zeros(32, np.float32), np.zeros(32, np.uint32)
    assert launch(module, "k", 1, 32, sums, votes).fault is None
    t = np.arange(32)
    assert sums.tolist() == [*(2 * t[:31] + 1), 31]
    assert set(votes.tolist()) == {0xFFFFFF00}


def test_one_lane_is_elected(compiled: Compile, launch: Launcher) -> None:
    """The same for all that are named, which may be some of a warp; NVIDIA's thrust elects the thread that copies for its block."""
    module = compiled(r"""
__global__ void k(int* out) {
    int t = threadIdx.x, leader = -1, is_leader;
    if (t % 3 == 1) {
        unsigned mask = __activemask();
        asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.s32 %1, 1, 0, p; }" : "=r"(leader), "=r"(is_leader) : "r"(mask));
        out[2 * t] = leader;
        out[2 * t + 1] = is_leader;
    }
    __syncwarp();
    if (t >= 4) {
        asm volatile("{ .reg .pred p; elect.sync _|p, 0xfffffff0; selp.s32 %0, 1, 0, p; }" : "=r"(is_leader));
        if (is_leader) out[0] = t;
    }
}""")
    out = np.full(64, -1, np.int32)
    assert launch(module, "k", 1, 32, out).fault is None
    assert out[0] == 4
    assert out[2:].reshape(31, 2).tolist() == [[1, int(t == 1)] if t % 3 == 1 else [-1, -1] for t in range(1, 32)]


def test_memory_and_threads(compiled: Compile, launch: Launcher) -> None:
    module = compiled(r"""
__global__ void k(int* out, const int* in, long long* where) {
    int t = threadIdx.x, v, lane, total;
    asm("ld.global.nc.s32 %0, [%1+4];" : "=r"(v) : "l"(in + t));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(total) : "r"(t & 1));
    asm volatile("st.global.cg.v2.s32 [%0], {%1, %2};" :: "l"(out + 4 * t), "r"(v), "r"(lane) : "memory");
    asm volatile("red.global.add.s32 [%0], %1;" :: "l"(out + 4 * t + 2), "r"(5) : "memory");
    int old;
    asm volatile("atom.global.cas.b32 %0, [%1], 0, 9;" : "=r"(old) : "l"(out + 4 * t + 3) : "memory");
    if (t == 0) { where[0] = total; where[1] = old; }
    unsigned long long g;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(g) : "l"(out));
    if (t == 1) where[2] = g == (unsigned long long)out;
    int both = t;
    asm("add.s32 %0, %0, %1;" : "+r"(both) : "n"(3));
    if (t == 2) where[3] = both;
}""")
    out, data, where = np.zeros((32, 4), np.int32), np.arange(100, 140, dtype=np.int32), np.zeros(4, np.int64)
    assert launch(module, "k", 1, 32, out, data, where).fault is None
    t = np.arange(32)
    assert np.array_equal(out, np.stack([t + 101, t, np.full(32, 5), np.full(32, 9)], 1))
    assert where.tolist() == [np.int32(0xAAAAAAAA - 2**32), 0, 1, 5]


@pytest.mark.parametrize(
    ("ptx", "constraints", "message"),
    [
        ("wgmma.fence.sync.aligned;", "", "'wgmma.fence.sync.aligned'"),
        ("tex.2d.v4.f32.f32 {$0, $1, $2, $3}, [$4, {$5, $6}];", "=r,r", "'tex.2d.v4.f32.f32'"),
        ("add.u32 $0, $1, nowhere;", "=r,r", "operand 'nowhere'"),
        ("@$1 wgmma.fence.sync.aligned;", "=r,r", "'wgmma.fence.sync.aligned'"),
        ("cp.async.ca.shared.global [$1], [$1], $1;", "=r,r", "cp.async.ca.shared.global"),
        ("cp.async.ca.shared.global [$1], [$1], 12;", "=r,r", "cp.async.ca.shared.global"),
        ("add.rz.f16x2 $0, $1, $1;", "=r,r", "'.rz.f16x2'"),
        ("addc.u32 $0, $1, $1;", "=r,r", "without a carry"),
        ("add.u32 $0, $1, $1;", "=*m,r", "operands"),
        ("loop: bra loop;", "=r,r", "loop: bra loop"),
        ("bra done;", "=r,r", "'bra'"),
    ],
)
def test_unknown_ptx_is_refused_by_name(ptx: str, constraints: str, message: str) -> None:
    result, arguments = ("void", "") if not constraints else ("i32", "i32 %x")
    assign = "" if result == "void" else "%r = "
    module = parse_module(f"""{HEADER}
define ptx_kernel void @k(i32 %x) {{
  {assign}call {result} asm sideeffect "{ptx}", "{constraints}"({arguments})
  ret void
}}
""")
    call = module.function("k").entry.instructions[0]
    with pytest.raises(CompileError, match="inline PTX") as error:
        expand_asm(call)
    assert message in str(error.value) and "asm sideeffect" in str(error.value)
    assert module.function("k").arguments[0].users in ([], [call])


def test_statements_are_split_and_cleaned() -> None:
    text = "{ // one\n .reg .u32 r;\n mov.b64 {$0, r}, ${1:x}; /* two\n lines */ }"
    assert statements(text) == [".reg .u32 r", "mov.b64 {$0, r}, $1"]
