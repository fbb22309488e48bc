"""Candidates of a program that reads past its buffers: what they may read, and what must not come of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernelwright.edits import Gene
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete import Delete
from kernelwright.evaluate.judging.demands import Accept, Demands
from kernelwright.evaluate.judging.fitness import Fitness
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES
from kernelwright.target import gpu

# out[i] = in[i] minus the one before; the first is subtracted from itself. What lies before it is read all the same.
SOURCE = """
__global__ void left(const volatile float *in, float *out, int n) {
  __shared__ volatile float before[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  before[threadIdx.x] = in[i - 1];
  if (i == 0) before[threadIdx.x] = in[i];
  float now = 0.0f;
  if (i < n) now = in[i];
  out[i] = now - before[threadIdx.x]; }
__global__ void sound(const volatile float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float now = 0.0f;
  if (i < n) now = in[i];
  out[i] = now; }
__global__ void leans(const volatile float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1] - in[i]; }
"""

Make = Callable[..., Fitness]
OUT = 96


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(kernel: str, first: float = 3.0, accept: Accept = "clean", size: int = 64) -> Fitness:
        path = tmp_path / "k.cu"
        path.write_text(SOURCE)
        values = np.arange(size, dtype=np.float32) + np.float32(first)
        case = Case((2,), (32,), {"in": values, "out": np.zeros(OUT, np.float32), "n": size})
        return Fitness(Workload(path, kernel, (case,)), gpu("h200"), Demands(accept), kind=GENOMES)

    return made


def kernel_of(fitness: Fitness) -> str:
    return next(name for name in fitness.builder.originals if fitness.workload.kernel in name)


def always(fitness: Fitness, which: int, value: bool = True) -> Gene:
    """A condition made constant."""
    kernel = kernel_of(fitness)
    users = [user for user, _ in fitness.builder.originals[kernel].slots["i1"]]
    return Gene(kernel, ConstantCondition(users[which], 0, value))


def test_the_original_is_judged_with_its_reads_and_a_line_says_so(make: Make) -> None:
    fitness = make("left")
    assert isinstance(fitness.reference(), Ok)
    (said,) = [note for note in fitness.notes if "past its buffers" in note]
    assert "k.cu:5" in said and "must not depend on what is read" in said
    again = make("left")
    again.reference()
    assert again.notes == fitness.notes, "the same in every process of a run"


def test_a_sound_original_has_no_such_line(make: Make) -> None:
    fitness = make("sound")
    fitness.reference()
    assert not [note for note in fitness.notes if "past" in note]


@pytest.mark.parametrize("accept", ["any", "clean"])
def test_a_candidate_that_reads_past_a_buffer_where_a_sound_original_does_not_fails(make: Make, accept: Accept) -> None:
    fitness = make("sound", accept=accept, size=40)
    fitness.reference()
    outcomes = [fitness((always(fitness, 0, value),)) for value in (False, True)]
    (outcome,) = [one for one in outcomes if isinstance(one, Rejected) and one.stage == "fault"]
    assert "after the end" in outcome.reason


@pytest.mark.parametrize("first", [3.0, 0.0])
def test_no_candidate_is_right_by_the_luck_of_zeros(make: Make, first: float) -> None:
    """Without its exception for the first element, the output is right where that is zero as well."""
    fitness = make("left", first)
    fitness.reference()
    outcome = fitness((always(fitness, 0, False),))
    assert isinstance(outcome, Rejected) and outcome.stage == ("order" if first == 0.0 else "compare")
    assert first or "other bytes past its buffers" in outcome.reason


def test_a_candidate_may_do_without(make: Make) -> None:
    fitness = make("left", accept="any")
    original = fitness.reference()
    kernel = kernel_of(fitness)
    nodes = fitness.builder.originals[kernel].nodes
    loads = [id for id, node in nodes.items() if node.instruction.opcode == "load"]
    outcomes = [fitness((Gene(kernel, Delete(id)),)) for id in loads]
    assert original.error == 0 and all(isinstance(one, Ok | Rejected) for one in outcomes)


def test_an_original_that_depends_on_what_it_reads_is_told(make: Make) -> None:
    fitness = make("leans")
    assert isinstance(fitness.reference(), Ok)
    (said,) = [note for note in fitness.notes if "past its buffers" in note]
    assert "its output depends on what lies past its buffers" in said and "k.cu:17" in said
