"""The tuner against brute force, which knows nothing of it."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import Misuse
from kernelwright.versions.box import Interval
from kernelwright.versions.explanation import explanation
from kernelwright.versions.forest import Forest
from kernelwright.versions.program import INFINITE
from kernelwright.versions.thresholds import most_configurations, tune
from tests.versions.table_programs import (
    Guard,
    Leaf,
    Node,
    TableProgram,
    exhaustive,
    monotone_occasion,
    shape,
    spoiled,
    walk,
)


def chain(p1: int, p2: int, v1: float | None, v2: float | None, v3: float | None) -> Node:
    """The running example of the paper, Figure 1."""
    return Guard("t1", p1, Leaf(v1), Guard("t2", p2, Leaf(v2), Leaf(v3)))


def random_program(seed: int, same_crossovers: bool, illegal: float = 0.0) -> dict[str, list[Node]]:
    """``illegal``: the share of guards and values of a dataset at which no threshold lets the version run."""
    generator = random.Random(seed)
    forest = shape(generator.randrange(1, 4), generator)
    roots = [0, *(n for n in range(1, len(forest)) if generator.random() < 0.3)]
    crossovers = {name: generator.choice((0, 2, 5, 9, 20, 70)) for name, _, _ in forest}
    found: dict[str, list[Node]] = {}
    for dataset in range(generator.randrange(1, 5)):
        if not same_crossovers:
            crossovers = {name: generator.choice((0, 2, 5, 9, 20, 70)) for name in crossovers}
        repeats = generator.choice((1, 1, 2, 4))
        refused = {
            (name, value + more)
            for name in (crossovers if illegal else ())
            for value in (1, 2, 4, 8, 16, 32, 64)
            for more in (0, 1)
            if generator.random() < illegal
        }
        found[f"d{dataset}"] = [
            monotone_occasion(forest, root, crossovers, generator, generator.randrange(1, 10**6), refused)
            for root in roots
            for _ in range(repeats)
        ]
    return found


@given(st.integers(0, 10**9))
def test_an_optimum_that_exists_is_found(seed: int) -> None:
    """Monotonic versions with the same crossovers on every dataset: one assignment is best for all."""
    occasions = random_program(seed, same_crossovers=True)
    truth = exhaustive(occasions)
    assert truth.most == len(occasions)
    tuning = tune(TableProgram(occasions), list(occasions))
    assert {name: walk(nodes, tuning.thresholds)[1] for name, nodes in occasions.items()} == truth.best
    assert not tuning.conflicts and all(d.served for d in tuning.datasets)


@given(st.integers(0, 10**9))
def test_a_conflict_is_reported_when_there_is_no_optimum(seed: int) -> None:
    """Datasets with crossovers of their own: as many are served as any assignment serves."""
    occasions = random_program(seed, same_crossovers=False)
    truth = exhaustive(occasions)
    tuning = tune(TableProgram(occasions), list(occasions))
    served = {n for n, nodes in occasions.items() if walk(nodes, tuning.thresholds)[1] == truth.best[n]}
    assert len(served) == truth.most
    assert {d.name for d in tuning.datasets if d.served} == served
    assert bool(tuning.conflicts) == (truth.most < len(occasions))


@given(st.integers(0, 10**9))
def test_versions_that_fail_or_are_illegal_keep_no_dataset_from_running(seed: int) -> None:
    """What runs under some assignment has a best of its own, is in the end served or named in a conflict, and is told."""
    generator = random.Random(seed)
    whole = random_program(seed, same_crossovers=False)
    occasions = {name: [spoiled(nodes[0], generator)] for name, nodes in whole.items()}
    truth = exhaustive(occasions)
    runs = {name for name, best in truth.best.items() if best < float("inf")}
    if not runs:
        return
    tuning = tune(TableProgram(occasions), list(occasions))
    assert {d.name for d in tuning.datasets if d.best_us < float("inf")} == runs
    served = {d.name for d in tuning.datasets if d.served}
    assert runs - served == {c.datasets[-1] for c in tuning.conflicts}


@given(st.integers(0, 10**9))
def test_no_dataset_fails_that_need_not(seed: int) -> None:
    """As many run with the thresholds as with any others, and those that do not are named."""
    generator = random.Random(seed)
    whole = random_program(seed, same_crossovers=False)
    occasions = {name: [spoiled(node, generator) for node in nodes[:2]] for name, nodes in whole.items()}
    truth = exhaustive(occasions)
    if not truth.most_running:
        return
    tuning = tune(TableProgram(occasions), list(occasions))
    running = {name for name, nodes in occasions.items() if walk(nodes, tuning.thresholds)[1] is not None}
    assert len(running) == truth.most_running
    fail = {d.name for d in tuning.datasets if math.isfinite(d.best_us)} - running
    said = "\n".join(explanation(tuning))
    assert all(f"the thresholds let {name} fail" in said for name in fail)
    assert ("whatever the thresholds" in said) == bool(fail)


def test_what_serves_most_may_not_let_another_fail() -> None:
    """Two datasets are best with V1, with which the third one fails at values that no threshold tells apart."""
    program = TableProgram(
        {
            "small": [chain(10, 50, 1.0, 5.0, 2.0)],
            "large": [chain(100, 50, 1.0, 5.0, 2.0)],
            "wide": [chain(200, 50, None, 5.0, 2.0)],
        }
    )
    tuning = tune(program, ["small", "large", "wide"])
    assert [d.tuned_us for d in tuning.datasets] == [2.0, 2.0, 2.0]
    assert [str(c) for c in tuning.conflicts] == [
        "wide needs t1 above 200; small needs t1 at most 10",
        "wide needs t1 above 200; large needs t1 at most 100",
    ]


def test_what_is_best_for_some_and_lets_another_fail_is_told() -> None:
    """What is best for a and for b goes together, and c has no memory for both."""
    both = Guard("t1", 50, Guard("t2", 50, Leaf(None), Leaf(5.0)), Guard("t2", 50, Leaf(5.0), Leaf(1.0)))
    program = TableProgram(
        {"a": [Guard("t1", 10, Leaf(1.0), Leaf(9.0))], "b": [Guard("t2", 20, Leaf(1.0), Leaf(9.0))], "c": [both]}
    )
    tuning = tune(program, ["a", "b", "c"])
    assert [d.tuned_us for d in tuning.datasets] == [1.0, 9.0, 5.0]
    words = [str(conflict) for conflict in tuning.conflicts]
    assert words == ["thresholds that are best for a and b let c fail", "a needs t1 at most 10; c needs t1 above 50"]
    assert tuning.conflicts[0].as_json()["lets_fail"] == ["c"]


def test_a_failure_that_no_thresholds_avoid_is_told_by_name() -> None:
    """Dataset a fails with all but V1, dataset b with V1, at values that no threshold tells apart."""
    program = TableProgram({"a": [chain(10, 50, 1.0, None, None)], "b": [chain(10, 50, None, 2.0, 1.0)]})
    tuning = tune(program, ["a", "b"])
    assert [d.tuned_us for d in tuning.datasets] == [1.0, math.inf]
    assert "  whatever the thresholds, a dataset fails: with these b" in explanation(tuning)


def test_a_version_that_wins_may_fail_at_a_larger_value() -> None:
    """Where t1 is taken, t2 is met at 32, at which its version does not run, though it wins at 8."""
    large = Guard("t2", 32, Leaf(None), Leaf(1.0))
    small = Guard("t2", 8, Leaf(2.0), Leaf(3.0))
    tuning = tune(TableProgram({"a": [Guard("t1", 2, large, small)]}), ["a"])
    assert tuning.datasets[0].tuned_us == 1.0


def test_one_configuration_per_threshold_and_one_more() -> None:
    """The paper's count for size-invariant programs, exactly."""
    program = TableProgram({"a": [chain(10, 50, 3.0, 2.0, 1.0)], "b": [chain(400, 800, 1.0, 2.0, 3.0)]})
    tuning = tune(program, ["a", "b"])
    assert len(program.runs) == 2 * (1 + 2)
    assert tuning.thresholds["t1"] in range(11, 401)
    assert [d.tuned_us for d in tuning.datasets] == [1.0, 1.0]


