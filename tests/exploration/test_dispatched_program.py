"""The best kernels of all sizes in one program: which sizes it takes, what stands behind guards, and that it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.errors import Misuse
from kernelwright.exploration.dispatched_program import write_dispatched_program
from kernelwright.exploration.files import FORMAT, RECORD
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.naive import naive_decisions
from kernelwright.exploration.subject import Subject


@pytest.fixture
def explored(tmp_path: Path) -> Path:
    """As three runs leave it: two sizes, one of them for two GPUs."""
    record = {}
    for number, (sizes, device) in enumerate([((60,), "h200"), ((60,), "titan-rtx"), ((96,), "h200")], 1):
        subject = Subject.of("axpy", sizes, device)
        decisions = list(naive_decisions(KernelSpace(subject)))
        run = tmp_path / f"axpy-{number}"
        run.mkdir()
        about = {"format": FORMAT, **subject.as_json(), "time_us": 1.0, "decisions": decisions}
        (run / "decisions.json").write_text(json.dumps(about))
        record[f"{subject} on {device}"] = {"time_us": 1.0, "run": run.name, "decisions": decisions}
    (tmp_path / RECORD).write_text(json.dumps(record))
    return tmp_path


def test_sizes_choose_and_guards_choose_among_kernels_for_the_same(explored: Path) -> None:
    text = write_dispatched_program(explored, "axpy").read_text()
    assert all(f"\n{name}(" in text for name in ("axpy_60_h200", "axpy_60_titan_rtx", "axpy_96_h200"))
    assert 'if (KW_THRESHOLD("axpy_60_h200", 60LL)) axpy_60_h200<<<' in text
    assert (
        "    else axpy_60_titan_rtx<<<" in text and "    axpy_96_h200<<<" in text and text.count("KW_THRESHOLD(") == 1
    )
    assert "if (count == 2 && atol(given[1]) == 96) return run_1();" in text


def test_what_is_missing_is_told(explored: Path) -> None:
    with pytest.raises(Misuse, match="nothing of matmul is on record"):
        write_dispatched_program(explored, "matmul")
    (explored / "axpy-3" / "decisions.json").unlink()
    with pytest.raises(Misuse, match="names axpy 96 on h200, and its run is gone"):
        write_dispatched_program(explored, "axpy")


@pytest.mark.slow
def test_it_runs_for_each_size_and_refuses_others(explored: Path) -> None:
    path = write_dispatched_program(explored, "axpy")

    def run(*sizes: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kernelwright", "run", str(path), "--device", "h200", "--", *sizes]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first, second, other = run("60"), run("96"), run("61")
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert first.stdout.startswith("Z: sum") and first.stdout != second.stdout
    assert other.returncode != 0 and "no kernel for these sizes" in other.stderr and "60, 96" in other.stderr
