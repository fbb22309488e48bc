"""The bound beside executed kernels: each term against the timing model's, work against the executor's counters."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelwright as kw
from kernelwright.space.bound import LowerBound
from kernelwright.space.cuda_source import generate
from kernelwright.space.library import example
from kernelwright.target import gpu
from tests.space.bound.test_against_rules import LEAVES
from tests.space.bound.widened_leaf import TableNumbering
from tests.space.execution import run, terms_of


@pytest.mark.parametrize("name", LEAVES)
def test_written_leaves(name: str, tmp_path: Path) -> None:
    entry, sizes, leaf_of = LEAVES[name]
    if entry == "axpy":
        sizes = {"n": 1 << 18}
    elif max(sizes.values()) == 256:
        sizes = {"m": 128, "n": 128, "k": 64}
    computation = example(entry).computation(**sizes)
    backbone = computation.backbone()
    leaf, numbering = leaf_of(backbone), TableNumbering(backbone)
    with kw.Device("h200") as device:
        done = run(example(entry), computation, generate(backbone, leaf), tmp_path, device)
    bound = LowerBound(backbone, numbering, gpu("h200"))
    estimated, executed = terms_of(done)
    state = numbering.state(leaf)
    found = bound.explain(state)
    for term, cycles in found.cycles.items():
        assert cycles <= estimated[term] * (1 + 1e-9), term
    assert found.time_us <= done.time_us - gpu("h200").launch_us
    assert found.time_us > 0.1 * (done.time_us - gpu("h200").launch_us)  # it says something
    least = bound.work(state)
    for what, count in executed.items():
        assert least[what] <= count * (1 + 1e-9), what
