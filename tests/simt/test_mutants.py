"""Mutated kernels: the virtual GPU agrees with the reference executor, and whatever happens stays in a worker."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.bench import mutant_runs, mutants
from kernelwright.bench.mutant_runs import BAD, Progress, Verdict, run_in_parts
from kernelwright.bench.mutants import Done, differs, launched, record, serve, subjects_of
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.fault import Fault
from kernelwright.device.reference import execute_reference
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.errors import ToolError
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.ir import parse_module
from kernelwright.suite import NAMES


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("captures")
    return [record(name, folder) for name in ("hotspot", "nw")]


def checked(captures: list[Path], seeds: range) -> Counter[str]:
    verdicts = list(run_in_parts(serve, captures, seeds, 1))
    assert [v.seed for v in verdicts] == list(seeds)
    assert [v for v in verdicts if v.verdict in BAD] == []
    return Counter(v.verdict for v in verdicts)


def test_the_originals_run_and_agree(captures: list[Path]) -> None:
    for path in captures:
        with Capture.read(path) as capture:
            for subject in subjects_of(capture):
                want = launched(subject.case, subject.case.module, execute_reference)
                got = launched(subject.case, subject.case.module, VirtualGpu().run)
                assert isinstance(want, Done) and isinstance(got, Done)
                assert want.fault is None and differs(want, got) == ""


def test_mutants_agree(captures: list[Path]) -> None:
    counts = checked(captures, range(60))
    assert counts["agree"] >= 20 and counts["faulted alike"] >= 5


def test_a_mutant_is_the_same_again(captures: list[Path]) -> None:
    with Capture.read(captures[0]) as capture:
        subject = subjects_of(capture)[0]
        assert mutants.genome_of(subject.original, 7) == mutants.genome_of(subject.original, 7)
        assert mutants.judged(subject, 7) == mutants.judged(subject, 7)


class Wrong(VirtualGpu):
    """Changes a bit of every byte that a launch can reach."""

    def run(self, execution: Execution, arena: Arena, **more: Any) -> Launched:
        done = super().run(execution, arena, **more)
        for buffer in arena.buffers:
            arena.view(buffer)[:] ^= 64
        return done


def test_a_wrong_executor_is_found_out(captures: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "VirtualGpu", Wrong)
    with Capture.read(captures[0]) as capture:
        subject = subjects_of(capture)[0]
        verdicts = {mutants.judged(subject, seed).verdict for seed in range(2)}
    assert "disagree" in verdicts


EACH_TRAPS_UNLESS_THE_NEXT_WAS_HERE = """
target triple = "nvptx64-nvidia-cuda"
@here = internal addrspace(3) global [32 x i32] undef, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.trap()
define ptx_kernel void @KERNEL(PARAMETERS) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %mine = getelementptr i32, ptr addrspace(3) @here, i32 %lane
  store i32 7, ptr addrspace(3) %mine, align 4
  %more = add i32 %lane, 1
  %next = and i32 %more, 31
  %theirs = getelementptr i32, ptr addrspace(3) @here, i32 %next
  %found = load i32, ptr addrspace(3) %theirs, align 4
  %was = icmp eq i32 %found, 7
  br i1 %was, label %good, label %bad
good:
  ret void