def test_a_guard_that_a_better_one_hides_binds_nothing() -> None:
    """Dataset b prefers V1, so it has no say in t2, whatever V2 and V3 take there. The paper's intersection would be empty."""
    program = TableProgram({"a": [chain(10, 50, 9.0, 2.0, 1.0)], "b": [chain(100, 40, 1.0, 2.0, 3.0)]})
    tuning = tune(program, ["a", "b"])
    assert not tuning.conflicts and [d.tuned_us for d in tuning.datasets] == [1.0, 1.0]


@pytest.mark.parametrize("m", [2, 3, 7, 20, 63, 100])
@pytest.mark.parametrize("crossover", [0.0, 0.2, 0.5, 0.97, 1.0])
def test_size_variant_guards_take_logarithmically_many(m: int, crossover: float) -> None:
    values = [3 * i + 1 for i in range(m)]
    at = values[min(int(crossover * m), m - 1)] if crossover < 1 else 10**6
    nodes: list[Node] = [Guard("t", v, Leaf(1.0 if v >= at else 3.0), Leaf(2.0)) for v in values]
    program = TableProgram({"a": nodes})
    tuning = tune(program, ["a"])
    assert len(program.runs) <= 1 + most_configurations(m)
    assert tuning.datasets[0].tuned_us == sum(1.0 if v >= at else 2.0 for v in values)
    assert tuning.intervals["t"].upto == (at if crossover < 1 else None)


