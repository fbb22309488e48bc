"""The scoreboard by hand, and against a plain one written from the same rules."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.codegen.cost.block_weights import Weights
from kernelwright.codegen.cost.scoreboard_steps import Step
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.scoreboard import OPERANDS_READ, Layout, Scoreboard, WatchedWarps
from kernelwright.target import gpu
from tests.examples import few
from tests.model.build import K, access, count, observed, paths, step, weights

H100 = gpu("h100")
SM = H100.sm


def board(
    w: Weights, o: Observed, latency: Sequence[float | None] = (), factors: tuple[float, float] = (1, 1)
) -> Scoreboard:
    return WatchedWarps(Layout(w, o), w, o, H100, latency or [None] * len(o.accesses)).run(*factors)


def test_a_result_is_waited_for() -> None:
    """Start 0, result at 29; the consumer starts there and the warp is through 4 cycles later."""
    w = weights({"entry": [step("load_shared", sets=0), step("fp32", waits=(0,), stall=4)]})
    found = board(w, observed([count("entry", 1)], trace=[paths(0, [0])]))
    assert found.cycles == SM.shared_latency + 4
    assert found.traced


def test_independent_loads_overlap_and_dependent_ones_do_not() -> None:
    both = [step("load_shared", sets=0), step("load_shared", sets=1), step("fp32", waits=(0, 1))]
    chain = [step("load_shared", sets=0), step("load_shared", sets=1, waits=(0,)), step("fp32", waits=(1,))]
    o = observed([count("entry", 1)], trace=[paths(0, [0])])
    assert board(weights({"entry": both}), o).cycles == 1 + SM.shared_latency + 1
    assert board(weights({"entry": chain}), o).cycles == 2 * SM.shared_latency + 1


def test_what_a_block_leaves_open_the_next_one_waits_for() -> None:
    """The load's latency is hidden by the next block's own work, not paid at the block's end."""
    work = [step("fp32", stall=2) for _ in range(10)]
    w = weights({"entry": [step("load_shared", sets=0)], "next": [*work, step("fp32", waits=(0,))]})
    o = observed([count("entry", 1), count("next", 1)], trace=[paths(0, [0, 1])])
    assert board(w, o).cycles == max(1 + 20, SM.shared_latency) + 1


def test_cutting_a_block_in_two_changes_nothing() -> None:
    steps = [step("load_shared", sets=0), step("fp32", stall=4), step("fp32", waits=(0,)), step("load_shared", sets=1)]
    whole = weights({"entry": steps, "next": [step("fp32", waits=(1,))]})
    cut = weights({"entry": steps[:2], "next": [*steps[2:], step("fp32", waits=(1,))]})
    one = observed([count("entry", 1), count("next", 1)], trace=[paths(0, [0, 1])])
    assert board(whole, one).cycles == board(cut, one).cycles


def test_loops_are_run_as_often_as_the_warp_did() -> None:
    w = weights({"entry": [step("fp32", stall=4)], "body": [step("fp32", stall=4), step("branch", stall=5)]})
    o = observed([count("entry", 2), count("body", 30)], block=64, trace=[paths(0, [0] + [1] * 10, [0] + [1] * 20)])
    assert board(w, o).cycles == 4 + 20 * 9


def test_operands_are_read_before_they_may_be_overwritten() -> None:
    w = weights({"entry": [step("store_global", frees=2), step("int", waits=(2,))]})
    assert board(w, observed([count("entry", 1)], trace=[paths(0, [0])])).cycles == OPERANDS_READ + 1


def test_a_counter_that_stands_for_two_results_falls_with_the_later() -> None:
    steps = [step("load_shared", sets=0), step("warp", sets=0), step("fp32", waits=(0,))]
    found = board(weights({"entry": steps}), observed([count("entry", 1)], trace=[paths(0, [0])]))
    assert found.cycles == max(SM.shared_latency, 1 + SM.warp_latency) + 1


