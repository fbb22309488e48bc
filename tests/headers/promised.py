"""Every device function that the headers promise, as a call, with what the call must come to in the IR.

A call may use the parameters below. ``expect`` is text that must occur in the optimised body: a libdevice entry, an
LLVM intrinsic or an instruction; empty where any of several forms is right (the value is tested in test_values.py).
"""

from __future__ import annotations

from dataclasses import dataclass

PARAMETERS = (
    "float x, float y, float z, float w, double a, double b, double c, double d, int i, int j, int k, "
    "unsigned u, unsigned v, unsigned t, long l, unsigned long ul, long long m, long long n, "
    "unsigned long long p, unsigned long long q, float *pf, double *pd, int *pi, unsigned *pu, "
    "long long *pm, unsigned long long *pp, unsigned short *ps"
)


@dataclass(frozen=True)
class Call:
    code: str
    """An expression, or statements that end in a semicolon."""
    expect: str = ""
    in_nvcc: bool = True
    """Whether CUDA 13's nvcc knows it, too."""


def _c(code: str, expect: str = "", in_nvcc: bool = True) -> Call:
    return Call(code, expect, in_nvcc)


_LIBDEVICE_1 = (
    "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 lgamma log log10 log1p log2 logb round sin "
    "sinh tan tanh tgamma cospi cyl_bessel_i0 cyl_bessel_i1 erfcinv erfcx erfinv exp10 j0 j1 normcdf normcdfinv rcbrt "
    "rsqrt sinpi y0 y1"
).split()
_INTRINSIC_1 = {f: f"llvm.{f}" for f in "ceil fabs floor nearbyint rint sqrt trunc".split()}
_LIBDEVICE_2 = "atan2 fdim fmod hypot nextafter pow remainder rhypot".split()
_INTRINSIC_2 = {"copysign": "llvm.copysign", "fmax": "llvm.maxnum", "fmin": "llvm.minnum"}
_STANDARD_1 = [f for f in _LIBDEVICE_1[:26]] + list(_INTRINSIC_1)
_STANDARD_2 = [f for f in _LIBDEVICE_2 if f != "rhypot"] + list(_INTRINSIC_2)


def _expected(name: str, precision: str) -> str:
    intrinsic = (_INTRINSIC_1 | _INTRINSIC_2).get(name)
    if intrinsic:
        return f"@{intrinsic}.{'f32' if precision == 'f' else 'f64'}("
    return f"@__nv_{name}{precision}("