def test_a_version_that_fails_is_infinitely_slow() -> None:
    program = TableProgram({"a": [chain(10, 50, None, 2.0, 3.0)]})
    tuning = tune(program, ["a"])
    assert tuning.datasets[0].tuned_us == 2.0 and tuning.thresholds["t1"] == INFINITE
    assert tuning.datasets[0].failures == ("t1=10, t2=50: memory: out of memory",)


def test_a_baseline_that_fails_is_no_end() -> None:
    """Two kernels, each of whose fallback runs out of memory: only both taken together run at all."""
    nodes: list[Node] = [Guard("a", 10, Leaf(1.0), Leaf(None)), Guard("b", 20, Leaf(2.0), Leaf(None))]
    tuning = tune(TableProgram({"d": nodes}), ["d"])
    assert tuning.datasets[0].tuned_us == 3.0 and tuning.thresholds["a"] <= 10 and tuning.thresholds["b"] <= 20


def test_a_dataset_that_always_fails_is_left_out() -> None:
    program = TableProgram({"bad": [chain(5, 5, None, None, None)], "good": [chain(10, 50, 1.0, 2.0, 3.0)]})
    tuning = tune(program, ["bad", "good"])
    assert [d.served for d in tuning.datasets] == [False, True] and tuning.thresholds["t1"] <= 10
    with pytest.raises(Misuse, match="no dataset runs in any version: memory: out of memory"):
        tune(program, ["bad"])


def test_a_program_without_guards_is_told() -> None:
    with pytest.raises(Misuse, match="the program compares nothing"):
        tune(TableProgram({"a": [Leaf(1.0)]}), ["a"])


def test_a_declared_guard_that_no_dataset_meets_is_told() -> None:
    declared = Forest.chain(("t1", "t2", "t3"))
    tuning = tune(TableProgram({"a": [chain(10, 50, 3.0, 2.0, 1.0)]}), ["a"], declared=declared)
    assert tuning.never_reached == ("t3",) and tuning.thresholds["t3"] == INFINITE
    assert "guard t3 was never reached: no dataset says anything of it" in explanation(tuning)


