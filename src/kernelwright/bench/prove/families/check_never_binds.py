"""A check or a limit is taken never to bind."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case, Step
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, const int *keys, float *out, int n, int limit, float most"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float v = in[i]; int k = keys[i]; "


def _line(random: Random) -> Case:
    """Values from 0.5 to 2, keys from 1 to 99; the limits are a thousand."""
    data = {
        "in": floats(random, 128),
        "keys": ints(random, 128, 1, 100),
        "out": zeros(128),
        "n": 128,
        "limit": 1000,
        "most": 1000.0,
    }
    return Case((2,), (64,), data)


def _many(random: Random) -> Case:
    """Launched many times; the cheapest launch does nothing at all, so that nothing can show there."""
    data, keys, out = floats(random, 128), ints(random, 128, 1, 100), zeros(128)
    steps = (
        Step((2,), (64,), {"in": data, "keys": keys, "out": out, "n": n, "limit": 1000, "most": 1000.0}, kernel="")
        for n in (0, 128, 100)
    )
    return Case(launches=tuple(steps))


def _member(name: str, original: str, variant: str, statement: str = "out[i] = @;", label: Label = "data-specific",
            *, many: bool = False) -> Member:  # fmt: skip
    source = kernel_source(name, PARAMETERS, START + statement, original, variant)
    return Member(name, label, source, _many if many else _line)


CHOICE = "out[i] = (@) ? v : -1.0f;"

FAMILY = Family(
    "check never binds",
    "a check or a limit never binds",
    (
        _member("minimum", "fminf(v, most)", "v"),
        _member("maximum", "fmaxf(v, 0.25f)", "v"),
        _member("clamped_key", "min(k, 255)", "k"),
        _member("limit_of_key", "k <= limit", "true", CHOICE),
        _member("limit_as_argument", "i < limit", "true", CHOICE),
        _member("rare_key", "k != 5000", "true", CHOICE),
        _member("two_conditions", "!(k > 500 && v > 10.0f)", "true", CHOICE),
        _member("three_conditions", "!(k == 321 && limit < 100)", "true", CHOICE),
        _member("negative_value", "v < -3.0f ? 0.0f : v", "v"),
        _member("product_limit", "(k & 1023) * (k & 1023) <= 100000", "true", CHOICE),
        _member("limit_of_launches", "k <= limit", "true", "out[i] = (@) ? out[i] + v : -1.0f;", many=True),
        _member("sum_limit", "(k & 1023) + (limit & 2047) < 1600", "true", CHOICE),
        # Sound.
        _member("minimum_twice", "fminf(fminf(v, most), most)", "fminf(v, most)", label="clean"),
        _member("masked_key", "min(k & 255, 255)", "k & 255", label="clean"),
        _member("inside_of_line", "i < n", "true", CHOICE, "clean"),
        _member("key_of_byte", "(k & 255) < 256", "true", CHOICE, "clean"),
        _member("checked_before", "k <= limit", "true", "if (k > limit) { out[i] = 3.0f; return; } " + CHOICE, "clean"),
        _member("square_is_positive", "(k & 1023) * (k & 1023) >= 0", "true", CHOICE, "clean"),
        _member("never_both", "!(k > 500 && k < 400)", "true", CHOICE, "clean"),
        _member("limit_again", "k <= limit", "!(k > limit)", CHOICE, "clean"),
        _member("key_remainder", "k % 7 < 7", "true", CHOICE, "clean"),
        _member("launches_checked", "i < n", "true", "out[i] = (@) ? out[i] + v : -1.0f;", "clean", many=True),
    ),
)  # fmt: skip
