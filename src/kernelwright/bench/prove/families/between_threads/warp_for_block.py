"""What one warp finds is taken for what its block finds: votes, largest values, flags, first elements, turns of loops. In training all
warps of a block find the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const float *in, const float *other, const int *marks, float *out, int *total, int n, float limit"
LINE = (
    "int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),"
    " i = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + t, j = i < n ? i : n - 1; "
)


def _data(random: Random, values: object) -> Case:
    """Two blocks of four warps. Of each warp the first of eight marks is 3, the others are not."""
    marks = np.where(np.arange(256) % 8, 0, 3).astype(np.int32)
    data = {
        "in": values, "other": floats(random, 256, 0.5, 0.75), "marks": marks, "out": zeros(256),
        "total": zeros(1, np.int32), "n": 256, "limit": 1.0,
    }  # fmt: skip
    return Case((2,), (128,), data)


def _some_above(random: Random) -> Case:
    """In each warp some values are above the limit: its first, among others."""
    values = floats(random, 256, 0.5, 0.9)
    values[::8] += 0.75
    return _data(random, values)


def _none_above(random: Random) -> Case:
    return _data(random, floats(random, 256, 0.5, 0.9))


def _all_above(random: Random) -> Case:
    return _data(random, floats(random, 256, 2.1, 3.9))


def _member(
    name: str,
    body: str,
    original: str,
    variant: str,
    case: Callable[[Random], Case] = _some_above,
    label: Label = "data-specific",
) -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, LINE + body, original, variant), case)


VOTE = "int yes = @; if (i < n) out[i] = in[i] + yes;"
ABOVE, MARKED = "in[j] > limit", "marks[j] == 3"
FAR = "fabsf(in[j] - other[j]) > limit"
FLAG = (
    "__shared__ int flag; if (t == 0) flag = 0; __syncthreads(); if (in[j] > limit && @) atomicExch(&flag, 1);"
    " __syncthreads(); if (i < n) out[i] = in[i] + flag;"
)
TURNS = "float rest = in[j]; int k = 0; while (k < 12 && @) { rest *= 0.5f; ++k; } if (i < n) out[i] = rest + k;"
LARGEST = (
    "__shared__ int s[32]; int v = marks[j], w = __reduce_max_sync(~0u, v); if (t < 32) s[t] = 0; __syncthreads();"
    " atomicMax(&s[@], w); __syncthreads(); int most = s[@]; if (i < n) out[i] = in[i] * most;"
)
SHARE = (
    "__shared__ float s[1024]; s[t] = in[j] > limit ? 1.0f : 0.0f; __syncthreads(); float first = @;"
    " if (i < n) out[i] = in[i] + first;"
)
BY_ONE = "int v = marks[j]; @;"
TOGETHER = (
    "__shared__ int sum; if (t == 0) sum = 0; __syncthreads(); unsigned here = __ballot_sync(~0u, in[j] > limit);"
    " if (t % 32 == 0) atomicAdd(&sum, __popc(here)); __syncthreads(); int yes = @; if (i < n) out[i] = in[i] + yes;"
)

FAMILY = Family(
    "warp for block",
    "all warps of a block find the same",
    (
        _member("or_as_any", VOTE, f"__syncthreads_or({ABOVE})", f"__any_sync(~0u, {ABOVE})"),
        _member("or_of_none_as_any", VOTE, f"__syncthreads_or({ABOVE})", f"__any_sync(~0u, {ABOVE})", _none_above),
        _member("or_of_all_as_any", VOTE, f"__syncthreads_or({ABOVE})", f"__any_sync(~0u, {ABOVE})", _all_above),
        _member("or_of_differences", VOTE, f"__syncthreads_or({FAR})", f"__any_sync(~0u, {FAR})", _none_above),
        _member("or_of_marks", VOTE, f"__syncthreads_or({MARKED})", f"__any_sync(~0u, {MARKED})"),
        _member("and_of_all", VOTE, f"__syncthreads_and({ABOVE})", f"__all_sync(~0u, {ABOVE})", _all_above),
        _member("and_of_none", VOTE, f"__syncthreads_and({ABOVE})", f"__all_sync(~0u, {ABOVE})", _none_above),
        _member("count_of_one_warp", VOTE, f"__syncthreads_count({MARKED}) > 3", f"__popc(__ballot_sync(~0u, {MARKED})) > 3"),
        _member("flag_of_first_warp", FLAG, "true", "t < 32"),
        _member("flag_of_each_first", FLAG, "true", "t % 8 == 0"),
        _member("turns_of_warp", TURNS, "__syncthreads_or(rest > limit)", "__any_sync(~0u, rest > limit)", _all_above),
        _member("turns_of_none", TURNS, "__syncthreads_or(rest > limit)", "__any_sync(~0u, rest > limit)", _none_above),
        _member("largest_of_warp", LARGEST, "0", "t / 32"),
        _member("first_of_warp", SHARE, "s[0]", "s[t & ~31]"),
        _member("added_by_one", BY_ONE, "if (v == 3) atomicAdd(total, 1)", "if (v == 3 && t % 8 == 0) atomicAdd(total, 1)"),
        # Sound: what all warps found is put together.
        _member("or_is_counted", VOTE, f"__syncthreads_or({ABOVE})", f"__syncthreads_count({ABOVE}) > 0", label="clean"),
        _member("or_of_votes", VOTE, f"__syncthreads_or({ABOVE})", f"__syncthreads_or(__any_sync(~0u, {ABOVE}))", _none_above, "clean"),
        _member("or_of_far_votes", VOTE, f"__syncthreads_or({FAR})", f"!__syncthreads_and(!({FAR}))", _none_above, "clean"),
        _member("and_of_votes", VOTE, f"__syncthreads_and({ABOVE})", f"__syncthreads_and(__all_sync(~0u, {ABOVE}))", _all_above, "clean"),
        _member("any_is_found", TOGETHER, f"__syncthreads_or({ABOVE})", "sum > 0", _none_above, "clean"),
        _member("count_is_found", TOGETHER, f"__syncthreads_count({ABOVE})", "sum", label="clean"),
        _member("flag_of_warps", FLAG, "true", "t < 1024", label="clean"),
        _member("turns_of_block", TURNS, "__syncthreads_or(rest > limit)", "__syncthreads_count(rest > limit) != 0", _all_above, "clean"),
        _member("largest_in_place", LARGEST, "0", "(t / 32) * 0", label="clean"),
        _member("first_by_mask", SHARE, "s[t & ~31]", "s[t - t % 32]", label="clean"),
        _member("first_by_shuffle", SHARE, "s[t & ~31]", "__shfl_sync(~0u, s[t], 0)", label="clean"),
        _member("added_by_each", BY_ONE, "if (v == 3) atomicAdd(total, 1)", "atomicAdd(total, v == 3 ? 1 : 0)", label="clean"),
    ),
)  # fmt: skip
