"""A winner on a larger set of data: the whole program, with it inside and without."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from kernelwright.device.settings import Settings
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.judging.whole_program import Program
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.variant_run import VariantRun
from kernelwright.evaluate.workload.subject import Larger, Recordings
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.stories.proving import LargerTrial
from kernelwright.stories.variant_search.search import Search
from kernelwright.stories.variant_search.transfer import transfer_best, whole_run
from kernelwright.stories.winners import winners

from .conftest import HERE, Kw

H200 = Settings.for_device("h200")


@pytest.fixture(scope="module")
def executable(kw: Kw, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("program") / "again_error"
    done = kw("compile", HERE / "again_error.cu", "-o", made)
    assert done.returncode == 0, done.stderr
    return made


def program(executable: Path, tmp_path: Path, *arguments: str) -> Program:
    inputs = tmp_path / "inputs"
    inputs.mkdir(exist_ok=True)
    return Program(str(executable), arguments, str(inputs))


def test_with_the_winner_it_is_faster_and_its_launches_are_counted(
    executable: Path, runs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = program(executable, tmp_path, "5", "64", "error.bin")
    before = whole_run(given, H200, (), "error.bin")
    after = whole_run(given, H200, winners([str(runs / "kw-runs" / "again-1")]).versions, "error.bin")
    assert 0 < after.time_us < before.time_us
    assert (before.error, before.launches, before.exchanged) == (0.125, 0, 0)
    assert (after.error, after.launches, after.exchanged) == (0.125, 1, 1)
    assert list(Path(given.folder).iterdir()) == []  # it ran in a copy
    assert capfd.readouterr().out == ""


def test_where_its_checks_fail_the_original_runs(executable: Path, runs: Path, tmp_path: Path) -> None:
    with EvolveRun.open(runs / "kw-runs" / "again-1", GENOMES) as run:
        assert run.best is not None
        named = f"{run.folder}:{run.best.name}"
    versions = winners([named]).versions
    assert all(version.guards for version in versions)
    found = whole_run(program(executable, tmp_path, "4", "64", "error.bin"), H200, versions, "error.bin")
    assert (found.launches, found.exchanged) == (1, 0) and found.time_us > 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("5", "64"), "leaves no error in error.bin"),
        (("5", "64", "error.bin", "7"), "exit code 7 on larger data: the end"),
    ],
)
def test_a_program_that_fails_there_says_so(
    executable: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    with pytest.raises(Misuse, match=says):
        whole_run(program(executable, tmp_path, *arguments), H200, (), "error.bin")


def test_what_differs_on_larger_data_is_seen_by_its_trial(executable: Path, runs: Path, tmp_path: Path) -> None:
    """The kernel as it is gives the program's results there, one that computes something else does not; asked when first needed."""
    with EvolveRun.open(runs / "kw-runs" / "again-1", GENOMES) as run:
        workload = run.workload()
    built = GENOMES.builder(workload.modules(), "sm_90").build(()).kernels
    (name,) = built
    other = replace(built[name], text=built[name].text.replace("3.000000e+00", "4.000000e+00"), key="other")
    given = Recordings(
        (), (), larger=Larger(program(executable, tmp_path, "5", "64", "error.bin"), "more", "error.bin")
    )
    tried = LargerTrial(given, "h200", workload)
    assert isinstance(tried.trial(built, {}), Ok)
    assert isinstance(tried.trial({name: other}, {}), Rejected)
    assert LargerTrial(Recordings((), ()), "h200", workload).program is None
    gone = Recordings((), (), larger=Larger(program(tmp_path / "gone", tmp_path, "5"), "more", "error.bin"))
    with pytest.raises(ToolError, match="not there any more"):
        LargerTrial(gone, "h200", workload).trial(built, {})


class Noting:
    """What a transfer needs of a search."""

    def __init__(self, run: EvolveRun, subject: object) -> None:
        self.run = _With(run, subject)
        self.said: list[str] = []
        self.noted: list[dict[str, Any]] = []

    def say(self, phase: str) -> None:
        self.said.append(phase)

    def note(self, kind: str, data: dict[str, Any]) -> None:
        assert kind == "transfer"
        self.run.run.journal.note(kind, data)
        self.noted.append(data)


class _With:
    """A run with another subject."""

    def __init__(self, run: EvolveRun, subject: object) -> None:
        self.run, self.subject = run, subject

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)


@pytest.fixture
def own_run(runs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs / "kw-runs" / "again-1", tmp_path / "again-1"))


def transferred(folder: Path, larger: Larger | None) -> tuple[list[dict[str, Any]], Any]:
    with EvolveRun.open(folder, GENOMES, write=True) as run:
        assert run.best is not None
        noting = Noting(run, Recordings((), (), larger=larger))
        for _ in range(2):  # resumed
            transfer_best(cast(Search[Any], noting), run.best)
        return noting.noted, VariantRun.transfer(run, run.best.name)


def test_it_is_noted_once(executable: Path, own_run: Path, tmp_path: Path) -> None:
    given = program(executable, tmp_path, "5", "64", "error.bin")
    noted, found = transferred(own_run, Larger(given, "more of the same", "error.bin"))
    assert len(noted) == 1 and found == noted[0]
    before, after = found["time_us"]
    assert found["data"] == "more of the same" and 0 < after < before
    assert (found["error"], found["launches"], found["exchanged"]) == ([0.125, 0.125], 1, 1)


def test_a_program_that_is_gone_is_no_end_of_the_run(own_run: Path, tmp_path: Path) -> None:
    gone = program(tmp_path / "gone", tmp_path, "5")
    noted, found = transferred(own_run, Larger(gone, "more of the same", "error.bin"))
    assert len(noted) == 1 and found["why"] == f"the program is not there any more ({tmp_path / 'gone'})"


def test_without_larger_data_nothing_is_run(own_run: Path) -> None:
    assert transferred(own_run, None) == ([], None)