def test_an_illegal_version_binds_nothing() -> None:
    """The guard is not taken although its threshold is reached: any threshold is as good."""
    nodes: list[Node] = [Guard("t", 4096, Leaf(1.0), Leaf(2.0), legal=False)]
    tuning = tune(TableProgram({"a": nodes, "b": [Guard("t", 64, Leaf(1.0), Leaf(2.0))]}), ["a", "b"])
    assert not tuning.conflicts and tuning.thresholds["t"] <= 64
    assert [d.decisions[0].verdict for d in tuning.datasets] == ["refused", "taken"]


@given(st.integers(0, 10**9))
def test_versions_that_are_illegal_at_some_values_bind_nothing_there(seed: int) -> None:
    """Whether a program says so or not: each dataset has its best, and as many are served as any assignment serves."""
    occasions = random_program(seed, same_crossovers=random.Random(seed).random() < 0.5, illegal=0.3)
    truth = exhaustive(occasions)
    for tells in (False, True):
        tuning = tune(TableProgram(occasions, tell_legal=tells), list(occasions))
        assert {d.name: d.best_us for d in tuning.datasets} == truth.best
        served = {n for n, nodes in occasions.items() if walk(nodes, tuning.thresholds)[1] == truth.best[n]}
        assert {d.name for d in tuning.datasets if d.served} == served
        assert bool(tuning.conflicts) == (len(served) < len(occasions))
    assert len(served) == truth.most  # as told; found out by runs, one may be missing of several that are as many


def test_a_program_that_says_where_a_version_is_illegal_saves_runs() -> None:
    """A hundred programs: what it says, no run has to find out, and without it as many datasets are served."""
    runs, served = [0, 0], [0, 0]
    for seed in range(100):
        occasions = random_program(seed, same_crossovers=seed % 2 == 0, illegal=0.3)
        for tells in (False, True):
            program = TableProgram(occasions, tell_legal=tells)
            served[tells] += sum(d.served for d in tune(program, list(occasions)).datasets)
            runs[tells] += len(program.runs)
    assert runs[True] < 0.85 * runs[False] and served[True] == served[False]


def test_a_version_that_is_refused_on_another_path_binds_nothing_on_the_best() -> None:
    """Of dataset b, t2 does nothing at 16; that was seen with t1 not taken, and t1 taken is best. The program does not say so: one run
    more tells, and only where thresholds would exclude each other."""
    a: list[Node] = [Guard("t1", 4, Leaf(9.0), Guard("t2", 8, Leaf(1.0), Leaf(2.0)))]
    first = Guard("t1", 8, Leaf(1.0), Guard("t2", 2, Leaf(1.0), Leaf(3.0), legal=False))
    b: list[Node] = [first, Guard("t2", 16, Leaf(1.0), Leaf(5.0), legal=False)]
    program = TableProgram({"a": a, "b": b})
    tuning = tune(program, ["a", "b"])
    assert not tuning.conflicts and all(d.served for d in tuning.datasets)
    assert len([dataset for dataset, _ in program.runs if dataset == "b"]) == 4
    alone = TableProgram({"b": b})
    tune(alone, ["b"])
    assert len(alone.runs) == 3


def test_what_ties_in_one_tree_says_nothing_of_another() -> None:
    """Of dataset a, both versions of t2 are as fast, which was seen with t1 not taken; best is t1 taken. That t1 and t2 have to do with
    each other shows on dataset b, which needs t1 not taken at 20."""
    a: list[Node] = [Guard("t1", 9, Leaf(1.0), Leaf(5.0)), Guard("t2", 3, Leaf(2.0), Leaf(2.0))]
    b: list[Node] = [Guard("t1", 20, Leaf(9.0), Guard("t2", 7, Leaf(1.0), Leaf(3.0)))]
    tuning = tune(TableProgram({"a": a, "b": b}), ["a", "b"])
    assert [str(conflict) for conflict in tuning.conflicts] == ["b needs t1 above 20; a needs t1 at most 9"]
    assert [d.served for d in tuning.datasets] == [False, True] and tuning.thresholds["t1"] > 20
    assert {box["t1"] for box in tuning.datasets[0].boxes} == {Interval(None, 9)}


