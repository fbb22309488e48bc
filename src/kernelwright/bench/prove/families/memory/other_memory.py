"""The content of a texture or of managed memory is taken for what it was in training."""

from __future__ import annotations

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case, Step
from kernelwright.prove.labels import Label

MANAGED = "const float *in, float *out, int n"
TEXTURE = "cudaTextureObject_t t, const float *in, float *out, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "
BIND = """
extern "C" __global__ void describe(kwTextureDescriptor *to, float *texels, int width) {
  if (threadIdx.x) return;
  to->data = (unsigned long long)texels; to->row_bytes = to->slice_bytes = 4 * width; to->width = width;
  to->channels = 1; to->channel_bits = 32; to->channel_kind = cudaChannelFormatKindFloat;
}
"""
DESCRIPTOR_BYTES = 96


def _line(random: Random) -> Case:
    return Case((2,), (64,), {"in": floats(random, 120), "out": zeros(120), "n": 120})


def _textured(kernel: str, fill: float | None) -> object:
    def case(random: Random) -> Case:
        """Texels of one value, or of their own numbers; a kernel writes the descriptor, as the host would."""
        texels = np.arange(128, dtype=np.float32) if fill is None else np.full(128, fill, np.float32)
        descriptor = zeros(DESCRIPTOR_BYTES, np.uint8)
        return Case(
            launches=(
                Step((1,), (32,), {"to": descriptor, "texels": texels, "width": 128}, kernel="describe"),
                Step(
                    (2,),
                    (64,),
                    {"t": descriptor, "in": floats(random, 120), "out": zeros(120), "n": 120},
                    kernel=kernel,
                ),
            )
        )

    return case


def _managed(name: str, variable: str, original: str, variant: str, statement: str = "out[i] = in[i] * (@);",
             label: Label = "data-specific") -> Member:  # fmt: skip
    original, variant, variable = (text.replace("$", f"{name}_v") for text in (original, variant, variable))
    return Member(name, label, kernel_source(name, MANAGED, START + statement, original, variant, variable), _line)


def _texture(name: str, fill: float | None, original: str, variant: str, statement: str = "out[i] = in[i] * (@);",
             label: Label = "data-specific") -> Member:  # fmt: skip
    source = kernel_source(name, TEXTURE, START + statement, original, variant)
    return Member(name, label, source, _textured(name, fill))  # type: ignore[arg-type]


FETCH = "tex1Dfetch<float>(t, i)"

FAMILY = Family(
    "texture or managed memory",
    "a texture or managed memory holds what it held in training",
    (
        _managed("managed_factor", "__managed__ float $ = 1.5f;", "$", "1.5f"),
        _managed("managed_flag", "__managed__ int $ = 1;", "$", "1", "if (@) out[i] = in[i];"),
        _managed("managed_table", "__managed__ float $[4] = {1, 1, 1, 1};", "$[i & 3]", "1.0f"),
        _managed("managed_steps", "__managed__ int $ = 2;", "$", "2",
                 "float x = in[i]; for (int k = 0; k < 32 && k < (@); ++k) x += k; out[i] = x;"),
        _managed("managed_ids", "__managed__ int $[4] = {0, 1, 2, 3};", "$[i & 3]", "(i & 3)"),
        _texture("texture_one", 1.0, FETCH, "1.0f"),
        _texture("texture_positive", 2.0, f"fabsf({FETCH})", FETCH),
        _texture("texture_first", 3.0, FETCH, "tex1Dfetch<float>(t, 0)"),
        _texture("texture_ids", None, FETCH, "(float)i"),
        _texture("texture_never_zero", 2.0, f"{FETCH} == 0.0f", "false", "out[i] = (@) ? 0.0f : in[i];"),
        _texture("texture_limit", 50.0, f"fminf(in[i], {FETCH})", "in[i]", "out[i] = @;"),
        # Sound.
        _managed("managed_twice", "__managed__ float $ = 1.5f;", "in[i] * $ + in[i] * $", "2.0f * (in[i] * $)", "out[i] = @;", "clean"),
        _managed("managed_masked", "__managed__ int $ = 3;", "$ & 0", "0", "out[i] = in[i] + (@);", "clean"),
        _managed("managed_either", "__managed__ int $ = 3;", "$ > 2 || $ <= 2", "true", "out[i] = (@) ? in[i] : 7.0f;", "clean"),
        _managed("managed_bit", "__managed__ int $ = 3;", "($ & 4) == 2", "false", "out[i] = (@) ? in[i] : 7.0f;", "clean"),
        _managed("managed_shifted", "__managed__ unsigned $ = 3;", "$ * 2u", "($ << 1)", "out[i] = in[i] + (@);", "clean"),
        _texture("texture_twice", 2.0, f"in[i] * {FETCH} + in[i] * {FETCH}", f"2.0f * (in[i] * {FETCH})", "out[i] = @;", "clean"),
        _texture("texture_masked", 2.0, f"(((int){FETCH}) & 0)", "0", "out[i] = in[i] + (@);", "clean"),
        _texture("texture_limit_twice", 2.0, f"fminf(fminf(in[i], {FETCH}), {FETCH})", f"fminf(in[i], {FETCH})", "out[i] = @;", "clean"),
        _texture("texture_of_minimum", 2.0, "tex1Dfetch<float>(t, min(i, n - 1))", FETCH, label="clean"),
        _texture("texture_square", 2.0, f"{FETCH} * {FETCH} < 0.0f", "false", "out[i] = (@) ? 0.0f : in[i];", "clean"),
    ),
    BIND,
)  # fmt: skip
