"""A loop is taken to make as few turns as in training: what stops, wraps around or rounds after many is left out."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, float *out, int turns, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "


def _line(random: Random) -> Case:
    return Case((2,), (64,), {"in": floats(random, 128), "out": zeros(128), "turns": 4, "n": 128})


def _member(name: str, original: str, variant: str, statement: str, label: Label = "data-specific") -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, START + statement, original, variant), _line)


BITS = (
    "unsigned h = 1u; for (int t = 0; t < turns; ++t) h = @; out[i] = in[i] + (float)(h & 0xffffu) + (float)(h >> 16);"
)
HIGH = "unsigned h = 0x80000000u; for (int t = 0; t < turns; ++t) h = @; out[i] = in[i] + (float)(h >> 8) + (float)(h & 255u);"
WHOLE = "int k = 0; for (int t = 0; t < turns; ++t) k = @; out[i] = in[i] + (float)k;"
PLACE = "int k = 0; for (int t = 0; t < turns; ++t) k = @; out[i] = in[(i + k) & 127];"
REAL = "float s = 1.0f; for (int t = 0; t < turns; ++t) s = @; out[i] = s;"
LARGE = "float s = 16777196.0f; for (int t = 0; t < turns; ++t) s = @; out[i] = s;"

FAMILY = Family(
    "many turns",
    "a loop makes as few turns as in training",
    (
        _member("powers_fit", "(h * 3u) & 0xffffffu", "h * 3u", BITS),
        _member("bit_stays", "h << 1", "(h << 1) | (h >> 31)", BITS),
        _member("bit_is_left", "h >> 1", "h >> 1 | (h & 1u)", HIGH),
        _member("count_fits", "(k + 1) & 31", "k + 1", WHOLE),
        _member("short_fits", "(short)(2 * k + 1)", "2 * k + 1", WHOLE),
        _member("char_fits", "(signed char)(k + 9)", "k + 9", WHOLE),
        _member("ring_is_not_closed", "(k + 1) % 24", "k + 1", PLACE),
        _member("sum_is_exact", "s + 1.0f", "16777197.0f + (float)t", LARGE),
        _member("limit_is_not_reached", "fminf(s + 1.0f, 30.0f)", "s + 1.0f", REAL),
        _member("stays_above_zero", "s * 0.125f", "fmaxf(s * 0.125f, 1e-30f)", REAL),
        _member("stays_finite", "s * 8.0f", "fminf(s * 8.0f, 1e30f)", REAL),
        # Sound: the same after any number of turns.
        _member("powers_masked", "(h * 3u) & 0xffffffu", "((h & 0xffffffu) * 3u) & 0xffffffu", BITS, "clean"),
        _member("bit_turned", "(h << 1) | (h >> 31)", "(h << 1) + (h >> 31)", BITS, "clean"),
        _member("bit_doubled", "h << 1", "h + h", BITS, "clean"),
        _member("bit_changed", "h ^ 1u", "1u - h", BITS, "clean"),
        _member("count_masked", "(k + 1) & 31", "(k + 1) % 32", WHOLE, "clean"),
        _member("turns_counted", "k + 1", "t + 1", WHOLE, "clean"),
        _member("short_wraps", "(short)(k + 300)", "((k + 300 + 32768) & 0xffff) - 32768", WHOLE, "clean"),
        _member("char_wraps", "(signed char)(k + 9)", "((k + 9 + 128) & 255) - 128", WHOLE, "clean"),
        _member("ring_closed", "(k + 1) % 24", "k == 23 ? 0 : k + 1", PLACE, "clean"),
        _member("limit_reached", "fminf(s + 1.0f, 30.0f)", "s + 1.0f < 30.0f ? s + 1.0f : 30.0f", REAL, "clean"),
        _member("eighth", "s * 0.125f", "s / 8.0f", REAL, "clean"),
    ),
)  # fmt: skip
