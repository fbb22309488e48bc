"""Tiles that do not divide their loop: what the space offers, what the text asks of each iteration, and that nothing else is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.exploration.expert import expert
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import exp
from kernelwright.space.computation.family import Family
from kernelwright.space.cuda_source import generate
from kernelwright.space.engine.oracle import Oracle
from kernelwright.space.gpu.sets import dim_kind, size
from kernelwright.space.gpu.space import gpu_space
from kernelwright.space.library import example
from kernelwright.space.partial import Partial
from tests.space.execution import run
from tests.space.written_leaf import Nest, WrittenLeaf, dims, naive_matmul, tiled_matmul, vector_axpy


@pytest.fixture(scope="module")
def axpy() -> Partial:
    return Partial.root(gpu_space(example("axpy").computation(n=100).backbone()))


def test_tiles_divide_or_are_powers_of_two(axpy: Partial) -> None:
    backbone = example("axpy").computation(n=100).backbone()
    st1, st2 = backbone.dim("st.n1"), backbone.dim("st.n2")
    assert axpy.decide(size(st1) == 25).values("size", st2) == [2, 4]  # 100 is 25 times 4
    assert axpy.decide(size(st1) == 32).values("size", st2) == [2]  # 64 of 100; 128 would be more than there are
    with pytest.raises(Misuse) as told:
        axpy.decide(size(st1) == 50, size(st2) == 4)
    assert "tiles_fit_their_loop" in str(told.value)


def test_the_engine_does_what_the_oracle_does(axpy: Partial) -> None:
    oracle = Oracle(axpy.space.constraints)
    assert np.array_equal(oracle.root(), axpy.state)
    backbone = example("axpy").computation(n=100).backbone()
    state = axpy.state
    for condition in (size(backbone.dim("x.n1")) == 32, dim_kind(backbone.dim("st.n1")).THREAD):
        variable, mask = axpy.space.literal(condition)
        expected, after = oracle.restrict(state, variable, mask), state.copy()
        assert axpy.solver.restrict(after, variable, mask) and np.array_equal(after, expected)
        state = after


def test_accesses_are_conditional_and_sums_are_not(tmp_path: Path) -> None:
    entry = example("matmul")
    computation = entry.computation(m=90, n=100, k=52)
    backbone = computation.backbone()
    kernel = generate(backbone, tiled_matmul(backbone))
    assert "v_a = m0 * 64 + thread_y * 4 + a_m2 < 90 && k0 * 16 + thread_x < 52 ? __ldg(" in kernel.source
    assert ": make_float4(0.0f, 0.0f, 0.0f, 0.0f);" in kernel.source
    # Rows are asked about; what is not there along k is zero, so that the sum needs no condition.
    assert "if (m0 * 64 + thread_y * 4 + st_m2 < 90 && n0 * 64 + thread_x * 4 < 100) {" in kernel.source
    assert kernel.source.count("if (") == 1
    with kw.Device("h200", strict=True) as device:
        run(entry, computation, kernel, tmp_path, device)


def test_exact_tiles_need_no_condition() -> None:
    backbone = example("matmul").computation(m=128, n=128, k=64).backbone()
    source = generate(backbone, naive_matmul(backbone)).source
    assert " ? " not in source and "if (" not in source


@pytest.mark.parametrize(("name", "guarded"), [("row_sum", False), ("row_max", True)])
def test_a_maximum_is_of_what_is_there(name: str, guarded: bool, tmp_path: Path) -> None:
    """All elements are below zero, so that a zero would be the largest."""
    entry = example(name)
    computation = entry.computation(m=6, n=11)
    backbone = computation.backbone()
    result = next(i.name for i in backbone.instructions if i.operation == "reduce")
    body: list[Nest | str] = [
        f"{result}_init",
        Nest("LOOP", dims(f"x {result}", "n0"), [
            Nest("LOOP", dims(f"x {result}", "n1"), [Nest("UNROLL", dims(f"x {result}", "n2"), ["x", result])])]),
        "st",
    ]  # fmt: skip
    around = f"x {result}_init {result} st"
    for level in ("m2", "m1", "m0"):
        body = [Nest("THREAD" if level == "m1" else "LOOP", dims(around, level), body, 0 if level == "m1" else None)]
    kernel = generate(backbone, WrittenLeaf(backbone, body, {"m1": 2, "m2": 2, "n1": 2, "n2": 2}))
    assert ("if (n0 * 4 + n1 * 2 + n2 < 11) {\n" in kernel.source) == guarded
    negative = Family(name, entry.sizes, entry.declare, entry.oracle, entry.scalars)

    class Below(Family):
        def inputs(self, computation, seed):  # type: ignore[no-untyped-def]
            return {
                n: a if np.isnan(a).any() else -1 - np.abs(a) for n, a in negative.inputs(computation, seed).items()
            }

    with kw.Device("h200") as device:
        run(Below(name, entry.sizes, entry.declare, entry.oracle, entry.scalars), computation, kernel, tmp_path, device)


def test_a_sum_of_what_is_not_zero_asks() -> None:
    """exp(0) is 1, and zero times what may be infinite is no number."""
    c = Computation("own")
    m, n = c.loop("m", 4, (2,)), c.loop("n", 11, (4,))
    x, y, out = c.input("X", (4, 11)), c.input("Y", (4,)), c.output("Z", (4,))
    scaled = c.load("y", y[m]) * c.load("x", x[m, n])
    c.store("st", out[m], c.sum("total", exp(scaled), over=n))
    backbone = c.backbone()
    body: list[Nest | str] = [
        "y", "total_init",
        Nest("LOOP", dims("x total", "n0"), [Nest("LOOP", dims("x total", "n1"), ["x", "total"])]),
        "st",
    ]  # fmt: skip
    for level in ("m1", "m0"):
        body = [Nest("LOOP", dims("y x total_init total st", level), body)]
    assert "if (n0 * 4 + n1 < 11) {" in generate(backbone, WrittenLeaf(backbone, body, {"m1": 2, "n1": 4})).source


def test_a_vector_is_there_as_a_whole(tmp_path: Path) -> None:
    entry = example("axpy")
    computation = entry.computation(n=1020)
    backbone = computation.backbone()
    kernel = generate(backbone, vector_axpy(backbone, 64))
    assert kernel.grid == (4, 1, 1) and "n0 * 256 + thread_x * 4 < 1020 ? " in kernel.source
    with kw.Device("h200", strict=True) as device:
        run(entry, computation, kernel, tmp_path, device)
    with pytest.raises(Misuse, match="x cannot be a vector of 4 along n2"):
        odd = entry.computation(n=1022).backbone()
        generate(odd, vector_axpy(odd, 64))


@pytest.mark.parametrize("sizes", [(720, 1000, 1024), (1009, 997, 991), (7, 3, 2), (1, 1, 1), (2, 1009, 1)])
def test_every_size_has_a_space(sizes: tuple[int, ...]) -> None:
    plan = expert("matmul", sizes, device="h200")
    assert plan.bound().time_us > 0
    if sizes[0] == 1009:
        plan.tile("m", 16, 4).tile("n", 16, 4).threads("mad.m1", "mad.n1").unrolled("mad.m2", "mad.n2").staged("a", "b")
        with pytest.raises(Misuse) as told:
            plan.decide("size(mad.k1) = 5")
        assert "size has no value 5" in str(told.value)