bad:
  call void @llvm.trap()
  unreachable
}
"""


def judged_text(capture: Path, text: str) -> tuple[str, str]:
    """The verdict on other code in the place of a recorded kernel; ``POINTER`` is its first pointer."""
    with Capture.read(capture) as opened:
        subject = subjects_of(opened)[0]
        arguments = subject.case.module.function(subject.original.kernel).arguments
        parameters = ", ".join(f"{a.type} %a{n}" for n, a in enumerate(arguments))
        pointer = next(n for n, a in enumerate(arguments) if str(a.type) == "ptr")
        for word, by in {
            "KERNEL": subject.original.kernel,
            "PARAMETERS": parameters,
            "POINTER": f"%a{pointer}",
        }.items():
            text = text.replace(word, by)
        return mutants.verdict_on(subject.case, parse_module(text))


def test_a_race_that_the_reference_stops_short_of_excuses(captures: list[Path]) -> None:
    verdict, why = judged_text(captures[0], EACH_TRAPS_UNLESS_THE_NEXT_WAS_HERE)
    assert verdict == "excluded" and "race" in why


EACH_KEEPS_WHAT_THE_NEXT_LEFT = """
target triple = "nvptx64-nvidia-cuda"
@here = internal addrspace(3) global [32 x i32] undef, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
define ptx_kernel void @KERNEL(PARAMETERS) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %mine = getelementptr i32, ptr addrspace(3) @here, i32 %lane
  store i32 7, ptr addrspace(3) %mine, align 4
  %more = add i32 %lane, 1
  %next = and i32 %more, 31
  %theirs = getelementptr i32, ptr addrspace(3) @here, i32 %next
  %found = load i32, ptr addrspace(3) %theirs, align 4
  %warp = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  %first = icmp eq i32 %warp, 0
  %beside = add i32 %lane, 32
  %at = select i1 %first, i32 %lane, i32 %beside
  %number = sitofp i32 %found to float
  %out = getelementptr float, ptr POINTER, i32 %at
  store float %number, ptr %out, align 4
  ret void
}
"""
"""Later warps find what earlier ones left: their order is the same everywhere."""
BITS_OF_A_NAN = """
target triple = "nvptx64-nvidia-cuda"
declare float @llvm.sqrt.f32(float)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
define ptx_kernel void @KERNEL(PARAMETERS) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %nan = call float @llvm.sqrt.f32(float -1.0)
  %bits = bitcast float %nan to i32
  %sign = lshr i32 %bits, 31
  %sum = add i32 %sign, %lane
  %number = sitofp i32 %sum to float
  %out = getelementptr float, ptr POINTER, i32 %lane
  store float %number, ptr %out, align 4
  ret void
}
"""


@pytest.mark.parametrize("text", [EACH_KEEPS_WHAT_THE_NEXT_LEFT, BITS_OF_A_NAN])
def test_an_excuse_hides_no_wrong_executor(captures: list[Path], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged_text(captures[0], text)[0] == "excluded"
    monkeypatch.setattr(mutants, "VirtualGpu", Wrong)
    assert judged_text(captures[0], text)[0] == "disagree"


def test_counting_what_is_done(captures: list[Path], monkeypatch: pytest.MonkeyPatch, cache: None) -> None:
    """The benchmark's own loop: the quick one, with a worker that answers at once; interrupted, then run again."""
    said: list[str] = []
    monkeypatch.setattr(mutants, "record", lambda name, folder: captures[0])
    monkeypatch.setattr(mutants, "serve", quick)
    monkeypatch.setattr(mutants, "run_in_parts", cut_short)
    with pytest.raises(KeyboardInterrupt):
        mutants.measure(True, said.append)
    monkeypatch.setattr(mutants, "run_in_parts", run_in_parts)
    result = mutants.measure(True, said.append)
    assert [line for line in said if "done" in line] == [
        "ended (KeyboardInterrupt) with 25 of 60 mutants done; run it again to go on",
        "25 of 60 mutants were done before",
    ]
    assert result.rows[-1]["run"] == result.rows[-1]["agree"] == 60
    assert all(promise.holds for promise in result.promises)


def cut_short(*arguments: object) -> Iterator[Verdict]:
    yield from islice(run_in_parts(*arguments), 25)  # type: ignore[arg-type]
    raise KeyboardInterrupt


def test_what_the_bits_of_nans_excuse() -> None:
    def done(*values: int, kind: str = "") -> Done:
        fault = Fault(kind, "") if kind else None  # type: ignore[arg-type]
        return Done(fault, {} if kind else {"a": np.array(values, "int64")}, "", None)

    want, other = done(1, 2, 3), done(1, 9, 3)
    assert mutants.nans_excuse(want, done(1, 5, 3), other)
    assert not mutants.nans_excuse(want, done(1, 5, 4), other)  # another place
    assert not mutants.nans_excuse(want, done(1, 5, 3), want)  # nothing depends on them
    assert not mutants.nans_excuse(want, done(1, 5, 3), "refused")
    assert mutants.nans_excuse(want, done(kind="trap"), done(kind="trap"))
    assert not mutants.nans_excuse(want, done(kind="misaligned"), done(kind="trap"))
    assert not mutants.nans_excuse(want, done(kind="trap"), other)


def test_differences() -> None:
    def done(*values: float, kind: str = "int32") -> Done:
        return Done(None, {"a": np.array(values, kind)}, "", None)

    assert differs(done(1, 2), done(1, 2)) == ""
    assert "1 elements, the first [1] is" in differs(done(1, 2), done(1, 3))
    nan = float("nan")
    assert differs(done(1, nan, kind="float32"), done(1.00001, nan, kind="float32")) == ""
    assert differs(done(1, nan, kind="float32"), done(1.01, nan, kind="float32")) != ""
    assert differs(done(1, kind="float32"), done(nan, kind="float32")) != ""


def test_integers_that_nobody_says_are_integers() -> None:
    """Recordings know bytes. Read as floating numbers, small integers are all next to nothing, negative ones all NaN."""

    def wrong(one: list[float], other: list[float], kind: str) -> bool:
        a, b = (np.array(values, kind).view(np.uint8) for values in (one, other))
        return bool(mutants._wrong(a, b))

    assert not wrong([1, 2, 3, 4], [1, 2, 3, 4], "int32")
    assert wrong([1, 2, 3, 4], [1, 2, 3, 5], "int32") and wrong([0, 1], [0, 0], "int32")
    assert wrong([-1, -2], [-1, -3], "int32") and wrong([-1, -2], [-1, -3], "int64") and wrong([7, 0], [8, 0], "int64")
    nan = float("nan")
    for kind in ("float32", "float64"):
        assert not wrong([1, nan], [1.00001, -nan], kind)
        assert not wrong([1e-9, 5], [0, 5], kind) and wrong([1, 5], [1, 5.01], kind)
    assert wrong([1, 5], [1, nan], "float32")


