"""Kernels from decisions written by hand, compiled together, run and timed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.exploration.subject import Subject
from kernelwright.exploration.trial import BLOCKS, Trials
from kernelwright.space.cuda_source import GeneratedKernel, generate
from tests.space.written_leaf import naive_matmul, tiled_matmul, vector_axpy


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    made = Trials(Subject.of("matmul", (128, 128, 64), "h200"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def kernels(trials: Trials) -> list[GeneratedKernel]:
    backbone = trials.subject.backbone
    return [generate(backbone, naive_matmul(backbone)), generate(backbone, tiled_matmul(backbone))]


def test_a_batch_is_judged_together_and_as_if_alone(trials: Trials, kernels: list[GeneratedKernel]) -> None:
    together = [each.outcome for each in trials.of(kernels)]
    alone = [trials.of([each])[0].outcome for each in kernels]
    assert together == alone
    naive, tiled = together
    assert isinstance(naive, Ok) and isinstance(tiled, Ok)
    assert 0 < tiled.time_us < naive.time_us and tiled.error < 1e-5
    assert tiled.metrics["with_launch_us"] > tiled.time_us and tiled.metrics["registers"] > 16


def test_the_first_blocks_say_what_the_whole_takes(trials: Trials, kernels: list[GeneratedKernel]) -> None:
    naive = kernels[0]
    assert naive.grid[0] > BLOCKS
    cut, whole = trials.of([naive])[0].outcome, trials.whole(naive)
    assert isinstance(cut, Ok) and isinstance(whole, Ok)
    assert cut.time_us == pytest.approx(whole.time_us, rel=0.05)


def spoilt(kernel: GeneratedKernel, before: str, after: str) -> GeneratedKernel:
    assert before in kernel.source
    return replace(kernel, source=kernel.source.replace(before, after, 1))


def test_what_is_wrong_is_rejected_and_takes_nothing_with_it(trials: Trials, kernels: list[GeneratedKernel]) -> None:
    naive, tiled = kernels
    wrong = [
        spoilt(naive, "v_a * v_b", "v_a + v_b"),
        spoilt(naive, "&C[", "&C[1000000 + "),
        spoilt(naive, "v_mad", "undeclared"),
        spoilt(naive, "&C[", "(float *)&A["),
    ]
    found = [each.outcome for each in trials.of([*wrong, tiled])]
    stages = [each.stage for each in found[:4] if isinstance(each, Rejected)]
    assert stages == ["compare", "fault", "compile", "fault"]
    assert isinstance(found[4], Ok)


def test_a_race_that_the_usual_order_hides_is_found_as_a_whole(trials: Trials, kernels: list[GeneratedKernel]) -> None:
    raced = replace(kernels[1], source=kernels[1].source.replace("__syncthreads();", ""))
    outcome = trials.whole(raced)
    assert isinstance(outcome, Rejected) and outcome.stage in ("order", "compare")
    assert isinstance(trials.whole(kernels[1]), Ok)


def test_a_kernel_that_leaves_elements_out_is_rejected_as_a_whole(
    trials: Trials, kernels: list[GeneratedKernel]
) -> None:
    half = spoilt(kernels[0], "        __stcg(&C[", "        if (blockIdx.x < 9) __stcg(&C[")
    assert isinstance(trials.of([half])[0].outcome, Ok)
    outcome = trials.whole(half)
    assert isinstance(outcome, Rejected) and "are not written" in outcome.reason


def test_scalars_are_passed() -> None:
    trials = Trials(Subject.of("axpy", (1 << 13,), "a100"))
    backbone = trials.subject.backbone
    outcome = trials.whole(generate(backbone, vector_axpy(backbone, 128, "L1")))
    assert isinstance(outcome, Ok) and outcome.error < 1e-6
    trials.close()


def test_copies_of_a_process_do_not_share_memory(trials: Trials, kernels: list[GeneratedKernel]) -> None:
    """Workers are copies of one process: what one of them writes, another took for its own kernel's output."""
    assert isinstance(trials.of(kernels[:1])[0].outcome, Ok)
    (output,) = (buffer for buffer in trials._buffers.values() if buffer.writable)
    trials._arena.view(output, np.float32)[:] = 7
    if (pid := os.fork()) == 0:
        accepted = isinstance(trials.of(kernels[1:])[0].outcome, Ok)
        os._exit(0 if accepted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert (trials._arena.view(output, np.float32) == 7).all()
