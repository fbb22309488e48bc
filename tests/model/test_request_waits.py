"""Waits by execution: by hand, and against a plain walk along the paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.device.timing_model.counters import REQUEST, AccessCount, BlockCount, BlockTrace, Observed
from kernelwright.device.timing_model.request_waits import UNKNOWN, columns_of, own_waits
from kernelwright.device.timing_model.scoreboard import Layout, WatchedWarps
from kernelwright.target import gpu
from tests.model.build import K, access, count, observed, step, weights

H100 = gpu("h100")
NEAR = 40.0
Asked = tuple[int, int, int, float]
"""Access, warp, entry of its path, cycles."""


def block_of(warps: Sequence[Sequence[int]], asked: Sequence[Asked]) -> tuple[BlockTrace, np.ndarray]:
    rows = np.zeros(len(asked), REQUEST)
    for row, (which, warp, at, _) in zip(rows, asked, strict=True):
        row["access"], row["warp"], row["at"] = which, warp, at
    paths = tuple(np.array(w, np.int32) for w in warps)
    return BlockTrace(0, paths, rows), np.array([a[3] for a in asked], np.float64)


def cycles_of(wanted: Sequence[tuple[int, int]], slow: int, guarded: bool = False) -> int:
    """A block of two warps, each loading once behind ``head`` where ``wanted`` says (warp, cycles)."""
    load = step("load_global", sets=0, block="then", guarded=guarded)
    w = weights({"head": [load, step("fp32", waits=(0,))], "tail": [step("fp32")]})
    warps = [[0, 1, 2] if any(w == each for w, _ in wanted) else [0, 2] for each in range(2)]
    trace, waits = block_of(warps, [(0, warp, 1, float(cycles)) for warp, cycles in wanted])
    blocks = [count("head", 2), count("then", len(wanted)), count("tail", 2)]
    o = observed(blocks, [access(requests=2, sectors=8, label="then")], block=64, trace=[trace])
    return round(WatchedWarps(Layout(w, o), w, o, H100, [float(slow)], [waits]).run().cycles)


def test_each_warp_waits_for_its_own_request() -> None:
    """The mean of 40 and 600 would be 320; the block ends with the warp that went to memory."""
    assert cycles_of([(0, 40), (1, 600)], slow=320) == 600 + 1 + 1


def test_a_guarded_load_without_lanes_is_not_waited_for() -> None:
    assert cycles_of([(0, 40)], slow=500, guarded=True) == 40 + 1 + 1


def test_a_home_behind_the_block_it_loads_for_looks_back() -> None:
    """Machine code charged to the last block of a loop: each turn's load waits for that turn's request."""
    load = step("load_global", sets=0, block="then", guarded=True)
    w = weights({"last": [load, step("fp32", waits=(0,))], "then": [], "head": []})
    trace, waits = block_of([[0, 1, 2, 0, 2, 0, 1, 2]], [(0, 0, 1, 100.0), (0, 0, 6, 300.0)])
    blocks = [count("head", 3), count("then", 2), count("last", 3)]
    o = observed(blocks, [access(requests=2, sectors=8, label="then")], trace=[trace])
    found = own_waits(o, [trace], [waits], columns_of([load], [(K, "last")], [True]), NEAR)
    assert found.cycles().tolist() == [100, 0, 300]
    assert WatchedWarps(Layout(w, o), w, o, H100, [200.0], [waits]).run().cycles == 101 + 2 + 301


def test_a_load_whose_block_did_not_run_waits_the_mean() -> None:
    """Without a guard it was issued, whatever the log says."""
    assert cycles_of([(0, 40)], slow=500, guarded=False) == 500 + 1 + 1


def test_joined_loads_wait_for_the_slowest() -> None:
    """Two loads of one line, one instruction: the one that is left out found its data in L1."""
    made = [replace(access(requests=1, sectors=4), group=0), replace(access(requests=0), group=0)]
    trace, waits = block_of([[0]], [(0, 0, 0, 600.0), (1, 0, 0, NEAR)])
    o = replace(
        observed([count("entry", 1)], made, trace=[trace]),
        counted_in="machine code",
        executed=(access(requests=1, sectors=4), access(requests=1, sectors=4)),
    )
    some = columns_of([step("load_global", sets=0)], [(K, "entry")], [True])
    assert own_waits(o, [trace], [waits], some, NEAR).cycles().tolist() == [600]


def plain(
    o: Observed, trace: Sequence[BlockTrace], waits: Sequence[np.ndarray], home: str, made_from: str, guarded: bool
) -> list[int]:
    """One entry after the other, each warp by itself; no access is joined."""
    found = []
    votes = []
    for block in trace:
        for path in block.paths:
            labels = [o.blocks[piece].label for piece in path.tolist()]
            if home in labels and made_from in labels:
                votes.append(labels.index(made_from) < labels.index(home))
    first = 2 * sum(votes) > len(votes)
    for block, cycles in zip(trace, waits, strict=True):
        for warp, path in enumerate(block.paths):
            runs: list[tuple[str, int, list[float]]] = []  # label, entry, waits of its requests
            of_entry = {}
            for at, piece in enumerate(path.tolist()):
                b = o.blocks[piece]
                before = [n for n, run in enumerate(runs) if run[0] == b.label]
                if (b.starts and not b.barriers) or not before:
                    runs.append((b.label, at, []))
                    before = [len(runs) - 1]
                of_entry[at] = before[-1]
            for row, cycle in zip(block.requests, cycles, strict=True):
                a = o.accesses[row["access"]]
                if row["warp"] == warp and row["at"] >= 0 and (a.kind, a.space) == ("load", "global"):
                    runs[of_entry[int(row["at"])]][2].append(float(cycle))
            for at, piece in enumerate(path.tolist()):
                if o.blocks[piece].label != home:
                    continue
                if made_from == home:
                    mine: list[float] | None = runs[of_entry[at]][2]
                elif first:
                    own = max(begun for label, begun, _ in runs if label == home and begun <= at)
                    before = max((begun for label, begun, _ in runs if label == home and begun < own), default=-1)
                    earlier = [some for label, begun, some in runs if label == made_from and before < begun < at]
                    mine = earlier[-1] if earlier else None
                else:
                    homes = [begun for label, begun, _ in runs if label == home and begun > at]
                    until = min(homes, default=len(path))
                    mine = next(
                        (some for label, begun, some in runs if label == made_from and at <= begun < until), None
                    )
                if mine is None:
                    found.append(0 if guarded else UNKNOWN)
                else:
                    found.append(round(sum(mine) / len(mine)) if mine else UNKNOWN)
    return found


LABELS = ("a", "b", "c")
PIECES = [
    BlockCount(K, label, barriers, starts, 1, 32)
    for label in LABELS
    for barriers, starts in ((0, True), (0, False), (1, True))
]
ACCESSES: list[AccessCount] = [
    access(requests=1, label="a"),
    access("store", requests=1),
    access(requests=1, space="shared"),
]


@st.composite
def logs(draw: st.DrawFn) -> tuple[BlockTrace, np.ndarray]:
    warps = draw(st.lists(st.lists(st.integers(0, len(PIECES) - 1), max_size=8), min_size=1, max_size=3))
    asked = []
    for _ in range(draw(st.integers(0, 10))):
        warp = draw(st.integers(0, len(warps) - 1))
        if warps[warp]:
            at = draw(st.integers(-1, len(warps[warp]) - 1))
            asked.append((draw(st.integers(0, 2)), warp, at, float(draw(st.integers(1, 50)) * 2)))
    return block_of(warps, asked)


@given(st.lists(logs(), min_size=1, max_size=3), st.sampled_from(LABELS), st.sampled_from(LABELS), st.booleans())
def test_against_a_plain_walk(some: list[tuple[BlockTrace, np.ndarray]], home: str, other: str, guarded: bool) -> None:
    trace, waits = [b for b, _ in some], [w for _, w in some]
    o = observed(PIECES, ACCESSES, trace=trace)
    steps = [step("load_global", block=other, guarded=guarded)]
    columns = columns_of(steps, [(K, home)], [True])
    found = own_waits(o, trace, waits, columns, NEAR)
    # Means of whole numbers of cycles: halves are rounded to even here and there.
    assert found.cycles().tolist() == plain(o, trace, waits, home, other, guarded and other != home)


@pytest.mark.parametrize("takes", [[False], [True]])
def test_columns_are_only_of_loads(takes: list[bool]) -> None:
    columns = columns_of([step("load_global")], [(K, "entry")], takes)
    assert columns.of_step == ((0,) if takes[0] else (-1,))
    assert bool(columns.wanted) == takes[0]