def misbehaving(answers: Connection, captures: list[Path], seeds: list[int]) -> None:
    """Answers one seed in three, dies at one, hangs at one."""
    answers.send(None)
    for seed in seeds:
        if seed % 3 == 1:
            os.abort()
        if seed % 3 == 2:
            time.sleep(60)
        answers.send(Verdict(seed, "p", "k", "agree"))


def test_a_worker_that_dies_or_hangs_is_replaced() -> None:
    begin = time.monotonic()
    verdicts = list(run_in_parts(misbehaving, [], range(4), 1, patience_s=3.0))
    assert [v.verdict for v in verdicts] == ["agree", "crash", "hang", "agree"]
    assert [v.seed for v in verdicts] == list(range(4))
    assert time.monotonic() - begin < 30


def quick(answers: Connection, captures: list[Path], seeds: list[int]) -> None:
    answers.send(None)
    for seed in seeds:
        answers.send(Verdict(seed, "p", f"k{seed}", "agree"))


def refusing(answers: Connection, captures: list[Path], seeds: list[int]) -> None:
    """Never says that it is ready."""
    time.sleep(60)


def dying(answers: Connection, captures: list[Path], seeds: list[int]) -> None:
    """Does not even become ready."""
    os._exit(7)


def test_parts_come_to_the_same_verdicts() -> None:
    found = list(run_in_parts(quick, [], range(40), 3))
    assert sorted((v.seed, v.kernel) for v in found) == [(s, f"k{s}") for s in range(40)]
    assert list(run_in_parts(quick, [], [], 3)) == []
    assert [v.seed for v in run_in_parts(quick, [], [5], 3)] == [5]


def test_workers_that_do_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant_runs, "START_S", 1.0)
    with pytest.raises(ToolError, match="did not start within 1 s"):
        list(run_in_parts(refusing, [], range(4), 2))
    monkeypatch.setattr(mutant_runs, "START_S", 60.0)
    with pytest.raises(ToolError, match="ended with 7 before it was ready"):
        list(run_in_parts(dying, [], range(4), 2))


def test_whoever_stops_listening_ends_the_workers() -> None:
    begin = time.monotonic()
    heard = run_in_parts(misbehaving, [], range(2, 40), 2)
    heard.close()
    listening = run_in_parts(misbehaving, [], [0, 2, 3, 5], 2)  # the second worker hangs
    assert next(listening).verdict == "agree"
    listening.close()
    assert time.monotonic() - begin < 20


# -- what is done stays done


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))


def verdict(seed: int, what: str = "agree") -> Verdict:
    return Verdict(seed, "p", "k", what, "why")


def test_an_interrupted_run_goes_on(cache: None) -> None:
    said: list[str] = []
    with pytest.raises(SystemExit), Progress(4, ["p"], said.append) as progress:
        assert progress.left == [0, 1, 2, 3] and progress.before == []
        progress.note(verdict(2))
        progress.note(verdict(0, "hang"))
        raise SystemExit(129)  # a closed terminal
    assert said == ["seed 0, p k: hang: why", "ended (SystemExit) with 2 of 4 mutants done; run it again to go on"]
    with progress.path.open("a") as file:
        file.write('\n{"seed": 1, "prog')  # killed while it wrote
    with Progress(4, ["p"], said.append) as again:
        assert again.left == [1, 3]
        assert again.before == [verdict(2), verdict(0, "hang")]
        again.note(verdict(1))
    assert said[2:] == ["2 of 4 mutants were done before"] and not again.path.exists()


def test_other_sources_start_anew(cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Progress(4, ["p"]).path
    assert Progress(4, ["p"]).path == path and Progress(5, ["p"]).path != path and Progress(4, ["q"]).path != path
    monkeypatch.setattr(mutant_runs, "_VERDICTS_COME_FROM", mutant_runs._VERDICTS_COME_FROM[1:])
    assert Progress(4, ["p"]).path != path
    for pattern in mutant_runs._VERDICTS_COME_FROM:
        assert list(Path(mutant_runs.__file__).parents[1].glob(pattern)), pattern


@pytest.mark.slow
def test_ten_thousand_mutants(tmp_path: Path) -> None:
    counts = checked([record(name, tmp_path) for name in NAMES], range(10_000))
    assert counts["agree"] > 4_000
