"""The cost of a back end, measured, and what follows for a generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kernelwright.breeding import back_end_table, choice
from kernelwright.breeding.choice import Cost, chosen_backend, measured_cost, rule, weigh
from kernelwright.breeding.program_results import Answers, answers_to
from kernelwright.grammar import load_problem
from kernelwright.grammar.problems import path_of

KEIJZER6 = load_problem(path_of("keijzer6"))


class Clock:
    now = 0.0


def taking(fixed_s: float, each_s: float, texts: Sequence[str]) -> list[Answers]:
    Clock.now += fixed_s + each_s * len(texts)
    return []


def test_costs_are_measured() -> None:
    texts = [str(n) for n in range(24)]
    cost = measured_cost(lambda part: taking(0.01, 0.002, part), texts, lambda: Clock.now)
    assert cost.fixed_s == pytest.approx(0.01)
    assert cost.each_s == pytest.approx(0.002)
    assert cost.predicted((10, 100), 300, 2) == pytest.approx(2 * 0.01 + 150 * 0.002)
    assert cost.predicted((10, 100), 5, 2) == pytest.approx(0.01 + 5 * 0.002)
    assert Cost(0.0, 0.0).predicted((10, 100), 300, 2) == 0


@pytest.mark.parametrize(("fixed_s", "each_s", "quickest"), [(0.003, 0.0002, "host"), (0.9, 0.0002, "interpreted")])
def test_the_quickest_for_a_generation_is_chosen(
    fixed_s: float, each_s: float, quickest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = iter([Cost(0.0, 1e-3), Cost(fixed_s, each_s)])
    monkeypatch.setattr(choice, "measured_cost", lambda *_: next(costs))
    found = weigh(KEIJZER6, 300, 1)
    assert found[0].name == quickest and len(found) == 2
    by_name = {each.name: each.row() for each in found}
    assert by_name["interpreted"]["generation ms"] == pytest.approx(300)
    assert by_name["host"]["fixed ms"] == fixed_s * 1e3
    monkeypatch.setattr(choice, "weigh", lambda *_: found)
    assert chosen_backend(KEIJZER6, "auto", 300, 1) == quickest


def test_what_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Absent(back_end_table.Host):
        def missing(self) -> str:
            return "pip install it"

    rows = {**back_end_table.BACKENDS, "host": replace(back_end_table.BACKENDS["host"], compiler=Absent)}
    monkeypatch.setattr(choice, "BACKENDS", rows)
    found = weigh(KEIJZER6, 300, 1)
    assert [each.name for each in found] == ["interpreted", "host"]
    assert "pip install it" in found[1].note and found[1].row()["generation ms"] is None


def test_the_rule_names_what_a_generation_is() -> None:
    assert "300 programs over 2 of 2 workers, in batches of at most 100" in rule(KEIJZER6, 300, 2)
    assert "over 1 of 2 workers" in rule(KEIJZER6, 30, 2)


def test_what_is_remembered_makes_no_measurement_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round computes every program again, although the interpreter keeps parts of formulas."""
    asked: list[tuple[object, int]] = []

    def counted(runner: object, texts: Sequence[str]) -> list[Answers]:
        asked.append((runner, len(texts)))
        return answers_to(runner, texts)  # type: ignore[arg-type]

    monkeypatch.setattr(choice, "answers_to", counted)
    weighed = choice._weighed(back_end_table.BACKENDS["interpreted"], KEIJZER6, ["x", "x + x", "sinf(x)"], 300, 1)
    assert weighed.cost is not None and len(asked) > 4
    assert len({id(runner) for runner, _ in asked}) == len(asked)
