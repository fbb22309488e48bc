"""The two restrictions of paper 003, section 3.4, which one chain of guards cannot express."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.versions.explanation import explanation
from kernelwright.versions.program import INFINITE
from kernelwright.versions.remedies import piecewise, remedies
from kernelwright.versions.thresholds import tune
from tests.versions.table_programs import Guard, Leaf, Node, TableProgram


def chain(p1: int, p2: int, fastest: int) -> list[Node]:
    """V1 if P1 >= T1, else V2 if P2 >= T2, else V3; one of them takes 1, the others 2 and 3."""
    cost = {version: 1.0 if version == fastest else 1.0 + version for version in (1, 2, 3)}
    return [Guard("t1", p1, Leaf(cost[1]), Guard("t2", p2, Leaf(cost[2]), Leaf(cost[3])))]


def chosen(rules: list[tuple[str, int]], values: dict[str, int], thresholds: dict[str, int]) -> int:
    """The version that an ordinary chain of ifs takes."""
    return next((v for name, v in rules if values[name] >= thresholds[name]), 3)


def test_a_version_that_wins_at_both_ends_is_guarded_twice() -> None:
    """V1 when P1 is at most 10 or at least 100."""
    wanted = {"a": (10, 5, 1), "b": (50, 7, 3), "c": (100, 6, 1)}
    tuning = tune(TableProgram({name: chain(*row) for name, row in wanted.items()}), list(wanted))
    assert len(tuning.conflicts) == 1
    found = {remedy.kind: remedy for remedy in remedies(tuning)}
    thresholds = found["duplicated"].tuning.thresholds
    rules = [(rule.name, 1 if rule.guard == "t1" else 2) for rule in found["duplicated"].rules]
    for p1, p2, version in wanted.values():
        assert chosen(rules, {"t1": p1, "-(t1)": -p1, "t2": p2}, thresholds) == version
    assert f"{found['duplicated']} is best for all of them" in "\n".join(explanation(tuning))


def test_a_version_with_an_exception_comes_after_it() -> None:
    """V1 when P1 is at least 10, unless P2 is at least 100: the other order says that."""
    wanted = {"a": (10, 50, 1), "b": (20, 100, 2), "c": (5, 60, 3)}
    tuning = tune(TableProgram({name: chain(*row) for name, row in wanted.items()}), list(wanted))
    assert tuning.conflicts
    (remedy, *_) = remedies(tuning)
    assert remedy.kind == "reordered" and [rule.name for rule in remedy.rules] == ["t2", "t1"]
    for p1, p2, version in wanted.values():
        assert chosen([("t2", 2), ("t1", 1)], {"t1": p1, "t2": p2}, remedy.tuning.thresholds) == version


def test_where_there_is_no_conflict_nothing_needs_a_remedy() -> None:
    assert remedies(tune(TableProgram({"a": chain(10, 5, 1)}), ["a"])) == []


def test_a_conflict_that_costs_next_to_nothing_needs_none() -> None:
    """Estimated times tell differences apart that are worth no other forest."""
    nodes: dict[str, list[Node]] = {
        "b": [Guard("t1", 20, Leaf(9.0), Leaf(1.0))],
        "a": [Guard("t1", 10, Leaf(1.0), Leaf(1.0004))],
    }
    tuning = tune(TableProgram(nodes), ["b", "a"])
    text = "\n".join(explanation(tuning))
    assert tuning.conflicts and remedies(tuning, 0.01) == [] and len(remedies(tuning)) == 1
    assert "the thresholds cost a less than 0.1 % of its best time" in text and "no dataset loses 1 %" in text


def test_a_program_that_is_no_chain_has_none() -> None:
    two: dict[str, list[Node]] = {
        "a": [Guard("x", 10, Leaf(1.0), Leaf(2.0)), Guard("y", 10, Leaf(1.0), Leaf(2.0))],
        "b": [Guard("x", 20, Leaf(2.0), Leaf(1.0)), Guard("y", 10, Leaf(1.0), Leaf(2.0))],
    }
    tuning = tune(TableProgram(two), ["a", "b"])
    assert tuning.conflicts and remedies(tuning) == []


def test_a_version_that_fails_stays_one_that_fails() -> None:
    program = TableProgram(
        {"a": chain(10, 5, 1), "b": [Guard("t1", 20, Leaf(None), Guard("t2", 8, Leaf(2.0), Leaf(1.0)))]}
    )
    tuning = tune(program, ["a", "b"])
    assert tuning.conflicts
    for remedy in remedies(tuning):
        assert [d.tuned_us for d in remedy.tuning.datasets] == [1.0, 1.0]
        assert INFINITE in remedy.tuning.thresholds.values() or remedy.tuning.thresholds["t1"] > 20


def test_a_version_that_is_not_monotonic_is_guarded_by_pieces() -> None:
    """Within one dataset: it wins at 1 and 2, and from 7 up. Two guards take what a program with these ranges takes."""
    costs = {1: 1.0, 2: 1.0, 3: 41.0, 4: 41.0, 5: 41.0, 6: 41.0, 7: 38.0, 8: 39.0}
    nodes: list[Node] = [Guard("t", v, Leaf(cost), Leaf(40.0)) for v, cost in costs.items()]
    tuning = tune(TableProgram({"a": nodes}), ["a"])
    (decision,) = tuning.datasets[0].decisions
    assert tuning.datasets[0].tuned_us == sum(costs.values())
    assert piecewise(decision) == ("at most 2 or at least 7", sum(min(cost, 40.0) for cost in costs.values()))
    assert "at most 2 or at least 7, it would take 239 us by the times measured" in "\n".join(explanation(tuning))
    assert piecewise(replace(decision, pieces=(4, 5))) == ("from 4 to 5", 8 * 40.0 + 2)
    assert piecewise(replace(decision, pieces=())) is None
    assert piecewise(replace(decision, tried=decision.tried[1:])) is None
