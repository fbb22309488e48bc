"""The GPU's space: what experts write is in it, decisions commute, and what it offers runs."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.space.computation.objects import Backbone
from kernelwright.space.cuda_source.write_kernel import generate
from kernelwright.space.engine.oracle import Oracle
from kernelwright.space.gpu.leaf import Decided
from kernelwright.space.gpu.sets import DECISION_ORDER, dim_kind, order, size
from kernelwright.space.gpu.space import gpu_space
from kernelwright.space.library.table import example
from kernelwright.space.partial import Partial
from tests.space.execution import run
from tests.space.gpu.schedules import naive_matmul, tiled_matmul

SIZES = {"m": 128, "n": 128, "k": 32}


@pytest.fixture(scope="module")
def matmul() -> Backbone:
    return example("matmul").computation(**SIZES).backbone()


@pytest.fixture(scope="module")
def root(matmul: Backbone) -> Partial:
    return Partial.root(gpu_space(matmul))


@pytest.fixture(scope="module")
def axpy() -> Partial:
    return Partial.root(gpu_space(example("axpy").computation(n=1024).backbone()), seed=2)


@pytest.mark.parametrize("schedule", [naive_matmul, tiled_matmul])
def test_an_experts_schedule_is_accepted_and_right(schedule, matmul: Backbone, root: Partial, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    chosen = root.decide(*schedule(matmul)).completed(DECISION_ORDER)
    kernel = generate(matmul, Decided(chosen.space, chosen.state))
    with kw.Device("h200") as device:
        run(example("matmul"), example("matmul").computation(**SIZES), kernel, tmp_path, device)


def test_the_tiled_schedule_stages_both_operands(matmul: Backbone, root: Partial) -> None:
    chosen = root.decide(*tiled_matmul(matmul)).completed(DECISION_ORDER)
    leaf = Decided(chosen.space, chosen.state)
    assert all(leaf.exists(t) and leaf.exists(t.put) for t in matmul.temporaries)
    assert {leaf.value("thread_mapping", matmul.dim("mad.m1"), d) for d in matmul.dims if d.name == "st.m1"} == {
        "MAPPED"
    }
    assert leaf.value("order", matmul.dim("mad.m1"), matmul.dim("mad.k0")) == "INNER"
    assert leaf.value("order", matmul.dim("mad.k0"), matmul.dim("mad.m1")) == "OUTER"


def test_shuffled_decisions_reach_one_state(axpy: Partial) -> None:
    space, solver = axpy.space, axpy.solver
    variables = space.variables_of(*DECISION_ORDER)
    draw = random.Random(1)
    compared = 0
    for seed in range(60):
        solver.seed(seed)
        walk = solver.descend(axpy.state.copy(), variables)
        prefix = [d for d in walk.decisions if draw.random() < 0.5 and not space.constraints.presence[d[0]]]
        states = []
        for _ in range(2):
            state = axpy.state.copy()
            held = solver.replay(state, draw.sample(prefix, len(prefix)))
            states.append(state if held == len(prefix) else None)
        assert (states[0] is None) == (states[1] is None)
        if states[0] is not None:
            compared += 1
            assert np.array_equal(states[0], states[1])
    assert compared > 50


def test_the_engine_does_what_the_oracle_does(axpy: Partial) -> None:
    oracle = Oracle(axpy.space.constraints)
    assert np.array_equal(oracle.root(), axpy.state)
    dims = axpy.space.members
    chosen = [o for things in dims.values() for o in things if str(o) in ("mad.n1", "x.n1", "st.n2")]
    state = axpy.state
    for condition in (size(chosen[0]) == 32, dim_kind(chosen[0]).THREAD):
        variable, mask = axpy.space.literal(condition)
        expected = oracle.restrict(state, variable, mask)
        after = state.copy()
        assert axpy.solver.restrict(after, variable, mask) and expected is not None
        assert np.array_equal(after, expected)
        state = after


@pytest.mark.parametrize("name", ["axpy", "matmul"])
def test_random_leaves_run_and_agree_with_numpy(name: str, tmp_path: Path) -> None:
    sizes = {"axpy": {"n": 1024}, "matmul": {"m": 32, "n": 32, "k": 16}}[name]
    computation = example(name).computation(**sizes)
    backbone = computation.backbone()
    start = Partial.root(gpu_space(backbone), seed=9)
    with kw.Device("h200") as device:
        for _ in range(3):
            leaf = start.completed(DECISION_ORDER)
            run(example(name), computation, generate(backbone, Decided(leaf.space, leaf.state)), tmp_path, device)


def test_contradictory_decisions_are_told(axpy: Partial) -> None:
    backbone = example("axpy").computation(n=1024).backbone()
    outer, inner = backbone.dim("st.n1"), backbone.dim("st.n2")
    with pytest.raises(Misuse) as told:
        axpy.decide(size(outer) == 32, dim_kind(outer).VECTOR, order(outer, inner).OUTER)
    assert "size" not in str(told.value) and "vectors_are_aligned" in str(told.value)
    with pytest.raises(Misuse) as told:
        axpy.decide(size(outer) == 32, dim_kind(inner).VECTOR, order(outer, inner).INNER)
    assert "size" not in str(told.value) and "dim_kind(st.n2) is VECTOR" in str(told.value)
    assert "vectors_hold_no_loop" in str(told.value)


def test_why_names_the_decision_and_the_rule(axpy: Partial) -> None:
    backbone = example("axpy").computation(n=1024).backbone()
    st2, st1 = backbone.dim("st.n2"), backbone.dim("st.n1")
    partial = axpy.decide(size(backbone.dim("mad.n1")) == 64, dim_kind(st2).VECTOR)
    found = partial.why(order(st1, st2).INNER)
    assert found.decisions == ("dim_kind(st.n2) is VECTOR",)
    assert [r.name for r in found.steps[-1].rules] == ["vectors_hold_no_loop"]
    with pytest.raises(Misuse, match="is possible"):
        partial.why(order(st1, st2).OUTER)


def test_what_never_was_possible_has_a_rule(axpy: Partial) -> None:
    backbone = example("axpy").computation(n=1024).backbone()
    found = axpy.why(dim_kind(backbone.dim("mad.n0")).THREAD)
    assert found.decisions == () and "whole space" in str(found)
    assert "only_tiles_have_a_known_size" in str(found)
