"""compute-sanitizer, with scripts in its place: what each of its answers becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.errors import ToolError
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.prove.sanitizer import FOUND, sanitize


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CUDA_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin" / "compute-sanitizer"


def write(tool: Path, body: str) -> None:
    tool.write_text(f"#!/bin/sh\n{body}\n")
    tool.chmod(0o755)


def run(tool: Path, timeout_s: float = 20.0) -> Ok | Rejected:
    return sanitize(["./app", "7"], cuda_path=tool.parents[1], timeout_s=timeout_s)


def test_nothing_is_found(tool: Path) -> None:
    log = tool.parent / "log"
    write(tool, f'echo "$@" >> {log}')
    assert run(tool) == Ok(0.0, 0.0)
    calls = log.read_text().splitlines()
    assert [call.split()[1] for call in calls] == ["memcheck", "racecheck", "initcheck", "synccheck"]
    assert all(
        call.endswith(f"--error-exitcode {FOUND} ./app 7") and "--target-processes all" in call for call in calls
    )


def test_something_is_found(tool: Path) -> None:
    write(
        tool,
        f'[ "$2" = racecheck ] && echo "========= Error: Race reported between Write and Read" && exit {FOUND}; exit 0',
    )
    assert run(tool) == Rejected("fault", "racecheck: Race reported between Write and Read")


def test_the_program_fails(tool: Path) -> None:
    write(tool, "echo cannot open input; exit 3")
    outcome = run(tool)
    assert isinstance(outcome, Rejected) and outcome.stage == "program" and "cannot open input" in outcome.reason


def test_there_is_no_gpu(tool: Path) -> None:
    write(tool, "echo no CUDA-capable device is detected; exit 255")
    with pytest.raises(ToolError, match="does not work here"):
        run(tool)


def test_it_does_not_end(tool: Path) -> None:
    write(tool, "exec sleep 30")
    outcome = run(tool, timeout_s=0.5)
    assert isinstance(outcome, Rejected) and outcome.stage == "timeout"


def test_it_is_not_installed(tool: Path) -> None:
    with pytest.raises(ToolError, match="not installed"):
        run(tool)
