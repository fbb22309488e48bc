"""``kernelwright.toml``, ``kw init``, ``-q`` and ``-v``, and what a shell completes."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.cli.app import COMMANDS
from kernelwright.cli.support import streams
from kernelwright.cli.support.compile_flags import COMPILE_FLAGS
from kernelwright.cli.support.live_view import Nothing, view_on
from kernelwright.cli.support.program_arguments import PROGRAM_FLAGS
from kernelwright.cli.support.settings_file import FILE, SETTINGS, template, with_settings
from kernelwright.cli.support.streams import take_loudness
from kernelwright.errors import Misuse
from tests import kw_process

HELLO = Path(__file__).parents[2] / "examples" / "hello.cu"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def loud() -> Iterator[None]:
    yield
    streams.is_quiet = False


def flags_of(*words: str) -> list[str]:
    return with_settings(["kw", *words])[1]


def test_without_a_file_nothing_changes(folder: Path) -> None:
    assert with_settings(["kw", "run", "a.cu"]) == (["kw", "run", "a.cu"], [])


def test_settings_stand_before_the_flags_of_the_command_line(folder: Path) -> None:
    (folder / FILE).write_text('device = "a100"\ninclude = ["one", "two"]\nbudget = 1000\njobs = 3\n')
    words, flags = with_settings(["kw", "run", "a.cu", "--device", "h200", "--", "--device", "x"])
    assert flags == ["--device", "a100", "-I", "one", "-I", "two", "--budget", "1000"]
    assert words == ["kw", "run", *flags, "a.cu", "--device", "h200", "--", "--device", "x"]
    assert flags_of("compile", "a.cu") == ["-I", "one", "-I", "two"]
    assert flags_of("breed", "keijzer6") == ["--jobs", "3"]
    for other in (("show", "x"), ("init",), (), ("evolve", "--resume", "a-1")):
        assert flags_of(*other) == []
    assert flags_of("run", "a.cu", "--", "--resume") == flags


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("device = 'h200'\ndevices = 'a'\n", "kernelwright.toml:2: ", "no setting 'devices'"),
        ("calibration = 3\n", "kernelwright.toml:1: ", "not a text"),
        ("[evolve]\nseed = 3\n", "kernelwright.toml:1: ", "no setting 'evolve'"),
        ("budget = 'many'\n", "kernelwright.toml:1: ", "not a number from 0 up"),
        ("budget = true\n", "kernelwright.toml:1: ", "not a number"),
        ("budget = -1\n", "kernelwright.toml:1: ", "not a number"),
        ("include = 'one'\n", "kernelwright.toml:1: ", "not a list of texts"),
        ("include = ['']\n", "kernelwright.toml:1: ", "not a list of texts"),
        ("device = ''\n", "kernelwright.toml:1: ", 'as device = "h200"'),
        ("device = \n", "", "cannot be read: Invalid value (at line 1"),
        (b"device = '\xff'\n", "", "cannot be read"),
    ],
)
def test_a_file_that_makes_no_sense_is_a_sentence(folder: Path, text: Any, place: str, says: str) -> None:
    (folder / FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(Misuse) as raised:
        with_settings(["kw", "run", "a.cu"])
    assert str(raised.value).startswith(place) and says in str(raised.value) and "next: " in str(raised.value)


def test_the_template_sets_nothing_and_all_of_it_can_be_used(folder: Path) -> None:
    assert tomllib.loads(template()) == {}
    (folder / FILE).write_text("\n".join(line.removeprefix("# ") for line in template().splitlines() if " = " in line))
    assert set(tomllib.loads((folder / FILE).read_text())) == {each.name for each in SETTINGS}
    spelled = {spelling for flag in (*COMPILE_FLAGS, *PROGRAM_FLAGS) for spelling in flag.spellings} | {"--jobs"}
    for each in SETTINGS:
        assert (
            each.flag in spelled and set(each.used_by) <= set(COMMANDS) and each.flag in flags_of(each.used_by[0], "x")
        )


def test_init_writes_it_once(folder: Path) -> None:
    done = kw_process.kw("init", cwd=folder)
    assert done.returncode == 0 and "nothing is set so far" in done.stdout
    assert (folder / FILE).read_text() == template()
    (folder / FILE).write_text("device = ")
    again = kw_process.kw("init", cwd=folder)
    assert again.returncode == 2 and "is there already" in again.stderr
    assert kw_process.kw("init", "--force", cwd=folder).returncode == 0 and (folder / FILE).read_text() == template()


def test_commands_read_it_and_flags_win(folder: Path) -> None:
    (folder / FILE).write_text('device = "a100"\n')
    done = kw_process.kw("-v", "profile", str(HELLO), cwd=folder)
    assert "A100" in done.stdout and "kw: kernelwright.toml: --device a100" in done.stderr
    assert "kw: Kernelwright 0." in done.stderr and done.stderr.rstrip().endswith(" s")
    assert "H200" in kw_process.kw("profile", str(HELLO), "--device", "h200", cwd=folder).stdout
    (folder / FILE).write_text('device = "b1000"\n')
    done = kw_process.kw("profile", str(HELLO), cwd=folder)
    assert done.returncode == 2 and "b1000" in done.stderr
    (folder / FILE).write_text("devise = 1\n")
    done = kw_process.kw("profile", str(HELLO), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("kw: kernelwright.toml:1: there is no")


@pytest.mark.parametrize(
    ("words", "kept", "quiet", "verbose"),
    [
        ("kw -q run a.cu -- -q", "kw run a.cu -- -q", True, False),
        ("kw run a.cu --quiet -O2", "kw run a.cu -O2", True, False),
        ("kw run -v a.cu --verbose", "kw run a.cu", False, True),
        ("kw run -Xcompiler -v a.cu", "kw run -Xcompiler -v a.cu", False, False),
        ("kw", "kw", False, False),
    ],
)
def test_loudness_is_taken_from_anywhere_before_the_programs_arguments(
    words: str, kept: str, quiet: bool, verbose: bool
) -> None:
    assert take_loudness(words.split()) == (kept.split(), verbose)
    assert streams.is_quiet == quiet


def test_quiet_commands_say_results_and_errors_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    take_loudness(["kw", "-q"])
    with view_on(__import__("sys").stderr) as view:
        view.show("searching", [("evaluations", "3")])
        streams.progress("recording")
    assert isinstance(view, Nothing) and capsys.readouterr() == ("", "")
    program = folder / "median.py"
    program.write_text((HELLO.parent / "median.py").read_text())
    given = ("breed", "median.py", "--seed", "1", "--jobs", "1", "--generations", "1", "--population", "20")
    done = kw_process.kw(*given, "-q", cwd=folder)
    assert done.stderr == "" and "median = " in done.stdout
    assert "kw: run kw-runs/median-2" in kw_process.kw(*given, cwd=folder).stderr
    done = kw_process.kw("-q", "show", "nothing", cwd=folder)
    assert done.returncode == 2 and "there is no run" in done.stderr


@pytest.mark.parametrize(
    ("words", "found"), [("kw expl", {"explore", "explain"}), ("kw evolve --eval", {"--evaluations"})]
)
def test_a_shell_completes_commands_and_flags(folder: Path, words: str, found: set[str]) -> None:
    import os

    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_KW_COMPLETE": "complete_bash"}
    done = kw_process.kw(env={**os.environ, **asked}, cwd=folder)
    assert set(done.stdout.split()) == found
