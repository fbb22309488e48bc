"""The size or shape of blocks is taken for what it was in training."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.guards import BlockIs
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, float *out, int n"


def _line(random: Random) -> Case:
    return Case((2,), (64,), {"in": floats(random, 200), "out": zeros(200), "n": 200})


def _member(
    name: str, body: str, original: str, variant: str, label: Label = "data-specific", *, guard: bool = False
) -> Member:
    guards = (BlockIs((64, 1, 1)),) if guard else ()
    return Member(name, label, kernel_source(name, PARAMETERS, body, original, variant), _line, guards)


INDEX = "int i = blockIdx.x * @ + threadIdx.x; if (i < n) out[i] = in[i] * 2.0f;"
STRIDE = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * @) out[i] = in[i] - 1.0f;"
VALUE = "int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] * @;"
SUM = (
    "__shared__ float s[1024]; int t = threadIdx.x, i = blockIdx.x * blockDim.x + t; s[t] = i < n ? in[i] : 0.0f; __syncthreads();"
    "for (int d = @ / 2; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); } if (!t) out[blockIdx.x] = s[0];"
)
ROWS = "int i = blockIdx.x * blockDim.x * blockDim.y + @ * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] + 3.0f;"
LAST = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = @ ? in[i] : 2.0f * in[i];"
TILES = (
    "for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x)"
    " { int i = base + threadIdx.x; if (i < n) out[i] = in[i] + (@); }"
)

FAMILY = Family(
    "block shape",
    "blocks have the size or shape that they had in training",
    (
        _member("index_of_block", INDEX, "blockDim.x", "64"),
        _member("stride_of_block", STRIDE, "blockDim.x", "64"),
        _member("width_as_value", VALUE, "(float)blockDim.x", "64.0f"),
        _member("height_as_value", VALUE, "(float)blockDim.y", "1.0f"),
        _member("half_of_block", SUM, "blockDim.x", "64"),
        _member("row_of_thread", ROWS, "threadIdx.y", "0"),
        _member("last_thread", LAST, "(threadIdx.x == blockDim.x - 1)", "(threadIdx.x == 63)"),
        _member("last_warp", LAST, "(threadIdx.x / 32 == (blockDim.x - 1) / 32)", "(threadIdx.x >= 32)"),
        _member("row_as_value", VALUE, "(1.0f + threadIdx.y)", "1.0f"),
        _member("tiles_of_block", TILES, "base / (int)blockDim.x", "base / 64"),
        _member("threads_of_grid", VALUE, "(float)(blockDim.x * gridDim.x)", "128.0f"),
        # Sound: blocks may have any shape, or the launch is checked.
        _member("index_checked", INDEX, "blockDim.x", "64", "clean", guard=True),
        _member("width_checked", VALUE, "(float)blockDim.x", "64.0f", "clean", guard=True),
        _member("sum_checked", SUM, "blockDim.x", "64", "clean", guard=True),
        _member("row_is_guarded", ROWS, "threadIdx.y", "0", "clean", guard=True),
        _member("inside_block", LAST, "(threadIdx.x < blockDim.x)", "true", "clean"),
        _member("width_cancels", VALUE, "((float)(blockDim.x / blockDim.x))", "1.0f", "clean"),
        _member("width_masked", VALUE, "(1.0f + (blockDim.y & 0))", "1.0f", "clean"),
        _member("index_both_ways", INDEX, "blockDim.x", "(blockDim.x + blockDim.y - blockDim.y)", "clean"),
        _member("tile_by_difference", TILES, "base / (int)blockDim.x", "(i - (int)threadIdx.x) / (int)blockDim.x", "clean"),
        _member("returned_before", "if (blockDim.x != 64 || blockDim.y != 1) return; " + INDEX, "blockDim.x", "64", "clean"),
    ),
)  # fmt: skip
