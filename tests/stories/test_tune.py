"""``kw tune --exec``: programs that speak the line protocol, their threshold files, and what goes wrong in them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import kernelwright
from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.program_case import Reader
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.stories.tune import Subject, explained, tune_program
from kernelwright.versions.program import INFINITE
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.running.external_program import ExternalProgram
from kernelwright.versions.threshold_file import Identity, read_thresholds
from kernelwright.versions.thresholds import Tuning

PROGRAM = """
import os, sys, time
given = dict(line.split("=") for line in open(os.environ["KW_THRESHOLDS"]).read().split())
rows, columns = (int(n) for n in open(sys.argv[1]).read().split("x"))
with open(sys.argv[1] + ".runs", "a") as log:
    log.write("run\\n")
def guard(name, value):
    taken = value >= int(given.get(name, 2**63 - 1))
    print(f"Compared {name} <= {value}: {str(taken).lower()}.", file=sys.stderr)
    return taken
if guard("rows", rows):
    took, result = columns * 100, rows * columns
elif guard("elements", rows * columns):
    took, result = rows * 10 + columns * 20, WRONG
else:
    took, result = rows * columns + 50, rows * columns
if CRASH:
    os.abort()
print("result", result)
print(f"Took {took} us.", file=sys.stderr)
"""
EXACT = Resolution.exact()


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs go to ``kw-runs`` there."""
    monkeypatch.chdir(tmp_path)


class Bench:
    """A folder with the program and its datasets."""

    def __init__(self, folder: Path, wrong: str = "rows * columns", crash: str = "False") -> None:
        self.folder = folder
        self.source = folder / "program.py"
        self.source.write_text(PROGRAM.replace("WRONG", wrong).replace("CRASH", crash))
        self.path = folder / "program.tuning"

    def data(self, shape: str) -> str:
        path = self.folder / shape
        path.write_text(shape)
        return str(path)

    def runs(self, shape: str) -> int:
        return len((self.folder / f"{shape}.runs").read_text().splitlines())

    def subject(
        self,
        device: str = "here",
        digest: str = "1",
        files: dict[str, Reader] | None = None,
        calibration: str = "",
    ) -> Subject:
        command = f"{sys.executable} {self.source} {{data}}"
        program = CheckedProgram(ExternalProgram(command, timeout_s=20, files=files), parse_rule("relative 1e-5"))
        return Subject(program, Identity(command, device, digest, calibration), self.path, remarks=program.remarks)

    def tune(self, *shapes: str, **more: object) -> Tuning:
        return tune_program(self.subject(), [self.data(s) for s in shapes], EXACT, **more)  # type: ignore[arg-type]


def test_thresholds_are_found_and_written(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    tuning = bench.tune("1000x2", "8x500")
    assert [d.tuned_us for d in tuning.datasets] == [200, 4050]
    assert [d.untuned_us for d in tuning.datasets] == [2050, 4050]
    assert read_thresholds(bench.path) == tuning.thresholds
    assert bench.path.read_text().startswith(f"-- thresholds of {sys.executable} {bench.source} {{data}}\n-- on here\n")
    assert bench.runs("1000x2") == bench.runs("8x500") == 3
    assert "rows" in "\n".join(explained(bench.path)["lines"])


def test_a_dataset_more_runs_only_that_one_and_keeps_the_others(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tune("1000x2")
    tuning = bench.tune("8x500")
    assert [Path(d.name).name for d in tuning.datasets] == ["1000x2", "8x500"]
    assert bench.runs("1000x2") == 3
    assert tuning.thresholds == Bench(tmp_path).tune("1000x2", "8x500", fresh=True).thresholds


def test_a_version_with_another_output_is_excluded_and_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, wrong="rows * columns + 1")
    (dataset,) = bench.tune("100x100").datasets
    assert dataset.tuned_us == 10000 and not any(
        d.verdict == "taken" for d in dataset.decisions if d.guard == "elements"
    )
    assert dataset.failures[0].startswith("elements=10000: compare: its output differs from that of the first version")


def test_versions_that_agree_against_the_first_one_are_named(tmp_path: Path) -> None:
    """The untuned version is the wrong one: with an oracle it would be the one that is excluded."""
    bench = Bench(tmp_path)
    text = bench.source.read_text()
    bench.source.write_text(text.replace("rows * columns + 50, rows * columns", "rows * columns + 50, 0"))
    (dataset,) = bench.tune("100x100").datasets
    assert dataset.tuned_us == 10050 and len(dataset.failures) == 2
    assert "give the right output with --oracle" not in dataset.failures[0]
    assert "give the right output with --oracle" in dataset.failures[1]


def test_a_version_that_writes_nan_is_excluded_and_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, wrong='"NaN"')
    (dataset,) = bench.tune("100x100").datasets
    assert dataset.tuned_us == 10000 and len(dataset.failures) == 1
    assert dataset.failures[0].startswith("elements=10000: compare: its output differs from that of the first version")
    assert "= nan, expected 10000" in dataset.failures[0]


