"""Arithmetic: every group of functions the headers offer, on special values too; both executors give the same numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Array, Case, ir
from tests.simt.test_kernels import zeros

Compile = Callable[[str], Module]

SPECIAL = [
    0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, -1e-42, 3e38, -3e38, 0.5, -0.5, 1.5, 2.5, -2.5, 1e10, -1e10, 65504,
    70000, 2**31, -(2**31), 2**32, 2.0**63, 1e-7, 7, 8, 9, 100, 200, 255, 256,
]  # fmt: skip


def floats(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        special = np.array(SPECIAL, np.float32)
    if seed:
        special = rng.permutation(special)
    return np.concatenate([special, (rng.standard_normal(32) * 8).astype(np.float32)])


FUNCTIONS = {
    "libdevice": (
        "float", 2e-6,
        "expf(x) logf(fabsf(x)+1e-3f) sinf(x) cosf(x) tanf(x) powf(fabsf(x),y) sqrtf(fabsf(x)) rsqrtf(fabsf(x)+.1f) erff(x) "
        "tanhf(x) atan2f(x,y) fmodf(x,y) floorf(x) ceilf(x) rintf(x) truncf(x) roundf(x) cbrtf(x) log1pf(fabsf(x)) "
        "expm1f(x) exp2f(x) log2f(fabsf(x)+.5f) log10f(fabsf(x)+.5f) asinf(x/20) acosf(x/20) sinhf(x/4) fminf(x,y) "
        "fmaxf(x,y) fdimf(x,y) hypotf(x,y) copysignf(x,y) x/y lgammaf(fabsf(x)+1)",
    ),
    "rounding": (
        "float", 2e-6,
        "__expf(x) __logf(fabsf(x)+1e-3f) __sinf(x) __cosf(x) __powf(fabsf(x),y) __fdividef(x,y) __frcp_rn(x) "
        "__fsqrt_rn(fabsf(x)) __frsqrt_rn(fabsf(x)+.1f) __fadd_rz(x,y) __fadd_ru(x,y) __fadd_rd(x,y) __fmul_rz(x,y) "
        "__fmul_ru(x,y) __fdiv_rz(x,y) __fdiv_rd(x,y) __fmaf_rz(x,y,x) __fmaf_ru(x,y,x) __saturatef(x) "
        "__fsqrt_rz(fabsf(x)) __frcp_ru(x) x*y+x x*y-y x-x*y",
    ),
    "double": (
        "double", 1e-12,
        "exp(x) log(fabs(x)+1e-3) sin(x) cos(x) pow(fabs(x),y) sqrt(fabs(x)) rsqrt(fabs(x)+.1) erf(x) tanh(x) x/y "
        "fma(x,y,x) __dadd_rz(x,y) __dmul_ru(x,y) __ddiv_rd(x,y) floor(x) rint(x) __drcp_rn(x) __dsqrt_rd(fabs(x))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(cuda: Compile, arena: Arena, name: str) -> None:
    type, tolerance, calls = FUNCTIONS[name]
    terms = calls.split()
    body = ", ".join(terms)
    module = cuda(f"""
extern "C" __global__ void k(const {type}* a, const {type}* b, {type}* o) {{
  int t = threadIdx.x; {type} x = a[t], y = b[t]; {type} r[] = {{{body}}};
  for (int i = 0; i < {len(terms)}; i++) o[t * {len(terms)} + i] = r[i];
}}""")
    dtype = np.float32 if type == "float" else np.float64
    x, y = floats(0).astype(dtype), floats(1).astype(dtype)
    two = [SimtOptions(block=(64, 1, 1)), SimtOptions(block=(64, 1, 1), uniform=False)]
    Case(module, "k", 1, 64, x, y, zeros(64 * len(terms), dtype)).agree(arena, tolerance, two)


def test_conversions(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(const float* a, int* o) {
  int t = threadIdx.x; float x = a[t]; long long L = (long long)x;
  int r[] = {(int)x, (int)(unsigned)x, (int)L, (int)(L >> 32), (int)(unsigned char)(int)x, __float2int_rn(x),
    __float2int_ru(x), __float2int_rd(x), (int)__float2uint_rn(x), __float_as_int(__int2float_rz((int)x * 1001)),
    __float_as_int(__uint2float_ru((unsigned)x)), __float_as_int((float)L), x == x ? __double2hiint((double)x) : 0,
    (short)x, (int)__double2int_rn((double)x * 1.5), x == x ? __float_as_int(__double2float_rd((double)x / 3)) : 0,
    (int)__float2ll_rz(x * 1e6f), (int)__float2ull_rn(x * 1e6f), __float_as_int(__ll2float_ru(L * 3)),
    __float_as_int(__ull2float_rz((unsigned long long)L)), __double2loint(__ll2double_rd(L * 7 + 1))};
  for (int i = 0; i < 21; i++) o[t * 21 + i] = r[i];
}""")
    Case(module, "k", 1, 64, floats(0), zeros(64 * 21)).agree(arena)


