"""Whole programs judged by the files they write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.errors import Misuse
from kernelwright.evaluate import Case, Ok, Rejected, Workload
from kernelwright.evaluate.program_judge import ProgramJudge
from kernelwright.evaluate.workload.program_case import program_case

CODE = (
    "import os, struct; f = float(os.environ.get('FACTOR', '2')); n = int(open('n').read());"
    "open('out', 'wb').write(struct.pack(f'<{n}f', *(f * i for i in range(n)))); print(f'{n} done')"
)


def workload(folder: Path, code: str = CODE, **more: Any) -> Workload:
    (folder / "n").write_text("5")
    argv = [sys.executable, "-S", "-c", code]
    return Workload.from_program(argv, {"out": "float32", "stdout": "text"}, folder, **more)


def test_the_original_and_its_variants(tmp_path: Path) -> None:
    judge = ProgramJudge(workload(tmp_path, tolerance="out: relative 10%; *: exact"))
    original = judge.reference()
    assert original.error == 0 and original.time_us > 1000
    near = judge({"FACTOR": "2.125"})
    assert isinstance(near, Ok) and near.error == 0.0625
    far = judge({"FACTOR": "3"})
    assert isinstance(far, Rejected) and far.stage == "compare" and "'out' error 0.5" in far.reason
    broken = judge({"FACTOR": "two"})
    assert isinstance(broken, Rejected) and broken.stage == "program" and "ValueError" in broken.reason


def test_several_runs_of_other_sizes(tmp_path: Path) -> None:
    def more(seed: int) -> Any:
        folder = tmp_path / f"more{seed}"
        folder.mkdir(exist_ok=True)
        (folder / "n").write_text(str(seed))
        return program_case([sys.executable, "-S", "-c", CODE], {"out": "float32"}, folder)

    base = workload(tmp_path, generator=more)
    both = base.with_cases([*base.cases, base.more(7)])
    judge = ProgramJudge(both)
    judge.reference()
    assert isinstance(judge({}), Ok) and len(both.programs) == 2


def test_an_original_that_is_wrong_fails_or_changes_its_mind(tmp_path: Path) -> None:
    right = {"out": np.arange(5, dtype=np.float32) * 2}
    argv = [sys.executable, "-S", "-c", CODE]
    (tmp_path / "n").write_text("5")
    case = program_case(argv, {"out": "float32"}, tmp_path, expected=lambda: right)
    ProgramJudge(Workload(Path(argv[0]), "", (case,))).reference()
    with pytest.raises(Misuse, match="fails its own check: 'out'"):
        ProgramJudge(Workload(Path(argv[0]), "", (case,))).reference({"FACTOR": "3"})
    with pytest.raises(Misuse, match="fails: program: it ended with exit code 1"):
        ProgramJudge(workload(tmp_path, "raise SystemExit('no')")).reference()
    fickle = "import os; open('out', 'wb').write(os.urandom(4)); print(1)"
    with pytest.raises(Misuse, match="the same in every run"):
        ProgramJudge(workload(tmp_path, fickle)).reference()
    with pytest.raises(Misuse, match="no output 'up'"):
        ProgramJudge(workload(tmp_path, oracle=lambda case: {"up": np.zeros(1)})).reference()


def test_a_workload_without_programs(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="no whole program"):
        ProgramJudge(Workload(tmp_path / "k.ll", "k", (Case((1,), (1,)),)))
