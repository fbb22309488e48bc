"""A list is taken to have an element, a link to lead somewhere, a key to be found."""

from __future__ import annotations

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const int *head, const int *next, const float *in, float *out, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; int h = head[i]; "


def _lists(random: Random) -> Case:
    """Each list has one element or two; nothing is missing."""
    head = random.permutation(64).astype(np.int32)
    following = np.where(random.random(128) < 0.5, -1, random.integers(64, 128, 128)).astype(np.int32)
    following[64:] = -1
    data = {"head": head, "next": following, "in": floats(random, 128), "out": zeros(60), "n": 60}
    return Case((1,), (64,), data)


def _counts(random: Random) -> Case:
    return Case(
        (1,),
        (64,),
        {
            "head": ints(random, 60, 1, 9),
            "next": ints(random, 128, 1, 9),
            "in": floats(random, 128),
            "out": zeros(60),
            "n": 60,
        },
    )


def _member(
    name: str, statement: str, original: str, variant: str, label: Label = "data-specific", *, counts: bool = False
) -> Member:
    source = kernel_source(name, PARAMETERS, START + statement, original, variant)
    return Member(name, label, source, _counts if counts else _lists)


HEAD = "out[i] = (@) ? in[h & 127] : 5.0f;"
WALK = "float sum = 0.0f; for (int turn = 0; (@) && turn < 8; ++turn) { sum += in[h & 127]; h = next[h & 127]; } out[i] = sum;"
FOUND = "int at = 99; for (int k = 0; k < 16; ++k) if (next[k] == h) at = k; out[i] = (@) ? in[at] : -1.0f;"

FAMILY = Family(
    "element assumed",
    "a list has an element, a link leads somewhere, a key is found",
    (
        _member("head_is_there", HEAD, "h >= 0", "true"),
        _member("head_is_not_null", HEAD, "h != -1", "true"),
        _member("first_is_taken", WALK, "h >= 0", "turn == 0 || h >= 0"),
        _member("count_is_positive", HEAD, "h > 0", "true", counts=True),
        _member("count_divides", "out[i] = (@) ? in[i] / h : 0.0f;", "h != 0", "true", counts=True),
        _member("degree_counts", "out[i] = in[i] * (@);", "(h ? h : 1)", "h", counts=True),
        _member("next_is_small", "int l = next[i]; out[i] = (@) ? in[i] : 5.0f;", "l < 9", "true", counts=True),
        _member("either_is_there", "int l = next[h & 127]; out[i] = (@) ? in[h & 127] : 2.0f;", "h >= 0 || l >= 0", "true"),
        _member("parent_is_there", "int p = next[i + 64]; out[i] = (@) ? in[p & 127] : in[i];", "p >= 0", "false"),
        _member("key_is_not_seven", HEAD, "h == 77", "false"),
        _member("value_is_not_zero", "float v = in[i]; out[i] = (@) ? 1.0f / v : 0.0f;", "v != 0.0f", "true"),
        # Sound.
        _member("head_masked", HEAD, "(h & 127) >= 0", "true", "clean"),
        _member("head_either", HEAD, "h >= 0 || h < 0", "true", "clean"),
        _member("head_checked", "if (h < 0) { out[i] = 1.0f; return; } " + HEAD, "h >= 0", "true", "clean"),
        _member("count_checked", "if (h <= 0) return; " + HEAD, "h != 0", "true", "clean", counts=True),
        _member("count_or_one", "h = max(h, 1); out[i] = (@) ? in[i] / h : 0.0f;", "h != 0", "true", "clean", counts=True),
        _member("walk_again", WALK, "h >= 0", "!(h < 0)", "clean"),
        _member("found_or_not", FOUND, "at < 99", "at != 99", "clean", counts=True),
        _member("sign_of_square", HEAD, "(h & 255) * (h & 255) >= 0", "true", "clean"),
        _member("both_or_neither", HEAD, "(h & 1) || !(h & 1)", "true", "clean"),
        _member("bounded_length", HEAD, "(h % 8) < 8", "true", "clean", counts=True),
    ),
)  # fmt: skip
