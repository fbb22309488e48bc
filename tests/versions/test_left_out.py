"""What thresholds do for a dataset that they were not tuned on."""

from __future__ import annotations

from kernelwright.versions.explanation import as_json, explanation
from kernelwright.versions.left_out import left_out
from kernelwright.versions.thresholds import tune
from tests.versions.table_programs import Guard, Leaf, Node, TableProgram


def guard(value: int, taken: float | None, rest: float) -> list[Node]:
    return [Guard("t", value, Leaf(taken), Leaf(rest))]


def test_sizes_next_to_the_crossover_are_missed_and_the_others_are_not() -> None:
    """The version wins from 30 up. Without 20, the threshold is 12, between 4 and 40; without 40 it is 42, between 20 and 90."""
    occasions = {
        "4": guard(4, 3.0, 2.0),
        "20": guard(20, 3.0, 2.0),
        "40": guard(40, 1.0, 2.0),
        "90": guard(90, 1.0, 2.0),
    }
    tuning = tune(TableProgram(occasions), list(occasions))
    found = left_out(tuning)
    assert [each.is_best for each in found] == [True, False, False, True]
    assert str(found[1]) == "20: thresholds of the others cost 50.0 % of its best time"
    lines = explanation(tuning)
    assert "of 4 datasets left out in turn, thresholds of the others are best for 2" in lines
    assert [each["is_best"] for each in as_json(tuning)["left_out"]] == [True, False, False, True]


def test_a_failure_is_told_and_two_datasets_are_too_few() -> None:
    occasions = {"4": guard(4, 3.0, 2.0), "20": guard(20, None, 2.0), "40": guard(40, 1.0, 2.0)}
    tuning = tune(TableProgram(occasions), list(occasions))
    assert str(left_out(tuning)[1]) == "20: fails with thresholds of the others"
    assert left_out(tune(TableProgram(occasions), ["4", "40"])) == []


def test_nothing_is_run_and_nothing_that_was_measured_changes() -> None:
    occasions = {"4": guard(4, 3.0, 2.0), "20": guard(20, 3.0, 2.0), "40": guard(40, 1.0, 2.0)}
    program = TableProgram(occasions)
    tuning = tune(program, list(occasions))
    before, runs = [len(found) for found in tuning.measured.values()], len(program.runs)
    left_out(tuning)
    assert [len(found) for found in tuning.measured.values()] == before and len(program.runs) == runs


def test_the_plot_has_a_bar_for_each_dataset() -> None:
    from kernelwright.report import figures

    svg = figures.left_out([("4", 1.0), ("20", 1.5), ("40", None)])
    assert svg.startswith("<svg") and "dataset left out" in svg