def test_integers(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(const int* a, const int* b, int* o) {
  int t = threadIdx.x, x = a[t], y = b[t]; unsigned ux = x, uy = y;
  long long lx = ((long long)x << 20) ^ y, ly = ((long long)y << 13) + x;
  long long q = ly ? lx / ly : 0, qm = ly ? lx % ly : 0;
  unsigned long long uq = (unsigned long long)lx / ((unsigned long long)ly | 1);
  int r[] = {x / (y | 1), x % (y | 1), (int)(ux / (uy | 1)), (int)(ux % (uy | 1)), x / 7, x % 7, (int)(ux / 10), __clz(x),
    __ffs(x), __popc(x), (int)__brev(ux), __mulhi(x, y), (int)__umulhi(ux, uy), __mul24(x, y),
    (int)__byte_perm(ux, uy, uy & 0x7777), (int)__funnelshift_l(ux, uy, x & 31), (int)__funnelshift_r(ux, uy, y), abs(x),
    min(x, y), max(x, y), (int)__sad(x, y, 3), (int)q, (int)(q >> 32), (int)qm, (int)uq, __clzll(lx), __popcll(lx),
    (int)__mul64hi(lx, ly), x << (y & 31), x >> (y & 31), (int)(ux >> (y & 31)), __dp4a(x, y, 1), (int)__vadd4(ux, uy),
    (int)__usad(ux, uy, 1u), __hadd(x, y), __rhadd(x, y), (int)__fns(ux, 3, 2)};
  for (int i = 0; i < 37; i++) o[t * 37 + i] = r[i];
}""")
    rng = np.random.default_rng(2)
    x = np.array([0, 1, -1, 2**31 - 1, -(2**31), 7, -7, 255, *rng.integers(-(2**31), 2**31, 56)], np.int32)
    y = np.array([0, -1, -1, 1, -1, 0, 3, 2, *rng.integers(-(2**20), 2**20, 56)], np.int32)
    Case(module, "k", 1, 64, x, y, zeros(64 * 37)).agree(arena)


def test_half_and_bfloat(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void h(const float* a, const float* b, float* o) {
  int t = threadIdx.x; __half x = __float2half(a[t]), y = __float2half(b[t]);
  __half2 p = __halves2half2(x, y), q = __halves2half2(y, x), s = __hfma2(p, q, p);
  float r[] = {__half2float(__hadd(x, y)), __half2float(__hmul(x, y)), __half2float(__hfma(x, y, x)),
    __half2float(__hdiv(x, y)), __low2float(s), __high2float(s), __half2float(hsqrt(__habs(x))), __half2float(__hsub(x, y)),
    (float)__hgt(x, y), __half2float(__hneg(x)), __half2float(__float2half_rz(a[t] * 1.37f)), __half2float(__int2half_rn(t * 77))};
  for (int i = 0; i < 12; i++) o[t * 12 + i] = r[i];
}
extern "C" __global__ void b(const float* a, const float* b, float* o) {
  int t = threadIdx.x; __nv_bfloat16 x = __float2bfloat16(a[t]), y = __float2bfloat16(b[t]);
  __nv_bfloat162 p = __halves2bfloat162(x, y), s = __hmul2(p, p);
  float r[] = {__bfloat162float(__hadd(x, y)), __bfloat162float(__hmul(x, y)), __bfloat162float(__hfma(x, y, x)),
    __low2float(s), __high2float(s), __bfloat162float(__hsub(x, y)), (float)__hlt(x, y)};
  for (int i = 0; i < 7; i++) o[t * 7 + i] = r[i];
}""")
    Case(module, "h", 1, 64, floats(0), floats(1), zeros(64 * 12, np.float32)).agree(arena)
    Case(module, "b", 1, 64, floats(0), floats(1), zeros(64 * 7, np.float32)).agree(arena)


