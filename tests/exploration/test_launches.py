"""Explorations of kernels that are given sizes at launch: what is refused, what the winner is tried at, what a run leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.cli.commands.explore.command import command
from kernelwright.cli.commands.explore.result import explore_lines, explore_result
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.dispatched_program import dispatched_program, write_dispatched_program
from kernelwright.exploration.files import RECORD, read_decisions
from kernelwright.exploration.host_program import host_program
from kernelwright.exploration.judge import KernelJudge
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.launches import MOST_WORK, other_launches
from kernelwright.exploration.naive import naive_decisions
from kernelwright.exploration.run import ExploreRun
from kernelwright.exploration.subject import Subject

SIZE = 1 << 12


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> ExploreRun:
    folder = tmp_path_factory.mktemp("runs") / "axpy-1"
    settings: dict[str, Any] = {"evaluations": 4, "seed": 5, "batch": 2, "at": [[777]]}
    return kw.explore("axpy", (SIZE,), device="h200", dynamic=["n"], folder=folder, jobs=1, **settings)


def test_the_winner_is_right_at_other_sizes(finished: ExploreRun) -> None:
    assert [each["sizes"]["n"] for each in finished.launches] == [777, 1, SIZE + 1, SIZE - 1]
    assert all(each["time_us"] > 0 and each["error"] < 1e-4 for each in finished.launches)
    assert finished.fixed_us is not None and finished.best is not None
    # What sizes that are known save is little for blocks that are there as a whole.
    assert 0 < finished.fixed_us <= 1.01 * finished.best.time_us
    result = explore_result(finished)
    assert result["dynamic"] == ["n"] and len(result["launches"]) == 4
    lines = explore_lines(result)
    assert "run as a whole and right at 4 others, 777, 1, 4097, 4095" in lines
    assert "with these sizes in the kernel its decisions take " in lines


def test_a_run_is_read_again(finished: ExploreRun) -> None:
    with ExploreRun.open(finished.folder, DECISIONS) as again:
        assert again.subject == finished.subject and again.settings == finished.settings
        assert str(again.subject) == "axpy 4096 with n at launch"
    subject, decisions = read_decisions(finished.folder / "decisions.json")
    assert subject == finished.subject and subject.dynamic[0].name == "n"
    text = (finished.folder / "best.cu").read_text()
    assert KernelSpace(subject).kernel(decisions).source in text and ", n)\n" in text
    assert "axpy 4096 with n at launch on h200" in json.loads((finished.folder.parent / RECORD).read_text())


@pytest.mark.slow
def test_programs_of_sizes_at_launch_run(finished: ExploreRun) -> None:
    """The same sum as NumPy's, of inputs made as the program makes them; and sizes that the kernel is not made for."""

    def run(path: Path, *sizes: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "kernelwright", "run", str(path), "--device", "h200", "--", *sizes]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def right(n: int) -> float:
        state, numbers = np.uint64(1), []
        for _ in range(2 * n):
            state = (state * np.uint64(1664525) + np.uint64(1013904223)) & np.uint64(0xFFFFFFFF)
            numbers.append(np.float32(int(state) >> 8) / np.float32(1 << 23) - np.float32(1))
        x, y = np.array(numbers, np.float64).reshape(2, n)
        return float((1.5 * x + y).sum())

    program = finished.folder / "program.cu"
    bundled = write_dispatched_program(finished.folder.parent, "axpy")
    for path, sizes in ((program, ["1001"]), (program, []), (bundled, ["99"])):
        done = run(path, *sizes)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout.replace(",", "").split()[2]) == pytest.approx(
            right(int((sizes or [SIZE])[0])), rel=1e-3
        )
    assert run(program, "0").returncode == 2
    assert "n is 0: from 1 to 1073741824" in run(program, "0").stderr


def test_a_wrong_kernel_at_another_size_is_no_winner() -> None:
    """Decisions of multiples of 4 run at a size that is none: nothing asks whether the last iterations are there."""
    space = KernelSpace(Subject.of("axpy", (SIZE,), "h200", ["n:128"]))
    decisions = naive_decisions(space)
    kernel = space.kernel(decisions)
    assert "if (" not in kernel.source
    with KernelJudge(space, 1) as judge:
        with pytest.raises(Misuse, match="made for multiples of 128"):
            judge.whole(decisions, {"n": 130})
        assert isinstance(judge.whole(decisions, {"n": 256}), Ok)
        other = space.subject.at({"n": 130})
        found = judge.of_kernel(kernel.at({"n": 256}), other)
        assert isinstance(found, Rejected)


