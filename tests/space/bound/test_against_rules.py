"""The bound in C beside the one in Python, on leaves and on candidates with decisions opened at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.calibration import DEFAULT
from kernelwright.device.timing_model.estimate import total_us
from kernelwright.space.bound import LowerBound
from kernelwright.space.bound.machine import TERMS, Machine
from kernelwright.space.bound.rules import SlowBound
from kernelwright.space.computation.objects import Backbone
from kernelwright.space.library import example
from kernelwright.target import Gpu, gpu
from tests.examples import few
from tests.space.bound.widened_leaf import KINDS, TableNumbering
from tests.space.written_leaf import WrittenLeaf, kept_softmax, naive_matmul, shared_row_sum, tiled_matmul, vector_axpy

LEAVES: dict[str, tuple[str, dict[str, int], Callable[[Backbone], WrittenLeaf]]] = {
    "axpy": ("axpy", {"n": 1 << 16}, vector_axpy),
    "naive": ("matmul", {"m": 256, "n": 256, "k": 256}, naive_matmul),
    "strided": ("matmul_strided", {"m": 256, "n": 256, "k": 256}, naive_matmul),
    "tiled": ("matmul", {"m": 256, "n": 256, "k": 256}, tiled_matmul),
    "naive, partly there": ("matmul", {"m": 100, "n": 81, "k": 50}, naive_matmul),
    "rows shared by threads": ("row_sum", {"m": 2048, "n": 512}, shared_row_sum),
    "rows kept in global memory": ("softmax_kept", {"m": 8192, "n": 60}, kept_softmax),
    "tiled, partly there": ("matmul", {"m": 90, "n": 100, "k": 52}, tiled_matmul),
}


def together(cycles: Mapping[str, float], machine: Gpu, norm: int = DEFAULT.norm) -> float:
    """Parts as they overlap: of a multiprocessor, of the chip, waits."""

    def joined(times: Sequence[float], n: int) -> float:
        return sum(t**n for t in times) ** (1 / n)

    own = joined([cycles[n] for n in ("issue", "fma", "xu", "l1")], 4)
    beyond = joined([max(cycles["l2"], cycles["memory"]), cycles["latency"]], machine.wait_norm)
    return joined([own, beyond], norm)


@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize("device", ["h200", "p100"])
def test_c_and_python_agree(name: str, device: str) -> None:
    entry, sizes, leaf_of = LEAVES[name]
    backbone = example(entry).computation(**sizes).backbone()
    numbering, leaf = TableNumbering(backbone), leaf_of(backbone)
    fast, slow = LowerBound(backbone, numbering, gpu(device)), SlowBound(backbone, numbering, Machine.of(gpu(device)))

    @settings(max_examples=few(25))
    @given(st.sampled_from([0.0, 0.03, 0.1, 0.3, 1.0]), st.integers(0, 10**6))
    def check(opened: float, seed: int) -> None:
        state = numbering.state(leaf, opened, seed)
        (cycles, work), found = slow.terms(state), fast.explain(state)
        assert list(found.cycles) == list(TERMS)
        np.testing.assert_allclose(list(found.cycles.values()), cycles, rtol=1e-12)
        np.testing.assert_allclose(list(fast.work(state).values()), work, rtol=1e-12)
        parts = dict(zip(TERMS, cycles, strict=True))
        assert found.time_us == pytest.approx(together(parts, gpu(device)) / gpu(device).clock_mhz)
        # No more than the timing model makes of the same parts, with blocks to start besides.
        busy = {**parts, "barriers": 0.0, "blocks": 100.0}
        for calibration in (DEFAULT, DEFAULT.changed("norm", 1), DEFAULT.changed("norm", 16)):
            least = together(parts, gpu(device), calibration.norm)
            model = total_us(busy, gpu(device), calibration) - calibration.launch * gpu(device).launch_us
            assert least / gpu(device).clock_mhz <= model * (1 + 1e-9)

    check()


@pytest.mark.parametrize("name", LEAVES)
def test_a_candidate_is_bounded_by_what_it_contains(name: str) -> None:
    """Opening decisions again only lowers each term."""
    entry, sizes, leaf_of = LEAVES[name]
    backbone = example(entry).computation(**sizes).backbone()
    numbering, leaf = TableNumbering(backbone), leaf_of(backbone)
    bound = LowerBound(backbone, numbering, gpu("h200"), overlap=True)
    whole = np.array(list(bound.explain(numbering.state(leaf)).cycles.values()))
    states = [numbering.state(leaf, opened, seed) for opened in (0.02, 0.2, 0.6) for seed in range(40)]
    for state in states:
        assert (np.array(list(bound.explain(state).cycles.values())) <= whole * (1 + 1e-12)).all()
    assert bound.times_us(np.array(states)).tolist() == [bound.time_us(s) for s in states]


def test_what_is_not_spread_over_all_threads_is_repeated() -> None:
    """Every thread runs every iteration of the sum along a dim that is no axis of threads; its block has one of 16 all the same."""
    backbone = example("matmul").computation(m=256, n=256, k=256).backbone()
    numbering, leaf = TableNumbering(backbone), tiled_matmul(backbone)
    bound, state = LowerBound(backbone, numbering, gpu("h200")), numbering.state(leaf)
    spread = bound.explain(state).cycles["fma"]
    state[numbering.index["dim_kind", "mad.m1"]] = 1 << KINDS.index("UNROLL")
    assert bound.explain(state).cycles["fma"] == pytest.approx(16 * spread)


def test_it_says_what_limits_a_candidate() -> None:
    backbone = example("axpy").computation(n=1 << 26).backbone()
    numbering = TableNumbering(backbone)
    bound = LowerBound(backbone, numbering, gpu("h200"))
    found = bound.explain(numbering.state(vector_axpy(backbone), opened=1.0))
    assert found.limit == "memory"
    assert "805,306,368 bytes that must come from memory or go there" in str(found)
    assert found.time_us >= 3 * 4 * 2**26 / gpu("h200").dram_gb_per_s / 1e3