def _math() -> list[Call]:
    calls = []
    for f in [*_LIBDEVICE_1, *_INTRINSIC_1]:
        calls += [_c(f"{f}(a)", _expected(f, "")), _c(f"{f}f(x)", _expected(f, "f")), _c(f"{f}(x)", _expected(f, "f"))]
    for f in [*_LIBDEVICE_2, *_INTRINSIC_2]:
        calls += [_c(f"{f}(a, b)", _expected(f, "")), _c(f"{f}f(x, y)", _expected(f, "f"))]
    calls += [_c(f"{f}(x, y)", _expected(f, "f")) for f in [*_STANDARD_2]]
    for suffix, x, y, z, w, precision, p in (("", "a", "b", "c", "d", "f64", "pd"), ("f", "x", "y", "z", "w", "f32", "pf")):
        calls += [
            _c(f"fma{suffix}({x}, {y}, {z})", f"@llvm.fma.{precision}("),
            _c(f"frexp{suffix}({x}, pi)", f"@__nv_frexp{suffix}("),
            _c(f"ldexp{suffix}({x}, i)", f"@__nv_ldexp{suffix}("),
            _c(f"scalbn{suffix}({x}, i)", f"@__nv_scalbn{suffix}("),
            _c(f"scalbln{suffix}({x}, l)", f"@__nv_scalbn{suffix}("),
            _c(f"remquo{suffix}({x}, {y}, pi)", f"@__nv_remquo{suffix}("),
            _c(f"modf{suffix}({x}, {p})", f"@__nv_modf{suffix}("),
            _c(f"ilogb{suffix}({x})", f"@__nv_ilogb{suffix}("),
            _c(f"lrint{suffix}({x})", f"@__nv_llrint{suffix}("),
            _c(f"llrint{suffix}({x})", f"@__nv_llrint{suffix}("),
            _c(f"lround{suffix}({x})", f"@__nv_llround{suffix}("),
            _c(f"llround{suffix}({x})", f"@__nv_llround{suffix}("),
            _c(f"jn{suffix}(i, {x})", f"@__nv_jn{suffix}("),
            _c(f"yn{suffix}(i, {x})", f"@__nv_yn{suffix}("),
            _c(f"sincos{suffix}({x}, {p}, {p} + 1);", f"@__nv_sincos{suffix}("),
            _c(f"sincospi{suffix}({x}, {p}, {p} + 1);", f"@__nv_sincospi{suffix}("),
            _c(f"norm3d{suffix}({x}, {y}, {z})", f"@__nv_norm3d{suffix}("),
            _c(f"rnorm3d{suffix}({x}, {y}, {z})", f"@__nv_rnorm3d{suffix}("),
            _c(f"norm4d{suffix}({x}, {y}, {z}, {w})", f"@__nv_norm4d{suffix}("),
            _c(f"rnorm4d{suffix}({x}, {y}, {z}, {w})", f"@__nv_rnorm4d{suffix}("),
            _c(f"norm{suffix}(i, {p})", f"@__nv_norm{suffix}("),
            _c(f"rnorm{suffix}(i, {p})", f"@__nv_rnorm{suffix}("),
            _c(f'nan{suffix}("1")', f"@__nv_nan{suffix}("),
        ]
        calls += [_c(f"isnan({x})"), _c(f"isinf({x})"), _c(f"isfinite({x})"), _c(f"signbit({x})")]
        calls += [_c(f"std::isnormal({x})", in_nvcc=False), _c(f"std::fpclassify({x})", in_nvcc=False)]
        calls += [_c(f"std::{f}({x}, {y})", in_nvcc=False) for f in
                  "isgreater isgreaterequal isless islessequal islessgreater isunordered".split()]
        calls += [_c(f"abs({x})", f"@llvm.fabs.{precision}(")]
    calls += [_c(f"{f}(x, {o})", f"@__nv_{f}f(") for f, o in (("ldexp", "i"), ("scalbn", "i"), ("frexp", "pi"), ("modf", "pf"))]
    calls += [_c("ilogb(x)", "@__nv_ilogbf("), _c("lrint(x)", "@__nv_llrintf("), _c("llround(x)", "@__nv_llroundf(")]
    calls += [_c("fma(x, y, z)", "@llvm.fma.f32("), _c("remquo(x, y, pi)", "@__nv_remquof("), _c("fdividef(x, y)", "fdiv")]
    calls += [_c("abs(i)", "@llvm.abs.i32("), _c("abs(l)", "@llvm.abs.i64("), _c("abs(m)", "@llvm.abs.i64(")]
    calls += [_c("labs(l)", "@llvm.abs.i64("), _c("llabs(m)", "@llvm.abs.i64(")]
    return calls


def _std() -> list[Call]:
    """The same through namespace std, and with the promotions of C++: an integer counts as double."""
    calls = []
    for f in _STANDARD_1:
        calls += [_c(f"std::{f}(a)", _expected(f, "")), _c(f"std::{f}(x)", _expected(f, "f"))]
        calls += [_c(f"{f}(i)", _expected(f, "") if f not in ("rint", "ceil", "floor", "round", "trunc", "nearbyint") else "")]
        calls += [_c(f"std::{f}f(x)", _expected(f, "f"), in_nvcc=False)]
    for f in _STANDARD_2:
        calls += [_c(f"std::{f}(a, b)", _expected(f, "")), _c(f"std::{f}(x, y)", _expected(f, "f"))]
        calls += [_c(f"std::{f}(x, b)", _expected(f, "")), _c(f"std::{f}(a, i)", _expected(f, ""))]
        calls += [_c(f"{f}(x, i)", _expected(f, ""))]
    calls += [_c("std::abs(x)", "@llvm.fabs.f32("), _c("std::abs(a)", "@llvm.fabs.f64("), _c("std::abs(i)", "@llvm.abs.i32(")]
    calls += [_c("std::isnan(x)"), _c("std::isinf(a)"), _c("std::isfinite(x)"), _c("std::signbit(a)")]
    return calls


def _intrinsics() -> list[Call]:
    fast = "cosf exp10f expf log10f log2f logf sinf tanf".split()
    calls = [_c(f"__{f}(x)", f"@__nv_fast_{f}(") for f in fast]
    calls += [_c("__powf(x, y)", "@__nv_fast_powf("), _c("__fdividef(x, y)", "@__nv_fast_fdividef(")]
    calls += [_c("__saturatef(x)", "@__nv_saturatef("), _c("__frsqrt_rn(x)", "@__nv_frsqrt_rn(")]
    calls += [_c("__sincosf(x, pf, pf + 1);", "@__nv_fast_sincosf(")]
    single = {"fadd": "x, y", "fsub": "x, y", "fmul": "x, y", "fdiv": "x, y", "frcp": "x", "fsqrt": "x",
              "fmaf": "x, y, z", "fmaf_ieee": "x, y, z"}
    double = {"dadd": "a, b", "dsub": "a, b", "dmul": "a, b", "ddiv": "a, b", "drcp": "a", "dsqrt": "a", "fma": "a, b, c"}
    for name, operands in (single | double).items():
        calls += [_c(f"__{name}_{mode}({operands})", f"@__nv_{name}_{mode}(") for mode in ("rn", "rz", "ru", "rd")]
    return calls


