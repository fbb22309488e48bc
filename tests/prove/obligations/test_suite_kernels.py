"""Obligations whose answer is known, on the suite's kernels: the barriers of Needleman-Wunsch, what breadth-first search only reads."""

from __future__ import annotations

import pytest

from kernelwright.edits import Original
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.delete_barrier import barriers
from kernelwright.edits.kinds.fix_launch import FixBlock
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.warp_barriers import WarpBarriers
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from kernelwright.prove.obligations.solver import UNITS_PER_S, Budget
from tests.edits.conftest import modules


def kernel(part: str) -> Original:
    return next(Original(module, each.name) for module in modules() for each in module.kernels if part in each.name)


def barrier_at(original: Original, line: int) -> Edit:
    def line_of(edit: Edit) -> int:
        found = original.location(edit.subject)  # type: ignore[attr-defined]
        return found.line if found is not None else 0

    return next(edit for edit in barriers(original) if line_of(edit) == line)


def test_barriers_of_blocks_of_one_warp() -> None:
    nw = kernel("score_upper_left")
    assert all_hold(owed(nw, [WarpBarriers()]))


@pytest.mark.slow
def test_the_barrier_before_the_steps_separates_nothing_and_the_one_between_them_does() -> None:
    nw = kernel("score_upper_left")
    shape = FixBlock((16, 1, 1))
    assert all_hold(owed(nw, [shape, barrier_at(nw, 47)], budget=Budget(200 * UNITS_PER_S)))
    assert not all_hold(owed(nw, [shape, barrier_at(nw, 58)], budget=Budget(200 * UNITS_PER_S)))


def test_breadth_first_search_reads_where_its_edges_begin_and_writes_what_it_reached() -> None:
    expand = kernel("expand_frontier")
    names = [argument.name for argument in expand.function.arguments]
    for name, expected in (("first", True), ("neighbour", True), ("visited", True), ("reached", False)):
        assert all_hold(owed(expand, [NoAlias(names.index(name))])) is expected