def test_an_untuned_program_that_writes_nan_is_no_standard(tmp_path: Path) -> None:
    """It ends with exit code 0, and is the first that runs: its NaN are compared with, unless another version has numbers."""
    bench = Bench(tmp_path)
    text = bench.source.read_text()
    bench.source.write_text(text.replace("rows * columns + 50, rows * columns", "rows * columns + 50, float('nan')"))
    (dataset,) = bench.tune("100x100").datasets
    assert dataset.untuned_us == float("inf") and dataset.tuned_us == 3000
    assert [failure.partition(":")[0] for failure in dataset.failures] == ["no version taken"]
    assert "differs from that of a version that computes numbers where others have NaN" in dataset.failures[0]
    again = bench.tune("100x100").datasets[0]
    assert (again.tuned_us, again.failures) == (dataset.tuned_us, dataset.failures)


def test_nan_in_every_version_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.source.write_text(bench.source.read_text().replace('print("result", result)', 'print("result", "-nan 7")'))
    said: list[str] = []
    (dataset,) = bench.tune("100x100", say=said.append).datasets
    assert dataset.tuned_us == 3000 and not dataset.failures
    assert any("1 of the numbers are NaN or infinite in every version" in line for line in said)


def test_files_that_a_program_writes_are_compared(tmp_path: Path) -> None:
    """Its standard output is the same from all versions."""
    bench = Bench(tmp_path, wrong="rows * columns + 1")
    to_file = 'open(sys.argv[1] + ".out", "w").write(str(result)); print("done")'
    bench.source.write_text(bench.source.read_text().replace('print("result", result)', to_file))
    data, said = bench.data("100x100"), []
    assert tune_program(bench.subject(), [data], EXACT, say=said.append, fresh=True).datasets[0].tuned_us == 3000
    assert any("only words are compared: the program prints no number" in line for line in said)
    (dataset,) = tune_program(bench.subject(files={"{data}.out": "text"}), [data], EXACT, fresh=True).datasets
    assert dataset.tuned_us == 10000 and "{data}.out error" in dataset.failures[0]
    with pytest.raises(
        Misuse, match="its output cannot be read: ValueError: its 5 bytes are no whole number of float64"
    ):
        tune_program(bench.subject(files={"{data}.out": "float64"}), [data], EXACT, fresh=True)


def test_a_program_that_prints_nothing_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.source.write_text(bench.source.read_text().replace('print("result", result)', "pass"))
    said: list[str] = []
    bench.tune("100x100", say=said.append)
    assert any("what the versions compute is not compared: the program prints no number" in line for line in said)


