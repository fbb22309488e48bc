"""``kw compile --with``: a program that carries its winners, wherever it is started from."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import PROGRAM, Kw
from .test_run import EXPECTED, counted


@pytest.fixture(scope="module")
def program(kw: Kw, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("compiled") / "app"
    done = kw("compile", PROGRAM, "--with", "again-1", "-o", target)
    assert done.returncode == 0 and "again-1:v" in done.stderr, done.stderr
    return target


def start(program: Path, *arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
    """By hand, in another folder than the run's."""
    environment = {**os.environ, "KERNELWRIGHT_DEVICE": "h200", **settings}
    words = [str(program), *map(str, arguments)]
    return subprocess.run(words, cwd=program.parent, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(("passes", "is_second"), [(5, False), (4, True)])
def test_started_by_hand_it_counts_when_asked(program: Path, passes: int, is_second: bool) -> None:
    """The second version is what fixes no value."""
    done = start(program, passes, KERNELWRIGHT_WINNERS="count")
    assert (done.returncode, done.stdout) == (0, EXPECTED)
    found = counted(done.stderr)
    assert (found["winner"], found["original"], found["failed"] > 0) == (1, 0, is_second)
    assert start(program, passes).stderr == ""


def test_winners_can_be_left_out(program: Path, kw: Kw) -> None:
    done = start(program, 5, KERNELWRIGHT_WINNERS="off")
    assert (done.stdout, done.stderr) == (EXPECTED, "")
    assert "winner" not in start(program, 5, KERNELWRIGHT_WINNERS="on").stdout
    assert "again-1" not in kw("run", "--with", "none", "--report", program, "--", 5).stderr
    assert "again-1" in kw("run", "--report", program, "--", 5).stderr


def test_tools_see_the_programs_own_kernels(program: Path, kw: Kw) -> None:
    done = kw("check", program, "--", 5)
    assert done.returncode == 0 and "nothing found in 1 launch" in done.stdout + done.stderr


def test_a_winner_without_a_place_is_told_and_left_out(kw: Kw, tmp_path: Path) -> None:
    source = tmp_path / "other.cu"
    source.write_text(
        "#include <cuda_runtime.h>\n__global__ void other(int *p) { *p = 1; }\nint main() { return 0; }\n"
    )
    done = kw("compile", source, "--with", "again-1", "-o", tmp_path / "other")
    assert done.returncode == 0 and "the program has no kernel again; the original runs" in done.stderr
    assert b"again-1" not in (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("output", ["x.ptx", "x.ll"])
def test_only_programs_carry_winners(kw: Kw, tmp_path: Path, output: str) -> None:
    done = kw("compile", PROGRAM, "--with", "again-1", "-o", tmp_path / output)
    assert done.returncode == 2 and "--with puts winners into a program" in done.stderr


def test_of_several_architectures_the_one_whose_code_winners_were_made_from(kw: Kw, tmp_path: Path) -> None:
    """For the older GPUs the kernel is another one."""
    source, kernel = tmp_path / PROGRAM.name, PROGRAM.parents[1] / "stories" / "again.cu"
    older = kernel.read_text().replace("    for (", "#if __CUDA_ARCH__ < 900\n    passes *= 2;\n#endif\n    for (", 1)
    assert "passes *= 2" in older
    (tmp_path / "again.cu").write_text(older)
    source.write_text(PROGRAM.read_text().replace("../stories/again.cu", "again.cu"))
    both = ("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90")
    done = kw("compile", source, *both, "--with", "again-1", "-o", tmp_path / "app")
    assert done.returncode == 0 and "is not used" not in done.stderr
    assert "kw: compiled for sm_90 alone, not for sm_80" in done.stderr
    ran = start(tmp_path / "app", 5, KERNELWRIGHT_WINNERS="count")
    assert (ran.stdout, counted(ran.stderr)["winner"]) == (EXPECTED, 1)
    older_alone = kw("compile", source, *both[:2], "--with", "again-1", "-o", tmp_path / "old")
    assert older_alone.returncode == 0 and "the original runs" in older_alone.stderr
