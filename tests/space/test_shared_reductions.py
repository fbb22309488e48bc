"""Reductions shared between threads: what the space offers and why not more, what the text does, and what it comes to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.exploration.expert import expert
from kernelwright.space.bound import LowerBound
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.family import Family
from kernelwright.space.cuda_source import generate
from kernelwright.space.engine.oracle import Oracle
from kernelwright.space.gpu.leaf import Decided
from kernelwright.space.gpu.paper import PAPER
from kernelwright.space.gpu.sets import DECISION_ORDER, dim_kind, size
from kernelwright.space.gpu.space import gpu_space
from kernelwright.space.library import example
from kernelwright.space.partial import Partial
from kernelwright.target import gpu
from tests.space.bound.widened_leaf import KINDS, TableNumbering
from tests.space.execution import run
from tests.space.written_leaf import Nest, WrittenLeaf, dims, shared_row_sum


def sum_of(threads: int) -> Family:
    """Rows added up with tiles of so many threads."""

    def declare(m: int, n: int) -> Computation:
        c = Computation("sums")
        i, j = c.loop("m", m, (128, 4)), c.loop("n", n, (threads,))
        x, y = c.input("X", (m, n)), c.output("Y", (m,))
        c.store("st", y[i], c.sum("total", c.load("x", x[i, j]), over=j))
        return c

    return Family("sums", {"m": 16, "n": 512}, declare, lambda a, s: {"Y": a["X"].sum(axis=1)}, {})


@pytest.mark.parametrize(("threads", "barriers"), [(2, 0), (8, 0), (32, 0), (64, 1), (256, 1)])
def test_every_number_of_threads_is_right(threads: int, barriers: int, tmp_path: Path) -> None:
    """A part of a warp, a warp, several warps; 500 terms, of which the last threads have none."""
    entry = sum_of(threads)
    computation = entry.computation(m=16, n=500)
    kernel = generate(computation.backbone(), shared_row_sum(computation.backbone(), threads))
    assert kernel.block == (threads, 4, 1) and kernel.barriers == kernel.source.count("__syncthreads") == barriers
    assert kernel.source.count("__shfl_xor_sync") == 1 and f"int step = {min(threads, 32) // 2};" in kernel.source
    assert kernel.shared_bytes == (4 * 2 * 4 * threads // 32 if threads > 32 else 0)
    assert "if (thread_x == 0) {" in kernel.source
    with kw.Device("h200", strict=True) as device:
        run(entry, computation, kernel, tmp_path, device)


def test_parts_are_kept_until_they_are_read(tmp_path: Path) -> None:
    """In a loop the next iteration's parts wait behind a second barrier; the values of one thread lie apart."""
    entry = sum_of(64)
    computation = entry.computation(m=16, n=512)
    backbone = computation.backbone()
    add = Nest("THREAD", dims("x total", "n1"), [Nest("LOOP", dims("x total", "n0"), [
        Nest("UNROLL", dims("x total", "m2"), ["x", "total"])])], 0)  # fmt: skip
    begin, end = (Nest("UNROLL", dims(i, "m2"), [i]) for i in ("total_init", "st"))
    body: list[Nest | str] = [Nest("LOOP", dims("x total_init total st", "m1"), [begin, add, end])]
    body = [Nest("BLOCK", dims("x total_init total st", "m0"), body)]
    kernel = generate(backbone, WrittenLeaf(backbone, body, {"m1": 4, "m2": 2, "n1": 64}))
    assert kernel.barriers == kernel.source.count("__syncthreads") == 2
    assert "total_parts[x_m2 * 2 + thread_x / 32] = v_total[x_m2];" in kernel.source
    with kw.Device("h200") as device:
        run(entry, computation, kernel, tmp_path, device)


