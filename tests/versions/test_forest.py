"""The tuning forest: declared, found out, as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernelwright.errors import Misuse
from kernelwright.versions.forest import Edge, Forest
from kernelwright.versions.thresholds import tune
from tests.versions.table_programs import Guard, Leaf, TableProgram

CHAIN = Forest.chain(("rows", "elements", "bytes"))


def test_a_chain_is_one_tree() -> None:
    assert CHAIN.roots == ("rows",) and CHAIN.trees() == (("rows", "elements", "bytes"),)
    assert CHAIN.lines() == ["rows", "    not taken: elements", "        not taken: bytes"]


def test_several_roots_and_several_parents() -> None:
    edges = {Edge("a", "c"), Edge("b", "c", True)}
    forest = Forest(("a", "b", "c", "d"), frozenset(edges))
    assert forest.roots == ("a", "b", "d") and forest.trees() == (("a", "b", "c"), ("d",))
    assert forest.parents("c") == (Edge("a", "c"), Edge("b", "c", True))


@pytest.mark.parametrize("forest", [CHAIN, Forest(), Forest(("a", "b"), frozenset({Edge("a", "b", True)}))])
def test_json_both_ways(forest: Forest) -> None:
    assert Forest.from_json(json.loads(json.dumps(forest.as_json()))) == forest


@pytest.mark.parametrize(
    ("guards", "edges", "said"),
    [
        (("a", "a"), set(), "two guards are called 'a'"),
        (("a",), {Edge("a", "b")}, "'b', which is no guard"),
        (("b", "a"), {Edge("a", "b")}, "'b' stands before 'a'"),
    ],
)
def test_what_is_no_forest_is_refused(guards: tuple[str, ...], edges: set[Edge], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        Forest(guards, frozenset(edges))


def test_the_structure_is_found_out_from_comparisons() -> None:
    """A chain, a guard below a taken version, and a second kernel."""
    tree = Guard("a", 5, Guard("t", 7, Leaf(4.0), Leaf(3.0)), Guard("b", 6, Leaf(3.0), Leaf(9.0)))
    nodes = [tree, Guard("x", 8, Leaf(1.0), Leaf(2.0))]
    found = tune(TableProgram({"d": nodes}), ["d"]).forest
    assert found.edges == {Edge("a", "b"), Edge("a", "t", True)}
    assert set(found.roots) == {"a", "x"}


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ([1, 2], "it is no JSON object"),
        (None, "it is no JSON object"),
        ({"guards": ["a"]}, "there is no 'edges'"),
        ({"edges": [[1]], "guards": []}, "unpack"),
    ],
)
def test_what_is_no_forest_is_said_in_words(found: Any, says: str) -> None:
    with pytest.raises(Misuse, match=says) as caught:
        Forest.from_json(found)
    assert "Error" not in caught.value.message