def _conversions() -> list[Call]:
    table = {"double2float": "a", "double2int": "a", "double2uint": "a", "double2ll": "a", "double2ull": "a",
             "float2int": "x", "float2uint": "x", "float2ll": "x", "float2ull": "x", "int2float": "i", "uint2float": "u",
             "ll2float": "m", "ull2float": "p", "ll2double": "m", "ull2double": "p"}
    calls = [_c(f"__{name}_{mode}({x})", f"@__nv_{name}_{mode}(") for name, x in table.items()
             for mode in ("rn", "rz", "ru", "rd")]
    calls += [_c("__int2double_rn(i)", "@__nv_int2double_rn("), _c("__uint2double_rn(u)", "@__nv_uint2double_rn(")]
    calls += [_c(f"{f}({x})") for f, x in {
        "__float_as_int": "x", "__float_as_uint": "x", "__int_as_float": "i", "__uint_as_float": "u",
        "__double_as_longlong": "a", "__longlong_as_double": "m", "__double2hiint": "a", "__double2loint": "a"}.items()]
    calls += [_c("__hiloint2double(i, j)")]
    return calls


def _integers() -> list[Call]:
    calls = [
        _c("__clz(i)", "@llvm.ctlz.i32("), _c("__clzll(m)", "@llvm.ctlz.i64("), _c("__ffs(i)", "@llvm.cttz.i32("),
        _c("__ffsll(m)", "@llvm.cttz.i64("), _c("__popc(u)", "@llvm.ctpop.i32("), _c("__popcll(p)", "@llvm.ctpop.i64("),
        _c("__brev(u)", "@llvm.bitreverse.i32("), _c("__brevll(p)", "@llvm.bitreverse.i64("),
        _c("__byte_perm(u, v, t)", "@llvm.nvvm.prmt("), _c("__fns(u, v, i)", "@llvm.nvvm.fns("),
        _c("__funnelshift_l(u, v, t)"), _c("__funnelshift_lc(u, v, t)"), _c("__funnelshift_r(u, v, t)"),
        _c("__funnelshift_rc(u, v, t)"), _c("__mulhi(i, j)"), _c("__umulhi(u, v)"), _c("__mul64hi(m, n)"),
        _c("__umul64hi(p, q)"), _c("__mul24(i, j)"), _c("__umul24(u, v)"), _c("__sad(i, j, u)"), _c("__usad(u, v, t)"),
        _c("__hadd(i, j)"), _c("__rhadd(i, j)"), _c("__uhadd(u, v)"), _c("__urhadd(u, v)"),
        _c("__dp4a(i, j, k)", "@llvm.nvvm.idp4a.s.s("), _c("__dp4a(u, v, t)", "@llvm.nvvm.idp4a.u.u("),
        _c("__dp4a(make_char4(i, j, i, j), make_char4(k, k, i, j), k)", "@llvm.nvvm.idp4a.s.s("),
        _c("__dp4a(make_uchar4(u, v, u, v), make_uchar4(t, t, u, v), t)", "@llvm.nvvm.idp4a.u.u("),
        _c("__dp2a_lo(i, j, k)", "false, i32"), _c("__dp2a_hi(i, j, k)", "true, i32"),
        _c("__dp2a_lo(u, v, t)", "@llvm.nvvm.idp2a.u.u("), _c("__dp2a_hi(u, v, t)", "@llvm.nvvm.idp2a.u.u("),
        _c("__dp2a_lo(make_short2(i, j), make_char4(i, j, i, j), k)", "@llvm.nvvm.idp2a.s.s("),
        _c("__dp2a_hi(make_ushort2(u, v), make_uchar4(u, v, u, v), t)", "@llvm.nvvm.idp2a.u.u("),
        _c("umin(u, v)"), _c("umax(u, v)"), _c("llmin(m, n)"), _c("llmax(m, n)"), _c("ullmin(p, q)"), _c("ullmax(p, q)"),
    ]
    calls += [_c(f"{f}({x})", in_nvcc=False) for f, x in {
        "mul24": "i, j", "umul24": "u, v", "mulhi": "i, j", "umulhi": "u, v", "mul64hi": "m, n", "umul64hi": "p, q"}.items()]
    two = "vadd vsub vaddus vsubus vaddss vsubss vmaxu vminu vmaxs vmins vhaddu vavgu vavgs vabsdiffu vabsdiffs vsadu vsads"
    compares = "eq ne ltu leu gtu geu lts les gts ges".split()
    for n in (2, 4):
        calls += [_c(f"__{f}{n}(u, v)") for f in [*two.split(), *("vcmp" + c for c in compares), *("vset" + c for c in compares)]]
        calls += [_c(f"__{f}{n}(u)") for f in ("vneg", "vnegss", "vabs", "vabsss")]
    return calls


