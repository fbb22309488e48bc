"""The score: the geometric mean of the speed-ups on the data sets."""

import math
from pathlib import Path

import pytest

from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.outcome import Metrics, Ok
from kernelwright.evaluate.timing.data_sets import as_figures, mean_us, per_set, speedups_by_set, together
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.ir import parse_module


def outcome(*times_us: float) -> Ok:
    return Ok(mean_us(times_us), 0.0, Metrics(as_figures(times_us)))


def test_cases_are_summed_by_their_set() -> None:
    assert per_set([1.0, 10.0, 2.0, 30.0], [0, 1, 0, 1]) == [3.0, 40.0]


def test_a_large_set_weighs_no_more_than_a_small_one() -> None:
    original, large, small = outcome(1000.0, 1.0), outcome(500.0, 1.0), outcome(1000.0, 0.5)
    assert large.time_us == pytest.approx(small.time_us)
    assert original.time_us / large.time_us == pytest.approx(math.sqrt(2))


def test_one_set_is_its_time_and_has_no_figures_of_its_own() -> None:
    assert outcome(7.25).time_us == 7.25 and not outcome(7.25).metrics
    assert speedups_by_set(outcome(10.0), outcome(8.0), 10.0) == [1.25]


def test_speedups_by_set_have_the_score_for_their_mean() -> None:
    original, found, base_us = (
        outcome(900.0, 10.0, 3.0),
        outcome(600.0, 11.0, 2.0),
        0.97 * outcome(900.0, 10.0, 3.0).time_us,
    )
    gains = speedups_by_set(original, found, base_us)
    assert gains[0] == pytest.approx(1.5 * 0.97) and gains[1] < 1
    assert math.prod(gains) ** (1 / 3) == pytest.approx(base_us / found.time_us)


def test_where_no_launch_fits_the_first_version_the_second_runs() -> None:
    original = outcome(100.0, 100.0, 100.0)
    first, second = outcome(50.0, 100.0, 99.0), outcome(80.0, 80.0, 80.0)
    base_us = 0.9 * original.time_us  # as compiled the program is faster still
    by_set = [speedups_by_set(original, each, base_us) for each in (first, second, original)]
    expected = math.prod([100 / 50, 100 / 80, 100 / 99]) ** (1 / 3) * 0.9  # the third set fits in part
    assert together(*by_set) == pytest.approx(expected)
    assert together([1.5], [1.2], [1.0]) == 1.5 and together([1.0], [1.2], [1.0]) == 1.2


def test_a_data_set_that_is_recorded_twice_is_one(recorded: Path) -> None:
    with Capture.read(recorded) as first, Capture.read(recorded) as again:

        def cases(capture: Capture, *numbers: int) -> list[RecordedCase]:
            launches = [capture.launches[number] for number in numbers]
            modules = [parse_module(capture.ir(launch.module)) for launch in launches]
            return [RecordedCase(capture, launch, module) for launch, module in zip(launches, modules, strict=True)]

        def of(*cases: RecordedCase) -> Workload:
            return Workload(recorded, "", cases)

        assert of(*cases(first, 0, 2), *cases(again, 0, 2)).repeated_sets == (1,)
        # Near misses: other launches of the same program, one launch more, and a set by itself.
        assert of(*cases(first, 0), *cases(again, 2)).repeated_sets == ()
        assert of(*cases(first, 0, 2), *cases(again, 0)).repeated_sets == ()
        assert of(*cases(first, 0, 2)).repeated_sets == ()
