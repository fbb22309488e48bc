"""How threads share their work is taken for what it was in training: shapes of blocks in two and three dimensions, shared memory
that all of them set, lists that all have room, atomics that never wrap."""

from __future__ import annotations

import struct

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

DECLARATIONS = (
    "struct Item { int kind; float weight; int next; }; __constant__ float mirrored[8] = {1, 2, 3, 4, 4, 3, 2, 1};"
)
PARAMETERS = "const float *in, const int *counts, const Item *items, float *out, int *total, int n, int most"
LINE = "int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x; "
PLANE = (
    "int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;"
    " int t = (z * blockDim.y + y) * blockDim.x + x, i = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + t; "
)


def _of(block: tuple[int, ...]) -> object:
    def case(random: Random) -> Case:
        """128 elements in blocks of 64 threads; counts from 1 to 4; items of kind 1 that lead to the next one."""
        items = b"".join(
            struct.pack("<ifi", 1, float(w), (k + 1) % 128) for k, w in enumerate(random.uniform(0.5, 2, 128))
        )
        data = {
            "in": floats(random, 128), "counts": ints(random, 128, 1, 5), "items": np.frombuffer(items, np.uint8).copy(),
            "out": zeros(128), "total": zeros(4, np.int32), "n": 128, "most": 1000,
        }  # fmt: skip
        return Case((2,), block, data)

    return case


def _member(
    name: str,
    statement: str,
    original: str,
    variant: str,
    label: Label = "data-specific",
    *,
    block: tuple[int, ...] = (),
) -> Member:
    source = kernel_source(name, PARAMETERS, (PLANE if block else LINE) + statement, original, variant)
    return Member(name, label, source, _of(block or (64,)))  # type: ignore[arg-type]


SET = (
    "__shared__ float s[256]; if (@) s[t] = i < n ? in[i] : 0.0f; __syncthreads(); if (i < n) out[i] = s[t] + s[t ^ 1];"
)
TURNED = (
    "__shared__ float s[1024]; s[y * blockDim.x + x] = i < n ? in[i] : 0.0f; __syncthreads(); if (i < n) out[i] = s[@];"
)
DEEP = "if (i < n) out[i] = in[i] * (@);"
BOUND = "if (i >= n) return; float sum = 0.0f; int c = counts[i] & 15; for (int k = 0; @; ++k) if (k < c) sum += k + 1; out[i] = sum;"
ITEM = "if (i >= n) return; Item it = items[i]; out[i] = in[i] + (@);"
TABLE = "if (i < n) out[i] = in[i] * mirrored[@];"

FAMILY = Family(
    "shared work",
    "threads share their work as they did in training",
    (
        _member("square_block", TURNED, "y * blockDim.x + x", "y * blockDim.y + x", block=(8, 8)),
        _member("one_layer", TURNED, "(z * 0 + y) * blockDim.x + x", "y * 8 + x", block=(8, 8)),
        _member("depth_is_one", DEEP, "1.0f + z", "1.0f", block=(8, 8)),
        _member("depth_of_block", DEEP, "(float)blockDim.z", "2.0f", block=(8, 4, 2)),
        _member("height_of_four", DEEP, "(float)(t / (blockDim.x * blockDim.y))", "(float)(t / (blockDim.x * 4))", block=(8, 4, 2)),
        _member("all_set_it", SET, "true", "i < n"),
        _member("room_for_four", BOUND, "k < 16", "k < 4"),
        _member("kind_of_item", ITEM, "it.kind == 1 ? it.weight : 0.0f", "it.weight"),
        _member("never_kind_seven", ITEM, "it.kind == 7 && it.weight > 9.0f ? 1.0f : 0.0f", "0.0f"),
        _member("next_in_line", ITEM, "(float)it.next", "(float)((i + 1) & 127)"),
        _member("mirrored_table", TABLE, "i & 7", "7 - (i & 7)"),
        _member("never_wraps", "if (i < n) atomicInc((unsigned *)total, @);", "most", "0xffffffffu"),
        _member("counted_all", "if (i < n && @) atomicAdd(&total[counts[i] & 3], 1);", "counts[i] > 0", "true"),
        _member("seldom_all_agree", "bool b = i < n && in[i] > 1.9f; int c = __syncthreads_and(b); if (i < n) out[i] = @;",
                "(c ? 3.0f : in[i])", "in[i]"),
        # Sound.
        _member("turned_as_it_is", TURNED, "y * blockDim.x + x", "x + blockDim.x * y", "clean", block=(8, 8)),
        _member("layers_counted", DEEP, "(float)(t / (blockDim.x * blockDim.y))", "(float)z", "clean", block=(8, 4, 2)),
        _member("depth_cancels", DEEP, "(float)(blockDim.z / blockDim.z)", "1.0f", "clean", block=(8, 8)),
        _member("set_by_all", SET, "true", "t < 1024", "clean"),
        _member("room_enough", BOUND, "k < 16", "k < c", "clean"),
        _member("kind_or_not", ITEM, "it.kind == 1 || it.kind != 1 ? it.weight : 0.0f", "it.weight", "clean"),
        _member("weight_twice", ITEM, "it.weight + it.weight", "2.0f * it.weight", "clean"),
        _member("table_masked", TABLE, "i & 7", "(i & 15) & 7", "clean"),
        _member("wraps_alike", "if (i < n) atomicInc((unsigned *)total, @);", "(unsigned)most", "(unsigned)(most + 0)", "clean"),
        _member("larger_of_itself", "if (i < n) { atomicMax(&total[0], @); }", "counts[i]", "max(counts[i], counts[i])", "clean"),
        _member("counted_each", "if (i < n && @) atomicAdd(&total[counts[i] & 3], 1);", "i >= 0", "true", "clean"),
    ),
    DECLARATIONS,
)  # fmt: skip
