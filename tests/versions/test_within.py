"""A tuning that is cut off after any number of runs: what it keeps, and that it goes on from there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import Misuse
from kernelwright.versions.explanation import as_json, explanation
from kernelwright.versions.program import INFINITE
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.thresholds import Tuning, tune
from tests.versions.table_programs import Guard, Leaf, Node, TableProgram, spoiled, walk
from tests.versions.test_thresholds import chain, random_program


def cut(program: TableProgram, after: int, measured: Tuning | None = None, rule: Resolution | None = None) -> Tuning:
    """Tuned with a clock that counts runs."""
    end = len(program.runs) + after
    known = measured.measured if measured is not None else None
    return tune(program, list(program.occasions), rule, measured=known, is_over=lambda: len(program.runs) >= end)


@given(st.integers(0, 10**9), st.booleans())
def test_what_is_tuned_in_time_is_tuned_as_if_the_others_were_not_there(seed: int, same_crossovers: bool) -> None:
    """After whatever number of runs; and going on comes to what there would have been, with no run more."""
    occasions = random_program(seed, same_crossovers)
    whole = TableProgram(occasions)
    reference = tune(whole, list(occasions))
    for after in range(len(whole.runs) + 1):
        program = TableProgram(occasions)
        tuning = cut(program, after)
        done = [dataset.name for dataset in tuning.datasets]
        assert sorted([*done, *tuning.not_done]) == sorted(occasions)
        # Beyond the time: for each dataset that is done the run that tells what the thresholds come to.
        assert len(program.runs) <= after + len(done)
        if done:
            alone = tune(TableProgram(occasions), done)
            assert {d.name: d.best_us for d in tuning.datasets} == {d.name: d.best_us for d in alone.datasets}
            assert sum(d.served for d in tuning.datasets) == sum(d.served for d in alone.datasets)
            for dataset in tuning.datasets:
                assert walk(occasions[dataset.name], tuning.thresholds)[1] == dataset.tuned_us
        if tuning.not_done:
            rest = cut(program, 10**9, tuning)
            assert rest.thresholds == reference.thresholds and not rest.not_done
            assert len(program.runs) <= len(whole.runs) + len(done)


@given(st.integers(0, 10**9))
def test_versions_that_fail_are_cut_off_alike(seed: int) -> None:
    import random

    generator = random.Random(seed)
    occasions = {
        name: [spoiled(node, generator) for node in nodes[:2]]
        for name, nodes in random_program(seed, same_crossovers=False).items()
    }
    try:
        reference = tune(whole := TableProgram(occasions), list(occasions))
    except Misuse:
        return
    program, tuning = TableProgram(occasions), None
    for _ in range(len(whole.runs) + 1):
        tuning = cut(program, 2, tuning)
        if not tuning.not_done:
            break
    assert tuning is not None and not tuning.not_done
    assert {d.name: d.best_us for d in tuning.datasets} == {d.name: d.best_us for d in reference.datasets}


def test_the_thresholds_tell_of_no_guard_that_only_others_meet() -> None:
    """Dataset b meets t3, and is not tuned: nothing is said of t3, not even that it is never taken."""
    b: list[Node] = [chain(400, 800, 1.0, 2.0, 3.0), Guard("t3", 9, Leaf(1.0), Leaf(2.0))]
    program = TableProgram({"a": [chain(10, 50, 3.0, 2.0, 1.0)], "b": b})
    tuning = cut(program, 4)
    assert tuning.not_done == ("b",) and tuning.thresholds == {"t1": INFINITE, "t2": INFINITE}
    assert "b was not tuned in time: the thresholds know nothing of it" in explanation(tuning)
    assert as_json(tuning)["not_done"] == ["b"]
    assert cut(program, 10**9, tuning).thresholds["t3"] == 4


def test_no_time_at_all() -> None:
    program = TableProgram({"a": [chain(10, 50, 3.0, 2.0, 1.0)]})
    for after in (0, 1):
        tuning = cut(program, after)
        assert (tuning.datasets, tuning.thresholds, tuning.not_done) == ((), {}, ("a",))
    assert len(program.runs) == 1


@pytest.mark.parametrize("after", range(0, 60, 7))
def test_repeats_against_noise_end_in_time(after: int) -> None:
    """A configuration that is begun gets its first runs; after that the clock is asked."""
    occasions: dict[str, list[Node]] = {"a": [chain(10, 50, 1.0, 1.001, 1.0)]}
    program = TableProgram(occasions, noise=0.05)
    rule = Resolution.noisy(0.02, most_runs=40)
    tuning = cut(program, after, rule=rule)
    assert len(program.runs) <= after + rule.least_runs
    if tuning.not_done:
        assert not cut(program, 10**9, tuning, rule).not_done
