"""Mutated kernels: the virtual GPU agrees with the reference executor, and whatever happens stays in a worker."""

from __future__ import annotations

import os
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from kernelwright.bench import mutants
from kernelwright.bench.mutants import Done, Verdict, differs, launched, record, run_mutants, subjects_of
from kernelwright.device.executing import VirtualExecutor
from kernelwright.device.reference import run_reference
from kernelwright.errors import ToolError
from kernelwright.evaluate.capture import Capture
from kernelwright.ir import parse_module
from kernelwright.suite import NAMES

BAD = ("disagree", "crash", "hang", "counters differ")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("captures")
    return [record(name, folder) for name in ("hotspot", "nw")]


def checked(captures: list[Path], seeds: range) -> Counter[str]:
    verdicts = list(run_mutants(captures, seeds))
    assert [v.seed for v in verdicts] == list(seeds)
    assert [v for v in verdicts if v.verdict in BAD] == []
    return Counter(v.verdict for v in verdicts)


def test_the_originals_run_and_agree(captures: list[Path]) -> None:
    for path in captures:
        with Capture.read(path) as capture:
            for subject in subjects_of(capture):
                want = launched(subject.case, subject.case.module, run_reference)
                got = launched(subject.case, subject.case.module, VirtualExecutor())
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


def test_a_wrong_executor_is_found_out(captures: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """An executor that adds one to a byte of every buffer disagrees."""

    class Wrong(VirtualExecutor):
        def __call__(self, *arguments, **more):  # type: ignore[no-untyped-def]
            done = super().__call__(*arguments, **more)
            for buffer in arguments[5].buffers:
                arguments[5].view(buffer)[:] ^= 64
            return done

    monkeypatch.setattr(mutants, "VirtualExecutor", Wrong)
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


def test_a_race_that_the_reference_stops_short_of_excuses(captures: list[Path]) -> None:
    with Capture.read(captures[0]) as capture:
        subject = subjects_of(capture)[0]
        kernel = subject.original.kernel
        parameters = ", ".join(str(a.type) for a in subject.case.module.function(kernel).arguments)
        text = EACH_TRAPS_UNLESS_THE_NEXT_WAS_HERE.replace("KERNEL", kernel).replace("PARAMETERS", parameters)
        found = mutants.verdict_on(subject.case, parse_module(text))
    assert found[0] == "excluded" and "race" in found[1]


def test_differences() -> None:
    def done(*values: float, kind: str = "int32") -> Done:
        return Done(None, {"a": np.array(values, kind)}, "", None)

    assert differs(done(1, 2), done(1, 2)) == ""
    assert "1 elements, the first [1] is" in differs(done(1, 2), done(1, 3))
    nan = float("nan")
    assert differs(done(1, nan, kind="float32"), done(1.00001, nan, kind="float32")) == ""
    assert differs(done(1, nan, kind="float32"), done(1.01, nan, kind="float32")) != ""
    assert differs(done(1, kind="float32"), done(nan, kind="float32")) != ""


def misbehaving(answers: Connection, captures: list[Path], seeds: range) -> None:
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
    verdicts = list(run_mutants([], range(4), patience_s=3.0, worker=misbehaving))
    assert [v.verdict for v in verdicts] == ["agree", "crash", "hang", "agree"]
    assert [v.seed for v in verdicts] == list(range(4))
    assert time.monotonic() - begin < 30


def test_parts_come_to_the_same_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(mutants.run_in_parts([], range(40), 3, worker=quick))
    assert sorted((v.seed, v.kernel) for v in found) == [(s, f"k{s}") for s in range(40)]
    monkeypatch.setattr(mutants, "START_S", 1.0)
    with pytest.raises(ToolError):
        list(mutants.run_in_parts([], range(4), 2, worker=refusing))


def quick(answers: Connection, captures: list[Path], seeds: range) -> None:
    answers.send(None)
    for seed in seeds:
        answers.send(Verdict(seed, "p", f"k{seed}", "agree"))


def refusing(answers: Connection, captures: list[Path], seeds: range) -> None:
    """Never says that it is ready."""
    time.sleep(60)


@pytest.mark.slow
def test_ten_thousand_mutants(tmp_path: Path) -> None:
    counts = checked([record(name, tmp_path) for name in NAMES], range(10_000))
    assert counts["agree"] > 4_000
