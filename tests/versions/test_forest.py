"""The tuning forest: declared, found out, as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.errors import Misuse
from kernelwright.versions.forest import Edge, Forest, read_forest
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
def test_json_both_ways(forest: Forest, tmp_path: Path) -> None:
    (tmp_path / "forest.json").write_text(json.dumps(forest.as_json()))
    assert read_forest(tmp_path / "forest.json") == forest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "it is []"),
        ("{}", 'it has no "guards"'),
        ('{"guards": ["a"]}', 'it has no "edges"'),
        ('{"guards": "rows", "edges": []}', '"guards" is no list, but "rows"'),
        ('{"guards": ["a"], "edges": {"a": 1}}', '"edges" is no list'),
        ('{"guards": ["a"], "edges": [], "roots": []}', '"roots" is no part of one'),
        ('{"guards": [1], "edges": []}', "1 is no name of a guard"),
        ('{"guards": ["a b"], "edges": []}', '"a b" is no name of a guard'),
        ('{"guards": [""], "edges": []}', '"" is no name of a guard'),
        ('{"guards": ["a", "b"], "edges": [["a"]]}', 'the edge ["a"] is not'),
        ('{"guards": ["a", "b"], "edges": [["a", "b", "no"]]}', 'the edge ["a", "b", "no"] is not'),
        ('{"guards": ["a", "b"], "edges": ["abc"]}', 'the edge "abc" is not'),
        (f'{{"guards": [{list(range(99))}], "edges": []}}', "..."),
        ('{"guards": ["a"', "is no JSON"),
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("\xff", "is no text"),
    ],
)  # fmt: skip
def test_what_is_no_forest_is_told(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "forest.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(Misuse) as caught:
        read_forest(path)
    assert said in caught.value.message and "Error" not in caught.value.message
    assert '{"guards": ["rows", "elements"]' in (caught.value.hint or "")


def test_a_forest_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be read: No such file"):
        read_forest(tmp_path / "forest.json")
    with pytest.raises(Misuse, match="cannot be read: Is a directory"):
        read_forest(tmp_path)


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
