"""The tuner's part of ``make gpu``, with stand-ins for nvcc and for what it builds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.bench.gpu import tune
from kernelwright.cuda.link import LinkOptions
from kernelwright.executable import build_executable, worker_command
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite.multiversion.table import PROGRAMS

STAND_IN = """#!{python}
import os, sys
given = dict(line.split("=") for line in open(os.environ["KW_THRESHOLDS"]).read().split())
pairs, length = map(int, sys.argv[1:])
assert os.environ["CUDA_VISIBLE_DEVICES"] == "3" and "KW_TUNING" in os.environ
taken = pairs >= int(given.get("pairs_outer", 2**63 - 1))
print(f"Compared pairs_outer <= {{pairs}}: {{str(taken).lower()}}.", file=sys.stderr)
print("score", pairs * length)
print(f"Took {{length * 10 if taken else pairs * 10}} us.", file=sys.stderr)
"""


def stand_in(source: Path, executable: Path) -> str:
    assert "KW_THRESHOLD" in source.read_text() and (source.parent / tune.HEADER).is_file()
    executable.write_text(STAND_IN.format(python=sys.executable))
    executable.chmod(0o755)
    return ""


def test_a_program_is_tuned_in_times_that_it_measures() -> None:
    found = tune.run_tune(3, lambda _: None, stand_in, ["nw"])
    assert [(row["dataset"], row["untuned us"], row["tuned us"]) for row in found.rows] == [
        ("1 96", 10.0, 10.0),
        ("512 8", 5120.0, 80.0),
    ]
    assert all(row["configurations"] == row["promised"] == 2 and row["served"] for row in found.rows)
    assert [(p.value, p.holds) for p in found.promises] == [(1.0, True), (0.0, True)]


def test_what_is_not_built_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tune.run_tune(0, lambda _: None, lambda *_: "no such architecture", ["nw"])
    assert found.notes == ["nw is not built: no such architecture"] and not found.rows
    assert all(promise.holds is None for promise in found.promises)
    monkeypatch.setattr(tune, "find_nvcc", lambda: None)
    assert tune.run_tune(0, lambda _: None).notes == ["not measured: there is no nvcc"]


def test_it_needs_no_compiler_but_nvcc() -> None:
    names = ("llvmlite", "ziglang", "scipy", "typer", "rich", "jinja2")
    code = f"import sys\nsys.modules.update(dict.fromkeys({names}))\nimport kernelwright.bench.gpu.tune as t\nt.PROGRAMS['lud'].text()"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_a_timed_program_computes_the_same_and_tells_its_time(tmp_path: Path) -> None:
    """In place, too: each run begins with the inputs copied again."""
    said = []
    for timed in ("", "#define KW_TIMED 3\n"):
        source, executable = tmp_path / "lud.cu", tmp_path / "lud"
        source.write_text(timed + PROGRAMS["lud"].text())
        build_executable(compile_program(source), [], executable, LinkOptions(device="h200", worker=worker_command()))
        said.append(subprocess.run([executable, "8"], capture_output=True, text=True, check=True))
    assert said[0].stdout == said[1].stdout != ""
    assert "Took" not in said[0].stderr
    assert float(re.findall(r"^Took (\S+) us\.$", said[1].stderr, re.M)[0]) > 0