def test_wide_integers(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void k(const long long* a, long long* o) {
  int t = threadIdx.x; __int128 x = (__int128)a[t] * a[t + 1]; unsigned __int128 y = x; x = x + (__int128)a[t];
  o[4 * t] = (long long)x; o[4 * t + 1] = (long long)(x >> 64); o[4 * t + 2] = (long long)(y >> 37);
  o[4 * t + 3] = (long long)(x / (a[t + 1] | 1));
}""")
    values = np.random.default_rng(3).integers(-(2**62), 2**62, 40)
    Case(module, "k", 1, 33, values, zeros(33 * 4, np.int64)).agree(arena)


POISON = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %a, ptr %b, ptr %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %pa = getelementptr TYPE, ptr %a, i64 %w
  %pb = getelementptr TYPE, ptr %b, i64 %w
  %x = load TYPE, ptr %pa
  %y = load TYPE, ptr %pb
  %r = OP TYPE %x, %y
  %po = getelementptr TYPE, ptr %o, i64 %w
  store TYPE %r, ptr %po
  ret void
}
"""


@pytest.mark.parametrize("type", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("op", ["shl", "lshr", "ashr", "udiv", "sdiv", "urem", "srem"])
def test_what_llvm_leaves_open_is_what_the_gpu_does(arena: Arena, op: str, type: str) -> None:
    module = ir(POISON.replace("TYPE", type).replace("OP", op))
    dtype = np.dtype(f"i{int(type[1:]) // 8}")
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    pairs = [
        (x, y) for x in (0, 1, -1, 5, most, least, least + 1) for y in (0, 1, -1, 2, 7, 8, 31, 32, 63, 64, most, least)
    ]
    x, y = (np.array([p[i] for p in pairs[:64]], np.int64).astype(dtype) for i in (0, 1))
    options = [SimtOptions(block=(64, 1, 1))]
    Case(module, "k", 1, 64, x, y, zeros(64, dtype)).agree(arena, options=options)
    # All lanes the same, so that numbers and not vectors are computed.
    one = ir(
        POISON.replace("TYPE", type)
        .replace("OP", op)
        .replace("i64 %w\n  %x", "i64 0\n  %x")
        .replace("ptr %a, i64 %w", "ptr %a, i64 0")
    )
    for first, second in ((least, -1), (5, 0), (most, 64)):
        values = [np.array([v], np.int64).astype(dtype) for v in (first, second)]
        Case(one, "k", 1, 32, *values, zeros(32, dtype)).agree(arena, options=[SimtOptions(block=(32, 1, 1))])


@pytest.mark.parametrize("threads", [64, 48, 16])
def test_calls_and_lines_agree(cuda: Compile, arena: Arena, threads: int) -> None:
    """What code that is soon made leaves to the runtime, code in line writes out: choices by lane masks, bits, 64-bit numbers."""
    module = cuda("""
extern "C" __global__ void k(const long long* a, const double* f, long long* o) {
  int t = threadIdx.x; long long x = a[t], y = a[63 - t]; double d = f[t]; float s = (float)d;
  unsigned long long ux = x, uy = y;
  bool odd = x & 1, more = x > y, chosen = odd ? more : d < 3.0;
  long long kept = 7; short narrow = 3; bool flag = more; double wide = d;
  for (int i = 0; i < (t & 7); i++) {
    if (((x >> i) & 3) == 1) { kept = kept * x + i; narrow ^= (short)i; flag = flag != chosen; wide = wide * 0.5 + i; }
    else if (flag) break;
  }
  long long r[] = {x * y, (int)(ux >> 32), (int)x, __clzll(x), __ffsll(x), __popcll(x), (long long)__brevll(ux), __clz((int)x),
    (long long)__funnelshift_l((int)x, (int)y, (int)y), (long long)((ux << (y & 63)) | (uy >> (64 - (y & 63) & 63))),
    (long long)d, (long long)(unsigned long long)d, (int)d, (unsigned)d, (long long)s, (long long)(unsigned long long)s, (int)s,
    (unsigned)s, __double_as_longlong((double)x), __double_as_longlong((double)ux), __float_as_int((float)x),
    __float_as_int((float)ux), kept, narrow, flag, __double_as_longlong(wide), chosen ? x : y};
  for (int i = 0; i < 27; i++) o[t * 27 + i] = r[i];
}""")
    rng = np.random.default_rng(5)
    edges = [0, 1, -1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, -(2**63), 5, -8, 255]
    whole = np.array([*edges, *(rng.integers(-(2**62), 2**62, 52) >> rng.integers(0, 62, 52))], np.int64)
    real = np.concatenate([floats(3).astype(np.float64)[:60], [2.0**64, -(2.0**63), 1e300, -1e300]])
    shape = (threads, 1, 1)
    forms = [
        SimtOptions(block=shape, level=level, inline=inline) for level, inline in ((0, False), (1, True), (0, True))
    ]
    split = SimtOptions(block=shape, level=0, split=True)
    Case(module, "k", 1, threads, whole, real, zeros(64 * 27, np.int64)).agree(arena, options=[*forms, split])
