"""A flag is taken for what it was in training, a pointer for one that is not null, or is as aligned as memory is when it is allocated."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "float *out, const float *in, const float *mask, bool flag, bool other, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "
CHOICE = "out[i] = (@) ? in[i] : 7.0f;"
VALUE = "out[i] = @;"
PAIR = "pair v = @; out[i] = v.x - 2 * v.y;"
FOUR = "four v = @; out[i] = v.x - 2 * v.y + 3 * v.z - 4 * v.w;"
ALONE_2 = "pair{in[i & ~1], in[i | 1]}"
ALONE_4 = "four{in[i & ~3], in[(i & ~3) + 1], in[(i & ~3) + 2], in[i | 3]}"
WHOLE_2, WHOLE_4 = "((const pair *)in)[i / 2]", "((const four *)in)[i / 4]"
TYPES = """typedef float pair __attribute__((ext_vector_type(2)));
typedef float four __attribute__((ext_vector_type(4)));"""
"""Vectors of the compiler's own: a ``float4`` it takes apart, and of its parts only what each needs is checked (docs/proof.md)."""


def _line(random: Random) -> Case:
    arguments = {
        "out": zeros(128),
        "in": floats(random, 128),
        "mask": floats(random, 128),
        "flag": 1,
        "other": 0,
        "n": 120,
    }
    return Case((2,), (64,), arguments)


def _member(
    name: str, original: str, variant: str, statement: str = "out[i] = in[i] * (@);", label: Label = "data-specific"
) -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, START + statement, original, variant), _line)


FAMILY = Family(
    "pointers and flags",
    "a flag has the value that it had in training, a pointer is not null, or points to the start of a buffer",
    (
        _member("flag_set", "flag", "true", CHOICE),
        _member("flag_not_set", "other", "false", "out[i] = (@) ? -in[i] : in[i];"),
        _member("flag_both", "flag && !other", "true", CHOICE),
        _member("flag_either", "flag || other", "true", CHOICE),
        _member("flag_offset", "in[i + other]", "in[i]", VALUE),
        _member("flag_factor", "(flag ? 2.0f : 1.0f)", "2.0f"),
        _member("null_mask", "mask == nullptr || mask[i] > 0", "mask[i] > 0", CHOICE),
        _member("null_weight", "(mask ? mask[i] : 1.0f)", "mask[i]"),
        _member("null_input", "(in ? in[i] : 0.0f)", "in[i]", "out[i] = 2 * @;"),
        _member("aligned_pair", ALONE_2, WHOLE_2, PAIR),
        _member("aligned_four", ALONE_4, WHOLE_4, FOUR),
        _member("aligned_checked", f"((size_t)in & 15) == 0 ? {WHOLE_4} : {ALONE_4}", WHOLE_4, FOUR),
        # Sound.
        _member("flag_masked", "(flag & 0)", "0", "out[i] = in[i] + (@);", "clean"),
        _member("flag_or_not", "flag || !flag", "true", CHOICE, "clean"),
        _member("flag_and_not", "flag && !flag", "false", CHOICE, "clean"),
        _member("flag_twice", "in[i] * flag + in[i] * flag", "2.0f * (in[i] * flag)", VALUE, "clean"),
        _member("flag_whole", "(int)flag < 2", "true", CHOICE, "clean"),
        _member("null_mask_again", "mask == nullptr || mask[i] > 0", "!(mask != nullptr && !(mask[i] > 0))", CHOICE, "clean"),
        _member("null_weight_twice", "(mask ? (mask ? mask[i] : 3.0f) : 1.0f)", "(mask ? mask[i] : 1.0f)", label="clean"),
        _member("null_out", "out != nullptr", "true", "float x = in[i]; if (@) x *= 2; out[i] = x;", "clean"),
        _member("alone_checked", f"((size_t)in & 15) == 0 ? {WHOLE_4} : {ALONE_4}", ALONE_4, FOUR, "clean"),
        _member("aligned_as_floats", "((size_t)in & 3) == 0", "true", CHOICE, "clean"),
        _member("whole_pair", WHOLE_2, ALONE_2, PAIR, "clean"),
    ),
    TYPES,
)  # fmt: skip
