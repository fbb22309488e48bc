"""Graphs of numbers: orders, back edges, dominators and loop bodies against their definitions."""

from __future__ import annotations

from hypothesis import given

from kernelwright.ir.graph import DominatorTree, back_edges, immediate_dominators, loop_body, postorder
from tests.ir.graphs import Graph, dominates, graphs, reachable


def predecessors(graph: Graph) -> Graph:
    return [[p for p, out in enumerate(graph) if n in out] for n in range(len(graph))]


def tree_of(graph: Graph) -> DominatorTree[int]:
    return DominatorTree(postorder([0], graph.__getitem__)[::-1], predecessors(graph).__getitem__)


@given(graphs())
def test_a_postorder_has_each_node_once_and_after_those_found_through_it(graph: Graph) -> None:
    found = postorder([0], graph.__getitem__)
    assert sorted(found) == sorted(reachable(graph, 0)) and found[-1] == 0
    place = {n: i for i, n in enumerate(found)}
    back = set(back_edges(0, graph.__getitem__))
    for n in found:
        for s in graph[n]:
            assert (place[s] < place[n]) == ((n, s) not in back)


@given(graphs())
def test_several_roots_reach_what_any_of_them_reaches(graph: Graph) -> None:
    roots = range(len(graph) - 1, -1, -2)
    found = postorder(roots, graph.__getitem__)
    assert len(found) == len(set(found)) and set(found) == {n for root in roots for n in reachable(graph, root)}


def test_neighbours_are_taken_in_order() -> None:
    assert postorder([0], [[2, 1], [3], [3], []].__getitem__) == [3, 2, 1, 0]
    assert postorder([0], [[1, 2], [3], [3], []].__getitem__) == [3, 1, 2, 0]
    assert back_edges(0, [[1], [2, 0], [1, 2]].__getitem__) == [(2, 1), (2, 2), (1, 0)]


def test_a_deep_graph() -> None:
    deep = 100_000
    following = [[n + 1] for n in range(deep)] + [[0]]
    assert postorder([0], following.__getitem__)[0] == deep
    assert back_edges(0, following.__getitem__) == [(deep, 0)]


@given(graphs())
def test_dominators_are_those_of_the_definition(graph: Graph) -> None:
    tree = tree_of(graph)
    live = reachable(graph, 0)
    assert {n for n in range(len(graph)) if n in tree} == live and tree.parents[0] == 0
    for b in live:
        above = [a for a in live if a != b and dominates(graph, a, b)]
        assert all(tree.dominates(a, b) == (a == b or a in above) for a in live)
        closest = [a for a in above if all(dominates(graph, other, a) for other in above)]
        assert [tree.parents[b]] == (closest or [b])


def test_nodes_apart_have_no_dominator() -> None:
    assert immediate_dominators([0, 1, 2], [[], [0], [3]].__getitem__) == {0: 0, 1: 0}


@given(graphs())
def test_post_dominators_are_those_of_the_definition(graph: Graph) -> None:
    """The exit, -1, is the root of the reversed graph."""
    ends = [n for n, out in enumerate(graph) if not out]
    before = predecessors(graph)
    finite = postorder(ends, before.__getitem__)[::-1]
    tree = DominatorTree([-1, *finite], lambda n: graph[n] or [-1])
    for a in finite:
        for b in finite:
            assert tree.dominates(a, b) == (not reachable(graph, b, without=a) & set(ends)), (a, b)


@given(graphs())
def test_loops_are_those_of_the_definition(graph: Graph) -> None:
    tree = tree_of(graph)
    live = reachable(graph, 0)
    before = [[p for p in each if p in live] for each in predecessors(graph)]
    for h in live:
        below = [n for n in live if dominates(graph, h, n)]
        inner = [[s for s in out if s in below] if n in below else [] for n, out in enumerate(graph)]
        latches = [n for n in below if h in inner[n]]
        assert latches == [n for n in before[h] if tree.dominates(h, n)]
        if latches:
            body = {n for n in below if any(h in inner[m] for m in reachable(inner, n))}
            assert loop_body(h, latches, before.__getitem__) == body | {h}


def reducible_by_collapsing(graph: Graph) -> bool:
    """The classic definition: dropping self loops and merging single-predecessor blocks leaves one block."""
    live = reachable(graph, 0)
    after = {n: set(graph[n]) - {n} for n in live}
    while True:
        for n in list(after):
            before = [p for p in after if n in after[p]]
            if n != 0 and len(before) == 1:
                p = before[0]
                after[p] = (after[p] | after[n]) - {n, p}
                del after[n]
                break
        else:
            return len(after) == 1


@given(graphs())
def test_a_graph_is_reducible_when_heads_dominate_tails(graph: Graph) -> None:
    tree = tree_of(graph)
    by_back_edges = all(tree.dominates(head, tail) for tail, head in back_edges(0, graph.__getitem__))
    assert by_back_edges == reducible_by_collapsing(graph)
