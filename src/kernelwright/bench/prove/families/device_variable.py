"""A ``__constant__`` or ``__device__`` variable is taken for the value it had in training."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, float *out, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "


def _line(random: Random) -> Case:
    return Case((2,), (64,), {"in": floats(random, 120), "out": zeros(120), "n": 120})


def _keys(random: Random) -> Case:
    return Case((2,), (64,), {"in": floats(random, 120), "out": zeros(120), "n": 120, "keys": ints(random, 120, 0, 8)})


def _member(name: str, variable: str, original: str, variant: str, statement: str = "out[i] = in[i] * (@);",
            label: Label = "data-specific", *, keys: bool = False) -> Member:  # fmt: skip
    parameters, case = (PARAMETERS + ", const int *keys", _keys) if keys else (PARAMETERS, _line)
    original, variant, variable = (text.replace("$", f"{name}_v") for text in (original, variant, variable))
    return Member(name, label, kernel_source(name, parameters, START + statement, original, variant, variable), case)


FAMILY = Family(
    "device variable",
    "a __constant__ or __device__ variable has the value that it had in training",
    (
        _member("constant_factor", "__constant__ float $ = 1.5f;", "$", "1.5f"),
        _member("constant_one", "__constant__ float $ = 1.0f;", "in[i] * $", "in[i]", "out[i] = @;"),
        _member("device_offset", "__device__ int $ = 0;", "$", "0", "out[i] = in[i] + (@);"),
        _member("device_flag", "__device__ int $ = 1;", "$", "1", "if (@) out[i] = in[i];"),
        _member("constant_mode", "__constant__ int $ = 2;", "$ == 3", "false", "out[i] = (@) ? in[i] : -in[i];"),
        _member("constant_rounds", "__constant__ int $ = 2;", "$", "2",
                "float x = in[i]; for (int k = 0; k < (@) && k < 64; ++k) x = x * 1.25f + k; out[i] = x;"),
        _member("constant_limit", "__constant__ float $ = 100.0f;", "fminf(in[i], $)", "in[i]", "out[i] = @;"),
        _member("constant_table", "__constant__ float $[8] = {1, 1, 1, 1, 1, 1, 1, 1};", "$[keys[i] & 7]", "1.0f", keys=True),
        _member("device_table", "__device__ int $[8] = {0, 1, 2, 3, 4, 5, 6, 7};", "$[keys[i] & 7]", "(keys[i] & 7)", keys=True),
        _member("constant_struct", "struct $T { int shift; float scale; }; __constant__ $T $ = {0, 2.0f};",
                "in[i] * $.scale + $.shift", "in[i] * 2.0f", "out[i] = @;"),
        _member("constant_size", "__constant__ int $ = 4;", "$", "4", "int w = (@) > 0 ? (@) : 1; out[i] = in[i] * (i % w);"),
        _member("device_sign", "__device__ float $ = 3.0f;", "fabsf($)", "$"),
        # Sound: whatever it holds.
        _member("factor_twice", "__constant__ float $ = 1.5f;", "in[i] * $ + in[i] * $", "2.0f * (in[i] * $)", "out[i] = @;", "clean"),
        _member("offset_masked", "__device__ int $ = 0;", "$ & 0", "0", "out[i] = in[i] + (@);", "clean"),
        _member("flag_either", "__device__ int $ = 1;", "$ != 0 || $ == 0", "true", "if (@) out[i] = in[i];", "clean"),
        _member("mode_of_bit", "__constant__ int $ = 2;", "($ & 1) == 2", "false", "out[i] = (@) ? in[i] : -in[i];", "clean"),
        _member("limit_twice", "__constant__ float $ = 1.0f;", "fminf(fminf(in[i], $), $)", "fminf(in[i], $)", "out[i] = @;", "clean"),
        _member("table_once", "__constant__ int $[8] = {1, 2, 3, 4, 5, 6, 7, 8};", "$[keys[i] & 7] * $[keys[i] & 7]",
                "($[keys[i] & 7] * $[keys[i] & 7 & 15])", label="clean", keys=True),
        _member("rounds_hoisted", "__constant__ int $ = 2;", "k < $", "k < rounds",
                "int rounds = rounds_hoisted_v; float x = in[i]; for (int k = 0; @ && k < 64; ++k) x = x * 1.25f + k; out[i] = x;",
                "clean"),
        _member("fixed_table", "static const __device__ float $[4] = {1, 1, 1, 1};", "$[i & 3]", "1.0f", label="clean"),
        _member("size_shifted", "__constant__ unsigned $ = 4;", "$ * 8u", "($ << 3)", "out[i] = in[i] * (@);", "clean"),
        _member("sign_of_square", "__device__ int $ = 3;", "$ * $ % 2 < 2", "true", "out[i] = (@) ? in[i] : 0.0f;", "clean"),
    ),
)  # fmt: skip