def barrier_kernel(slow: int) -> tuple[Weights, Observed]:
    """Two warps meet at a barrier; the second does ``slow`` more before it."""
    w = weights({"entry": [step("fp32")], "more": [step("fp32")], "meet": [step("barrier"), step("fp32")]})
    blocks = [count("entry", 2), count("more", slow), count("meet", 2), count("meet", 2, barriers=1)]
    return w, observed(blocks, block=64, trace=[paths(0, [0, 2, 3], [0] + [1] * slow + [2, 3])])


@pytest.mark.parametrize("slow", [1, 10, 100])
def test_a_barrier_waits_for_the_last_warp_and_costs_apart(slow: int) -> None:
    w, o = barrier_kernel(slow)
    found = board(w, o)
    assert found.barriers == 1
    assert found.barrier_cycles == SM.barrier_latency + 2 * SM.barrier_warp_cycles
    assert found.cycles == 1 + slow + 1 + 1  # entry, more, the barrier's own turn, what follows


def test_barriers_are_calibratable() -> None:
    w, o = barrier_kernel(3)
    plain, dear = board(w, o), board(w, o, factors=(1.0, 3.0))
    assert dear.barrier_cycles == 3 * plain.barrier_cycles
    assert dear.cycles == plain.cycles


def test_warps_that_have_ended_are_not_waited_for() -> None:
    w = weights({"entry": [step("fp32")], "meet": [step("barrier"), step("fp32")]})
    blocks = [count("entry", 2), count("meet", 1), count("meet", 1, barriers=1)]
    found = board(w, observed(blocks, block=64, trace=[paths(0, [0], [0, 1, 2])]))
    assert found.barrier_cycles == SM.barrier_latency + SM.barrier_warp_cycles
    assert found.cycles == 1 + 1 + 1


def test_memory_waits_as_long_as_its_accesses_did() -> None:
    """By the block the instruction was made from, even where another one issues it."""
    w = weights({"entry": [step("load_global", sets=0, block="there"), step("fp32", waits=(0,))]})
    accesses = [access(requests=10, sectors=40), access(requests=10, sectors=40, label="there")]
    o = observed([count("entry", 1)], accesses, trace=[paths(0, [0])])
    assert board(w, o, [100.0, 300.0]).cycles == 300 + 1
    assert board(w, o, [100.0, None]).cycles == H100.l2_latency + 1


def test_bank_conflicts_and_atomics_lengthen_the_wait() -> None:
    w = weights({"entry": [step("load_shared", sets=0), step("fp32", waits=(0,))]})
    o = observed([count("entry", 1)], [access(space="shared", requests=2, wavefronts=16)], trace=[paths(0, [0])])
    assert board(w, o).cycles == SM.shared_latency + 7 + 1
    w = weights({"entry": [step("atomic", sets=0), step("fp32", waits=(0,))]})
    o = observed([count("entry", 1)], [access("atomic", requests=1, sectors=1, serial=31)], trace=[paths(0, [0])])
    assert board(w, o).cycles == H100.l2_latency + 31 + 1


def test_watched_blocks_are_scaled_to_what_all_did() -> None:
    """The watched block went round 10 times, the mean block 20 times: twice the steps, twice the time."""
    w = weights({"body": [step("fp32", stall=4)]})
    o = observed([count("body", 60)], grid=3, trace=[paths(1, [0] * 10)])
    assert board(w, o).cycles == 2 * 10 * 4


def test_a_log_that_ended_early_is_scaled_by_warp() -> None:
    """Two of four warps were followed; the block takes no longer than they did."""
    w = weights({"body": [step("fp32", stall=4)]})
    o = observed([count("body", 40)], block=128, trace=[paths(0, [0] * 10, [0] * 10, [], [])])
    assert board(w, o).cycles == 10 * 4


def test_without_a_log_blocks_are_taken_one_by_one_and_marked() -> None:
    w = weights({"entry": [step("load_shared", sets=0)], "body": [step("fp32", waits=(0,), stall=4)]})
    o = observed([count("entry", 4), count("body", 40)], grid=2, block=64)
    found = board(w, o)
    assert not found.traced
    assert found.cycles == pytest.approx((4 * 1 + 40 * 4) / 4)