def _min_max() -> list[Call]:
    values = ["i", "u", "l", "ul", "m", "p", "x", "a"]
    nvcc = {("i", "i"), ("u", "u"), ("i", "u"), ("u", "i"), ("l", "l"), ("ul", "ul"), ("l", "ul"), ("ul", "l"), ("m", "m"),
            ("p", "p"), ("m", "p"), ("p", "m"), ("x", "x"), ("a", "a"), ("x", "a"), ("a", "x")}
    return [_c(f"{f}({s}, {t})", in_nvcc=(s, t) in nvcc) for f in ("min", "max") for s in values for t in values] + [
        _c("min(x, y)", "@llvm.minnum.f32("), _c("max(a, b)", "@llvm.maxnum.f64("), _c("max(x, 0.5)", "@llvm.maxnum.f64("),
        _c("min((short)i, (short)j)", "@llvm.smin"), _c("max(i, u)", "@llvm.umax.i32("), _c("(std::max)(i, j)", in_nvcc=False),
    ]


def _atomics() -> list[Call]:
    types = {"int": ("pi", "i"), "unsigned": ("pu", "u"), "long long": ("pm", "m"), "unsigned long long": ("pp", "p"),
             "float": ("pf", "x"), "double": ("pd", "a")}
    table = {
        "Add": ("int unsigned unsigned_long_long float double", {"default": "add", "float": "fadd", "double": "fadd"}),
        "Sub": ("int unsigned", {"default": "sub"}),
        "Exch": ("int unsigned unsigned_long_long float", {"default": "xchg"}),
        "Min": ("int unsigned long_long unsigned_long_long", {"default": "umin", "int": "min", "long long": "min"}),
        "Max": ("int unsigned long_long unsigned_long_long", {"default": "umax", "int": "max", "long long": "max"}),
        "And": ("int unsigned long_long unsigned_long_long", {"default": "and"}),
        "Or": ("int unsigned long_long unsigned_long_long", {"default": "or"}),
        "Xor": ("int unsigned long_long unsigned_long_long", {"default": "xor"}),
        "Inc": ("unsigned", {"default": "uinc_wrap"}),
        "Dec": ("unsigned", {"default": "udec_wrap"}),
    }
    calls = []
    for suffix in ("", "_block", "_system"):
        for name, (typed, operation) in table.items():
            for t in (t.replace("_", " ") for t in typed.split()):
                pointer, value = types[t]
                expected = f"atomicrmw {operation.get(t, operation['default'])} ptr"
                calls.append(_c(f"atomic{name}{suffix}({pointer}, {value})", expected))
        for pointer, expected, value in (("pi", "i", "j"), ("pu", "u", "v"), ("pp", "p", "q"),
                                         ("ps", "(unsigned short)i", "(unsigned short)j")):
            call = f"atomicCAS{suffix}({pointer}, {expected}, {value})"
            calls.append(_c(call, "cmpxchg ptr", in_nvcc=pointer != "ps" or not suffix))
    return calls


def _warp() -> list[Call]:
    calls = []
    modes = {"": "idx", "_up": "up", "_down": "down", "_xor": "bfly"}
    for name, mode in modes.items():
        for value in ("i", "u", "l", "ul", "m", "p", "x", "a"):
            kind = "f32" if value == "x" else "i32"
            calls.append(_c(f"__shfl{name}_sync(u, {value}, j)", f"@llvm.nvvm.shfl.sync.{mode}.{kind}("))
        calls.append(_c(f"__shfl{name}_sync(u, i, j, 16)", f"i32 {0x1000 + (0 if mode == 'up' else 0x1F)})"))
    calls += [_c(f"__{f}_sync(u, i)", f"@llvm.nvvm.vote.{f}.sync(") for f in ("all", "any", "uni", "ballot")]
    calls += [_c("__activemask()", "@llvm.nvvm.activemask()")]
    for value in ("i", "u", "x"):
        calls += [_c(f"__match_any_sync(u, {value})", "@llvm.nvvm.match.any.sync.i32("),
                  _c(f"__match_all_sync(u, {value}, pi)", "@llvm.nvvm.match.all.sync.i32p(")]
    for value in ("l", "ul", "m", "p", "a"):
        calls += [_c(f"__match_any_sync(u, {value})", "@llvm.nvvm.match.any.sync.i64("),
                  _c(f"__match_all_sync(u, {value}, pi)", "@llvm.nvvm.match.all.sync.i64p(")]
    calls += [_c(f"__reduce_{f}_sync(u, v)", f"@llvm.nvvm.redux.sync.{e}(") for f, e in
              {"add": "add", "min": "umin", "max": "umax", "and": "and", "or": "or", "xor": "xor"}.items()]
    calls += [_c(f"__reduce_{f}_sync(u, i)", f"@llvm.nvvm.redux.sync.{f}(") for f in ("add", "min", "max")]
    return calls


