"""Several runs at once: a line for each, whatever becomes of the others, the same on one core and on two."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelwright.evaluate.capture.recorded_case import RecordedCase
from tests.fuzz_variants.fuzz_runs import Asked, fuzz_run, fuzz_runs, launches_of, main
from tests.fuzz_variants.fuzzer import Tally, Variant


def test_each_run_has_its_answer_on_any_number_of_cores(finished_run: Path, tmp_path: Path) -> None:
    (tmp_path / "again-2").symlink_to(finished_run)
    asked = [
        Asked(finished_run, 6),
        Asked(tmp_path / "again-2", 6, seed=1),
        Asked(tmp_path / "again-2", 6, seed=1, variant="v999999"),
    ]
    by_cores = [{one: str(tally) for one, tally in fuzz_runs(asked, workers)} for workers in (1, 2)]
    assert by_cores[0] == by_cores[1]
    alone = fuzz_run(asked[0])
    assert isinstance(alone, Tally) and alone.agree
    assert by_cores[0][asked[0]] == str(alone)
    assert "v999999" in by_cores[0][asked[2]]


def test_every_recording_is_fuzzed_though_launches_are_numbered_in_each() -> None:
    module: Any = SimpleNamespace(functions={"k": None, "other": None})

    def recording(path: str, *kernels: str) -> Any:
        launches = [
            SimpleNamespace(number=number, kernel=kernel, module="m", fault="", launch=SimpleNamespace(kernel=kernel))
            for number, kernel in enumerate(kernels)
        ]
        return SimpleNamespace(path=Path(path), launches=launches, modules={"m": SimpleNamespace(variables={})})

    one, two = recording("one", "k", "other", "k"), recording("two", "k", "k")
    chosen = [
        RecordedCase(capture, capture.launches[at], module, None, f" of data set {number}")
        for number, capture, at in ((1, one, 0), (1, one, 2), (2, two, 0))
    ]
    names = [case.name for case in launches_of(chosen, Variant({"k": module}, {}))]
    assert names == ["k #0 of data set 1", "k #2 of data set 1", "k #0 of data set 2", "k #1 of data set 2"]


def test_what_the_time_is_too_short_for_is_said(finished_run: Path) -> None:
    tally = fuzz_run(Asked(finished_run, 7, limit_s=0))
    assert isinstance(tally, Tally) and not tally.agree and tally.not_reached == 7
    assert "time was up with 7 to go" in str(tally)


def test_the_command_prints_a_line_for_each(
    finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "sys.argv", ["fuzzer", str(finished_run), str(tmp_path / "none"), "--cases", "4", "--jobs", "1"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    lines = sorted(capsys.readouterr().out.splitlines())
    assert ended.value.code == 1 and len(lines) == 2
    assert lines[0].startswith(f"{finished_run.name}: ") and " 0 wrong" in lines[0]
    assert lines[1].startswith("none: there is no run")
