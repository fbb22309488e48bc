"""What warp functions and cooperative groups compute, run by the virtual GPU's reference executor, against Python."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import run_reference
from kernelwright.ir import parse_module

from .conftest import CudaCompiler, optimised

THREADS = 64
BLOCK = (16, 4, 1)  # two warps, so that thread ranks are not threadIdx.x
VALUES = [(t * 37 + 11) % 23 for t in range(THREADS)]
ODD = [t for t in range(THREADS) if VALUES[t] % 2]

Lanes = Callable[[int], int]


def _tile(t: int, size: int) -> list[int]:
    return list(range(t - t % size, t - t % size + size))


def _bits(threads: list[int], holds: Callable[[int], bool]) -> int:
    return sum(holds(t) << rank for rank, t in enumerate(threads))


def _xor(values: list[int]) -> int:
    result = 0
    for v in values:
        result ^= v
    return result


def _odd(t: int) -> list[int]:
    """The coalesced group of t: the threads of its warp with an odd value."""
    return [u for u in ODD if u // 32 == t // 32]


def _group_member(t: int, step: int) -> int:
    """The value `step` ranks away in the coalesced group; past the ends a thread's own."""
    group, rank = _odd(t), _odd(t).index(t) + step
    return VALUES[group[rank]] if 0 <= rank < len(group) else VALUES[t]


V = VALUES.__getitem__

# Expressions of the thread's value v, its rank r in the block, the block `block`, a tile of 16 `tile`.
EVERYWHERE: dict[str, Lanes] = {
    "block.thread_rank()": lambda t: t,
    "block.size()": lambda t: THREADS,
    "tile.thread_rank()": lambda t: t % 16,
    "tile.meta_group_rank()": lambda t: t // 16,
    "tile.meta_group_size()": lambda t: 4,
    "tile.shfl(v, 3)": lambda t: V(_tile(t, 16)[3]),
    "tile.shfl_up(v, 2)": lambda t: V(t - 2 if t % 16 >= 2 else t),
    "tile.shfl_down(v, 5)": lambda t: V(t + 5 if t % 16 < 11 else t),
    "tile.shfl_xor(v, 6)": lambda t: V(t ^ 6),
    "(int)tile.shfl(v * 1e10, 3) / 1000": lambda t: min(V(_tile(t, 16)[3]) * 10**10, 2**31 - 1) // 1000,
    "tile.shfl(make_int3(v, r, 7), 9).y": lambda t: _tile(t, 16)[9],
    "tile.ballot(v & 1)": lambda t: _bits(_tile(t, 16), lambda u: V(u) % 2 == 1),
    "tile.any(v == 22)": lambda t: any(V(u) == 22 for u in _tile(t, 16)),
    "tile.all(v < 22)": lambda t: all(V(u) < 22 for u in _tile(t, 16)),
    "tile.match_any(v % 3)": lambda t: _bits(_tile(t, 16), lambda u: V(u) % 3 == V(t) % 3),
    "cg::reduce(tile, v, cg::plus<int>())": lambda t: sum(map(V, _tile(t, 16))),
    "cg::reduce(tile, v, cg::greater<int>())": lambda t: max(map(V, _tile(t, 16))),
    "cg::reduce(tile, v, cg::less<int>())": lambda t: min(map(V, _tile(t, 16))),
    "cg::reduce(tile, v, cg::bit_xor<int>())": lambda t: _xor([V(u) for u in _tile(t, 16)]),
    "cg::inclusive_scan(tile, v)": lambda t: sum(V(u) for u in _tile(t, 16) if u <= t),
    "cg::exclusive_scan(tile, v)": lambda t: sum(V(u) for u in _tile(t, 16) if u < t),
    "cg::tiled_partition<4>(tile).meta_group_rank()": lambda t: t % 16 // 4,
    "cg::tiled_partition<4>(tile).shfl(v, 1)": lambda t: V(_tile(t, 4)[1]),
    "cg::tiled_partition(block, 8).thread_rank()": lambda t: t % 8,
    "cg::tiled_partition(block, 32).size()": lambda t: 32,
    "cg::binary_partition(tile, v & 1).size()": lambda t: sum(V(u) % 2 == V(t) % 2 for u in _tile(t, 16)),
    "cg::binary_partition(tile, v & 1).meta_group_rank()": lambda t: V(t) % 2 == 0,
    "cg::labeled_partition(tile, v % 5).size()": lambda t: sum(V(u) % 5 == V(t) % 5 for u in _tile(t, 16)),
    "cg::labeled_partition(tile, v % 5).meta_group_rank()": lambda t: list(
        dict.fromkeys(V(u) % 5 for u in _tile(t, 16))
    ).index(V(t) % 5),
    "cg::labeled_partition(tile, v % 5).meta_group_size()": lambda t: len({V(u) % 5 for u in _tile(t, 16)}),
    "__shfl_sync(~0u, v, 5, 8)": lambda t: V(_tile(t, 8)[5]),
    "__shfl_up_sync(~0u, v, 1, 4)": lambda t: V(t - 1 if t % 4 else t),
    "__shfl_down_sync(~0u, v, 16)": lambda t: V(t + 16 if t % 32 < 16 else t),
    "(int)(__shfl_xor_sync(~0u, (1LL << 40) * v, 1) >> 40)": lambda t: V(t ^ 1),
    "(int)__shfl_sync(~0u, v * 0.5, 7)": lambda t: V(_tile(t, 32)[7]) // 2,
    "__ballot_sync(~0u, v > 10)": lambda t: _bits(_tile(t, 32), lambda u: V(u) > 10),
    "__match_any_sync(~0u, v)": lambda t: _bits(_tile(t, 32), lambda u: V(u) == V(t)),
    "__reduce_add_sync(~0u, v)": lambda t: sum(map(V, _tile(t, 32))),
    "__reduce_min_sync(~0u, v - 9)": lambda t: min(map(V, _tile(t, 32))) - 9,
    "__reduce_max_sync(~0u, (unsigned)(v - 9))": lambda t: max((V(u) - 9) % 2**32 for u in _tile(t, 32)),
    "__reduce_xor_sync(~0u, (unsigned)v)": lambda t: _xor([V(u) for u in _tile(t, 32)]),
    "__syncthreads_count(v > 10)": lambda t: sum(w > 10 for w in VALUES),
    "__syncthreads_or(v == 99)": lambda t: 0,
}

