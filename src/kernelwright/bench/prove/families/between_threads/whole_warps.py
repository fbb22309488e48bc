"""A warp is taken to be one row of the block, and full: lanes are numbered by ``threadIdx.x``, all of them take part, there are 32."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, float *out, int n, float limit"
LINE = (
    "int r = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), i = blockIdx.x * blockDim.x * blockDim.y"
    " * blockDim.z + r; "
)
WITHIN = LINE + "if (i >= n) return; unsigned here = __activemask(); "


def _data(random: Random) -> Case:
    """128 elements in blocks of 64 threads in a row; of each warp's elements some are below the limit and some are not."""
    values = floats(random, 256)
    values[::7], values[3::7] = 0.5, 1.5
    data = {"in": values, "out": zeros(256), "n": 128, "limit": 1.0}
    return Case((2,), (64,), data)


def _member(name: str, original: str, variant: str, body: str, label: Label = "data-specific") -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, body, original, variant), _data)


VALUE = WITHIN + "out[i] = @;"
EITHER = WITHIN + "out[i] = (@) ? in[i] : -1.0f;"
OF_BLOCK = LINE + "int yes = @; if (i < n) out[i] = 1.0f + yes;"
FIRST = (
    LINE + "__shared__ float s[32]; if (r < 32) s[r] = 0.0f; __syncthreads(); if (@) s[r >> 5] = in[i & 255];"
    " __syncthreads(); if (i < n) out[i] = s[r >> 5];"
)
SOME = WITHIN + "out[i] = (@) && in[i] < limit ? 2.0f : 1.0f;"
MANY = WITHIN + "out[i] = (@) ? 2.0f : 1.0f;"
THREADS = "blockDim.x * blockDim.y * blockDim.z"
BELOW = "__ballot_sync(here, in[i] < limit)"
ABOVE = "in[i & 255] > limit"

AS_SAFE: Label = "as safe as the original"
"""Who asks which lanes are here leans on their running in step."""

FAMILY = Family(
    "whole warps",
    "a warp is one row of the block, and full",
    (
        _member("lane_by_x", "r & 31", "threadIdx.x & 31", VALUE),
        _member("warp_by_x", "r >> 5", "threadIdx.x >> 5", VALUE),
        _member("leader_by_x", "(r & 31) == 0", "(threadIdx.x & 31) == 0", EITHER),
        _member("leader_of_block", "(r & 31) == 0", "r % (blockDim.x < 32 ? blockDim.x : 32) == 0", FIRST),
        _member("full_warp", "__popc(here)", "32", VALUE),
        _member("last_is_31", "31 - __clz(here)", "31", VALUE),
        _member("all_of_32", f"{BELOW} == here", f"{BELOW} == 0xffffffffu", SOME),
        _member("none_by_count", f"__popc({BELOW}) == __popc(here)", f"__popc({BELOW}) > 31", MANY),
        _member("warps_of_x", f"({THREADS} + 31) >> 5", "(blockDim.x + 31) >> 5", VALUE),
        _member("whole_warps_only", f"({THREADS} + 31) >> 5", f"({THREADS}) >> 5", VALUE),
        _member("two_warps", f"({THREADS} + 31) >> 5", "2", VALUE),
        # Sound: the same of any block.
        _member("lane_by_mask", "r & 31", "r % 32", VALUE, "clean"),
        _member("lane_by_register", "r & 31", "r - ((r >> 5) << 5)", VALUE, "clean"),
        _member("warp_by_division", "r >> 5", "r / 32", VALUE, "clean"),
        _member("leader_by_shift", "(r & 31) == 0", "((r >> 5) << 5) == r", EITHER, "clean"),
        _member("leader_alone", "(r & 31) == 0", "(r & 31) < 1", FIRST, "clean"),
        _member("counted", "__popc(here)", "__popcll((unsigned long long)here)", VALUE, AS_SAFE),
        _member("last_by_find", "31 - __clz(here)", "31 - __clzll((unsigned long long)here << 32)", VALUE, AS_SAFE),
        _member("all_as_all", f"{BELOW} == here", "__all_sync(here, in[i] < limit)", EITHER, AS_SAFE),
        _member("none_as_any", f"{BELOW} == 0", "!__any_sync(here, in[i] < limit)", EITHER, AS_SAFE),
        _member("warps_rounded_up", f"({THREADS} + 31) >> 5", f"({THREADS} + 31) / 32", VALUE, "clean"),
        _member("any_as_count", f"__syncthreads_or({ABOVE})", f"(__syncthreads_count({ABOVE}) > 0)", OF_BLOCK, "clean"),
        _member("none_is_every_not", f"__syncthreads_and({ABOVE})", f"!__syncthreads_or(!({ABOVE}))", OF_BLOCK, "clean"),
    ),
)  # fmt: skip