def _synchronisation() -> list[Call]:
    return [
        _c("__syncthreads();", "@llvm.nvvm.barrier"), _c("__syncthreads_and(i)", "@llvm.nvvm.barrier"),
        _c("__syncthreads_or(i)", "@llvm.nvvm.barrier"), _c("__syncthreads_count(i)", "@llvm.nvvm.barrier"),
        _c("__syncwarp();", "@llvm.nvvm.bar.warp.sync(i32 -1)"), _c("__syncwarp(u);", "@llvm.nvvm.bar.warp.sync("),
        _c("__barrier_sync(u);", "@llvm.nvvm.barrier"), _c("__barrier_sync_count(u, v);", "@llvm.nvvm.barrier"),
        _c("__threadfence_block();", "@llvm.nvvm.membar.cta("), _c("__threadfence();", "@llvm.nvvm.membar.gl("),
        _c("__threadfence_system();", "@llvm.nvvm.membar.sys("), _c("clock()", "@llvm.nvvm.read.ptx.sreg.clock("),
        _c("clock64()", "@llvm.nvvm.read.ptx.sreg.clock64("), _c("__nanosleep(u);", "@llvm.nvvm.nanosleep("),
        _c("globaltimer()", "@llvm.nvvm.read.ptx.sreg.globaltimer(", in_nvcc=False), _c("__trap();", "@llvm.trap("),
        _c("__brkpt();", "@llvm.debugtrap("),
        *(_c(f"{v}.{a}", f"@llvm.nvvm.read.ptx.sreg.{r}.{a}(") for v, r in
          {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}.items() for a in "xyz"),
        _c("dim3 e = blockDim; dim3 f(gridDim.x, 2); uint3 g = threadIdx; *pu = e.x + f.y + g.z;", "sreg.tid.z("),
        _c("*pi = warpSize;", "store i32 32"),
    ]


def _memory() -> list[Call]:
    scalars = ("char signed_char unsigned_char short unsigned_short int unsigned_int long unsigned_long long_long "
               "unsigned_long_long float double").replace("_", " ~").split()
    scalars = " ".join(scalars).replace(" ~", "_").split()
    vectors = ("char2 char4 uchar2 uchar4 short2 short4 ushort2 ushort4 int2 int4 uint2 uint4 longlong2 ulonglong2 float2 "
               "float4 double2").split()
    names = [s.replace("_", " ") for s in scalars]
    calls = [_c(f"__ldg((const {s} *)pp)", "!invariant.load") for s in names]
    # LLVM splits a vector load whose elements are used one by one, and forgets the promise on the way.
    calls += [_c(f"__ldg((const {v} *)pp)", "load ") for v in vectors]
    for f in ("__ldca", "__ldcg", "__ldcs", "__ldlu"):
        calls += [_c(f"{f}((const {t} *)pp)", "load ") for t in ("int", "float4", "unsigned char", "double")]
    calls += [_c(f"__ldcv((const {t} *)pp)", "load volatile") for t in ("int", "float4", "unsigned char", "double")]
    for f in ("__stcg", "__stcs", "__stwb"):
        calls += [_c(f"{f}(pf, x);", "store float"), _c(f"{f}(pf, 1.0);", "store float"),
                  _c(f"{f}((float4 *)pf, make_float4(x, y, z, w));", "store ")]
    calls += [_c("__stwt(pf, x);", "store volatile"), _c("__stwt((float4 *)pf, make_float4(x, y, z, w));", "store volatile")]
    calls += [_c(f"__is{s}(pf)", f"@llvm.nvvm.isspacep.{e}(") for s, e in
              {"Global": "global", "Shared": "shared", "Constant": "const", "Local": "local"}.items()]
    for space, number in {"global": 1, "shared": 3, "constant": 4, "local": 5}.items():
        calls += [_c(f"__cvta_generic_to_{space}(pf)", f"addrspacecast ptr %10 to ptr addrspace({number})"[:13])]
        calls += [_c(f"__cvta_{space}_to_generic(ul)", "addrspacecast")]
    return calls


