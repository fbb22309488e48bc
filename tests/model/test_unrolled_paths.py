"""Paths through unrolled loops: against one warp walked iteration by iteration, and kernels whose loads are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.codegen.cost.loop_copies import Group, UnrolledLoop, copy_label, original
from kernelwright.codegen.cost.slow_paths import slow_label
from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.device.arena import Arena
from kernelwright.device.timing_model.counters import BlockTrace, Observed
from kernelwright.device.timing_model.estimate import LaunchWork, estimate
from kernelwright.device.timing_model.machine_accesses import machine_accesses
from kernelwright.device.timing_model.unrolled_paths import laid_on_copies
from kernelwright.target import gpu
from tests.examples import few
from tests.model.build import K, count, observed, step, weights
from tests.model.running import Device, all_weights

needs_assembler = pytest.mark.skipif(not find_assemblers(), reason="neither nvJitLink nor ptxas is installed")
FOURS = (Group(4, True), Group(2, False), Group(1, False))
BLOCKS = [count("head", 0), count("body", 0), count("then", 0), count("tail", 0), count(slow_label("then"), 0)]
HEADER, THEN, SLOW = 1, 2, 4


def loop(groups: Sequence[Group]) -> UnrolledLoop:
    return UnrolledLoop(K, "body", frozenset({"body", "then"}), tuple(groups))


def launch(paths: Sequence[Sequence[int]]) -> Observed:
    entries = [entry for path in paths for entry in path]
    blocks = [replace(b, executions=entries.count(n), lanes=7 * entries.count(n)) for n, b in enumerate(BLOCKS)]
    trace = BlockTrace(0, tuple(np.array(path, np.int32) for path in paths))
    return observed(blocks, block=32 * len(paths), trace=[trace])


def labels(o: Observed) -> list[list[str]]:
    return [[o.blocks[n].label for n in path] for block in o.trace for path in block.paths]


@pytest.mark.parametrize(
    ("groups", "iterations", "taken"),
    [
        (FOURS, 7, "0.0 0.1 0.2 0.3 1.0 1.1 2.0"),
        (FOURS, 8, "0.0 0.1 0.2 0.3 0.0 0.1 0.2 0.3"),
        (FOURS, 1, "2.0"),
        ((Group(1, False), Group(4, True), Group(2, False)), 7, "0.0 1.0 1.1 1.2 1.3 2.0 2.1"),
        ((Group(1, False, True), Group(4, True), Group(1, True)), 4, "0.0 2.0 2.0 2.0"),
        ((Group(1, False, True), Group(4, True), Group(1, True)), 5, "0.0 1.0 1.1 1.2 1.3"),
        ((Group(4, True), Group(3, False)), 6, "0.0 0.1 0.2 0.3 1.0 1.1"),
        ((Group(4, True),), 6, "0.0 0.1 0.2 0.3 0.0 0.1"),
        ((Group(16, True), Group(8, False), Group(4, True), Group(1, True)), 15, "1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7 2.0 2.1 2.2 2.3 3.0 3.0 3.0"),
    ],
)  # fmt: skip
def test_which_copies_iterations_take(groups: Sequence[Group], iterations: int, taken: str) -> None:
    found = labels(laid_on_copies(launch([[0, *[HEADER] * iterations, 3]]), [loop(groups)]))
    assert found == [["head", *[f"body (copy {each})" for each in taken.split()], "tail"]]


def walked(path: Sequence[int], groups: Sequence[Group]) -> list[str]:
    """A warp by itself: first how many iterations each stay in the loop has, then one after the other."""
    found: list[str] = []
    at = 0
    while at < len(path):
        end = at
        while end < len(path) and path[end] in (HEADER, THEN, SLOW):
            end += 1
        if end == at:
            found.append(BLOCKS[path[at]].label)
            at += 1
            continue
        order = _order(max(1, path[at:end].count(HEADER)), groups)
        iteration = -1
        for entry in path[at:end]:
            iteration += entry == HEADER
            label = BLOCKS[entry].label
            found.append(label if entry == SLOW else copy_label(label, *order[max(0, iteration)]))
        at = end
    return found


def _order(iterations: int, groups: Sequence[Group]) -> list[tuple[int, int]]:
    taken = dict.fromkeys(range(len(groups)), 0)
    for g, group in enumerate(groups):
        while group.before and iterations and taken[g] < group.copies:
            taken[g] += 1
            iterations -= 1
    rest = sorted((g for g in taken if not groups[g].before), key=lambda g: -groups[g].copies)
    for g in rest:
        while iterations >= groups[g].copies and (groups[g].repeats or not taken[g]):
            taken[g] += groups[g].copies
            iterations -= groups[g].copies
    for g in reversed(rest):
        if not groups[g].repeats and not taken[g] and groups[g].copies >= iterations:
            taken[g], iterations = iterations, 0
    for g in [*(g for g in rest if groups[g].repeats), *rest][:1]:
        taken[g] += iterations
    return [(g, n % groups[g].copies) for g in taken for n in range(taken[g])]


GROUPS = st.lists(st.builds(Group, st.integers(1, 5), st.booleans(), st.booleans()), min_size=1, max_size=4).filter(
    lambda groups: any(not g.before for g in groups)
)
PATHS = st.lists(st.lists(st.integers(0, len(BLOCKS) - 1), max_size=30), min_size=1, max_size=4)


@settings(max_examples=few(300))
@given(PATHS, GROUPS)
def test_any_path(paths: list[list[int]], groups: list[Group]) -> None:
    before = launch(paths)
    after = laid_on_copies(before, [loop(groups)])
    found = labels(after)
    assert found == [walked(path, groups) for path in paths]
    # What was watched is all there is here, so counts are those of the paths; nothing is lost.
    entries = [label for path in found for label in path]
    for block in after.blocks:
        assert block.executions == entries.count(block.label), block.label
    for n, block in enumerate(before.blocks):
        copies = [b for b in after.blocks if original(b.label) == block.label]
        assert sum(b.lanes for b in copies) == block.lanes == 7 * [e for p in paths for e in p].count(n)
    assert laid_on_copies(after, [loop(groups)]) is after


def test_counts_are_divided_as_watched_warps_are() -> None:
    """Ten iterations each: eight of ten in the first group, two in the second; of the whole launch, too."""
    o = launch([[0, *[HEADER] * 10, 3]] * 2)
    o = replace(o, blocks=tuple(replace(b, executions=1000 * b.executions) for b in o.blocks))
    after = {b.label: b.executions for b in laid_on_copies(o, [loop(FOURS)]).blocks}
    assert after["body"] == 0
    assert [after[f"body (copy 0.{c})"] for c in range(4)] == [4000] * 4
    assert [after[f"body (copy 1.{c})"] for c in range(2)] == [2000] * 2
    assert after["body (copy 2.0)"] == 0 and after["head"] == 2000


def test_without_a_log_the_largest_group_does_it() -> None:
    o = observed([count("head", 3), count("body", 400), count("tail", 3)])
    after = {b.label: b.executions for b in laid_on_copies(o, [loop(FOURS)]).blocks}
    assert [after[f"body (copy 0.{c})"] for c in range(4)] == [100] * 4
    assert sum(after.values()) == 406


def test_another_kernel_s_loop_changes_nothing() -> None:
    o = launch([[0, HEADER, 3]])
    assert laid_on_copies(o, []) is o
    assert laid_on_copies(o, [UnrolledLoop("other", "body", frozenset({"body"}), FOURS)]) is o


def test_loads_that_come_first_are_waited_for_together() -> None:
    """Rolled up, four loads follow each other; four copies that load before they add wait once."""
    load = [step("load_global", sets=c, block=f"body (copy 0.{c})") for c in range(4)]
    use = [step("fp32", waits=(c,), block=f"body (copy 0.{c})") for c in range(4)]
    copies = {copy_label("body", 0, c): part for c, part in enumerate([load[:2], load[2:], use[:2], use[2:]])}
    unrolled = replace(weights({"head": [], "tail": [], **copies}), loops=(loop((Group(4, True),)),))
    rolled = weights(
        {
            "head": [],
            "tail": [],
            "body": [step("load_global", sets=0, block="body"), step("fp32", waits=(0,), block="body")],
        }
    )
    o = launch([[0, *[HEADER] * 8, 3]])
    once, each = (LaunchWork(o, w, gpu("h100")).parts().board.cycles for w in (unrolled, rolled))
    assert 3.5 < each / once < 4.5


@needs_assembler
@pytest.mark.parametrize("times", [0, 1, 2, 3, 4, 5, 7, 8, 11, 16, 21, 40])
def test_every_iteration_s_load_is_issued_once(times: int) -> None:
    """A loop whose number of iterations is only known at launch: unrolled, it makes as many loads as it has iterations."""
    w = all_weights()["along"]
    assert w.loops, "the assembler unrolls it"
    with Arena() as arena:
        some = Device(arena)
        x, y = some.floats(128 * 40, "x"), some.floats(256, "y")
        o = some.observe("along", 2, 128, [128 * times, x, y])
    made = machine_accesses(o, w)
    warps = 8
    assert sum(a.requests for a in made.accesses if a.kind == "load") == times * warps
    assert estimate(o, w, gpu("h200")).instructions.get("load_global", 0) == times * warps
