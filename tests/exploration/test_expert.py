"""Decisions of a person before a search: the tiled product, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.exploration.expert import Expert, expert
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.run import ExploreSettings
from kernelwright.stories.explore import checked_settings


@pytest.fixture(scope="module")
def axpy() -> Expert:
    return expert("axpy", (4096,), device="h200").tile("n", 128, 4).threads("n1")


def test_a_plan_is_decisions(axpy: Expert) -> None:
    assert set(axpy.decisions) >= {"size(x.n1) = 128", "size(st.n2) = 4", "dim_kind(mad.n1) = THREAD"}
    assert axpy.left("size", "y.n1") == [128] and axpy.left("dim_kind", "x.n1") == ["THREAD"]
    assert axpy.bound().time_us > 0


def test_a_value_that_is_gone_has_a_reason(axpy: Expert) -> None:
    said = axpy.why("size(y.n1) = 64")
    assert said.startswith("size(y.n1) is 64 is impossible with") and "same size" in said
    with pytest.raises(Misuse, match="is possible"):
        axpy.why("cache(x) = L2")


def test_a_contradiction_leaves_the_plan_as_it_was(axpy: Expert) -> None:
    before = axpy.decisions
    with pytest.raises(Misuse, match="contradicts those before it"):
        axpy.loops("x.n0").unrolled("n1")
    assert axpy.decisions == (*before, "dim_kind(x.n0) = LOOP")


def test_what_is_never_possible_is_no_matter_of_other_decisions(axpy: Expert) -> None:
    with pytest.raises(Misuse, match=r"dim_kind\(st.n0\) = VECTOR, is never possible") as told:
        axpy.decide("dim_kind(st.n0) = VECTOR")
    hint = str(told.value.hint)
    assert "in the whole space" in hint and "only_tiles_have_a_known_size" in hint and len(hint.splitlines()) < 5


def test_a_value_that_is_gone_is_told_without_what_it_would_have_led_to(axpy: Expert) -> None:
    with pytest.raises(Misuse, match="contradicts those before it") as told:
        axpy.decide("size(y.n1) = 64")
    assert str(told.value.hint).startswith("size(y.n1) is 64 is impossible with\n  size(")
    assert "fused_rests_have_one_size" in str(told.value.hint)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("axpy 4096 has 2 tiles of n, and 3 sizes", lambda plan: plan.tile("n", 4, 4, 4)),
        ("axpy 4096 has 0 tiles of m", lambda plan: plan.tile("m", 4)),
        ("axpy 4096 has no n7", lambda plan: plan.threads("n7")),
        ("st cannot be staged", lambda plan: plan.staged("st")),
        ("is no decision", lambda plan: plan.decide("n1 = 4")),
        ("there is no choice sizes", lambda plan: plan.left("sizes", "x.n1")),
    ],
)
def test_what_there_is_not_is_told(axpy: Expert, said: str, wrong: object) -> None:
    with pytest.raises(Misuse, match=said):
        wrong(axpy)  # type: ignore[operator]


def test_all_that_is_tried_keeps_to_the_plan(axpy: Expert, tmp_path: Path) -> None:
    run = kw.explore(axpy, folder=tmp_path / "axpy-1", jobs=1, evaluations=2, seed=5, batch=2)
    assert len(run.tried) == 2 and run.settings.decisions == axpy.decisions
    space = KernelSpace(run.subject)
    for kernel in run.tried:
        assert kernel.decisions[: len(axpy.decisions)] == axpy.decisions
        assert space.kernel(kernel.decisions).threads % 128 == 0
    assert ExploreSettings.from_json(run.settings.as_json()) == run.settings


def test_contradicting_decisions_are_told_before_a_run_begins(axpy: Expert) -> None:
    with pytest.raises(Misuse, match="decision 2, size"):
        checked_settings(axpy.subject, decisions=("size(x.n1) = 128", "size(y.n1) = 64"))
    with pytest.raises(Misuse, match="a plan knows its sizes"):
        kw.explore(axpy, (64,))
