"""Time and error of the fittest by generation, and what a transfer to larger data is in words."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.run.journal import Row
from kernelwright.evaluate.run.variant_run import VariantRun
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.by_generation import Fittest, by_generation, transfer_in_words


def run_of(*rows: tuple[int, Outcome]) -> VariantRun[Any]:
    made = [
        Row(n, 1, 0.0, [n], f"h{n}", f"k{n}", "evolve", outcome, {"generation": generation})
        for n, (generation, outcome) in enumerate(rows, start=1)
    ]
    return cast(VariantRun[Any], SimpleNamespace(searched=lambda: iter(made)))


def test_the_fittest_of_a_generation_is_the_fastest_until_its_end_with_its_own_error() -> None:
    wrong = Rejected("compare", "another output")
    run = run_of(
        (0, Ok(10.0, 0.0)), (0, Ok(9.0, 0.0)), (1, wrong), (1, Ok(8.0, 0.01)), (1, Ok(8.5, 0.0)), (2, Ok(8.2, 0.002)), (3, Ok(7.0, 0.001))
    )  # fmt: skip
    assert by_generation(run) == [
        Fittest(0, 9.0, 0.0), Fittest(1, 8.0, 0.01), Fittest(2, 8.0, 0.01), Fittest(3, 7.0, 0.001),
    ]  # fmt: skip


def test_a_generation_that_accepted_nothing_has_no_line() -> None:
    assert by_generation(run_of((0, Ok(10.0, 0.0)), (1, Rejected("compare", "no")))) == [Fittest(0, 10.0, 0.0)]
    assert by_generation(run_of()) == []


def test_a_run_ends_with_its_fastest(finished_run: Path) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        lines = by_generation(run)
        assert [line.time_us for line in lines] == sorted((line.time_us for line in lines), reverse=True)
        assert lines[-1].time_us == min(found.outcome.time_us for found in run.accepted)


TRANSFER = {
    "data": "3,000 deformed digits", "time_us": [200.0, 160.0], "error": [0.06, 0.0625], "launches": 1200, "exchanged": 1100,
    "flags": "",
}  # fmt: skip


def test_a_transfer_says_time_error_and_launches() -> None:
    assert transfer_in_words(TRANSFER) == (
        "on 3,000 deformed digits, the whole program: 1.250x (200 us became 160 us in kernels), its own error 6.00 % before, 6.25 % "
        "with it; it ran in 1,100 of 1,200 launches of its kernels"
    )


def test_it_says_that_compile_flags_are_in_it() -> None:
    said = transfer_in_words(TRANSFER | {"flags": "--without dse"})
    assert said.startswith("on 3,000 deformed digits, the whole program, compile flags --without dse included: 1.250x")


@pytest.mark.parametrize("why", ["the program is not there any more", "it took longer than 900 s"])
def test_a_transfer_that_failed_says_why(why: str) -> None:
    assert transfer_in_words({"data": "3,000 deformed digits", "why": why}) == f"on 3,000 deformed digits: {why}"
