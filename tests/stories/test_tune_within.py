"""``kw tune --within``: what is kept where time is up, and what is not overwritten."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import typer

from kernelwright.errors import Misuse
from kernelwright.stories.tune import explained, tune_program
from kernelwright.versions.threshold_file import read_thresholds
from kernelwright.versions.thresholds import Tuning
from tests.stories.test_tune import EXACT, Bench


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs go to ``kw-runs`` there."""
    monkeypatch.chdir(tmp_path)


def tune_for(bench: Bench, runs: int, *shapes: str, **more: object) -> tuple[Tuning, list[str]]:
    """Tuned with a clock that counts runs of the program, and what was said."""
    data, said = [bench.data(shape) for shape in shapes], []
    left = iter(range(runs))
    tuning = tune_program(
        bench.subject(),
        data,
        EXACT,
        say=said.append,
        is_over=lambda: next(left, None) is None,
        **more,  # type: ignore[arg-type]
    )
    return tuning, said


def test_what_was_tuned_in_time_is_written_and_gone_on_from(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    tuning, said = tune_for(bench, 5, "1000x2", "8x500")  # both untuned, two more of the first, one of the second
    first, second = str(tmp_path / "1000x2"), str(tmp_path / "8x500")
    assert [d.name for d in tuning.datasets] == [first] and tuning.not_done == (second,)
    assert said[-1] == f"{bench.path} has what was tuned in time: {first}"
    assert read_thresholds(bench.path) == tuning.thresholds
    assert f"{second} was not tuned in time: the thresholds know nothing of it" in explained(bench.path)["lines"]
    before = bench.runs("1000x2"), bench.runs("8x500")
    assert before == (3, 2)
    both = bench.tune()  # The evidence knows the datasets.
    assert [d.name for d in both.datasets] == [first, second] and not both.not_done
    # Outputs are compared with those of the untuned program, which runs once more where something is new.
    assert (bench.runs("1000x2"), bench.runs("8x500")) == (3, 4)
    assert both.thresholds == Bench(tmp_path).tune("1000x2", "8x500", fresh=True).thresholds


def test_a_file_that_knows_more_is_not_overwritten(tmp_path: Path) -> None:
    """It was tuned on a dataset that has changed, and is not done again; nor does --fresh replace it by a part."""
    bench = Bench(tmp_path)
    bench.tune("1000x2", "8x500")
    held, lines = bench.path.read_text(), explained(bench.path)["lines"]
    (tmp_path / "8x500").write_text("9x500")
    data = [str(tmp_path / name) for name in ("1000x2", "8x500")]
    said: list[str] = []
    tuning = tune_program(bench.subject(), data, EXACT, say=said.append, is_over=lambda: True)
    assert [d.name for d in tuning.datasets] == data[:1] and tuning.not_done == (data[1],)
    assert said[-1] == f"{bench.path} stays as it is: it was tuned on {data[1]}, which is not done"
    assert bench.path.read_text() == held and explained(bench.path)["lines"] == lines
    _, said = tune_for(bench, 5, "1000x2", "4x4", fresh=True)
    assert said[-1] == f"{bench.path} stays as it is: --fresh replaces it when all datasets are tuned"
    assert bench.path.read_text() == held and not list(tmp_path.glob("*before*"))


def test_a_dataset_more_that_is_not_done_takes_nothing_away(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tune("1000x2")
    bench.path.write_text(bench.path.read_text() + "kept=6\n")
    held = read_thresholds(bench.path)
    tuning, _ = tune_for(bench, 1, "8x500")
    assert tuning.not_done == (str(tmp_path / "8x500"),) and read_thresholds(bench.path) == held


def test_no_time_for_any_dataset(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    tuning, said = tune_for(bench, 0, "1000x2")
    assert not tuning.datasets and said[-1] == f"{bench.path} stays as it is: no dataset was tuned in time"
    assert not bench.path.exists()
    with pytest.raises(Misuse, match="was interrupted"):
        explained(bench.path)
    assert bench.tune().datasets[0].tuned_us == 200


def test_the_command_goes_on_with_a_run_that_had_no_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from kernelwright.cli.commands.runs import command as list_runs
    from kernelwright.cli.commands.tune.command import command

    bench = Bench(tmp_path)
    execute = f"{sys.executable} {bench.source} {{data}}"
    data = [bench.data(shape) for shape in ("1000x2", "8x500")]
    with pytest.raises(typer.Exit) as caught:
        command(None, execute, data, bench.path, runs=1, within=1e-6)
    said = capsys.readouterr()
    assert caught.value.exit_code == 1 and "no dataset was tuned in time" in said.err
    assert f"not tuned in time: {data[0]}, {data[1]}; kw tune --resume " in said.out
    list_runs(as_json=True)
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["state"], row["candidates"]) == ("resumable", 0)
    command(resume=row["run"], as_json_=True, within=1e6)
    found = json.loads(capsys.readouterr().out)
    assert [d["tuned_us"] for d in found["datasets"]] == [200, 4050] and found["not_done"] == []
    for wrong in (0.0, -1.0, float("nan"), float("inf"), 1e300):
        with pytest.raises(Misuse, match="are positive"):
            command(None, execute, data, bench.path, within=wrong)
        with pytest.raises(Misuse, match="are positive"):
            command(None, execute, data, bench.path, timeout=wrong)
