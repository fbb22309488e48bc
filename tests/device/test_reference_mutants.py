"""Kernels with random edits: whatever they do, the executor answers with a verdict, and twice with the same one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import ReferenceResult, run_reference
from kernelwright.ir import ConstantInt, Function, Instruction, Module
from kernelwright.ir.opcodes import FLOAT_BINARY, INTEGER_BINARY
from kernelwright.ir.types import IntType, StructType
from kernelwright.ir.values import Value
from tests.device.conftest import kernel_named, packed
from tests.device.test_reference_kernels import HOTSPOT, NEEDLE, PATHFINDER, REDUCTION

Compile = Callable[[str], Module]

ZOO = r"""
#include <cstdio>
__device__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void zoo(int* o, const float* f, long long* l, double* d, int n) {
    int t = threadIdx.x;
    __shared__ float s[64];
    int a[8];
    for (int i = 0; i < 8; i++) a[i] = i * t;
    s[t] = sinf(f[t]) + expf(f[t]);
    __syncthreads();
    switch (t & 7) {
        case 0: a[1] += o[t] / (n + t); break;
        case 1: a[2] = o[t] % (t + 1); break;
        case 3: a[3] = (int)(f[t] * 1e9f); break;
        default: a[t & 3] ^= t << (n & 31);
    }
    l[t] = (long long)a[t & 7] * n + __shfl_xor_sync(~0u, a[1], 3);
    d[t] = sqrt((double)f[t]) / a[2] + s[63 - t];
    unsigned votes = __ballot_sync(~0u, f[t] > 0.5f);
    o[t] = __popc(votes) + atomicAdd(&o[63], 1) + (int)table[t & 7];
    if (f[t] > 0.9f) printf("%d %f\n", t, f[t]);
}
"""
KERNELS = {"hotspot": HOTSPOT, "needle": NEEDLE, "pathfinder": PATHFINDER, "reduce": REDUCTION, "zoo": ZOO}
INTEGER_PREDICATES = ("eq", "ne", "ult", "slt", "sgt", "uge")
FLOAT_PREDICATES = ("oeq", "une", "olt", "ugt", "ord", "uno")
CONSTANTS = (0, 1, -1, 2, 31, 32, 1 << 20)


def edit(function: Function, rng: random.Random) -> None:
    """One edit that keeps the IR valid: another opcode, predicate, operand or branch, or an effect left out."""
    i = rng.choice(list(function.instructions()))
    other = rng.random() < 0.5
    if i.opcode in INTEGER_BINARY and other:
        i.opcode, i.flags = rng.choice(INTEGER_BINARY), ()
    elif i.opcode in FLOAT_BINARY and other:
        i.opcode = rng.choice(FLOAT_BINARY)
    elif i.opcode == "icmp" and other:
        i.predicate = rng.choice(INTEGER_PREDICATES)
    elif i.opcode == "fcmp" and other:
        i.predicate = rng.choice(FLOAT_PREDICATES)
    elif i.opcode == "br" and len(i.successors) == 2 and other:
        i.successors = i.successors[::-1]
    elif i.opcode in ("store", "call") and not i.has_result and other:
        i.erase()
    elif i.opcode == "getelementptr" and not isinstance(i.source_type, StructType):
        last = i.operands[-1]
        if isinstance(last, ConstantInt):
            i.set_operand(len(i.operands) - 1, ConstantInt(last.type, rng.choice(CONSTANTS)))
    elif i.operands and i.opcode not in ("phi", "call", "switch", "getelementptr", "alloca"):
        n = rng.randrange(len(i.operands))
        choices = replacements(function, i, i.operands[n], rng)
        if choices:
            i.set_operand(n, rng.choice(choices))


def replacements(function: Function, i: Instruction, old: Value, rng: random.Random) -> list[Value]:
    """Values of the same type that exist where ``i`` is."""
    assert i.parent is not None
    before = i.parent.instructions[: i.index]
    found: list[Value] = [v for v in [*before, *function.arguments] if v.type is old.type]
    if isinstance(old.type, IntType):
        found.append(ConstantInt(old.type, rng.choice(CONSTANTS)))
    return found


def run(module: Module, kernel: str, arena: Arena) -> tuple[ReferenceResult, bytes]:
    """The verdict, and every byte of memory afterwards."""
    arena.reset()
    rng = np.random.default_rng(0)

    def buffer(values: np.ndarray) -> np.uint64:
        made = arena.allocate(values.nbytes, f"buffer {len(arena.buffers)}")
        arena.view(made)[:] = values.view(np.uint8).reshape(-1)
        return np.uint64(made.address)

    def ints(n: int) -> np.uint64:
        return buffer(rng.integers(0, 100, n, dtype=np.int32))

    def floats(n: int) -> np.uint64:
        return buffer(rng.random(n, dtype=np.float32))

    launches: dict[str, Callable[[], tuple[tuple[int, int, int], tuple[int, int, int], bytes, int]]] = {
        "hotspot": lambda: (
            (2, 2, 1),
            (16, 16, 1),
            packed(floats(900), floats(900), floats(900), 30, 0.5, 0.5, 0.5, 0.5),
            0,
        ),
        "needle": lambda: ((1, 1, 1), (16, 1, 1), packed(ints(289), ints(289), 17, 3, 0), 0),
        "pathfinder": lambda: ((2, 1, 1), (64, 1, 1), packed(3, ints(450), ints(150), ints(150), 150), 0),
        "reduce": lambda: ((2, 1, 1), (64, 1, 1), packed(ints(500), ints(1), 500), 256),
        "zoo": lambda: (
            (1, 1, 1),
            (64, 1, 1),
            packed(ints(64), floats(64), buffer(rng.integers(0, 9, 64)), buffer(rng.random(64)), 3),
            0,
        ),
    }
    grid, block, arguments, shared = launches[kernel]()
    name = kernel_named(module, kernel)
    result = run_reference(module, name, grid, block, arguments, arena, shared_bytes=shared, budget=100_000)
    return result, b"".join(data for _, data in arena.snapshot().contents)


def mutants(compiled: Compile, arena: Arena, seeds: range, twice: bool) -> Counter[str]:
    verdicts: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        kernel = rng.choice(sorted(KERNELS))
        module = compiled(KERNELS[kernel])
        for _ in range(rng.randint(1, 3)):
            edit(module.function(kernel_named(module, kernel)), rng)
        result, memory = run(module, kernel, arena)
        verdicts[result.fault.kind if result.fault else "ran"] += 1
        if twice:
            assert run(module, kernel, arena) == (result, memory), seed
    return verdicts


def test_every_mutant_gets_a_verdict_and_keeps_it(compiled: Compile, arena: Arena) -> None:
    verdicts = mutants(compiled, arena, range(60), twice=True)
    assert verdicts["ran"] > 30 and verdicts["out-of-bounds"] > 3


@pytest.mark.slow
def test_two_thousand_mutants(compiled: Compile, arena: Arena) -> None:
    verdicts = mutants(compiled, arena, range(1000, 3000), twice=False)
    assert verdicts["ran"] > 1000 and set(verdicts) <= {
        "ran",
        "out-of-bounds",
        "misaligned",
        "endless",
        "barrier",
        "trap",
    }