def test_launches_that_are_looked_at() -> None:
    subject = Subject.of("matmul", (1024, 1024, 1024), "h200", ["m", "n:4", "k"])
    found = other_launches(subject, [(500, 300, 7)])
    assert found[0] == {"m": 500, "n": 300, "k": 7} and found[1] == {"m": 1, "n": 4, "k": 1}
    assert len(found) == 7 and len({tuple(each.values()) for each in found}) == 7
    for sizes in found:
        assert subject.at(sizes).work < 2 * MOST_WORK and sizes["n"] % 4 == 0
    assert any(each["m"] % 2 and each["k"] % 2 and each["m"] > 100 for each in found)
    assert other_launches(Subject.of("matmul", (64, 64, 64), "h200")) == []
    some = other_launches(Subject.of("matmul", (64, 32, 8), "h200", ["k"]))
    assert [tuple(each.values()) for each in some] == [(64, 32, 1), (64, 32, 9), (64, 32, 7)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((1, 2), "a launch of matmul has 3 sizes, not 2"),
        ((32, 64, 64), "m is 64 at every launch, not 32"),
        ((64, 6, 64), "n = 6: launches are of multiples of 4"),
        ((64, 8, 0), "k = 0: there is nothing to compute"),
        ((64, 1 << 20, 1 << 20), "take more than"),
    ],
)
def test_launches_that_there_are_not(asked: tuple[int, ...], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        other_launches(Subject.of("matmul", (64, 64, 64), "h200", ["n:4", "k"]), [asked])


@pytest.mark.parametrize(
    ("dynamic", "said"),
    [
        (["q"], "axpy has no size q that could be given at launch"),
        (["n:0"], "n:0 says no multiple"),
        (["n:x"], "n:x says no multiple"),
        (["n:3"], "n is given at launch as a multiple of 3, and axpy is tuned at 4096"),
    ],
)
def test_what_cannot_be_given_at_launch(dynamic: list[str], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        Subject.of("axpy", (SIZE,), "h200", dynamic)


OWN = """
import kernelwright as kw

@kw.computation
def own(c, n=64, unused=3):
    i = c.loop("i", {extent}, tiles=(4,))
    x, y = c.input("X", (n + 4,)), c.output("Y", (n,))
    c.store("st", y[i], c.load("x", x[i]) * {factor})
"""


@pytest.mark.parametrize(
    ("extent", "factor", "dynamic", "said"),
    [
        ("n", "2.0", "unused", "unused of own cannot be given at launch: no loop and no array depends on it"),
        ("n", "(1.0 / n)", "n", r"what st_value computes: 0.015625 is 1 is another at n = 1, unused = 3"),
        (
            "n // 2",
            "2.0",
            "n",
            "n of own cannot be given at launch: dimension 0 of array Y has n elements; its index is 0 to 31",
        ),
        ("n if n < 5000 else 16", "2.0", "n", "the extent of loop i is another at n = 64000"),
        ("n - 1", "2.0", "n", "n of own cannot be given at launch: loop i of own has n - 1 iterations"),
    ],
)
def test_computations_of_ones_own_that_cannot(
    tmp_path: Path, extent: str, factor: str, dynamic: str, said: str
) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN.format(extent=extent, factor=factor))
    assert Subject.of(str(path), (64,), "h200").backbone
    with pytest.raises(Misuse, match=said):
        Subject.of(str(path), (64,), "h200", [dynamic])


def test_a_computation_of_ones_own_at_launch(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN.format(extent="n", factor="2.0"))
    subject = Subject.of(str(path), (64,), "h200", ["n:4"]).kept_in(tmp_path)
    assert Subject.from_json(subject.as_json(), tmp_path) == subject
    space = KernelSpace(subject)
    with KernelJudge(space, 1) as judge:
        assert isinstance(judge.whole(naive_decisions(space), {"n": 100, "unused": 3}), Ok)


def test_programs_guard_what_the_kernel_is_not_made_for() -> None:
    subject = Subject.of("matmul", (64, 64, 64), "h200", ["m", "n:4"])
    kernel = KernelSpace(subject).kernel(naive_decisions(KernelSpace(subject)))
    text = host_program(subject, kernel.source, kernel)
    assert (
        "static int run_with(int m, int n) {" in text and "n % 4" in text and "m % " not in text.split("run_with", 1)[1]
    )
    assert "std::vector<float> A(64 * 1LL * m);" in text and "std::vector<float> C(1LL * m * n, 0.0f);" in text
    assert f"<<<dim3({kernel.grid_text}, 1, 1)" in text and "device_C, m, n);" in text
    assert "return run_with(count > 1 ? atoi(given[1]) : 64, count > 2 ? atoi(given[2]) : 64);" in text


def test_a_bundle_takes_sizes_at_launch_last() -> None:
    found: Any = {}
    for dynamic in ([], ["n:4"], ["n"]):
        subject = Subject.of("axpy", (SIZE,), "h200", dynamic)
        space = KernelSpace(subject)
        found[subject.sizes, subject.dynamic] = [(subject, space.kernel(naive_decisions(space)))]
    text = dispatched_program("axpy", found)
    chosen = [line for line in text.splitlines() if "return run_" in line]
    assert chosen == [
        "    if (count == 2 && atol(given[1]) == 4096) return run_0();",
        "    if (count == 2 && atoi(given[1]) % 4 == 0) return run_1(atoi(given[1]));",
        "    if (count == 2) return run_2(atoi(given[1]));",
    ]


def test_what_the_command_refuses() -> None:
    with pytest.raises(Misuse, match="has no sizes at launch: its kernels run at these alone"):
        command("axpy", [SIZE], device="h200", at=["3"])
    with pytest.raises(Misuse, match="--at '3 x' is no list of sizes"):
        command("axpy", [SIZE], device="h200", dynamic="n", at=["3 x"])
    with pytest.raises(Misuse, match="a run knows what it explores"):
        command(resume="kw-runs/axpy-1", dynamic="n")
    with pytest.raises(Misuse, match="a plan knows its sizes"):
        kw.explore(kw.expert("axpy", (SIZE,), device="h200", dynamic=["n"]), dynamic=["n"])