@pytest.mark.parametrize("name", ["row_sum", "row_max", "mv", "softmax"])
def test_an_expert_gives_a_row_to_a_warp(name: str, tmp_path: Path) -> None:
    """As decisions of the space, completed by it."""
    backbone = example(name).computation(m=24, n=100).backbone()
    results = [r.instruction.name for r in backbone.reductions]
    chosen = Partial.root(gpu_space(backbone), seed=3)
    for each in results:
        dim = backbone.dim(f"{each}.n1")
        chosen = chosen.decide(size(dim) == 32, dim_kind(dim).THREAD)
    leaf = chosen.completed(DECISION_ORDER)
    kernel = generate(backbone, Decided(leaf.space, leaf.state))
    assert kernel.block[0] == 32 and kernel.source.count("__shfl_xor_sync") == len(results)
    with kw.Device("h200") as device:
        run(example(name), example(name).computation(m=24, n=100), kernel, tmp_path, device)


def test_what_is_excluded_is_told() -> None:
    plan = expert("row_sum", {"m": 64, "n": 100}, device="h200")
    assert plan.left("dim_kind", "total.n1") == ["LOOP", "UNROLL", "THREAD"]
    assert "reductions_stay_in_a_block" in plan.why("dim_kind(total.n1) = BLOCK")
    plan.decide("dim_kind(total.n1) = THREAD")
    assert "parts_are_joined_by_halves" in plan.why("size(total.n1) = 25")
    plan.decide("dim_kind(total.m1) = THREAD")
    assert "parts_are_of_neighbours" in plan.why("thread_mapping(total.n1, total.m1) = OUT")


@pytest.mark.parametrize(
    ("name", "sizes", "kinds"),
    [
        ("mv", {"m": 65_536, "n": 64}, ["LOOP", "UNROLL", "THREAD"]),  # each element of the matrix is for one result
        ("matmul", {"m": 256, "n": 256, "k": 32}, ["LOOP", "UNROLL"]),
        ("matmul", {"m": 64, "n": 64, "k": 4096}, ["LOOP", "UNROLL", "THREAD"]),  # few results
    ],
)
def test_threads_share_where_nothing_is_used_again(name: str, sizes: dict[str, int], kinds: list[str]) -> None:
    plan = expert(name, sizes, device="h200")
    reduced = "mad.n1" if name == "mv" else "mad.k1"
    assert plan.left("dim_kind", reduced) == kinds
    if "THREAD" not in kinds:
        assert "results_that_share_operands_are_enough" in plan.why(f"dim_kind({reduced}) = THREAD")


def test_the_engine_does_what_the_oracle_does() -> None:
    backbone = example("row_sum").computation(m=6, n=20).backbone()
    root = Partial.root(gpu_space(backbone))
    oracle = Oracle(root.space.constraints)
    assert np.array_equal(oracle.root(), root.state)
    state = root.state
    for condition in (dim_kind(backbone.dim("total.n1")).THREAD, dim_kind(backbone.dim("total.m1")).THREAD):
        variable, mask = root.space.literal(condition)
        expected, after = oracle.restrict(state, variable, mask), state.copy()
        assert root.solver.restrict(after, variable, mask) and np.array_equal(after, expected)
        state = after


def test_the_papers_space_has_neither() -> None:
    backbone = example("row_sum").computation(m=64, n=100).backbone()
    total = backbone.dim("total.n1")
    paper = Partial.root(gpu_space(backbone, space=PAPER))
    assert paper.values("dim_kind", total) == ["LOOP", "UNROLL"]
    assert paper.values("size", total) == [2, 5, 10, 25, 50]
    assert 16 in Partial.root(gpu_space(backbone)).values("size", total)


def test_a_chain_is_as_long_as_a_threads_share() -> None:
    backbone = example("row_sum").computation(m=64, n=4096).backbone()
    numbering, leaf = TableNumbering(backbone), shared_row_sum(backbone, 32)
    bound, state = LowerBound(backbone, numbering, gpu("h200"), overlap=True), numbering.state(leaf)
    chain = 4096 / 32 * bound.machine.add_latency
    assert chain <= bound.explain(state).cycles["latency"] < 4096 * bound.machine.add_latency
    state[numbering.index["dim_kind", "total.n1"]] = 1 << KINDS.index("LOOP")
    assert bound.explain(state).cycles["latency"] >= 4096 * bound.machine.add_latency
