"""A fence is gone, too narrow, or on the wrong side of an access: nothing that a sequentially consistent machine shows."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

BLOCKS = 4
PARAMETERS = "const float *in, float *part, int *count, float *out"


def _data(random: Random) -> Case:
    arguments = {
        "in": floats(random, 64 * BLOCKS),
        "part": zeros(64 * BLOCKS),
        "count": zeros(8, "int32"),
        "out": zeros(4),
    }
    return Case((BLOCKS,), (64,), arguments)


def _member(name: str, body: str, original: str, variant: str, label: Label = "schedule-dependent") -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, body, original, variant), _data)


HEAD = "__shared__ bool last; int t = threadIdx.x, b = blockIdx.x, i = b * 64 + t; float v = in[i] * 2.0f;"
SUM = "float s = 0.0f; for (int k = 0; k < (int)gridDim.x; k++) s += part[64 * k]; out[0] = s; *count = 0;"
COUNT = "last = atomicAdd(count, 1) == (int)gridDim.x - 1;"
FENCE, NARROW = "__threadfence();", "__threadfence_block();"
# One thread of each block stores, the last block adds up.
WRITER = f"{HEAD} if (t == 0) {{ @ {COUNT} {FENCE} if (last) {{ {SUM} }} }}"
READER = f"{HEAD} if (t == 0) {{ part[i] = v; {FENCE} @ if (last) {{ {SUM} }} }}"
# All threads store; one speaks for those it waited for.
SPEAKER = f"{HEAD} part[i] = v; @ if (last && t < 4) out[t] = part[64 * t + 63];"
# Each block says that it is done, and looks who else is.
FLAGS = (
    "int b = blockIdx.x; volatile int *flag = count; if (threadIdx.x == 0) { part[64 * b] = in[64 * b]; __threadfence(); @"
    " int all = 1; for (int k = 0; k < (int)gridDim.x; k++) all &= flag[k];"
    " if (all) { __threadfence(); float s = 0.0f; for (int k = 0; k < (int)gridDim.x; k++) s += part[64 * k]; out[0] = s; } }"
)
SPOKEN = f"__syncthreads(); if (t == 0) {{ {FENCE} {COUNT} {FENCE} }} __syncthreads();"
STORED = f"part[i] = v; {FENCE}"
COUNTED = f"{COUNT} {FENCE}"
SAID = f"flag[b] = 1; {FENCE}"

FAMILY = Family(
    "order of fences",
    "a fence is gone, too narrow, or on the wrong side of an access",
    (
        _member("fence_gone", WRITER, STORED, "part[i] = v;"),
        _member("fence_narrow", WRITER, STORED, f"part[i] = v; {NARROW}"),
        _member("fence_in_assembly_narrow", WRITER, STORED, 'part[i] = v; asm volatile("membar.cta;" ::: "memory");'),
        _member("store_behind", WRITER, STORED, f"{FENCE} part[i] = v;"),
        _member("one_store_behind", WRITER, f"part[i] = v; out[1 + b % 3] = 1.0f; {FENCE}",
                f"out[1 + b % 3] = 1.0f; {FENCE} part[i] = v;"),
        _member("corrected_behind", WRITER, STORED, f"part[i] = 0.0f; {FENCE} part[i] = v;"),
        _member("acquired_never", READER, COUNTED, COUNT),
        _member("acquired_before", READER, COUNTED, f"{FENCE} {COUNT}"),
        _member("acquired_by_the_block", READER, COUNTED, f"{COUNT} {NARROW}"),
        _member("spoken_too_early", SPEAKER, SPOKEN,
                f"if (t == 0) {{ {FENCE} }} __syncthreads(); if (t == 0) {{ {COUNT} {FENCE} }} __syncthreads();"),
        _member("spoken_narrow", SPEAKER, SPOKEN, SPOKEN.replace(f"{{ {FENCE}", f"{{ {NARROW}")),
        _member("said_without_fence", FLAGS, SAID, "flag[b] = 1;"),
        _member("said_behind_the_fence", FLAGS, SAID, f"{FENCE} flag[b] = 1;"),
        _member("said_to_the_block", FLAGS, SAID, f"flag[b] = 1; {NARROW}"),
        # Sound: as wide and on the same side.
        _member("fence_wider", WRITER, STORED, "part[i] = v; __threadfence_system();", "clean"),
        _member("fence_twice", WRITER, STORED, f"part[i] = v; {FENCE} {FENCE}", "clean"),
        _member("fence_in_assembly", WRITER, STORED, 'part[i] = v; asm volatile("membar.gl;" ::: "memory");', "clean"),
        _member("fence_also_before", WRITER, STORED, f"{NARROW} part[i] = v; {FENCE}", "clean"),
        _member("stored_twice", WRITER, STORED, f"part[i] = 0.0f; part[i] = v; {FENCE}", "clean"),
        _member("other_value_first", WRITER, STORED, f"part[i] = in[i] + in[i]; {FENCE}", "clean"),
        _member("acquired_twice", READER, COUNTED, f"{COUNT} {NARROW} {FENCE}", "clean"),
        _member("counted_by_increment", READER, COUNTED,
                f"last = atomicInc((unsigned *)count, ~0u) == gridDim.x - 1; {FENCE}", "clean"),
        _member("everybody_speaks", SPEAKER, SPOKEN, f"{FENCE} {SPOKEN}", "clean"),
        _member("another_barrier", SPEAKER, SPOKEN, f"__syncthreads(); {SPOKEN}", "clean"),
        _member("said_twice", FLAGS, SAID, f"flag[b] = 1; flag[b] = 1; {FENCE}", "clean"),
        _member("said_by_exchange", FLAGS, SAID, f"atomicExch(count + b, 1); {FENCE}", "clean"),
    ),
)  # fmt: skip