def _runtime() -> list[Call]:
    return [
        _c('printf("%d %f %s\\n", i, x, "s")', "@vprintf("), _c("malloc(ul)", "@malloc("), _c("free(pi);", "@free("),
        _c("memcpy(pi, pf, 64);", "llvm.memcpy"), _c("memset(pi, 0, 64);", "llvm.memset"),
        _c("memcpy(pi, pf, ul);", "llvm.memcpy"), _c("memset(pi, i, ul);", "llvm.memset"), _c("memmove(pi, pf, ul);", "llvm.memmove", in_nvcc=False),
        _c("std::memcpy(pi, pf, ul);", "llvm.memcpy"), _c("std::memset(pi, i, ul);", "llvm.memset"),
        _c('std::printf("%d", i);', "@vprintf("),
        _c("assert(i > 0);", "@__assertfail("), _c("*pp = (unsigned long long)new int[i];", "@malloc("), _c("delete[] pi;", "@free("),
        _c("new (pi) int(7);", "store i32 7"),
    ]


def _half() -> list[Call]:
    """Of half and bfloat16: ``g h e`` are scalars, ``g2 h2 e2`` pairs (see preamble)."""
    calls = []
    for kind, scalar in (("half", "hf"), ("bfloat16", "bf")):
        h, g, e, h2, g2, e2 = (f"{scalar}{n}" for n in ("0", "1", "2", "_0", "_1", "_2"))
        native = kind == "half"
        for f, op in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("div", "fdiv")):
            calls.append(_c(f"__h{f}({h}, {g})", f"{op} contract half" if native and f != "div" else op))
            calls.append(_c(f"__h{f}2({h2}, {g2})" if f != "div" else f"__h2div({h2}, {g2})",
                            f"{op} contract <2 x half>" if native and f != "div" else op))
        calls += [_c(f"__h{f}_rn({h}, {g})", f"f{f} {'half' if native else 'float'}") for f in ("add", "sub", "mul")]
        calls += [_c(f"__h{f}2_rn({h2}, {g2})") for f in ("add", "sub", "mul")]
        calls += [_c(f"__h{f}_sat({h}, {g})") for f in ("add", "sub", "mul")]
        calls += [_c(f"__h{f}2_sat({h2}, {g2})") for f in ("add", "sub", "mul")]
        calls += [_c(f"__hfma{s}({h}, {g}, {e})", "@llvm.fma.f16(" if native else "@llvm.fma.f32(") for s in ("", "_sat", "_relu")]
        calls += [_c(f"__hfma2{s}({h2}, {g2}, {e2})", "@llvm.fma." if native else "@llvm.fma.f32(") for s in ("", "_sat", "_relu")]
        calls += [_c(f"__hneg({h})"), _c(f"__habs({h})"), _c(f"__hneg2({h2})"), _c(f"__habs2({h2})")]
        calls += [_c(f"{h} {op} {g}") for op in ("+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=")]
        calls += [_c(f"{h2} {op} {g2}") for op in ("+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=")]
        calls += [_c(f"{h} {op} {g};") for op in ("+=", "-=", "*=", "/=")] + [_c(f"-{h}"), _c(f"+{h2}"), _c(f"{h}++;"), _c(f"--{h};")]
        for f in "eq ne le ge lt gt".split():
            for u in ("", "u"):
                calls += [_c(f"__h{f}{u}({h}, {g})"), _c(f"__h{f}{u}2({h2}, {g2})"), _c(f"__hb{f}{u}2({h2}, {g2})"),
                          _c(f"__h{f}{u}2_mask({h2}, {g2})")]
        calls += [_c(f"__hisnan({h})"), _c(f"__hisinf({h})", in_nvcc=True), _c(f"__hisnan2({h2})")]
        for f in ("min", "max"):
            calls += [_c(f"__h{f}({h}, {g})"), _c(f"__h{f}_nan({h}, {g})"), _c(f"__h{f}2({h2}, {g2})"), _c(f"__h{f}2_nan({h2}, {g2})")]
        for f in "cos exp exp10 exp2 log log10 log2 rsqrt sin".split():
            calls += [_c(f"h{f}({h})", f"@__nv_{f}f("), _c(f"h2{f}({h2})", f"@__nv_{f}f(")]
        for f in "ceil floor rint sqrt trunc".split():
            calls += [_c(f"h{f}({h})", f"@llvm.{f}.f"), _c(f"h2{f}({h2})", f"@llvm.{f}.")]
        calls += [_c(f"hrcp({h})", "fdiv"), _c(f"h2rcp({h2})", "fdiv"), _c(f"htanh({h})", "@__nv_tanhf(")]
        calls += [_c(f"__shfl{s}_sync(u, {h}, j)", "@llvm.nvvm.shfl.sync") for s in ("", "_up", "_down", "_xor")]
        calls += [_c(f"__shfl{s}_sync(u, {h2}, j)", "@llvm.nvvm.shfl.sync") for s in ("", "_up", "_down", "_xor")]
        calls += [_c(f"__ldg(&{h})", "!invariant.load"), _c(f"__ldg(&{h2})", "!invariant.load")]
        calls += [_c(f"atomicAdd(&{h}, {g})", "atomicrmw fadd" if native else "cmpxchg"), _c(f"atomicAdd(&{h2}, {g2})", "cmpxchg")]
        for f in "int uint ll ull short ushort".split():
            argument = {"int": "i", "uint": "u", "ll": "m", "ull": "p", "short": "(short)i", "ushort": "(unsigned short)i"}[f]
            calls += [_c(f"__{kind}2{f}_{mode}({h})") for mode in ("rn", "rz", "ru", "rd")]
            calls += [_c(f"__{f}2{kind}_{mode}({argument})") for mode in ("rn", "rz", "ru", "rd")]
        calls += [_c(f"__float2{kind}_{mode}(x)") for mode in ("rn", "rz", "ru", "rd")]
        calls += [_c(f"__float2{kind}(x)"), _c(f"__double2{kind}(a)"), _c(f"__{kind}2float({h})"), _c(f"(float){h}")]
        calls += [_c(f"__{kind}_as_ushort({h})"), _c(f"__{kind}_as_short({h})"), _c(f"__ushort_as_{kind}((unsigned short)u)"),
                  _c(f"__short_as_{kind}((short)i)")]
        two = f"{kind}2"
        calls += [_c(f"__halves2{two}({h}, {g})"), _c(f"make_{two}({h}, {g})"), _c(f"__{kind}2{two}({h})"),
                  _c(f"__float2{two}_rn(x)"), _c(f"__floats2{two}_rn(x, y)"), _c(f"__float22{two}_rn(make_float2(x, y))"),
                  _c(f"__{two}2float2({h2})" if kind == "half" else f"__bfloat1622float2({h2})"),
                  _c(f"__low2float({h2})"), _c(f"__high2float({h2})"), _c(f"__low2{kind}({h2})"), _c(f"__high2{kind}({h2})"),
                  _c(f"__low2{two}({h2})"), _c(f"__high2{two}({h2})"), _c(f"__lows2{two}({h2}, {g2})"),
                  _c(f"__highs2{two}({h2}, {g2})"), _c(f"__lowhigh2highlow({h2})")]
        cuda = "__half" if kind == "half" else "__nv_bfloat16"
        calls += [_c(f"{cuda}({v})") for v in ("x", "a", "i", "u", "m", "p", "(short)i", "(unsigned short)i")]
    return calls


