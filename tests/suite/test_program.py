"""The noun of the suite and its judge, on a made-up program."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernelwright.errors import Misuse
from kernelwright.suite import NAMES, load, programs
from kernelwright.suite.program import Size, SuiteProgram, Tolerance, run_and_verify, verify


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    np.arange(3, dtype=np.int32).tofile(folder / "in.bin")
    return ("in.bin", "out.bin")


EXACT = SuiteProgram(
    name="double",
    title="Doubling",
    summary="Doubles every number.",
    sources=(),
    flags=(),
    generate=generate,
    outputs=("out.bin",),
    read=lambda folder: {"doubled": np.fromfile(folder / "out.bin", dtype=np.int32).reshape(3)},
    oracle=lambda folder, argv: {"doubled": 2 * np.fromfile(folder / argv[0], dtype=np.int32)},
    tolerance={"doubled": Tolerance("integers")},
)
NEAR = replace(
    EXACT,
    read=lambda folder: {"doubled": np.fromfile(folder / "out.bin", dtype=np.float32)},
    tolerance={"doubled": Tolerance("rounding", absolute=0.01, relative=0.1)},
)


def judge(program: SuiteProgram, folder: Path, output: list[float], dtype: type) -> list[str]:
    argv = program.generate(folder, "tiny", 1)
    np.array(output, dtype=dtype).tofile(folder / "out.bin")
    return verify(program, folder, argv)


def test_right_output_has_no_mismatch(tmp_path: Path) -> None:
    assert judge(EXACT, tmp_path, [0, 2, 4], np.int32) == []


def test_wrong_output_is_told_with_its_place(tmp_path: Path) -> None:
    assert judge(EXACT, tmp_path, [0, 3, 9], np.int32) == [
        "doubled: 2 of 3 elements differ (exact: integers); worst doubled[2] = 9, expected 4."
    ]


@pytest.mark.parametrize(
    ("output", "wrong"), [([0.009, 2.2, 3.6], 0), ([0.02, 2, 4], 1), ([0, 2.22, 4], 1), ([np.nan, 2, np.inf], 2)]
)
def test_tolerance_is_absolute_plus_relative(tmp_path: Path, output: list[float], wrong: int) -> None:
    mismatches = judge(NEAR, tmp_path, output, np.float32)
    assert [f"{wrong} of 3" in m for m in mismatches] == [True] * bool(wrong)


def test_missing_file_wrong_shape_and_missing_array_are_mismatches(tmp_path: Path) -> None:
    argv = EXACT.generate(tmp_path, "tiny", 1)
    assert verify(EXACT, tmp_path, argv) == ["double wrote no out.bin."]
    assert "cannot be read" in judge(EXACT, tmp_path, [0, 2], np.int32)[0]
    assert "shape (2,), the reference (3,)" in judge(NEAR, tmp_path, [0, 2], np.float32)[0]
    assert judge(replace(EXACT, read=lambda folder: {}), tmp_path, [], np.int32) == ["doubled: not among the outputs."]


def test_an_oracle_without_tolerance_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="tolerances are for"):
        judge(replace(EXACT, tolerance={}), tmp_path, [0, 2, 4], np.int32)


def script(folder: Path, body: str) -> Path:
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
    path.chmod(0o755)
    return path


DOUBLE = "import array; a = array.array('i', open(sys.argv[1], 'rb').read()); "
DOUBLE += "array.array('i', [2 * x for x in a]).tofile(open(sys.argv[2], 'wb'))"


def test_run_and_verify_accepts_a_right_program(tmp_path: Path) -> None:
    assert run_and_verify(EXACT, script(tmp_path, DOUBLE), "tiny") == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit('broken device')", "exit code 1"),
        ("sys.exit('broken device')", "broken device"),
        ("sys.exit(3)", "it said nothing"),
        ("pass", "wrote no out.bin"),
        ("time.sleep(60)", "still running after 0.5 s"),
        (DOUBLE.replace("2 *", "3 *"), "2 of 3 elements differ"),
    ],
)
def test_run_and_verify_tells_what_went_wrong(tmp_path: Path, body: str, said: str) -> None:
    (tmp_path / "work").mkdir()
    np.array([0, 2, 4], dtype=np.int32).tofile(tmp_path / "work" / "out.bin")  # left by an earlier, right run
    program = script(tmp_path, body)
    [mismatch] = run_and_verify(
        EXACT, program, "tiny", folder=tmp_path / "work", timeout_s=0.5 if "sleep" in body else 60
    )
    assert said in mismatch


def test_run_and_verify_passes_the_environment_on(tmp_path: Path) -> None:
    program = script(tmp_path, f"import os; assert os.environ['WARP'] == '32' and 'PATH' in os.environ\n{DOUBLE}")
    assert run_and_verify(EXACT, program, "tiny", environment={"WARP": "32"}) == []


def test_unknown_size_and_program_are_misuse(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="huge"):
        run_and_verify(EXACT, tmp_path, "huge")  # type: ignore[arg-type]
    with pytest.raises(Misuse) as caught:
        load("hotspots")
    assert caught.value.hint is not None and "hotspot" in caught.value.hint


def test_every_program_loads_under_its_own_name() -> None:
    assert tuple(program.name for program in programs()) == NAMES
    assert len(NAMES) == 13


def test_importing_the_suite_loads_no_numpy_and_no_program() -> None:
    code = "import sys, kernelwright.suite; print([m for m in sys.modules if 'numpy' in m or 'workload' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": "src"})
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
