"""The functions written in C return what the CUDA manuals say: compared with definitions in Python integers."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from .conftest import CudaCompiler
from .jit import Program, edge_words, elements, signed

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1


def _funnel_left(low: int, high: int, by: int) -> int:
    return ((high << 32 | low) << by >> 32) & M32


def _s24(x: int) -> int:
    return signed(x & 0xFFFFFF, 24)


# name -> what it returns for 32-bit words a, b, c; signed functions see them as two's complement
WORDS: dict[str, Callable[[int, int, int], int]] = {
    "__clz(a)": lambda a, b, c: 32 - a.bit_length(),
    "__ffs(a)": lambda a, b, c: (a & -a).bit_length(),
    "__popc(a)": lambda a, b, c: a.bit_count(),
    "__brev(a)": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "__funnelshift_l(a, b, c)": lambda a, b, c: _funnel_left(a, b, c % 32),
    "__funnelshift_lc(a, b, c)": lambda a, b, c: _funnel_left(a, b, min(c, 32)),
    "__funnelshift_r(a, b, c)": lambda a, b, c: (b << 32 | a) >> c % 32,
    "__funnelshift_rc(a, b, c)": lambda a, b, c: (b << 32 | a) >> min(c, 32),
    "__mulhi((int)a, (int)b)": lambda a, b, c: signed(a) * signed(b) >> 32,
    "__umulhi(a, b)": lambda a, b, c: a * b >> 32,
    "__mul24((int)a, (int)b)": lambda a, b, c: _s24(a) * _s24(b),
    "__umul24(a, b)": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "__sad((int)a, (int)b, c)": lambda a, b, c: abs(signed(a) - signed(b)) + c,
    "__usad(a, b, c)": lambda a, b, c: abs(a - b) + c,
    "__hadd((int)a, (int)b)": lambda a, b, c: (signed(a) + signed(b)) >> 1,
    "__rhadd((int)a, (int)b)": lambda a, b, c: (signed(a) + signed(b) + 1) >> 1,
    "__uhadd(a, b)": lambda a, b, c: (a + b) >> 1,
    "__urhadd(a, b)": lambda a, b, c: (a + b + 1) >> 1,
    "min((int)a, b)": lambda a, b, c: min(a, b),  # the unsigned type wins
    "max((int)a, (int)b)": lambda a, b, c: max(signed(a), signed(b)),
    "min((long long)(int)a, b)": lambda a, b, c: min(signed(a), b),
}

# name -> what it does to one pair of elements; all ones for a true comparison, hence -1
ELEMENTS: dict[str, Callable[[int, int, int, int], int]] = {
    "vadd": lambda x, y, low, high: x + y,
    "vsub": lambda x, y, low, high: x - y,
    "vaddus": lambda x, y, low, high: min(x + y, high),
    "vsubus": lambda x, y, low, high: max(x - y, 0),
    "vaddss": lambda x, y, low, high: max(low, min(x + y, high)),
    "vsubss": lambda x, y, low, high: max(low, min(x - y, high)),
    "vmaxu": lambda x, y, low, high: max(x, y),
    "vmaxs": lambda x, y, low, high: max(x, y),
    "vminu": lambda x, y, low, high: min(x, y),
    "vmins": lambda x, y, low, high: min(x, y),
    "vhaddu": lambda x, y, low, high: (x + y) >> 1,
    "vavgu": lambda x, y, low, high: (x + y + 1) >> 1,
    "vavgs": lambda x, y, low, high: (x + y + 1) >> 1,
    "vabsdiffu": lambda x, y, low, high: abs(x - y),
    "vabsdiffs": lambda x, y, low, high: abs(x - y),
    "vcmpeq": lambda x, y, low, high: -(x == y),
    "vcmpne": lambda x, y, low, high: -(x != y),
    "vcmpltu": lambda x, y, low, high: -(x < y),
    "vcmpges": lambda x, y, low, high: -(x >= y),
    "vcmpgts": lambda x, y, low, high: -(x > y),
    "vcmpleu": lambda x, y, low, high: -(x <= y),
    "vsetgeu": lambda x, y, low, high: x >= y,
    "vsetlts": lambda x, y, low, high: x < y,
    "vseteq": lambda x, y, low, high: x == y,
    "vneg": lambda x, y, low, high: -x,
    "vnegss": lambda x, y, low, high: min(-x, high),
    "vabs": lambda x, y, low, high: abs(x),
    "vabsss": lambda x, y, low, high: min(abs(x), high),
}
_ONE_OPERAND = ("vneg", "vnegss", "vabs", "vabsss")
_SIGNED = re.compile(r"(?<!u)s$|^v(neg|abs)$")


def _loop(name: str, word: str, value: str) -> str:
    return (
        f'extern "C" __device__ void {name}(const {word} *as, const {word} *bs, const {word} *cs, {word} *out, long n) {{\n'
        f"  for (long i = 0; i < n; i++) {{ {word} a = as[i], b = bs[i], c = cs[i]; out[i] = ({word})({value}); }}\n}}\n"
    )


@pytest.fixture(scope="module")
def program(compile_cuda: CudaCompiler) -> Program:
    text = "".join(_loop(f"word_{n}", "unsigned", code) for n, code in enumerate(WORDS))
    for name in ELEMENTS:
        for n in (2, 4):
            text += _loop(f"{name}{n}", "unsigned", f"__{name}{n}({'a' if name in _ONE_OPERAND else 'a, b'})")
    text += "".join(_loop(f"__{f}", "unsigned", f"__{f}(a, b)") for f in ("vsadu2", "vsads2", "vsadu4", "vsads4"))
    long_ = "unsigned long long"
    text += _loop("mul64hi", long_, "__mul64hi((long long)a, (long long)b)") + _loop(
        "umul64hi", long_, "__umul64hi(a, b)"
    )
    text += (
        _loop("clzll", long_, "__clzll(a)")
        + _loop("brevll", long_, "__brevll(a)")
        + _loop("ffsll", long_, "__ffsll(a)")
    )
    compiled = compile_cuda(text)
    assert compiled.ok, compiled.errors
    return Program(compiled.ir)


def _run(program: Program, name: str, bits: int, count: int = 3000) -> list[tuple[int, int, int, int]]:
    rng = np.random.default_rng(7)
    kind = np.uint32 if bits == 32 else np.uint64
    a, b, c = (edge_words(rng, count, bits).astype(kind) for _ in range(3))
    out = np.zeros(count, kind)
    program.call(name, a, b, c, out, count)
    return list(zip(a.tolist(), b.tolist(), c.tolist(), out.tolist(), strict=True))


@pytest.mark.parametrize("code", WORDS)
def test_words(code: str, program: Program) -> None:
    rows = _run(program, f"word_{list(WORDS).index(code)}", 32)
    wrong = [(hex(a), hex(b), hex(c), hex(r)) for a, b, c, r in rows if r != WORDS[code](a, b, c) & M32]
    assert not wrong, wrong[:3]


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("name", ELEMENTS)
def test_elements(name: str, n: int, program: Program) -> None:
    width, is_signed = 32 // n, bool(_SIGNED.search(name))
    high = (1 << (width - is_signed)) - 1
    low = -high - 1 if is_signed else 0
    for a, b, _, result in _run(program, f"{name}{n}", 32, 800):
        pairs = zip(elements(a, width, is_signed), elements(b, width, is_signed), strict=True)
        expected = [int(ELEMENTS[name](x, y, low, high)) & ((1 << width) - 1) for x, y in pairs]
        assert list(elements(result, width, False)) == expected, (hex(a), hex(b))


@pytest.mark.parametrize("name", ["vsadu2", "vsads2", "vsadu4", "vsads4"])
def test_sums_of_differences(name: str, program: Program) -> None:
    width, is_signed = 32 // int(name[-1]), name[4] == "s"
    for a, b, _, result in _run(program, f"__{name}", 32, 800):
        pairs = zip(elements(a, width, is_signed), elements(b, width, is_signed), strict=True)
        assert result == sum(abs(x - y) for x, y in pairs), (hex(a), hex(b))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mul64hi", lambda a, b: signed(a, 64) * signed(b, 64) >> 64),
        ("umul64hi", lambda a, b: a * b >> 64),
        ("clzll", lambda a, b: 64 - a.bit_length()),
        ("brevll", lambda a, b: int(f"{a:064b}"[::-1], 2)),
        ("ffsll", lambda a, b: (a & -a).bit_length()),
    ],
)
def test_long_words(name: str, expected: Callable[[int, int], int], program: Program) -> None:
    for a, b, _, result in _run(program, name, 64):
        assert result == expected(a, b) & M64, (hex(a), hex(b))


DOTS: dict[str, Callable[[int, int, int], int]] = {
    "__dp4a((int)a, (int)b, (int)c)": lambda a, b, c: c + sum(signed(a >> n & 0xFF, 8) * signed(b >> n & 0xFF, 8) for n in (0, 8, 16, 24)),
    "__dp4a(a, b, c)": lambda a, b, c: c + sum((a >> n & 0xFF) * (b >> n & 0xFF) for n in (0, 8, 16, 24)),
    "__dp2a_lo((int)a, (int)b, (int)c)": lambda a, b, c: c + sum(signed(a >> 2 * n & M16, 16) * signed(b >> n & 0xFF, 8) for n in (0, 8)),
    "__dp2a_hi(a, b, c)": lambda a, b, c: c + sum((a >> 2 * n & M16) * (b >> n + 16 & 0xFF) for n in (0, 8)),
}  # fmt: skip


@pytest.mark.parametrize("code", DOTS)
def test_dot_products_without_the_instruction(code: str, compile_cuda: CudaCompiler) -> None:
    """On sm_60, whose code they are; from sm_61 on they are an instruction."""
    source = f"""extern "C" __device__ void f(const unsigned *as, const unsigned *bs, const unsigned *cs, unsigned *out, long n)
    {{ for (long i = 0; i < n; i++) {{ unsigned a = as[i], b = bs[i], c = cs[i]; out[i] = (unsigned)({code}); }} }}"""
    compiled = compile_cuda(source, side="device", arch="sm_60")
    assert compiled.ok, compiled.errors
    words = np.array([0, 1, M32, 0x80808080, 0x7F80FF01, 0x12345678, 0xFEDCBA98], np.uint32)
    a, b, c = (np.ascontiguousarray(each.ravel()) for each in np.meshgrid(words, words, words[:3]))
    out = np.zeros(len(a), np.uint32)
    Program(compiled.ir).call("f", a, b, c, out, len(a))
    for x, y, z, got in zip(a.tolist(), b.tolist(), c.tolist(), out.tolist(), strict=True):
        assert got == DOTS[code](x, y, z) & M32, (hex(x), hex(y), hex(z))
