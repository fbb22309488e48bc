"""The benchmark's exhaustive search and black box, on programs that are tables."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.bench.result import Measured
from kernelwright.bench.tune import black_box, measure, progress
from kernelwright.bench.tune.dataset_rows import Worst
from kernelwright.bench.tune.effort_ratios import EffortRatios
from kernelwright.bench.tune.measure import known_programs
from kernelwright.bench.tune.measured_program import MOST_ENUMERATED, MeasuredProgram
from kernelwright.bench.tune.progress import ProgramResult, Progress
from kernelwright.bench.tune.sizes import SIZES, left_out_rows
from kernelwright.errors import Misuse
from kernelwright.suite.multiversion.table import PROGRAMS, MultiVersionProgram
from kernelwright.versions.program import INFINITE
from tests.versions.table_programs import Guard, Leaf, Node, TableProgram, exhaustive, monotone_occasion, shape


def random_nodes(seed: int) -> list[Node]:
    generator = random.Random(seed)
    forest = shape(generator.randrange(1, 4), generator)
    crossovers = {name: generator.choice((0, 5, 20)) for name, _, _ in forest}
    repeats = generator.randrange(1, 3)
    return [monotone_occasion(forest, 0, crossovers, generator, generator.randrange(1, 10**6)) for _ in range(repeats)]


@settings(deadline=None)
@given(st.integers(0, 10**9))
def test_paths_are_enumerated(seed: int) -> None:
    """As all assignments of thresholds are, one by one, by another program."""
    nodes = random_nodes(seed)
    measured = MeasuredProgram(TableProgram({"a": nodes}))
    measured.tuned(("a",))
    found = measured.least_us("a")
    assert found is not None and found[1] == exhaustive({"a": nodes}).best["a"]


def test_too_many_paths_are_not_enumerated() -> None:
    nodes: list[Node] = [Guard(f"t{n}", 4, Leaf(1.0), Leaf(2.0)) for n in range(7)]
    measured = MeasuredProgram(TableProgram({"a": nodes}))
    measured.tuned(("a",))
    assert MOST_ENUMERATED < 2**7 and measured.least_us("a") is None


def two_sizes() -> MeasuredProgram:
    """The first version is the best for the one dataset, the second for the other."""
    first: list[Node] = [Guard("t1", 10, Leaf(3.0), Guard("t2", 50, Leaf(2.0), Leaf(9.0)))]
    second: list[Node] = [Guard("t1", 20, Leaf(1.0), Guard("t2", 30, Leaf(4.0), Leaf(5.0)))]
    return MeasuredProgram(TableProgram({"a": first, "b": second}))


needs_opentuner = pytest.mark.skipif(importlib.util.find_spec("opentuner") is None, reason="OpenTuner is not installed")


@needs_opentuner
def test_the_black_box_finds_what_a_small_table_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(black_box, "MOST_REQUESTS", 30)
    measured = two_sizes()
    tuning = measured.tuned(("a", "b"))
    assert sum(d.tuned_us for d in tuning.datasets) == 3.0
    found = black_box.searched(measured, ("a", "b"), 3.0, 1e9, 1)
    assert found.best_us == 3.0 and found.at_equal is not None and not found.cut
    assert 4 <= found.at_equal.runs <= found.at_end.runs
    assert 2 <= found.at_end.asked < 30 + 4  # the last generation is finished
    assert found.at_end.seconds > found.at_end.own_s > 0
    again = black_box.searched(measured, ("a", "b"), 3.0, 1e9, 1)
    assert (again.at_end.asked, again.at_end.runs) == (found.at_end.asked, found.at_end.runs)
    cut = black_box.searched(measured, ("a", "b"), 3.0, 0.0, 1)
    assert cut.cut and cut.at_end.asked == 1


def test_sizes_left_out_meet_thresholds_of_the_others() -> None:
    """The version wins from 30 up: without 20 the threshold is 12, without 40 it is 42, and the path of each is run where it is not
    known."""
    occasions: dict[str, list[Node]] = {
        str(value): [Guard("t", value, Leaf(1.0 if value >= 30 else 3.0), Leaf(2.0))] for value in (4, 20, 40, 90)
    }
    rows = left_out_rows("table", TableProgram(occasions), tuple(occasions))
    assert [(row["size left out"], row["of its best"]) for row in rows] == [
        ("4", 1.0), ("20", 1.5), ("40", 2.0), ("90", 1.0),
    ]  # fmt: skip


def test_sizes_and_large_data_belong_to_programs_there_are() -> None:
    assert set(SIZES) == set(PROGRAMS) and all(len(set(sizes)) == len(sizes) >= 4 for sizes in SIZES.values())
    assert all(set(PROGRAMS[name].datasets) <= {*sizes, "2 8192 1 4"} for name, sizes in SIZES.items())
    with pytest.raises(Misuse, match="there is no program 'ludd' of several versions"):
        known_programs(["lud", "ludd"])


def test_a_black_box_that_fails_is_no_search_that_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(3)")
    monkeypatch.setattr(black_box, "SCRIPT", script)
    measured = two_sizes()
    measured.tuned(("a", "b"))
    with pytest.raises(RuntimeError, match="OpenTuner failed, with exit code 3"):
        black_box.searched(measured, ("a", "b"), 3.0, 1e9, 1)


def test_a_new_combination_of_paths_runs_every_dataset() -> None:
    measured = two_sizes()
    measured.tuned(("a", "b"))
    search = black_box._Search(measured, ("a", "b"))
    assert search.effort().runs == 2  # untuned
    never = INFINITE
    assert search.time_us({"t1": never, "t2": never}) == 14.0 and search.effort().runs == 4
    assert search.time_us({"t1": never, "t2": 51}) == 14.0 and search.effort().runs == 4  # the same paths
    assert search.time_us({"t1": never, "t2": 40}) == 7.0 and search.effort().runs == 6  # b as before, and run again
    assert search.effort().asked == 3 and search.effort().program_us == 14.0 + 14.0 + 7.0


def test_ratios_of_efforts() -> None:
    ours = black_box.Effort(0, 10, 100.0, 0.0, 2.0)
    ends = black_box.Effort(50, 40, 200.0, 8.0, 12.0), black_box.Effort(50, 30, 300.0, 8.0, 10.0)
    searches = [
        black_box.Searched(1, 5.0, ends[0], black_box.Effort(5, 5, 50.0, 0.5, 1.0), True),
        black_box.Searched(2, 6.0, ends[1], None, False),
    ]
    ratios = EffortRatios()
    assert ratios.mean_time() is None and ratios.notes() == []
    ratios.add(ours, searches, 4.0)
    assert ratios.mean_time() == 5.0  # of the best seed
    assert ratios.at_end == [{"runs": 3.0, "program time": 2.0, "tuning time": 5.0}]
    assert ratios.at_equal == [{"runs": 0.5, "program time": 0.5, "tuning time": 0.5}]
    assert ratios.at_end_most == [{"runs": 4.0, "program time": 3.0, "tuning time": 6.0}]
    text = " ".join(ratios.notes())
    assert "of the worst seed: 4 in runs, 3 in program time, 6 in tuning time" in text
    assert "beside the slowest of our passes: 2.5 in tuning time" in text
    assert "1 of 2 searches were ended" in text and "1 of 2 searches became so" in text


def program_result(name: str, seconds: float = 2.0, *, most: float = 1.0) -> ProgramResult:
    """OpenTuner takes 20 s and 24 s; the second seed does not become as good as ours."""
    ends = [black_box.Effort(50, 40, 200.0, 8.0, taken) for taken in (20.0, 24.0)]
    searches = [
        black_box.Searched(1, 5.0, ends[0], black_box.Effort(5, 5, 50.0, 0.5, 1.0), False),
        black_box.Searched(2, float("inf"), ends[1], None, True),
    ]
    rows = [{"program": name, "dataset": "a"}]
    effort = black_box.Effort(0, 10, 100.0, 0.0, seconds)
    return ProgramResult(name, rows, [{"program": name, "its s": "20"}], [], Worst(most), 0, effort, 4.0, searches)


def test_what_was_measured_before_an_interruption_is_not_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    asked: list[str] = []
    said: list[str] = []

    def measured(program: MultiVersionProgram, *_: object) -> ProgramResult:
        asked.append(program.name)
        if asked == ["mapscan1", "nw"]:
            raise KeyboardInterrupt
        return program_result(program.name)

    monkeypatch.setattr(measure, "_measured", measured)
    with pytest.raises(KeyboardInterrupt):
        measure.measure(True, said.append)
    [path] = (tmp_path / "bench").iterdir()
    assert "ended (KeyboardInterrupt) with 1 programs measured; run it again to go on" in said
    with path.open("a") as file:
        file.write('\n{"name": "nw", "ro')  # killed while it wrote
    result = measure.measure(True, said.append)
    assert asked == ["mapscan1", "nw", "nw"] and "measured before: mapscan1" in said
    assert [row["program"] for row in result.rows] == ["mapscan1", "nw", "mapscan1", "nw"]
    assert not path.exists()  # it came to its end: the next one measures anew


def test_other_sources_measure_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    one = Progress(False, True, lambda _: None).path
    assert one == Progress(False, True, lambda _: None).path != Progress(True, True, lambda _: None).path
    assert one != Progress(False, False, lambda _: None).path
    monkeypatch.setattr(progress, "tool_versions", lambda: {"kernelwright": "another"})
    assert one != Progress(False, True, lambda _: None).path


def test_what_is_kept_is_what_was_found() -> None:
    found = program_result("nw")
    assert ProgramResult.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_the_promise_is_of_all_programs() -> None:
    both = [program_result("nw"), program_result("lud", 5.0, most=1.5)]
    for whole, held in ((True, True), (False, None)):
        result = Measured("tune")
        measure.add_results(result, both, whole=whole)
        promises = {p.name: p for p in result.promises}
        mean = promises["OpenTuner's tuning time until it stops over ours, mean of programs"]
        assert mean.holds is held and (mean.value == 7.0) is whole  # 20 s over 2 s, and over 5 s
        assert promises["configurations of a dataset, as a share of those promised"].value == 1.5
