"""The lines of a whole kernel, found in the text of its file."""

from __future__ import annotations

import pytest

from kernelwright.report.kernel_source import kernel_lines, numbered

TEXT = """// __global__ void first() { is a remark
namespace ns {
template <typename T>
__global__ void
first(T *a, int n)
{   // a brace in a remark: }
    const char *s = "}"; char c = '{';
    if (n) {
        a[0] = 1;
    } /* }
    } */
}
}
__global__ void firsts(float *a) { a[0] = 2; }
__global__ void declared(int *a);
extern "C" __global__ __launch_bounds__(256) void last(int *a) {
    a[0] = 3;
"""


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("ns::first<float>", range(3, 13)),
        ("first", range(3, 13)),
        ("firsts", range(14, 15)),
        ("last", range(16, 18)),
        ("declared", range(0)),
        ("missing", range(0)),
    ],
)
def test_from_its_first_line_to_its_last_brace(name: str, lines: range) -> None:
    assert kernel_lines(TEXT, name) == lines


def test_lines_with_their_numbers() -> None:
    assert numbered(TEXT.splitlines(), range(14, 15)) == [(14, "__global__ void firsts(float *a) { a[0] = 2; }")]
    assert numbered([], range(3, 5)) == []