def test_a_guard_that_is_never_legal_takes_no_run() -> None:
    nodes: list[Node] = [Guard("t", 4096, Leaf(1.0), Leaf(2.0), legal=False), Guard("u", 7, Leaf(1.0), Leaf(2.0))]
    program = TableProgram({"a": nodes}, tell_legal=True)
    tuning = tune(program, ["a"])
    assert len(program.runs) == 2 and tuning.thresholds == {"t": INFINITE, "u": 3}
    assert [(d.guard, d.values, d.tried, d.verdict) for d in tuning.datasets[0].decisions][1] == (
        "t",
        (4096,),
        (),
        "refused",
    )
    assert "  t at 4096: refused, any threshold in (-inf, inf]" in explanation(tuning)


def test_ties_leave_both_sides_open() -> None:
    """Dataset a does not care, so that b and c decide."""
    program = TableProgram(
        {"a": [chain(10, 50, 1.0, 1.0, 1.0)], "b": [chain(10, 50, 1.0, 2.0, 3.0)], "c": [chain(9, 70, 3.0, 1.0, 2.0)]}
    )
    tuning = tune(program, ["a", "b", "c"])
    assert not tuning.conflicts and tuning.thresholds["t1"] == 10
    assert tuning.datasets[0].decisions[0].verdict == "indifferent"


def test_the_conflict_names_datasets_guard_and_intervals() -> None:
    program = TableProgram({"small": [chain(10, 50, 1.0, 2.0, 3.0)], "large": [chain(100, 50, 3.0, 2.0, 1.0)]})
    tuning = tune(program, ["small", "large"])
    (conflict,) = tuning.conflicts
    assert str(conflict) == "small needs t1 at most 10; large needs t1 above 100"
    assert [d.served for d in tuning.datasets] == [True, False] and tuning.datasets[1].loss == 2.0


def test_a_dataset_that_loses_in_one_tree_is_served_in_the_others() -> None:
    """Two kernels: the datasets need opposite thresholds of the first one, and agree about the second one."""
    small: list[Node] = [Guard("a", 10, Leaf(1.0), Leaf(9.0)), Guard("b", 10, Leaf(9.0), Leaf(1.0))]
    large: list[Node] = [Guard("a", 10, Leaf(9.0), Leaf(1.0)), Guard("b", 40, Leaf(1.0), Leaf(9.0))]
    tuning = tune(TableProgram({"small": small, "large": large}), ["small", "large"])
    assert [d.served for d in tuning.datasets] == [True, False]
    assert [d.tuned_us for d in tuning.datasets] == [2.0, 10.0] and tuning.datasets[1].best_us == 2.0


def test_several_valleys_are_seen_and_every_candidate_is_tried() -> None:
    """The version wins at 1 and 2, loses at 3 to 6, and wins at 7: no single threshold says that."""
    costs = {1: 1.0, 2: 1.0, 3: 9.0, 4: 9.0, 5: 9.0, 6: 9.0, 7: 1.0, 8: 1.5}
    nodes: list[Node] = [Guard("t", v, Leaf(cost), Leaf(2.0)) for v, cost in costs.items()]
    program = TableProgram({"a": nodes})
    tuning = tune(program, ["a"])
    assert tuning.datasets[0].tuned_us == exhaustive(program.occasions).best["a"] == 6 * 2.0 + 1.0 + 1.5
    nodes[0:2] = [Guard("t", v, Leaf(-30.0 + v), Leaf(2.0)) for v in (1, 2)]
    (decision,) = tune(TableProgram({"a": nodes}), ["a"]).datasets[0].decisions
    assert decision.pieces == (1, 2, 7, 8)


def test_values_that_depend_on_a_choice_above_are_collected_again() -> None:
    """When t1 is taken, what follows meets larger values of t2, at which V2 wins."""
    after_v1 = Guard("t2", 500, Leaf(1.0), Leaf(5.0))
    otherwise = Guard("t2", 5, Leaf(9.0), Leaf(4.0))
    tuning = tune(TableProgram({"a": [Guard("t1", 10, after_v1, otherwise)]}), ["a"])
    assert tuning.datasets[0].tuned_us == 1.0
    assert [d.again for d in tuning.datasets[0].decisions] == [False, True, False]


