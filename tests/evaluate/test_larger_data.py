"""A run of a program on larger data: written into a run's facts and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.whole_program import Program
from kernelwright.evaluate.workload.subject import Larger, Recordings, subject_from_json


def test_it_survives_json_and_is_found_below_the_run(tmp_path: Path) -> None:
    larger = Larger(Program("/bin/app", ("points.bin", "64"), "larger"), "3,000 deformed digits", "error.bin")
    stored = json.loads(json.dumps(Recordings(("data-1.capture",), (), larger=larger).as_json()))
    found = subject_from_json(stored, tmp_path)
    assert isinstance(found, Recordings) and found.larger is not None
    assert (found.larger.what, found.larger.error) == (larger.what, larger.error)
    assert found.larger.program == larger.program.below(tmp_path)
    assert found.larger.program.folder == str(tmp_path / "larger")


def test_a_run_of_an_earlier_version_has_none(tmp_path: Path) -> None:
    stored = json.loads(json.dumps(Recordings(("data-1.capture",), ()).as_json()))
    del stored["larger"]
    found = subject_from_json(stored, tmp_path)
    assert isinstance(found, Recordings) and found.larger is None


def test_one_that_says_no_program_is_refused(tmp_path: Path) -> None:
    stored = json.loads(json.dumps(Recordings(("data-1.capture",), ()).as_json()))
    stored["larger"] = {"what": "digits"}
    with pytest.raises(Misuse, match="does not say what it evolves"):
        subject_from_json(stored, tmp_path)
