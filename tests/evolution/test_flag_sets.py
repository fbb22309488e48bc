"""Compile flags as candidates: which there are, how they go together, and what a person adds to the command line."""

import json
from pathlib import Path

import pytest

from kernelwright.evaluate.workload.flag_choice import FlagChoice
from kernelwright.evaluate.workload.subject import Recordings, subject_from_json
from kernelwright.evolution.flag_sets import both, single_changes, spelled
from kernelwright.passes.options import PassOptions


def test_each_differs_from_the_given_flags_in_one_thing_and_is_there_once() -> None:
    given = PassOptions.parse("-O2 -dse unroll=800")
    singles = single_changes(given)
    assert len(set(singles)) == len(singles) and given not in singles
    for each in singles:
        changes = (each.level != given.level) + (each.without != given.without) + (each.thresholds != given.thresholds)
        assert changes == 1 and "dse" in each.without


def test_two_changes_go_together_and_the_later_of_one_kind_wins() -> None:
    given = PassOptions()
    one, other = PassOptions.parse("-O3 -licm unroll=50"), PassOptions.parse("-O1 unroll=2000")
    assert str(both(given, one, other)) == "-O1 -licm unroll=2000"
    assert both(given, one, PassOptions.parse("-O3 -gvn")) == PassOptions.parse("-O3 -gvn -licm unroll=50")


@pytest.mark.parametrize(
    ("given", "chosen", "expected"),
    [
        ("-O3", "-O3", ""),
        ("-O3", "-O2 -gvn unroll=2000", "-O2 --without gvn --threshold unroll=2000"),
        ("-O3 -licm unroll=50", "-O3 -licm unroll=800", "--threshold unroll=800"),
    ],
)
def test_what_is_added_to_the_command_line(given: str, chosen: str, expected: str) -> None:
    assert spelled(PassOptions.parse(given), PassOptions.parse(chosen)) == expected


def test_a_run_s_subject_keeps_them_and_finds_their_files_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "kernels-1.ll").write_text("define void @k() { ret void }")
    choice = FlagChoice("-O3 unroll=2000", "--threshold unroll=2000", 1.54, 9, (("k", "kernels-1.ll"),))
    stored = json.loads(json.dumps(Recordings(("data-1.capture",), (), flags=choice).as_json()))
    found = subject_from_json(stored, tmp_path)
    assert isinstance(found, Recordings) and found.flags is not None
    assert found.flags.modules() == {"k": "define void @k() { ret void }"}
    assert str(tmp_path / "kernels-1.ll") in found.files
    del stored["flags"]  # a run of an earlier version
    assert subject_from_json(stored, tmp_path) == Recordings((str(tmp_path / "data-1.capture"),), ())
