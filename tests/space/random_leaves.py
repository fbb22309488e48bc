"""Random leaves of a space, generated, executed and bounded: what the gates of generation and of the bound count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kernelwright as kw
from kernelwright.device.timing_model.neighbours import watched
from kernelwright.space.bound import LowerBound
from kernelwright.space.bound.ground_numbering import GroundNumbering
from kernelwright.space.cuda_source import GeneratedKernel, generate
from kernelwright.space.engine.solver import Solver
from kernelwright.space.gpu.leaf import Decided
from kernelwright.space.gpu.space import gpu_space
from kernelwright.space.library import example
from kernelwright.target import gpu
from tests.space.execution import run, terms_of

CHOICES = ("layout", "size", "dim_kind", "thread_mapping", "dim_mapping", "mem_space", "exists", "order", "cache")
"""The order of decisions: the paper's (section 5.1), with what it leaves out at the end."""


@dataclass(frozen=True)
class Sample:
    """A leaf that ran: every prefix's bounds, in the order of its decisions."""

    kernel: GeneratedKernel
    done: Any
    bounds_us: list[float]
    work: list[dict[str, float]]
    cycles: list[dict[str, float]]
    has_partial_iterations: bool


class Sampler:
    """``failed`` counts leaves that do not compile, run, or agree with NumPy, with the reason."""

    def __init__(self, name: str, sizes: dict[str, int], seed: int) -> None:
        self.sizes = sizes
        self.example = example(name)
        self.computation = self.example.computation(**sizes)
        self.backbone = self.computation.backbone()
        self.space = gpu_space(self.backbone)
        self.solver = Solver(self.space.constraints, seed)
        self.bound = LowerBound(self.backbone, GroundNumbering(self.space), gpu("h200"))
        self.dead_ends = 0
        self.failed: list[str] = []

    def samples(self, count: int, folder: Path, device: kw.Device) -> Iterator[Sample]:
        order = self.space.variables_of(*(c for c in CHOICES if c in self.space.choices))
        root = self.solver.root()
        assert root is not None
        tried = 0
        while tried < count:
            state = root.copy()
            walk = self.solver.descend(state, order)
            if walk.is_dead_end:
                self.dead_ends += 1
                continue
            tried += 1
            try:
                kernel = generate(self.backbone, Decided(self.space, state))
                done = run(self.example, self.computation, kernel, folder, device, self.sizes)
            except (AssertionError, kw.KernelwrightError) as error:
                self.failed.append(str(error))
                continue
            prefix = root.copy()
            states = [prefix.copy()]
            for variable, mask in walk.decisions:
                assert self.solver.restrict(prefix, variable, mask)
                states.append(prefix.copy())
            yield Sample(
                kernel,
                done,
                [self.bound.time_us(s) for s in states],
                [self.bound.work(s) for s in states],
                [self.bound.explain(s).cycles for s in states],
                bool(self.backbone.partial_loops),
            )


def breaches(sample: Sample) -> list[str]:
    """Where a bound is above what was executed or estimated."""
    estimated, executed = terms_of(sample.done)
    # Where the log of watched blocks is full, the model counts of L2 and of memory what was logged; where blocks differ, since some
    # of their iterations are not there, what those in the middle of the grid do, for all.
    grid, logged = sample.kernel.grid, sample.done.result
    sampled = sample.has_partial_iterations and len(watched(grid)) < grid[0] * grid[1] * grid[2]
    cut = bool(logged.events_lost or logged.events_beyond)
    compared = estimated.keys() - ({"l2", "memory"} if cut or sampled else set())
    slack = 1 + 1e-9
    # The model counts the sectors of a joined store as those of its average execution, whole ones.
    rounded = 1.01 if sample.has_partial_iterations else slack
    found = [
        f"decision {n}: {what}, {least[what]:,.0f} of {count:,.0f}"
        for n, least in enumerate(sample.work)
        for what, count in executed.items()
        if least[what] > count * slack
    ]
    found += [
        f"decision {n}: {term}, {cycles:,.0f} of {estimated[term]:,.0f} cycles"
        for n, terms in enumerate(sample.cycles)
        for term, cycles in terms.items()
        if term in compared and cycles > estimated[term] * (rounded if term == "l2" else slack)
    ]
    time_us = sample.done.time_us - gpu("h200").launch_us
    found += [
        f"decision {n}: {us:.3f} of {time_us:.3f} us" for n, us in enumerate(sample.bounds_us) if us > time_us * slack
    ]
    return found
