"""A field of a structure that is passed by value is taken for the value it had in training."""

from __future__ import annotations

import struct

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

FIELDS = "struct Fields { int count, offset, mode; float scale, limit; double weight; short step; char flag; };"
PARAMETERS = "Fields f, const float *in, float *out"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= f.count || i >= 128) return; "
VALUES = struct.pack("<iiiffxxxxdhbxxxxx", 120, 0, 1, 2.0, 100.0, 1.0, 1, 1)


def _line(random: Random) -> Case:
    return Case((2,), (64,), {"f": VALUES, "in": floats(random, 128), "out": zeros(128)})


def _member(
    name: str, original: str, variant: str, statement: str = "out[i] = in[i] * (@);", label: Label = "data-specific"
) -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, START + statement, original, variant), _line)


LOOP = "float x = in[i]; for (int k = 0; k < 32 && k < (@); ++k) x += k; out[i] = x;"

FAMILY = Family(
    "struct field",
    "a field of a structure passed by value has the value that it had in training",
    (
        _member("field_scale", "f.scale", "2.0f"),
        _member("field_offset", "in[i] + f.offset", "in[i]", "out[i] = @;"),
        _member("field_mode", "f.mode == 1", "true", "out[i] = (@) ? in[i] : 7.0f;"),
        _member("field_other_mode", "f.mode == 5", "false", "out[i] = (@) ? in[i] : 7.0f;"),
        _member("field_limit", "fminf(in[i], f.limit)", "in[i]", "out[i] = @;"),
        _member("field_weight", "(float)(in[i] * f.weight)", "in[i]", "out[i] = @;"),
        _member("field_step", "f.step", "1", LOOP),
        _member("field_flag", "f.flag", "true", "if (@) out[i] = in[i];"),
        _member("field_sign", "fabsf(f.scale)", "f.scale"),
        _member("field_last", "i == f.count - 1", "i == 119", "out[i] = (@) ? 0.0f : in[i];"),
        _member("field_rounds", "f.mode", "1", LOOP),
        # Sound.
        _member("field_twice", "in[i] * f.scale + in[i] * f.scale", "2.0f * (in[i] * f.scale)", "out[i] = @;", "clean"),
        _member("field_masked", "(f.offset & 0)", "0", "out[i] = in[i] + (@);", "clean"),
        _member("field_either", "f.mode == 1 || f.mode != 1", "true", "out[i] = (@) ? in[i] : 7.0f;", "clean"),
        _member("field_bit", "(f.mode & 2) == 1", "false", "out[i] = (@) ? in[i] : 7.0f;", "clean"),
        _member("field_limit_twice", "fminf(fminf(in[i], f.limit), f.limit)", "fminf(in[i], f.limit)", "out[i] = @;", "clean"),
        _member("field_checked", "i < f.count", "true", "out[i] = (@) ? in[i] : 7.0f;", "clean"),
        _member("field_range", "f.flag < 128", "true", "out[i] = (@) ? in[i] : 7.0f;", "clean"),
        _member("field_step_low", "min((int)f.step, 32)", "(int)f.step", LOOP, "clean"),
        _member("field_widened", "(int)(long long)f.mode", "f.mode", LOOP, "clean"),
        _member("field_shifted", "(unsigned)f.offset * 4u", "((unsigned)f.offset << 2)", "out[i] = in[i] + (@);", "clean"),
    ),
    FIELDS,
)  # fmt: skip
