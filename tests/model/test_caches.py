"""The caches by hand, and against plain ones made of dictionaries."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device.timing_model import native_loops
from kernelwright.device.timing_model.atomics import CYCLES, PIECE, SPREAD
from kernelwright.device.timing_model.caches import Traffic, traffic
from kernelwright.device.timing_model.counters import LINE, Observed, in_turns
from kernelwright.device.timing_model.occupancy import Occupancy
from kernelwright.target import gpu
from tests.examples import few
from tests.model.build import access, asked, count, observed

H100 = gpu("h100")
ALL = 15
ONE = Occupancy(1, 1, 64, "blocks")


def moved(o: Observed, resident: Occupancy = ONE) -> Traffic:
    return traffic(o, H100, resident)


def sweep(lines: Sequence[int], index: int = 0) -> list[tuple[int, list[tuple[int, int]]]]:
    return [(index, [(line, ALL)]) for line in lines]


def one_block(requests: list[tuple[int, list[tuple[int, int]]]], *accesses: object, warm: float = 0.0) -> Observed:
    return observed([count("entry", 1)], accesses, trace=[asked(0, requests, [0])], warm=warm)  # type: ignore[arg-type]


def test_a_first_touch_comes_from_memory_and_a_second_from_l1() -> None:
    load = access(requests=20, sectors=80)
    found = moved(one_block(sweep([*range(10), *range(10)]), load))
    assert (found.requested, found.at_l1, found.at_l2, found.dram_read) == (80, 40, 40, 40)
    assert (found.l1_hit_rate, found.l2_hit_rate, found.dram_bytes) == (0.5, 0.0, 40 * 32)
    assert found.latency == ((H100.sm.l1_latency + H100.dram_latency) / 2,)


def test_sectors_are_fetched_one_by_one() -> None:
    """A line that is there has only the sectors that were asked for."""
    found = moved(one_block([(0, [(5, 1)]), (0, [(5, 3)]), (0, [(5, 3)])], access(requests=3, sectors=5)))
    assert (found.at_l1, found.dram_read) == (3, 2)


def test_a_request_waits_for_its_slowest_sector() -> None:
    found = moved(one_block([(0, [(1, 1)]), (0, [(1, 1), (2, 1)])], access(requests=2, sectors=3)))
    assert found.latency == (H100.dram_latency,)


def test_stores_go_to_l2_and_are_written_once() -> None:
    store = access("store", requests=2, sectors=8)
    found = moved(one_block(sweep([1, 1]), store))
    assert (found.at_l1, found.at_l2, found.dram_read, found.dram_written) == (0, 8, 0, 4)


def test_a_store_does_not_fill_l1() -> None:
    accesses = (access("store", requests=1, sectors=4), access(requests=1, sectors=4))
    found = moved(one_block(sweep([1]) + sweep([1], 1), *accesses))
    assert (found.at_l1, found.at_l2, found.dram_read) == (0, 8, 0)
    assert found.latency[1] == H100.l2_latency


def test_atomics_are_done_in_l2() -> None:
    atomic = access("atomic", requests=3, sectors=3)
    found = moved(one_block([(0, [(9, 1)])] * 3, atomic))
    assert (found.at_l1, found.at_l2, found.dram_read, found.dram_written) == (0, 3, 1, 1)


def test_local_memory_stays_in_l1_while_it_fits() -> None:
    accesses = (access("store", "local", requests=8, sectors=32), access("load", "local", requests=8, sectors=32))
    found = moved(one_block(sweep(range(8)) + sweep(range(8), 1), *accesses))
    # Loads hit; stores go through, as they do on hardware.
    assert (found.at_l1, found.at_l2) == (32, 32)
    assert (found.dram_read, found.dram_written) == (0, 0)


def test_l1_is_shared_by_the_resident_blocks() -> None:
    """256 KiB hold 2048 lines: one block that sweeps 1500 twice hits; one of eight residents has room for 256."""
    o = one_block(sweep([*range(1500), *range(1500)]), access(requests=3000, sectors=12000))
    assert moved(o).l1_hit_rate > 0.49
    crowded = Occupancy(8, 8, 64, "blocks")
    eight = replace(o, geometry=replace(o.geometry, grid=(8 * H100.multiprocessors, 1, 1)))
    assert traffic(eight, H100, crowded).l1_hit_rate < 0.05
    # A grid of one block for each multiprocessor leaves each of them a whole cache.
    few_blocks = replace(o, geometry=replace(o.geometry, grid=(H100.multiprocessors, 1, 1)))
    assert traffic(few_blocks, H100, crowded).l1_hit_rate > 0.49


def test_neighbours_share_l2_but_not_l1() -> None:
    """Two blocks read the same line: the second finds it in L2."""
    trace = [asked(0, sweep([7]), [0]), asked(1, sweep([7]), [0])]
    found = moved(observed([count("entry", 2)], [access(requests=2, sectors=8)], grid=2, trace=trace))
    assert (found.at_l1, found.at_l2, found.dram_read) == (0, 8, 4)
    assert found.latency == ((H100.l2_latency + H100.dram_latency) / 2,)


def test_neighbours_go_through_the_same_lines_side_by_side() -> None:
    """Two blocks sweep the same 60,000 lines. Of L2, which 264 blocks share, two have room for 3,000: what the one fetches is gone when
    the other is through with all else, and is still there when both are at the same line."""
    trace = [asked(number, sweep(range(60_000)), [0]) for number in (100, 101)]
    o = observed([count("entry", 264)], [access(requests=264 * 60_000, sectors=264 * 240_000)], grid=264, trace=trace)
    found = traffic(o, H100, Occupancy(2, 64, 64, "blocks"))
    assert found.dram_read == 240_000


def test_what_the_watched_neighbours_have_in_common_is_read_once_for_all() -> None:
    """100 blocks, each reads line 0 and one of its own; four neighbours are watched."""
    trace = [asked(n, sweep([0, 1000 + n]), [0]) for n in range(50, 54)]
    o = observed([count("entry", 100)], [access(requests=200, sectors=800)], grid=100, trace=trace)
    assert moved(o).dram_read == pytest.approx(4 + 100 * 4)
    assert moved(o).at_l2 == 800


def test_no_more_is_read_than_the_buffers_hold_while_they_fit_into_l2() -> None:
    """Each block reads a line the blocks of another row read too, which four neighbours cannot know."""
    start = 1 << 20
    trace = [asked(n, sweep([start // LINE + n]), [0]) for n in range(4)]
    o = observed(
        [count("entry", 1000)], [access(requests=1000, sectors=4000)], grid=1000, trace=trace,
        buffers=[(start, start + 64 * LINE), (1 << 30, 1 << 31)],
    )  # fmt: skip
    assert o.touched_bytes == 64 * LINE
    assert moved(o).dram_read == 64 * 4


def test_a_warm_cache_saves_what_it_holds() -> None:
    cold = moved(one_block(sweep(range(10)), access(requests=10, sectors=40)))
    warm = moved(one_block(sweep(range(10)), access(requests=10, sectors=40), warm=0.75))
    assert warm.dram_read == cold.dram_read / 4


def test_without_a_log_the_shares_are_assumed_and_told() -> None:
    found = moved(
        observed([count("entry", 1)], [access(requests=10, sectors=40), access("store", requests=1, sectors=4)])
    )
    assert not found.logged
    assert (found.at_l1, found.at_l2) == (0, 44)
    assert found.latency == (None, None)


def test_the_hottest_line_counts_for_atomics() -> None:
    hot = [(0, [(3, 1)])] * 3 + [(0, [(4, 1)])]
    o = one_block(hot, access("atomic", requests=4, sectors=4, serial=28))
    # 4 requests of 32 lanes, 8 of which meet in a sector: 8 turns a request. Three requests of four go to one line of two.
    assert moved(o).atomic_cycles == pytest.approx(4 * 8 * CYCLES * (3 / 4) ** SPREAD)


def test_blocks_that_have_words_of_their_own_keep_more_slices_busy() -> None:
    """Of 64 blocks four are logged: what they have in common says whether the others go where these went."""
    each = access("atomic", requests=64, sectors=256)
    for places, pieces in (([0, 1, 2, 3], 64), ([0, 0, 0, 0], 1)):
        trace = [asked(number, [(0, [(2 * place, 15)])]) for number, place in enumerate(places)]
        o = observed([count("entry", 64)], [each], grid=64, trace=trace, buffers=[(0, 1 << 20)])
        assert moved(o).atomic_cycles == pytest.approx(64 * 4 * CYCLES / pieces**SPREAD)
    # No more than there is memory for.
    trace = [asked(number, [(0, [(2 * number, 15)])]) for number in range(4)]
    o = observed([count("entry", 64)], [each], grid=64, trace=trace, buffers=[(0, 8 * PIECE)])
    assert moved(o).atomic_cycles == pytest.approx(64 * 4 * CYCLES / 8**SPREAD)


# -- turns -------------------------------------------------------------------------------------------------------------


def test_warps_take_turns_between_barriers() -> None:
    """Two warps with three requests each, the last behind a barrier; the executor ran warp 0 first each time."""
    warps, phases = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 0, 0, 1, 1])
    assert in_turns(warps, phases).tolist() == [0, 2, 1, 3, 4, 5]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40))
def test_turns_are_fair_and_keep_every_warp_in_order(pairs: list[tuple[int, int]]) -> None:
    pairs.sort(key=lambda p: p[1])
    warps, phases = np.array([p[0] for p in pairs], np.int64), np.array([p[1] for p in pairs], np.int64)
    order = in_turns(warps, phases).tolist()
    assert sorted(order) == list(range(len(pairs)))
    assert phases[order].tolist() == sorted(phases.tolist())
    for warp in range(4):
        own = [i for i in order if warps[i] == warp]
        assert own == sorted(own)
    for phase in range(3):
        done: dict[int, int] = defaultdict(int)
        most = {w: int(((warps == w) & (phases == phase)).sum()) for w in range(4)}
        for i in order:
            if phases[i] == phase:
                done[int(warps[i])] += 1
                behind = [w for w in most if done[w] < most[w]]
                assert all(done[int(warps[i])] <= done[w] + 1 for w in behind)


# -- against plain caches ----------------------------------------------------------------------------------------------


class PlainCache:
    """Least recently used first, a dictionary per set."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets: list[OrderedDict[int, list[int]]] = [OrderedDict() for _ in range(sets)]
        self.ways = ways

    def line(self, number: int) -> list[int]:
        """[valid, dirty] of the line, brought in when it is not there."""
        mixed = number * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        found = self.sets[(mixed >> 32) % len(self.sets)]
        if number not in found:
            if len(found) == self.ways:
                found.popitem(last=False)
            found[number] = [0, 0]
        found.move_to_end(number)
        return found[number]