# The same inside `if (v & 1)`, where `group` is the coalesced group.
IN_BRANCH: dict[str, Lanes] = {
    "group.size()": lambda t: len(_odd(t)),
    "group.thread_rank()": lambda t: _odd(t).index(t),
    "group.shfl(v, 2)": lambda t: V(_odd(t)[2]),
    "group.shfl_up(v, 1)": lambda t: _group_member(t, -1),
    "group.shfl_down(v, 3)": lambda t: _group_member(t, 3),
    "group.ballot(v & 2)": lambda t: _bits(_odd(t), lambda u: V(u) & 2 != 0),
    "group.match_any(v % 3)": lambda t: _bits(_odd(t), lambda u: V(u) % 3 == V(t) % 3),
    "cg::reduce(group, v, cg::plus<int>())": lambda t: sum(map(V, _odd(t))),
    "cg::reduce(group, v, cg::greater<int>())": lambda t: max(map(V, _odd(t))),
    "cg::inclusive_scan(group, v)": lambda t: sum(V(u) for u in _odd(t) if u <= t),
    "cg::exclusive_scan(group, v)": lambda t: sum(V(u) for u in _odd(t) if u < t),
    "cg::tiled_partition(group, 4).thread_rank()": lambda t: _odd(t).index(t) % 4,
    "cg::tiled_partition(group, 4).meta_group_rank()": lambda t: _odd(t).index(t) // 4,
    "cg::tiled_partition(group, 4).shfl(v, 0)": lambda t: V(_odd(t)[_odd(t).index(t) // 4 * 4]),
    "cg::binary_partition(group, v & 4).size()": lambda t: sum(V(u) & 4 == V(t) & 4 for u in _odd(t)),
    "__reduce_add_sync(group.details_mask(), v)": lambda t: sum(map(V, _odd(t))),
    "__reduce_and_sync(group.details_mask(), (unsigned)v)": lambda t: min(  # and, by its definition on bits
        sum(1 << b for b in range(5) if all(V(u) >> b & 1 for u in _odd(t))), 31
    ),
}


def _source() -> str:
    lines = ["#include <cooperative_groups.h>", "#include <cooperative_groups/reduce.h>"]
    lines += ["#include <cooperative_groups/scan.h>", "namespace cg = cooperative_groups;"]
    start = (
        "cg::thread_block block = cg::this_thread_block(); auto tile = cg::tiled_partition<16>(block); "
        "unsigned r = block.thread_rank(); int v = values[r];"
    )
    for n, code in enumerate(EVERYWHERE):
        body = f"{start} out[r] = (unsigned)({code});"
        lines.append(f'extern "C" __global__ void everywhere_{n}(const int *values, unsigned *out) {{ {body} }}')
    for n, code in enumerate(IN_BRANCH):
        body = f"{start} if (v & 1) {{ cg::coalesced_group group = cg::coalesced_threads(); out[r] = (unsigned)({code}); }}"
        lines.append(f'extern "C" __global__ void in_branch_{n}(const int *values, unsigned *out) {{ {body} }}')
    return "\n".join(lines)


@pytest.fixture(scope="module", params=["sm_75", "sm_80"])  # before sm_80, reductions are ours
def module(request: pytest.FixtureRequest, compile_cuda: CudaCompiler) -> Any:
    compiled = compile_cuda(_source(), arch=request.param)
    assert compiled.ok, compiled.errors
    return parse_module(optimised(compiled.ir))


def _run(module: Any, kernel: str) -> list[int]:
    with Arena() as arena:
        values, out = arena.allocate(4 * THREADS, "values"), arena.allocate(4 * THREADS, "out", fill=0)
        arena.view(values, np.int32)[:] = VALUES
        result = run_reference(module, kernel, (1, 1, 1), BLOCK, struct.pack("<QQ", values.address, out.address), arena)
        assert result.fault is None, result.fault
        return [int(w) for w in arena.view(out, np.uint32)]


@pytest.mark.parametrize("code", EVERYWHERE)
def test_all_threads(code: str, module: Any) -> None:
    found = _run(module, f"everywhere_{list(EVERYWHERE).index(code)}")
    assert found == [EVERYWHERE[code](t) % 2**32 for t in range(THREADS)]


@pytest.mark.parametrize("code", IN_BRANCH)
def test_threads_of_a_branch(code: str, module: Any) -> None:
    found = _run(module, f"in_branch_{list(IN_BRANCH).index(code)}")
    assert [found[t] for t in ODD] == [IN_BRANCH[code](t) % 2**32 for t in ODD]