def test_code_with_other_barriers_than_the_ir_runs_with_its_first_piece() -> None:
    w = weights({"entry": [step("fp32", stall=4), step("fp32", stall=4)]})
    o = observed([count("entry", 1), count("entry", 1, barriers=1)], trace=[paths(0, [0, 1])])
    assert board(w, o).cycles == 8


def test_instructions_without_a_counted_block_are_told() -> None:
    w = weights({"entry": [step("fp32")], "lost": [step("fp32"), step("int")]})
    layout = Layout(w, observed([count("entry", 1)]))
    assert layout.unmatched == 2


def test_cost_names_the_step_whose_result_was_waited_for() -> None:
    w = weights({"entry": [step("load_shared", sets=0), step("fp32", waits=(0,))]})
    cost = board(w, observed([count("entry", 1)], trace=[paths(0, [0])])).cost
    assert cost[0] == pytest.approx(SM.shared_latency / (SM.shared_latency + 1))
    assert sum(cost.values()) == pytest.approx(1)


# -- against a plain scoreboard ----------------------------------------------------------------------------------------


def plain(w: Weights, run: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Cycles and barriers of warps that run the named blocks: dictionaries and no arrays."""
    latency = {"load_shared": SM.shared_latency, "fp64": SM.fp64_latency, "special": SM.special_latency}
    streams = [[s for name in names for segment in w.blocks[K, name] for s in segment] for names in run]
    time, at = [0] * len(run), [0] * len(run)
    ready: list[dict[int, int]] = [{} for _ in run]
    barriers, extra = 0, 0
    while True:
        standing = []
        for n, steps in enumerate(streams):
            while at[n] < len(steps):
                s = steps[at[n]]
                at[n] += 1
                time[n] = max([time[n], *(ready[n].get(k, 0) for k in s.waits)])
                for slot, after in ((s.sets, latency.get(s.kind, SM.alu_latency)), (s.frees, OPERANDS_READ)):
                    if slot >= 0:
                        ready[n][slot] = max(ready[n].get(slot, 0), time[n] + after)
                time[n] += s.stall
                if s.barrier:
                    standing.append(n)
                    break
        if not standing:
            return max(time) - extra, barriers
        barriers += 1
        cost = SM.barrier_latency + SM.barrier_warp_cycles * len(standing)
        extra += cost
        release = max(time[n] for n in standing) + cost
        for n in standing:
            time[n] = release


KINDS = ("load_shared", "fp64", "special", "fp32", "int", "branch")
ANY_STEP = st.builds(
    step,
    st.sampled_from(KINDS),
    stall=st.integers(1, 15),
    waits=st.lists(st.integers(0, 5), max_size=3).map(tuple),
    sets=st.integers(-1, 5),
    frees=st.integers(-1, 5),
)
ANY_BLOCK = st.lists(ANY_STEP, max_size=8)
NAMES = ("a", "b", "c")


@settings(max_examples=few(150), deadline=None)
@given(
    blocks=st.fixed_dictionaries(dict.fromkeys(NAMES, ANY_BLOCK)),
    run=st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=12), min_size=1, max_size=4),
    meets=st.booleans(),
)
def test_against_the_plain_one(blocks: dict[str, list[Step]], run: list[list[str]], meets: bool) -> None:
    if meets:
        blocks = {**blocks, "c": [*blocks["c"], step("barrier")]}
    w = weights(blocks)
    # A piece behind each barrier, as executors count them.
    pieces = [count("a", 1), count("b", 1), count("c", 1)] + ([count("c", 1, barriers=1)] if meets else [])
    number = {"a": [0], "b": [1], "c": [2, 3] if meets else [2]}
    o = observed(
        pieces, block=32 * len(run), trace=[paths(0, *[[i for n in names for i in number[n]] for names in run])]
    )
    layout = Layout(w, o)
    expected, barriers = plain(w, run)
    found = WatchedWarps(layout, w, o, H100, []).run()
    size = [end - start for start, end in layout.ranges]
    watched = sum(size[i] for path in o.trace[0].paths for i in path.tolist())
    if watched:
        scale = sum(size) / watched
        assert found.cycles == pytest.approx(scale * expected)
        assert found.barriers == pytest.approx(scale * barriers)