def plain_replay(
    requests: list[tuple[int, str, int, list[tuple[int, int]]]], l1: tuple[int, int], l2: tuple[int, int], accesses: int
) -> tuple[list[list[int]], list[int]]:
    counts: list[list[int]] = [[0] * 8 for _ in range(accesses)]
    come_from = []
    second, firsts = PlainCache(*l2), defaultdict(lambda: PlainCache(*l1))
    for index, kind, owner, lines in requests:
        first = firsts[owner]
        slowest = 5
        for number, mask in lines:
            counts[index][0] += mask.bit_count()
            missing = mask
            if kind in ("load", "local load", "local store"):
                near = first.line(number)
                hit = mask if kind == "local store" else mask & near[0]
                near[0] |= mask
                counts[index][1] += hit.bit_count()
                missing = mask & ~hit
            come_from.append(0)
            if not missing:
                continue
            far = second.line(number)
            absent = missing & ~far[0]
            far[0] |= missing
            read = 0 if kind == "store" else absent.bit_count()
            counts[index][2] += missing.bit_count() - read
            counts[index][3] += read
            come_from[-1] = 2 if read else 1
            slowest = max(slowest, 7 if read else 6)
            if kind in ("store", "atomic"):
                counts[index][4] += (missing & ~far[1]).bit_count()
                far[1] |= missing
        counts[index][slowest] += 1
    return counts, come_from


