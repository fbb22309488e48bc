"""How the programs treat a wrong command line, bad files and a machine without a device."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.suite import NAMES, load
from kernelwright.suite.program import run_and_verify

Build = Callable[[str], Path]


def run(executable: Path, folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(executable), *argv], cwd=folder, capture_output=True, text=True, timeout=60)


def is_number(argument: str) -> bool:
    return argument.replace(".", "").replace("-", "").isdigit()


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_command_line_gives_the_usage_and_exit_code_2(name: str, host_program: Build, tmp_path: Path) -> None:
    argv = load(name).generate(tmp_path, "tiny", 1)
    inputs = set(tmp_path.iterdir())
    wrong = [(), argv[:-1], (*argv, "more")]
    for i, argument in enumerate(argv):
        if is_number(argument):
            wrong += [(*argv[:i], bad, *argv[i + 1 :]) for bad in ("", "x", argument + "x", 50 * "9", "nan")]
    for attempt in wrong:
        done = run(host_program(name), tmp_path, *attempt)
        assert done.returncode == 2, (attempt, done)
        assert done.stderr.startswith("usage: ") and f"{name} " in done.stderr.splitlines()[0], attempt
        assert done.stdout == ""
    assert set(tmp_path.iterdir()) == inputs


# Sequences of single bytes may have any length, and the stream is read while the device works.
ANY_LENGTH = {("nw", "first.bin"), ("nw", "second.bin"), ("streamcluster", "points.bin")}


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_shortened_or_lengthened_input_is_named_with_exit_code_1(
    name: str, host_program: Build, tmp_path: Path
) -> None:
    program = load(name)
    argv = program.generate(tmp_path, "tiny", 1)
    inputs = [argument for argument in argv if (tmp_path / argument).is_file()]
    for file in inputs:
        content = (tmp_path / file).read_bytes()
        for damaged in (None,) if (name, file) in ANY_LENGTH else (None, content[:-1], content + b"\0"):
            (tmp_path / file).unlink()
            if damaged is not None:
                (tmp_path / file).write_bytes(damaged)
            done = run(host_program(name), tmp_path, *argv)
            (tmp_path / file).write_bytes(content)
            assert done.returncode == 1, (file, done)
            assert done.stderr.startswith("error: ") and file in done.stderr, (file, done)
            assert done.stderr.count("\n") == 1, done.stderr
    assert not any((tmp_path / output).exists() for output in program.outputs)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_device_the_program_says_so(name: str, host_program: Build) -> None:
    [mismatch] = run_and_verify(load(name), host_program(name), "tiny")
    assert "ended with exit code 1" in mismatch
    assert "no CUDA-capable device is detected" in mismatch
