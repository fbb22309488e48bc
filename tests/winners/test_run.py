"""``kw run --with``: winners in a program that knows nothing of them, checked at each launch."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from .conftest import PROGRAM, Kw

EXPECTED = "24736.000 no error\n"
"""The sum of 3 * i / 4 + 1 for i below 256."""


def counted(said: str) -> dict[str, int]:
    """Launches by version, ``winner`` or ``original``, and ``failed`` checks, from the table."""
    found = {"winner": 0, "original": 0, "failed": 0}
    for line in said.splitlines():
        number = re.match(r"kw: +(\d+) ", line)
        kind = "failed" if "check failed" in line else "original" if line.endswith(": the original") else "winner"
        if number is None or (kind == "winner" and not re.search(r": [\w-]+:v\d+ \(", line)):
            continue  # another table's
        found[kind] += int(number[1])
    return found


def test_the_winner_runs_and_the_table_says_so(kw: Kw) -> None:
    done = kw("run", PROGRAM, "--with", "again-1", "--", 5)
    assert (done.returncode, done.stdout) == (0, EXPECTED)
    assert counted(done.stderr) == {"winner": 1, "original": 0, "failed": 0}
    gain = re.search(r"us without winners, [\d.]+ us with them, ([\d.]+)x", done.stderr)
    assert gain is not None and float(gain[1]) > 1.0 and "estimated" in done.stderr
    label = re.search(r"again-1:v\d+ is ([a-z -]+), ", done.stderr)
    assert label is not None and f"({label[1]})" in done.stderr
    last = [line for line in done.stderr.splitlines() if " where " in line]
    assert last and done.stderr.rstrip().endswith(last[-1])
    assert "passes == 5" in last[0] and last[0].endswith("then the original runs")


def test_where_a_check_fails_what_fits_any_size_runs(kw: Kw, best: str) -> None:
    done = kw("run", PROGRAM, "--with", "again-1", "--", 4)
    assert (done.returncode, done.stdout) == (0, EXPECTED)
    found = counted(done.stderr)
    assert found["winner"] == 1 and found["original"] == 0 and found["failed"] >= 1
    assert re.search(rf"for each launch of again.*, {best}, then again-1:v\d+ is tried", done.stderr)


def test_where_a_check_fails_the_original_runs_and_it_is_counted(kw: Kw, best: str) -> None:
    done = kw("run", PROGRAM, "--with", best, "--", 4)
    assert (done.returncode, done.stdout) == (0, EXPECTED)
    found = counted(done.stderr)
    assert found["winner"] == 0 and found["original"] == 1 and found["failed"] >= 1
    assert "times its check failed: passes == 5" in done.stderr


def test_launches_from_another_thread(kw: Kw) -> None:
    done = kw("run", PROGRAM, "--with", "again-1", "--", 5, 64, "thread")
    assert done.stdout == EXPECTED and counted(done.stderr)["winner"] == 2


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("in[i] * 3.0f", "in[i] * 4.0f", "the kernel is not the one that the run began with"),
        ("int n, int passes", "int n, short passes", "takes other arguments now"),
        ("again", "once_more", "the program has no kernel again"),
    ],
)
def test_another_kernel_runs_its_original(kw: Kw, tmp_path: Path, before: str, after: str, sentence: str) -> None:
    kernel = (PROGRAM.parents[1] / "stories" / "again.cu").read_text().replace(before, after)
    program = PROGRAM.read_text().replace('#include "../stories/again.cu"', kernel)
    if after == "once_more":
        program = program.replace("again<<<", "once_more<<<")
    source = tmp_path / "changed.cu"
    source.write_text(program)
    alone, done = kw("run", source), kw("run", source, "--with", "again-1")
    assert done.returncode == 0 and done.stdout == alone.stdout != ""
    assert sentence in done.stderr and "the original runs" in done.stderr
    assert counted(done.stderr)["winner"] == 0


def test_debug_lines_and_other_kernels_are_no_difference(kw: Kw, tmp_path: Path) -> None:
    kernel = (PROGRAM.parents[1] / "stories" / "again.cu").read_text()
    more = "\n\n__device__ int seen;\n__global__ void other(int *p) { *p = seen; }\n"
    source = tmp_path / "moved.cu"
    source.write_text(more + PROGRAM.read_text().replace('#include "../stories/again.cu"', kernel))
    done = kw("run", source, "--with", "again-1")
    assert done.stdout == EXPECTED and counted(done.stderr)["winner"] == 1


def test_a_program_that_is_no_run_of_anything(kw: Kw) -> None:
    for given, sentence in (
        ("nothing-7", "there is no run 'nothing-7'"),
        ("again-1:v9999", "has no variant 'v9999'"),
        ("again-1,", "--with names no run"),
        ("again-1:v1", "is the original"),
    ):
        done = kw("run", PROGRAM, "--with", given)
        assert done.returncode == 2 and sentence in done.stderr and done.stdout == "", done.stderr


def test_winners_of_two_runs_for_one_kernel_are_tried_in_order(kw: Kw, runs: Path, best: str, tmp_path: Path) -> None:
    """The first of each asks for five passes; what runs is the second run's for any size."""
    for name in ("again-1", "again-2"):
        shutil.copytree(runs / "kw-runs" / "again-1", tmp_path / "kw-runs" / name)
    other = best.replace("again-1", "again-2")
    done = kw("run", PROGRAM, "--with", f"{best},again-2", "--", 4, cwd=tmp_path)
    assert done.stdout == EXPECTED and counted(done.stderr)["winner"] == 1, done.stderr
    order = re.search(rf"for each launch of again\S*, {best}, then {other}, then (again-2:v\d+) is tried", done.stderr)
    assert order is not None and order[1] != other, done.stderr
    assert re.search(rf"kw: +1 .*: {order[1]} ", done.stderr), done.stderr