def test_a_file_of_an_earlier_run_is_no_output(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    data = bench.data("100x100")
    (tmp_path / "old").write_text("1")
    with pytest.raises(Misuse, match="it wrote no "):
        tune_program(bench.subject(files={str(tmp_path / "old"): "text"}), [data], EXACT)


def test_an_oracle_excludes_the_untuned_version_when_it_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from kernelwright.cli.commands.tune.command import command

    bench = Bench(tmp_path)
    text = bench.source.read_text()
    bench.source.write_text(text.replace("rows * columns + 50, rows * columns", "rows * columns + 50, 0"))
    data = bench.data("100x100")
    Path(f"{data}.expected").write_text("result 10000\n")
    execute = f"{sys.executable} {bench.source} {{data}}"
    command(None, execute, [data], bench.path, oracle="{data}.expected", runs=1, as_json_=True)
    (dataset,) = json.loads(capsys.readouterr().out)["datasets"]
    assert dataset["untuned_us"] is None and dataset["tuned_us"] == 3000
    assert "differs from the oracle's" in dataset["failures"][0]


def test_a_dataset_that_crashes_one_version(tmp_path: Path) -> None:
    bench = Bench(tmp_path, crash="took == columns * 100")
    (dataset,) = bench.tune("1000x2").datasets
    assert dataset.tuned_us == 2050 and "rows=1000: crash: it was ended by SIGABRT" in dataset.failures[0]


@pytest.mark.parametrize(
    ("crash", "said"),
    [
        ("took == columns * 100 and sys.exit(3)", "it ended with exit code 3 and said nothing"),
        ("took == columns * 100 and sys.exit('no room')", "it ended with exit code 1: no room"),
    ],
)
def test_what_a_version_says_when_it_fails_is_no_comparison(tmp_path: Path, crash: str, said: str) -> None:
    """Its last line but for those that say what it compared."""
    bench = Bench(tmp_path, crash=crash)
    (dataset,) = bench.tune("1000x2").datasets
    assert dataset.failures == (f"rows=1000: program: {said}",)


def test_a_dataset_that_hangs_in_one_version(tmp_path: Path) -> None:
    bench = Bench(tmp_path, crash="took == columns * 100 and time.sleep(60)")
    (dataset,) = bench.tune("1000x2").datasets
    assert "rows=1000: timeout: it was still running after" in dataset.failures[0]


def test_files_of_another_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    data = [bench.data("4x4")]
    bench.tune("4x4")
    held = bench.path.read_text()
    with pytest.raises(Misuse, match="another device: here, and this is there") as caught:
        tune_program(bench.subject(device="there"), data, EXACT)
    assert caught.value.hint == "write to another file with -o, or tune anew with --fresh"
    program = bench.subject().identity.program
    for name, fresh in ((f"{program} --with app-1", True), ("./other {data}", False)):
        with pytest.raises(Misuse, match="another program") as caught:
            tune_program(replace(bench.subject(), identity=Identity(name, "here", "1")), data, EXACT)
        assert ("--fresh" in caught.value.hint) == fresh
    with pytest.raises(Misuse, match="has changed since"):
        tune_program(bench.subject(digest="2"), data, EXACT)
    (tmp_path / "program.tuning.json").unlink()
    with pytest.raises(Misuse, match="another device"):
        tune_program(bench.subject(device="there"), data, EXACT)
    assert bench.path.read_text() == held


def test_times_of_another_calibration_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    data = [bench.data("4x4")]
    bench.tune("4x4")  # as of before calibrations were named
    tune_program(bench.subject(calibration="first"), data, EXACT)
    held = bench.path.read_text()
    assert held.splitlines()[1:3] == ["-- on here", "-- estimated, calibration first"]
    with pytest.raises(Misuse, match="another calibration of the timing model: first, and this is second"):
        tune_program(bench.subject(calibration="second"), data, EXACT)
    assert bench.path.read_text() == held


def test_unknown_thresholds_are_refused_and_nothing_is_overwritten(tmp_path: Path) -> None:
    """After the runs, where nothing else tells which guards a program has."""
    bench = Bench(tmp_path)
    bench.path.write_text("other=5\n")
    with pytest.raises(Misuse, match="threshold 'other', and the program has no such guard: it has rows, elements"):
        bench.tune("4x4")
    assert bench.path.read_text() == "other=5\n"


def test_what_a_fresh_tuning_would_lose_is_set_aside(tmp_path: Path) -> None:
    """A dataset, times of another device, a threshold that is no guard any more; where nothing is lost, nothing is."""
    bench = Bench(tmp_path)
    bench.tune("4x4", "1000x2")
    held = bench.path.read_text()
    bench.tune("4x4", "1000x2", fresh=True)
    assert not list(tmp_path.glob("*before*"))
    said: list[str] = []
    bench.tune("4x4", fresh=True, say=said.append)
    aside = tmp_path / "program.before-1.tuning"
    assert said[-1] == f"what {bench.path} held before is in {aside}"
    assert read_thresholds(aside) == read_thresholds(tmp_path / "program.before-1.tuning")
    assert aside.read_text() == held and "1000x2" in (tmp_path / "program.before-1.tuning.json").read_text()
    tune_program(bench.subject(device="there"), [bench.data("4x4")], EXACT, fresh=True)
    assert "-- on here" in (tmp_path / "program.before-2.tuning").read_text()
    assert "-- on there" in bench.path.read_text()
    bench.path.write_text(bench.path.read_text() + "gone=5\nkept=6\n")
    subject = replace(bench.subject(device="there"), has_guard=lambda name: name != "gone")
    said.clear()
    tune_program(subject, [bench.data("4x4")], EXACT, fresh=True, say=said.append)
    assert "no dataset meets the guard kept: its threshold stays 6" in said
    assert any("had a threshold 'gone', and the program has no such guard: it is left out" in line for line in said)
    assert read_thresholds(bench.path)["kept"] == 6 and "gone" not in read_thresholds(bench.path)
    assert read_thresholds(tmp_path / "program.before-3.tuning")["gone"] == 5
    (tmp_path / "program.tuning.json").write_text("{")
    tune_program(subject, [bench.data("4x4")], EXACT, fresh=True)
    assert (tmp_path / "program.before-4.tuning.json").read_text() == "{"


def test_a_fresh_tuning_replaces_no_other_program(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tune("4x4")
    held = bench.path.read_text()
    other = replace(bench.subject(), identity=Identity("./other {data}", "here", "2"))
    for _ in ("with the evidence, and without it", ""):
        with pytest.raises(
            Misuse, match=r"holds thresholds of another program: .*program\.py .data., and this is \./other"
        ):
            tune_program(other, [bench.data("4x4")], EXACT, fresh=True)
        (tmp_path / "program.tuning.json").unlink(missing_ok=True)
    bench.tune("4x4", fresh=True)
    assert bench.path.read_text() == held
    bench.path.unlink()  # The evidence alone tells, too.
    with pytest.raises(Misuse, match="holds thresholds of another program"):
        tune_program(other, [bench.data("4x4")], EXACT, fresh=True)


def test_a_program_called_from_another_folder_is_the_same(tmp_path: Path) -> None:
    """Of the same content."""
    bench = Bench(tmp_path)
    datasets = [bench.data("4x4")]

    def called(name: str, digest: str = "1") -> Subject:
        return replace(bench.subject(), identity=Identity(name, "here", digest))

    tune_program(called("app.cu"), datasets, EXACT)
    runs = bench.runs("4x4")
    tune_program(called("../x/app.cu"), datasets, EXACT)
    assert bench.runs("4x4") == runs
    for other in (
        called("app.cu", "2"),
        called("../y/app.cu", "2"),
        called("../x/app.py"),
        called("app.cu --with app-1"),
    ):
        with pytest.raises(Misuse, match=r"has changed since|another program"):
            tune_program(other, datasets, EXACT)


def test_guards_of_a_dataset_that_is_left_out_stay(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    text = bench.source.read_text()
    bench.source.write_text(
        text.replace("if CRASH", "if rows == 8: guard('special', 5)\nif False").replace(
            "if False:\n    os.abort()", "if rows == 8: guard('special', 5)\n"
        )
    )
    bench.tune("1000x2", "8x500")
    held = read_thresholds(bench.path)
    assert "special" in held
    said: list[str] = []
    bench.tune(forget=[str(tmp_path / "8x500")], say=said.append)
    assert read_thresholds(bench.path)["special"] == held["special"]
    assert f"no dataset meets the guard special: its threshold stays {held['special']}" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rows", "this is no threshold"),
        ("rows=many", "this is no threshold"),
        (f"rows={2**63}", "is no number of 64 bits"),
        ("rows=1\nrows=2", "threshold rows stands here twice"),
    ],
)
def test_what_is_no_threshold_file_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "p.tuning"
    path.write_text(f"-- comment\n\n{text}\n")
    with pytest.raises(Misuse, match=said) as caught:
        read_thresholds(path)
    assert caught.value.place is not None and caught.value.place.line >= 3


def test_an_interrupted_tuning_goes_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def interrupt(said: str) -> None:
        if "elements taken" in said:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.tune("1000x2", say=interrupt)
    assert not bench.path.exists()
    with pytest.raises(Misuse, match="was interrupted"):
        explained(bench.path)
    assert bench.tune("1000x2").thresholds["rows"] <= 1000 < INFINITE
    assert bench.runs("1000x2") == 4, "three configurations, and the untuned one again for its output"


def test_a_dataset_that_changed_is_measured_anew(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tune("1000x2")
    (tmp_path / "1000x2").write_text("2000x2")
    said: list[str] = []
    tuning = tune_program(bench.subject(), [str(tmp_path / "1000x2")], EXACT, say=said.append)
    assert "has changed since it was measured" in said[0] and tuning.datasets[0].untuned_us == 4050


def test_a_dataset_can_be_left_out(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tune("1000x2", "8x500")
    assert len(bench.tune(forget=[str(tmp_path / "8x500")]).datasets) == 1
    with pytest.raises(Misuse, match="has no dataset nothing"):
        bench.tune(forget=["nothing"])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from kernelwright.cli.commands.tune.command import command

    bench = Bench(tmp_path)
    execute = f"{sys.executable} {bench.source} {{data}}"
    command(None, execute, [bench.data("1000x2")], bench.path, runs=1, as_json_=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["datasets"][0]["tuned_us"] == 200 and printed["file"] == str(bench.path)
    command(output=bench.path, explain=True)
    assert "rows at 1000: taken" in capsys.readouterr().out
    with pytest.raises(Misuse, match="fewer than three datasets"):
        command(output=bench.path, explain=True, plot=tmp_path / "x.svg")
    with pytest.raises(Misuse, match="--plot shows what an earlier tuning found"):
        command(None, execute, [bench.data("1000x2")], bench.path, plot=tmp_path / "x.svg")
    more = [bench.data(name) for name in ("1000x2", "8x500", "4000x2")]
    command(None, execute, more, bench.path, runs=1)
    command(output=bench.path, explain=True, plot=tmp_path / "x.svg")
    assert "datasets left out in turn" in capsys.readouterr().out and (tmp_path / "x.svg").read_text().startswith(
        "<svg"
    )
    with pytest.raises(Misuse, match="does not say where the dataset goes"):
        command(None, "./app", ["x"])
    with pytest.raises(Misuse, match="is given twice"):
        command(None, execute, [bench.data("4x4"), bench.data("4x4")], tmp_path / "other", runs=1)


KILLED = """
import os, pathlib, sys
sys.path.insert(0, SRC)
from kernelwright.cli.commands.tune.command import command
from kernelwright.stories import tune
recorded = tune.TuneRun.record
def record(run, dataset, configuration):
    recorded(run, dataset, configuration)
    if len(run.journal) == 2:
        os.kill(os.getpid(), 9)
tune.TuneRun.record = record
command(None, EXECUTE, DATA, pathlib.Path(OUTPUT), runs=1, fresh=True)
"""


@pytest.mark.slow
def test_a_run_that_was_killed_is_resumed_listed_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernelwright.cli.commands.report import command as report
    from kernelwright.cli.commands.runs import command as list_runs
    from kernelwright.cli.commands.show import command as show
    from kernelwright.cli.commands.tune.command import command

    bench = Bench(tmp_path)
    data = [bench.data(shape) for shape in ("1000x2", "8x500")]
    execute = f"{sys.executable} {bench.source.name} {{data}}"
    source = Path(kernelwright.__file__).parents[1]
    names = {"SRC": str(source), "EXECUTE": execute, "DATA": data}
    names["OUTPUT"] = str(bench.path)
    script = "".join(f"{name} = {value!r}\n" for name, value in names.items()) + KILLED
    killed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert killed.returncode == -9 and not bench.path.exists(), killed.stderr
    list_runs(as_json=True)
    (row,) = json.loads(capsys.readouterr().out)
    run = row["run"]
    assert (row["candidates"], row["speedup"], row["state"]) == (2, None, "resumable")
    with pytest.raises(Misuse, match="is not at its end"):
        report(run)
    known = sum(bench.runs(shape) for shape in ("1000x2", "8x500"))
    (tmp_path / "elsewhere").mkdir()
    with monkeypatch.context() as away:
        away.chdir(tmp_path / "elsewhere")
        command(resume=f"../{run}", as_json_=True)
    found = json.loads(capsys.readouterr().out)
    assert found["run"].endswith(run) and [d["tuned_us"] for d in found["datasets"]] == [200, 4050]
    whole = sum(d["configurations"] for d in found["datasets"])
    # Each dataset of which the journal has something runs once more, untuned: outputs are compared with that.
    assert sum(bench.runs(shape) for shape in ("1000x2", "8x500")) - known <= whole - 2 + 2
    list_runs(as_json=True)
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["best"], row["state"], row["candidates"]) == ("best for 2 of 2 datasets", "finished", whole)
    assert row["speedup"] == pytest.approx((2050 / 200) ** 0.5, abs=0.001)
    show(run)
    assert "rows at 1000: taken" in capsys.readouterr().out
    report(run)
    page = Path(capsys.readouterr().out.strip()).read_text()
    assert "2 thresholds, best for all of 2 datasets" in page and "rows: taken" in page and page.count("<svg") == 2
    assert "not taken: elements" in page and "intervals-rows" in page
    bench.source.write_text(bench.source.read_text() + "# changed")
    with pytest.raises(Misuse, match="has changed since program-1 began"):
        command(resume=run)
    with pytest.raises(Misuse, match="a run knows what it tunes"):
        command(None, execute, data, resume=run)
