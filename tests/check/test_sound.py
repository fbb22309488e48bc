"""Nothing is found where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.suite import NAMES, load
from tests.check.conftest import HERE, check, kw

SOUND = sorted((HERE / "sound").glob("*.cu"))


@pytest.mark.parametrize("path", SOUND, ids=lambda p: p.stem)
def test_small_programs(path: Path) -> None:
    done = check(path, "--schedules", "4")
    assert (done.exit_code, done.findings) == (0, []), done.stderr


def test_a_race_on_which_nothing_depends_is_a_note() -> None:
    (note,) = check(HERE / "sound" / "same_value.cu").notes
    assert note["kind"] == "race" and note["line"] == 7 and note["also"]["line"] == 7
    done = kw("check", str(HERE / "sound" / "same_value.cu"))
    assert done.returncode == 0 and done.stdout == "1\n"
    assert "note: race" not in done.stdout and "same_value.cu:7: race" in done.stderr and "1 benign" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_programs_of_the_suite(name: str, tmp_path: Path) -> None:
    program = load(name)
    arguments = program.generate(tmp_path, "tiny", 1)
    sources = [str(path) for path in program.source_paths]
    done = kw("check", *program.flags, *sources, "--", *arguments, cwd=tmp_path)
    assert done.returncode == 0 and "nothing found" in done.stderr, done.stderr


@pytest.mark.slow
def test_a_barrier_taken_from_a_program_of_the_suite_is_missed(tmp_path: Path) -> None:
    program = load("pathfinder")
    arguments = program.generate(tmp_path, "tiny", 1)
    (source,) = program.source_paths
    text = source.read_text()
    assert "__syncthreads();" in text
    (tmp_path / "changed.cu").write_text(text.replace("__syncthreads();", ";", 1))
    done = check(Path("changed.cu"), *program.flags, f"-I{source.parent}", arguments=arguments, cwd=tmp_path)
    assert done.exit_code == 1 and "race" in {f["kind"] for f in done.findings}