KINDS = ("load", "store", "atomic", "local load", "local store")


@settings(max_examples=few(150), deadline=None)
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=3, max_size=3),
    raw=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(0, 3),
            st.lists(
                st.tuples(st.integers(0, 30), st.integers(1, 15)), min_size=1, max_size=4, unique_by=lambda p: p[0]
            ),
        ),
        max_size=60,
    ),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3)),
)
def test_against_plain_caches(
    kinds: list[str], raw: list[tuple[int, int, list[tuple[int, int]]]], shape: tuple[int, int, int, int]
) -> None:
    requests = [(index, kinds[index], block, lines) for index, block, lines in raw]
    rows = np.zeros(len(requests), native_loops.REQUEST)
    flat: list[int] = []
    for row, (index, kind, owner, lines) in zip(rows, requests, strict=True):
        row["access"], row["kind"], row["block"], row["first_line"] = index, native_loops.KINDS[kind], owner, len(flat)
        flat += [number << 4 | mask for number, mask in lines]
        row["last_line"] = len(flat)
    l1, l2 = (shape[0], shape[1]), (shape[2], shape[3])
    found, by_block, where = native_loops.replay(rows, np.array(flat, np.uint64), l1, l2, 3, 4)
    expected, come_from = plain_replay(requests, l1, l2, 3)
    assert found.tolist() == expected
    assert where.tolist() == come_from
    assert by_block[:, 0].sum() == sum(row[3] for row in expected)
    assert by_block[:, 1].sum() == sum(row[4] for row in expected)


def test_what_a_left_out_load_missed_its_double_misses() -> None:
    """The first of two loads of the same lines is none of the code's: the second one, which hit behind it, fetches the data."""
    first, second = access(requests=10, sectors=40), access(requests=10, sectors=40)
    trace = [asked(0, [*sweep([*range(10)]), *sweep([*range(10)], 1)], [0])]
    both = observed([count("entry", 1)], (first, second), trace=trace)
    assert moved(both).at_l2 == 40
    code = (replace(first, requests=0, sectors=0, group=0), replace(second, group=1))
    found = moved(replace(both, accesses=code, executed=(first, second)))
    assert (found.at_l2, found.at_l1, found.dram_read) == (40, 0, 40)


def test_who_asks_first_for_a_line_does_not_wait_for_the_others() -> None:
    """Line 7 is asked for four times and comes from memory once; line 9 once. A request waits for the slowest of its lines."""
    requests = [(0, [(7, 15)]), (0, [(7, 15)]), (0, [(7, 15)]), (0, [(7, 15), (9, 15)]), (1, [(9, 15)])]
    o = observed(
        [count("entry", 5)],
        (access(requests=4, sectors=20), access("store", requests=1, sectors=4)),
        trace=[asked(0, requests, [0])],
    )
    sm = H100.sm
    shared = (H100.dram_latency + 3 * sm.l1_latency) / 4
    assert moved(o).waits[0].tolist() == [shared] * 3 + [H100.dram_latency, sm.l1_latency]
