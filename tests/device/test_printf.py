"""``printf``: what C prints, from packed arguments, and from kernels."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.printf import format_text
from kernelwright.ir import Module
from tests.device.conftest import Launcher


def formatted(format: str, codes: str = "", *values: float | int | str) -> str:
    """The text for arguments packed by their ``struct`` codes; strings lie at made-up addresses."""
    packed, strings = b"", {}
    for n, (code, value) in enumerate(zip(codes, values, strict=True)):
        if isinstance(value, str):
            strings[1000 + n] = value
            value = 1000 + n
        size = struct.calcsize(code)
        packed = packed.ljust((len(packed) + size - 1) & -size, b"\0") + struct.pack("<" + code, value)
    text, count = format_text(format, lambda at, size: packed[at : at + size], strings.__getitem__)
    assert count == len(values)
    return text


@pytest.mark.parametrize(
    ("format", "code", "value", "expected"),
    [
        ("[%d]", "i", -5, "[-5]"), ("[%5d|%%]", "i", 42, "[   42|%]"), ("[%-5d]", "i", 42, "[42   ]"),
        ("[%05d]", "i", -42, "[-0042]"), ("[%+d]", "i", 7, "[+7]"), ("[%.3d]", "i", 7, "[007]"),
        ("[%u]", "I", 2**32 - 1, "[4294967295]"), ("[%#x]", "I", 255, "[0xff]"), ("[%X]", "I", 48879, "[BEEF]"),
        ("[%o]", "I", 8, "[10]"), ("[%lld]", "q", -(2**62), f"[{-(2**62)}]"), ("[%lu]", "Q", 2**63, f"[{2**63}]"),
        ("[%zu]", "Q", 12, "[12]"), ("[%hhd]", "i", 300, "[44]"), ("[%hd]", "i", 70000, "[4464]"),
        ("[%f]", "d", 0.5, "[0.500000]"), ("[%.2f]", "d", math.pi, "[3.14]"), ("[%8.3e]", "d", 12345.678, "[1.235e+04]"),
        ("[%g]", "d", 1e-10, "[1e-10]"), ("[%G]", "d", 1e20, "[1E+20]"), ("[%08.2f]", "d", -1.5, "[-0001.50]"),
        ("[%f]", "d", math.inf, "[inf]"), ("[%5.1f]", "d", math.nan, "[  nan]"), ("[%a]", "d", 1.0, "[0x1p+0]"),
        ("[%s]", "Q", "text", "[text]"), ("[%6.2s]", "Q", "text", "[    te]"), ("[%c]", "i", 65, "[A]"),
        ("[%p]", "Q", 0x40000000, "[0x40000000]"),
    ],
)  # fmt: skip
def test_each_conversion(format: str, code: str, value: float | int | str, expected: str) -> None:
    assert formatted(format, code, value) == expected


def test_arguments_lie_at_their_own_alignment() -> None:
    assert formatted("%d %f %d %lld %s", "idiqQ", 1, 2.5, 3, 4, "five") == "1 2.500000 3 4 five"
    assert formatted("%*d|%-*d|%.*f", "iiiiid", 5, 42, 5, 42, 2, math.pi) == "   42|42   |3.14"
    assert formatted("%*d|%.*f", "iiid", -4, 7, -1, 0.5) == "7   |0.500000"


def test_what_is_no_conversion_stays() -> None:
    assert formatted("100%% of %y and 5 % 7") == "100% of %y and 5 % 7"
    assert formatted("%n is ignored") == "%n is ignored"


def test_enormous_widths_are_cut() -> None:
    assert len(formatted("%2000000d", "i", 1)) < 2**20 + 1
    assert formatted("%5000d", "i", 1) == "1".rjust(5000)


def test_kernels_print_in_the_order_of_the_schedule(compiled: Callable[[str], Module], launch: Launcher) -> None:
    module = compiled(r"""
#include <cstdio>
__global__ void say(const char* unused, float x, short n) {
    int got = printf("thread %d of %s: %5.2f %lld %hd %c%%\n", threadIdx.x, "block", x * threadIdx.x, 1ll << 40, n, 'q');
    if (threadIdx.x == 1) printf("%d\n", got);
    printf("-\n");
}""")
    result = launch(module, "say", 1, 2, np.zeros(1, np.uint8), 1.5, np.int16(-3))
    assert result.fault is None
    lines = [f"thread {t} of block: {1.5 * t:5.2f} {2**40} -3 q%" for t in range(2)]
    assert result.text.splitlines() == [lines[0], "-", lines[1], "6", "-"]
