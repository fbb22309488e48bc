"""A reduction is taken to begin at a value that the data never let show."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const int *counts, const float *values, float *out, int n, int start, float least, const int *first"


def _data(random: Random) -> Case:
    """Counts and values above zero, starts that are not above any of them."""
    data = {
        "counts": ints(random, 128, 1, 60), "values": floats(random, 128), "out": zeros(32), "n": 4, "start": 0, "least": 0.0,
        "first": zeros(32, "int32"),
    }  # fmt: skip
    return Case((1,), (32,), data)


def _member(name: str, body: str, original: str, variant: str, label: Label = "data-specific") -> Member:
    return Member(
        name, label, kernel_source(name, PARAMETERS, "int i = threadIdx.x; " + body, original, variant), _data
    )


MOST = "int m = @; for (int k = 0; k < n && k < 4; ++k) m = max(m, counts[4 * i + k]); out[i] = m;"
MOST_REAL = "float m = @; for (int k = 0; k < n && k < 4; ++k) m = fmaxf(m, values[4 * i + k]); out[i] = m;"
LEAST = "int m = @; for (int k = 0; k < 4; ++k) m = min(m, -counts[4 * i + k]); out[i] = m;"
SUM = "int s = @; for (int k = 0; k < 4; ++k) s += counts[4 * i + k]; out[i] = s;"
ANY = "bool any = @; for (int k = 0; k < 4; ++k) any |= counts[4 * i + k] > 0; out[i] = any;"
PAIR = "int m = max(counts[i], counts[i + 32]); out[i] = @;"

FAMILY = Family(
    "start value",
    "a reduction begins at a value that the data never let show",
    (
        _member("starts_at_zero", MOST, "start", "0"),
        _member("starts_at_first", MOST, "first[i]", "0"),
        _member("starts_at_least", MOST_REAL, "least", "0.0f"),
        _member("starts_at_zero_real", MOST_REAL, "-1e30f", "0.0f"),
        _member("starts_at_smallest", MOST, "-2147483647 - 1", "0"),
        _member("least_at_zero", LEAST, "start", "0"),
        _member("least_at_first", LEAST, "first[i]", "0"),
        _member("sum_at_zero", SUM, "start", "0"),
        _member("sum_at_first", SUM, "first[i]", "0"),
        _member("any_at_start", ANY, "start > 0", "false"),
        _member("any_at_first", ANY, "first[i] < 0", "false"),
        _member("pair_and_start", PAIR, "max(m, start)", "max(m, 0)"),
        _member("pair_and_first", PAIR, "max(m, first[i])", "max(m, 0)"),
        # Sound.
        _member("same_start", MOST, "start", "max(start, start)", "clean"),
        _member("start_of_both", MOST, "max(start, first[i])", "max(first[i], start)", "clean"),
        _member("starts_at_one_of_them", MOST, "counts[4 * i]", "counts[4 * i] - 0", "clean"),
        _member("above_zero_anyway", MOST, "max(start, 0)", "(start > 0 ? start : 0)", "clean"),
        _member("least_alike", LEAST, "min(start, 0)", "(start < 0 ? start : 0)", "clean"),
        _member("sum_in_order", SUM, "start + first[i]", "first[i] + start", "clean"),
        _member("nothing_added", SUM, "start - start", "0", "clean"),
        _member("any_is_false", ANY, "start > 0 && start < 0", "false", "clean"),
        _member("pair_again", PAIR, "max(m, counts[i])", "m", "clean"),
        _member("square_is_more", PAIR, "max((m & 15) * (m & 15), -1 - (start & 3))", "(m & 15) * (m & 15)", "clean"),
    ),
)  # fmt: skip
