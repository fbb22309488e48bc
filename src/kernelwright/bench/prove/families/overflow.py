"""A sum or product of what a launch is given is taken to fit its type."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, float *out, int n, int stride, unsigned pitch, int shift"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= 128) return; "


def _line(random: Random) -> Case:
    data = {"in": floats(random, 128), "out": zeros(128), "n": 120, "stride": 1, "pitch": 3, "shift": 2}
    return Case((2,), (64,), data)


def _member(name: str, original: str, variant: str, statement: str, label: Label = "data-specific") -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, START + statement, original, variant), _line)


PLACE = "long long j = @; if (j >= 0 && j < n) out[i] = in[j]; else out[i] = -1.0f;"
VALUE = "out[i] = (float)(@);"
STEPS = (
    "float s = 0.0f; int k = 0; for (long long j = i; j < n && k < 40; ++k, j = @) s += in[j & 127]; out[i] = s + k;"
)
EITHER = "out[i] = (@) ? in[i] : -1.0f;"

FAMILY = Family(
    "overflow",
    "a sum or a product fits its type",
    (
        _member("large_stride", "(long long)i * stride", "(int)((unsigned)i * (unsigned)stride)", PLACE),
        _member("large_pitch", "(long long)i * pitch", "i * pitch", VALUE),
        _member("large_sum", "(long long)i + stride", "(int)((unsigned)i + (unsigned)stride)", VALUE),
        _member("large_step", "j + stride", "(int)j + stride", STEPS),
        _member("large_square", "(long long)stride * stride", "stride * stride", VALUE),
        _member("large_difference", "(long long)i - stride", "i - stride", VALUE),
        _member("large_twice", "2LL * stride", "2 * stride", VALUE),
        _member("middle_of_two", "(int)(((long long)n + stride) / 2)", "(n + stride) / 2", VALUE),
        _member("unsigned_difference", "(int)pitch - shift < 0", "false", EITHER),
        _member("compared_as_difference", "i < stride", "(int)((unsigned)i - (unsigned)stride) < 0", EITHER),
        _member("unsigned_compared", "pitch > 0x7fffffffu", "false", EITHER),
        _member("smallest_negated", "stride < 0 && -(long long)stride > 2147483647LL", "false", EITHER),
        # Sound: it fits, or wraps around alike.
        _member("masked_stride", "(long long)i * (stride & 1023)", "i * (stride & 1023)", PLACE, "clean"),
        _member("wrapped_alike", "(unsigned)i * (unsigned)stride", "(unsigned)stride * (unsigned)i", VALUE, "clean"),
        _member("low_half", "(int)((long long)i * stride)", "(int)((unsigned)i * (unsigned)stride)", VALUE, "clean"),
        _member("wide_both", "(long long)i * stride", "(long long)stride * i", PLACE, "clean"),
        _member("limited_sum", "(long long)i + (stride & 0xffff)", "i + (stride & 0xffff)", PLACE, "clean"),
        _member("unsigned_order", "pitch >= 8u", "!(pitch < 8u)", EITHER, "clean"),
        _member("checked_first", "(long long)i * stride", "i * stride", "if (stride < 0 || stride > 1000) return; " + PLACE, "clean"),
        _member("half_each", "stride / 2 + i / 2", "i / 2 + stride / 2", VALUE, "clean"),
        _member("shifted", "(unsigned)stride << 1", "(unsigned)stride + (unsigned)stride", VALUE, "clean"),
        _member("sign_of_wide", "(long long)i - stride > 0", "i > stride", EITHER, "clean"),
    ),
)  # fmt: skip
