"""Every device function that the headers promise, as a call: the text files in ``promised/``, one group each.

A line is a call, then what it must come to in the optimised IR (a libdevice entry, an LLVM intrinsic, an instruction;
left out where several forms are right and test_values.py tests the value), then whether CUDA 13's nvcc lacks it:

    sinf(x)  =>  @__nv_sinf(
    std::isnormal(x)  [not in nvcc]

What stands before a line ``---`` is the preamble of the group. A call is an expression, or statements that end in a
semicolon, and may use the parameters below.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PARAMETERS = (
    "float x, float y, float z, float w, double a, double b, double c, double d, int i, int j, int k, "
    "unsigned u, unsigned v, unsigned t, long l, unsigned long ul, long long m, long long n, "
    "unsigned long long p, unsigned long long q, float *pf, double *pd, int *pi, unsigned *pu, "
    "long long *pm, unsigned long long *pp, unsigned short *ps"
)

_NOT_IN_NVCC = "[not in nvcc]"


@dataclass(frozen=True)
class Call:
    code: str
    expect: str
    in_nvcc: bool


@dataclass(frozen=True)
class Group:
    preamble: str
    calls: tuple[Call, ...]


def _call(line: str) -> Call:
    in_nvcc = not line.endswith(_NOT_IN_NVCC)
    code, _, expect = line.removesuffix(_NOT_IN_NVCC).partition("=>")
    return Call(code.strip(), expect.strip(), in_nvcc)


def _group(path: Path) -> Group:
    preamble, separator, calls = path.read_text().rpartition("\n---\n")
    assert separator or not preamble
    return Group(preamble, tuple(_call(line) for line in calls.splitlines() if line.strip()))


GROUPS: dict[str, Group] = {p.stem: _group(p) for p in sorted((Path(__file__).parent / "promised").glob("*.txt"))}


def source(*groups: str, nvcc: bool = False) -> str:
    """One function ``call_N`` per call of the groups, numbered through; with ``nvcc``, only the calls that CUDA 13 knows."""
    lines = ["#include <cmath>", "#include <algorithm>", 'extern "C" __device__ void keep(const void *);']
    number = 0
    for name in groups:
        lines.append(GROUPS[name].preamble)
        for call in GROUPS[name].calls:
            body = call.code if call.code.endswith(";") else f"auto result = {call.code}; keep(&result);"
            if call.in_nvcc or not nvcc:
                lines.append(f'extern "C" __device__ void call_{number}({PARAMETERS}) {{ {body} }}')
            number += 1
    return "\n".join(lines) + "\n"
