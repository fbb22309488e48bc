"""Dominators and loop depths of numbered graphs, against the definitions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.codegen.machine.control_flow import Flow

GRAPHS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
)


def reached(successors: list[list[int]], without: int | None = None) -> set[int]:
    found: set[int] = set()
    waiting = [0] if without != 0 else []
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [t for t in successors[node] if t != without]
    return found


@given(GRAPHS)
def test_dominance_is_every_path(successors: list[list[int]]) -> None:
    flow = Flow(successors)
    everything = reached(successors)
    assert set(flow.order) == everything and flow.order[0] == 0
    for a in range(len(successors)):
        apart = reached(successors, without=a)
        for b in range(len(successors)):
            assert flow.dominates(a, b) == (a in everything and b in everything and b not in apart)


def test_nested_loops() -> None:
    """0 → 1 → 2 ⇄ 2, 2 → 3 → 1, 3 → 4; 5 is never reached."""
    flow = Flow([[1], [2], [2, 3], [1, 4], [], [1]])
    assert flow.headers == {1, 2}
    assert flow.depths == {0: 0, 1: 1, 2: 2, 3: 1, 4: 0}
    assert not flow.dominates(5, 5)


def test_a_loop_with_two_entries_has_no_depth() -> None:
    flow = Flow([[1, 2], [2], [1, 3], []])
    assert set(flow.depths.values()) == {0}


def test_nothing() -> None:
    assert Flow([]).order == [] and Flow([[]]).depths == {0: 0}