def test_launches_of_a_graph_are_dispatched_like_any(kw: Kw, tmp_path: Path) -> None:
    """Captured once, launched twice: checks are asked at each launch."""
    source = tmp_path / "graph.cu"
    text = PROGRAM.read_text().replace("../stories", str(PROGRAM.parents[1] / "stories"))
    assert text.count("    launch(NULL);") == 1 and "<<<(N + block - 1) / block, block>>>" in text
    text = text.replace("block, block>>>", "block, block, 0, stream>>>")
    text = text.replace("static void *launch", "static cudaStream_t stream;\nstatic void *launch", 1)
    calls = """
    cudaGraph_t graph; cudaGraphExec_t made;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    launch(NULL);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, stream);
    cudaGraphLaunch(made, stream);
    cudaStreamSynchronize(stream);"""
    source.write_text(text.replace("    launch(NULL);", calls, 1))
    done = kw("run", source, "--with", "again-1", "--", 5)
    assert done.stdout == EXPECTED and counted(done.stderr) == {"winner": 2, "original": 0, "failed": 0}, done.stderr
    other = kw("run", source, "--with", "again-1", "--", 5, 32)  # blocks that its checks do not admit
    assert other.stdout == EXPECTED and counted(other.stderr)["winner"] == 0, other.stderr
    assert counted(other.stderr)["original"] == 2, other.stderr


def test_an_unsafe_variant_must_be_named_and_is_told_loudly(kw: Kw, runs: Path) -> None:
    from kernelwright.evolution.genomes import GENOMES, EvolveRun

    with EvolveRun.open(runs / "kw-runs" / "again-1", GENOMES) as run:
        unproven = next(f.name for f in run.accepted if f.candidate and run.proof(f.name) is None)
    done = kw("run", PROGRAM, "--with", f"again-1:{unproven}", "--", 5)
    assert done.returncode == 0 and done.stdout == EXPECTED
    assert f"WARNING: again-1:{unproven} is less safe than the original. It is unproven" in done.stderr