def test_a_dataset_more_runs_only_that_one() -> None:
    occasions = {"a": [chain(10, 50, 3.0, 2.0, 1.0)], "b": [chain(400, 800, 1.0, 2.0, 3.0)]}
    first = tune(TableProgram(occasions), ["a"])
    program = TableProgram(occasions)
    both = tune(program, ["a", "b"], measured=first.measured)
    assert {name for name, _ in program.runs} == {"b"}
    assert both.thresholds == tune(TableProgram(occasions), ["a", "b"]).thresholds


def test_a_program_that_does_not_say_what_it_decided() -> None:
    """Futhark of earlier years: the run without thresholds tells values only, and one more run is the baseline."""
    program = TableProgram({"a": [chain(10, 50, 3.0, 2.0, 1.0)]}, tell=False)
    assert tune(program, ["a"]).datasets[0].tuned_us == 1.0
    assert len(program.runs) == 1 + 1 + 2


def test_runs_are_announced_before_they_are_made() -> None:
    program = TableProgram({"a": [chain(10, 50, 3.0, 2.0, 1.0)], "b": [chain(40, 50, 3.0, 2.0, 1.0)] * 3})
    said: list[tuple[str, int]] = []
    tune(program, ["a", "b"], say=lambda text: said.append((text, len(program.runs))))
    assert said[0][1] == 0 and said[0][0].startswith("2 runs first")
    assert said[1] == (
        "at most 4 configurations more: a 2 (2 thresholds), b 2 (2 thresholds); repeats and values collected again not counted",
        2,
    )
    assert len(program.runs) == 2 + 4


@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_noise_changes_no_decision(noise: float) -> None:
    """Differences beyond the stated resolution are decided alike for 99 of 100 seeds."""
    from kernelwright.versions.resolution import Resolution

    rule = Resolution.noisy(0.1, most_runs=60)
    occasions = {
        "a": [chain(10, 50, 1.1, 1.0, 2.0)],
        "b": [chain(300, 900, 1.0, 1.12, 3.0)],
        "c": [Guard("t1", v, Leaf(1.0 if v >= 60 else 3.0), Leaf(2.0)) for v in (40, 60)],
    }
    exact = tune(TableProgram(occasions), list(occasions)).intervals
    found = [tune(TableProgram(occasions, noise, seed), list(occasions), rule).intervals for seed in range(100)]
    assert sum(intervals == exact for intervals in found) >= 99


def test_equal_times_tie_under_noise() -> None:
    from kernelwright.versions.resolution import Resolution

    rule = Resolution.noisy(0.1, most_runs=100)
    occasions = {"a": [chain(10, 50, 1.0, 1.0, 1.0)]}
    verdicts = [
        [d.verdict for d in tune(TableProgram(occasions, 0.03, seed), ["a"], rule).datasets[0].decisions]
        for seed in range(100)
    ]
    assert sum(v == ["indifferent", "indifferent"] for v in verdicts) >= 99


def test_of_sets_as_large_the_one_is_served_that_costs_the_others_the_least() -> None:
    """Whatever comes first: a gains next to nothing by what costs b nine times its time."""
    a, b = [Guard("t1", 10, Leaf(1.0), Leaf(1.0004))], [Guard("t1", 20, Leaf(9.0), Leaf(1.0))]
    for occasions in ({"a": a, "b": b}, {"b": b, "a": a}):
        nodes: dict[str, list[Node]] = {name: list(each) for name, each in occasions.items()}
        tuning = tune(TableProgram(nodes), list(nodes))
        assert {d.name: d.tuned_us for d in tuning.datasets} == {"a": 1.0004, "b": 1.0}
        assert [d.name for d in tuning.datasets if not d.served] == ["a"] and tuning.runs == 4
