"""The data have a property that they had in training: sorted, unique, not negative, finite, whole, small, a power of two."""

from __future__ import annotations

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, const int *keys, const int *offsets, const float *whole, float *out, int n, int m"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float v = in[i]; int k = keys[i]; "


def _data(random: Random) -> Case:
    """``in`` is positive, ``keys`` are sorted multiples of four that differ, ``offsets`` grow by multiples of four, ``whole`` holds
    small whole numbers; ``m`` is a power of two."""
    keys = 4 * np.sort(random.choice(200, 120, replace=False)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(4 * random.integers(1, 3, 120))]).astype(np.int32)
    data = {
        "in": floats(random, 120), "keys": keys, "offsets": offsets, "whole": random.integers(1, 50, 120).astype(np.float32),
        "out": zeros(120), "n": 120, "m": 16,
    }  # fmt: skip
    return Case((2,), (64,), data)


def _member(
    name: str, original: str, variant: str, statement: str = "out[i] = @;", label: Label = "data-specific"
) -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, START + statement, original, variant), _data)


SORTED = "int c = 0; for (int j = 0; j < n; ++j) { if (keys[j] < 300) ++c; else if (@) break; } out[i] = c;"
FOUR = (
    "int b = offsets[i], e = offsets[i + 1]; if (e > b + 64) e = b + 64; float s = 0.0f;"
    " for (int j = b; j < (@); ++j) s += j; out[i] = s;"
)
EITHER = "out[i] = (@) ? -1.0f : v;"
FIRST = "int at = -1; for (int j = 0; j < n; ++j) if (keys[j] == k) { at = j; if (@) break; } out[i] = at;"

FAMILY = Family(
    "data property",
    "the data have a property that they had in training",
    (
        _member("sorted_keys", "false", "true", SORTED),
        _member("unique_keys", "false", "true", FIRST),
        _member("never_negative", "k / 4", "(k >> 2)"),
        _member("remainder_of_positive", "abs(k % 8)", "(k & 7)"),
        _member("always_finite", "isfinite(v) ? v : 0.0f", "v"),
        _member("never_minus_zero", "signbit(v) ? -1.0f : 1.0f", "(v < 0.0f ? -1.0f : 1.0f)"),
        _member("never_subnormal", "v * 0.5f * 2.0f", "v"),
        _member("not_a_number", "fmaxf(v, 0.25f)", "(v < 0.25f ? 0.25f : v)"),
        _member("power_of_two", "(k % m)", "(k & (m - 1))", "if (m > 0 && k >= 0) out[i] = @;"),
        _member("multiple_of_four", "k / 4 * 4", "k"),
        _member("whole_numbers", "(float)(int)whole[i]", "whole[i]"),
        _member("lengths_of_four", "e", "b + ((e - b) & ~3)", FOUR),
        _member("growing_offsets", "max(offsets[i + 1] - offsets[i], 0)", "(offsets[i + 1] - offsets[i])"),
        _member("small_product", "(int)(((long long)k * m) / 64)", "(k * m / 64)"),
        _member("small_sum", "((long long)k + m > 2147483647LL)", "false", EITHER),
        _member("half_of_sum", "(int)(((long long)k + offsets[i]) / 2)", "((k + offsets[i]) / 2)"),
        _member("exact_sum", "((whole[i] + (float)k) - (float)k)", "whole[i]"),
        _member("never_equal", "whole[i] == in[i]", "false", EITHER),
        _member("never_that_sum", "k + offsets[i] == 12345", "false", EITHER),
        _member("never_that_hash", "(unsigned)k * 2654435761u == 0x1234567u", "false", EITHER),
        _member("never_halfway", "roundf(v)", "rintf(v)"),
        _member("not_just_below", "roundf(v)", "floorf(v + 0.5f)"),
        # Sound.
        _member("either_sign", "k / 4", "((k + ((k >> 31) & 3)) >> 2)", label="clean"),
        _member("masked_and_shifted", "(k & 1023) / 4", "((k & 1023) >> 2)", label="clean"),
        _member("finite_twice", "isfinite(v) ? (isfinite(v) ? v : 1.0f) : 0.0f", "isfinite(v) ? v : 0.0f", label="clean"),
        _member("sign_of_bits", "signbit(v) ? -1.0f : 1.0f", "(__float_as_int(v) < 0 ? -1.0f : 1.0f)", label="clean"),
        _member("doubled_and_halved", "v * 2.0f", "v + v", label="clean"),
        _member("larger_of_two", "fmaxf(v, 0.25f)", "(v > 0.25f ? v : 0.25f)", label="clean"),
        _member("made_a_power", "((k & 1023) % (1 << (m & 7) + 3))", "((k & 1023) & ((1 << (m & 7) + 3) - 1))", label="clean"),
        _member("multiple_made", "(k & ~3) / 4 * 4", "k & ~3", label="clean"),
        _member("sorted_or_not", "true", "!false", SORTED, "clean"),
        _member("last_of_equal", "j >= n - 1", "j == n - 1", FIRST, "clean"),
        _member("wide_product", "(int)(((long long)(k & 1023) * (m & 1023)) / 64)", "((k & 1023) * (m & 1023) / 64)", label="clean"),
        _member("carry_of_sum", "((unsigned)k + (unsigned)m < (unsigned)k)", "((unsigned)k > ~(unsigned)m)", EITHER, "clean"),
        _member("every_length", "e", "b + (e - b)", FOUR, "clean"),
    ),
)  # fmt: skip