def _groups() -> list[Call]:
    """``B`` is the block, ``T`` a tile of 16, ``G`` a coalesced group (see preamble)."""
    calls = [
        _c("B.sync();", "@llvm.nvvm.barrier"), _c("cg::sync(B);", "@llvm.nvvm.barrier"), _c("B.thread_rank()"), _c("B.size()"),
        _c("B.num_threads()"), _c("B.group_index()"), _c("B.thread_index()"), _c("B.group_dim()"), _c("B.dim_threads()"),
        _c("T.sync();", "@llvm.nvvm.bar.warp.sync("), _c("T.size()"), _c("T.num_threads()"), _c("T.thread_rank()", "sreg.laneid("),
        _c("T.meta_group_rank()"), _c("T.meta_group_size()"), _c("T.shfl(x, 3)", "shfl.sync.idx"),
        _c("T.shfl_up(a, 1)", "shfl.sync.up"), _c("T.shfl_down(i, 1)", "shfl.sync.down"), _c("T.shfl_xor(m, 1)", "shfl.sync.bfly"),
        _c("T.shfl(make_float4(x, y, z, w), 3)", "shfl.sync.idx"), _c("T.any(i)", "vote.any"), _c("T.all(i)", "vote.all"),
        _c("T.ballot(i)", "vote.ballot"), _c("T.match_any(i)", "match.any"), _c("T.match_all(i, *pi)", "match.all"),
        _c("G.sync();", "@llvm.nvvm.bar.warp.sync("), _c("G.size()", "llvm.ctpop"), _c("G.num_threads()"), _c("G.thread_rank()"),
        _c("G.shfl(x, 3)", "shfl.sync.idx"), _c("G.shfl_up(x, 1)", "shfl.sync"), _c("G.shfl_down(x, 1)", "shfl.sync"),
        _c("G.any(i)", "vote.any"), _c("G.all(i)", "vote.all"), _c("G.ballot(i)", "vote.ballot"), _c("G.match_any(i)", "match.any"),
        _c("cg::tiled_partition<4>(T).shfl(i, 0)", "shfl.sync.idx"), _c("cg::thread_block_tile<8> s = cg::tiled_partition<8>(B); s.sync();"),
        _c("cg::thread_group s = cg::tiled_partition(B, 8); s.sync(); *pu = s.size() + s.thread_rank();"),
        _c("cg::coalesced_group s = cg::tiled_partition(G, 4); s.sync();"),
        _c("cg::binary_partition(T, i > 0).size()", "vote.ballot"), _c("cg::labeled_partition(G, i).meta_group_rank()", "match.any"),
        _c("cg::thread_group s = B; s.sync(); s = T; s.sync(); s = G; s.sync();", in_nvcc=False),
        _c("cg::this_grid().thread_rank()", "sreg.nctaid"), _c("cg::this_grid().size()", "sreg.nctaid"), _c("cg::this_grid().group_dim()"),
    ]
    for op in ("plus", "less", "greater", "bit_and", "bit_or", "bit_xor"):
        calls += [_c(f"cg::reduce(T, i, cg::{op}<int>())", ""), _c(f"cg::reduce(G, i, cg::{op}<int>())", "")]
    calls += [_c("cg::reduce(T, x, cg::plus<float>())", "shfl.sync"), _c("cg::inclusive_scan(T, i)", "shfl.sync"),
              _c("cg::exclusive_scan(G, i)", "shfl.sync"), _c("cg::inclusive_scan(T, x, cg::greater<float>())", "shfl.sync")]
    return calls


