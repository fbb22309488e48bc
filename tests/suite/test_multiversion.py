"""The programs of several versions: every version computes the same, and tuning finds the fastest."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from kernelwright.bench.tune import _built
from kernelwright.suite.multiversion import PROGRAMS
from kernelwright.versions.program import INFINITE


def checksum(rows: int, columns: int, shapes: int, iterations: int) -> str:
    """What mapscan prints, in NumPy."""
    numbers = np.arange(rows * columns, dtype=np.uint64) * 2654435761 % 2**32
    matrix = (numbers >> 24).astype(np.uint32)
    for shape in range(shapes):
        m, n = rows >> shape, columns << shape
        work = matrix.reshape(m, n)
        for _ in range(iterations):
            work = np.cumsum(work + np.arange(m, dtype=np.uint32)[:, None], axis=1, dtype=np.uint32)
        matrix = work.reshape(-1)
    total = 0
    for number in matrix.tolist():
        total = (total * 31 + number) % 2**64
    return f"x{total:x}"


def test_programs_have_guards_and_at_least_two_datasets() -> None:
    for program in PROGRAMS.values():
        guards = re.findall(r'KW_THRESHOLD(?:_IF)?\("(\w+)"', program.source.read_text())
        assert len(guards) == len(set(guards)) >= 2 and len(set(program.datasets)) >= 2


@pytest.mark.slow
def test_every_version_computes_the_same(tmp_path: Path) -> None:
    from kernelwright.versions.checked_program import CheckedProgram

    built = _built(PROGRAMS["mapscan2"], tmp_path)
    assert isinstance(built, CheckedProgram)
    sizes = (8, 4, 3, 2)
    for rows, elements in itertools.product((1, 4, INFINITE), (1, INFINITE)):
        answer = built._program.answer(" ".join(map(str, sizes)), {"rows": rows, "elements": elements})
        words = bytes(answer.output["stdout (words)"].tolist()).decode()
        assert answer.ran.failure is None and words == checksum(*sizes)
    shutil.rmtree(tmp_path)
