"""Flags of a command behind ``--``: they go to the program, and that is said unless the program knows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cli.commands.evolve import OWN_FLAGS
from kernelwright.cli.support.compile_flags import COMPILE_FLAGS
from kernelwright.cli.support.plain_flags import tell_flags_behind
from tests import kw_process

FLAGS = (*OWN_FLAGS, *COMPILE_FLAGS)
EXAMPLES = Path(__file__).parents[2] / "examples"


def told(capsys: pytest.CaptureFixture[str], paths: list[Path], *arguments: str) -> list[str]:
    tell_flags_behind("evolve", FLAGS, paths, arguments)
    return capsys.readouterr().err.splitlines()


def test_long_flags_of_the_command_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "app.cu"
    source.write_text("int main() {}")
    (line,) = told(capsys, [source], "64", "--seed=5", "--seed", "5", "-l", "--mine", "seed")
    assert line == "kw: --seed behind -- goes to the program; as a flag of kw evolve, --seed stands before --"
    (line,) = told(capsys, [source], "--candidates", "5")
    assert (
        line == "kw: --candidates behind -- goes to the program; as a flag of kw evolve, --evaluations stands before --"
    )
    assert len(told(capsys, [source], "--verbose", "--arch", "--json")) == 3


def test_a_program_that_knows_the_word_gets_it_in_silence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "app.cu"
    source.write_text('int main(int n, char **w) { return strcmp(w[1], "--seed"); }')
    assert told(capsys, [source], "--seed", "5") == []
    assert len(told(capsys, [source], "--population", "5")) == 1
    assert len(told(capsys, [tmp_path, tmp_path / "missing.cu"], "--seed")) == 1


@pytest.mark.parametrize("command", ["run", "profile", "check"])
def test_commands_that_run_a_program_tell_it_and_go_on(command: str, tmp_path: Path) -> None:
    done = kw_process.kw(command, str(EXAMPLES / "hello.cu"), "--", "--timeout", "5", cwd=tmp_path)
    assert done.returncode == 0
    assert (
        f"kw: --timeout behind -- goes to the program; as a flag of kw {command}, --timeout stands before --"
        in done.stderr
    )


def test_a_flag_that_is_called_otherwise_is_named(tmp_path: Path) -> None:
    done = kw_process.kw("evolve", "app.cu", "--candidates", "5", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no flag --candidates; did you mean --evaluations?" in done.stderr
    assert "--evaluations" not in kw_process.kw("run", "app.cu", "--candidates", "5", cwd=tmp_path).stderr