def _textures() -> list[Call]:
    """``p`` is a texture object; the references are in the preamble."""
    calls = []
    for t in "float float2 float4 int uint2 short4 uchar4 unsigned_char".split():
        cuda = t.replace("_", " ")
        calls += [_c(f"tex1Dfetch<{cuda}>(p, i)", "!invariant.load"), _c(f"tex1D<{cuda}>(p, x)", "!invariant.load"),
                  _c(f"tex2D<{cuda}>(p, x, y)", "!invariant.load"), _c(f"tex3D<{cuda}>(p, x, y, z)", "!invariant.load"),
                  _c(f"{cuda} r; tex2D(&r, p, x, y); keep(&r);", "!invariant.load")]
    references = {"tex1Dfetch(float_line, i)": "@float_line", "tex1D(float_line, x)": "@float_line",
                  "tex2D(byte_plane, x, y)": "@byte_plane", "tex2D(pixel_plane, x, y).w": "@pixel_plane",
                  "tex3D(volume, x, y, z)": "@volume", "tex1Dfetch(integers, i).x": "@integers"}
    return calls + [_c(code, expect, in_nvcc=False) for code, expect in references.items()]


PREAMBLE: dict[str, str] = {
    "device runtime": "#include <assert.h>\n#include <cstdio>\n#include <cstring>\n#include <new>\n",
    "half": "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
    + "".join(f"__device__ {t} {n}0, {n}1, {n}2; __device__ {t}2 {n}_0, {n}_1, {n}_2;\n" for t, n in (("__half", "hf"),))
    + "__device__ __nv_bfloat16 bf0, bf1, bf2; __device__ __nv_bfloat162 bf_0, bf_1, bf_2;\n",
    "cooperative groups": "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
    "#include <cooperative_groups/scan.h>\nnamespace cg = cooperative_groups;\n"
    "#define B cg::this_thread_block()\n#define T cg::tiled_partition<16>(B)\n#define G cg::coalesced_threads()\n",
    "textures": "#if __CUDACC_VER_MAJOR__ < 13\ntexture<float> float_line;\n"
    "texture<unsigned char, 2, cudaReadModeNormalizedFloat> byte_plane;\n"
    "texture<uchar4, cudaTextureType2D> pixel_plane(1, cudaFilterModeLinear, cudaAddressModeWrap);\n"
    "texture<float4, 3> volume;\ntexture<int2, 1, cudaReadModeElementType> integers;\n#endif\n",
}

GROUPS: dict[str, list[Call]] = {
    "math": _math(),
    "std and promotions": _std(),
    "math intrinsics": _intrinsics(),
    "conversions": _conversions(),
    "integers": _integers(),
    "min and max": _min_max(),
    "atomics": _atomics(),
    "warp": _warp(),
    "synchronisation": _synchronisation(),
    "memory": _memory(),
    "device runtime": _runtime(),
    "half": _half(),
    "textures": _textures(),
    "cooperative groups": _groups(),  # last: its preamble defines macros of one letter
}


def source(*groups: str, nvcc: bool = False) -> str:
    """One function ``call_N`` per call of the groups, numbered through; with ``nvcc``, only the calls that CUDA 13 knows."""
    lines = ["#include <cmath>", "#include <algorithm>", 'extern "C" __device__ void keep(const void *);']
    number = 0
    for group in groups:
        lines.append(PREAMBLE.get(group, ""))
        for call in GROUPS[group]:
            body = call.code if call.code.endswith(";") else f"auto result = {call.code}; keep(&result);"
            if call.in_nvcc or not nvcc:
                lines.append(f'extern "C" __device__ void call_{number}({PARAMETERS}) {{ {body} }}')
            number += 1
    return "\n".join(lines) + "\n"
