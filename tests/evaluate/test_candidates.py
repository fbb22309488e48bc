"""Evaluation takes candidates of any kind: here decisions about how a kernel is written, as a space of implementations has them."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import kernelwright
from kernelwright.errors import Misuse
from kernelwright.evaluate.candidate import VariantKind
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.variant import Built, Variant, alone, build_kernel
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.answers import Answers, in_order
from kernelwright.evaluate.run.journal import Journal
from kernelwright.evaluate.run.run import Run, kind_of
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.run.variant_answers import VariantAnswers
from kernelwright.evaluate.run.variant_run import VariantRun, facts_of
from kernelwright.evaluate.workload.subject import PythonFile
from kernelwright.ir import Module, print_module

AGAIN = Path(__file__).parents[1] / "stories" / "again.py"
Choices = tuple[str, ...]
"""Decisions: ``volatile`` makes the stores so; ``as-is`` leaves everything as it is, which comes to the original."""


@dataclass(frozen=True)
class ChoiceBuilder:
    modules: Mapping[str, Module]
    arch: str

    def build(self, candidate: Choices) -> Variant:
        return Variant({name: self._built(name, candidate) for name in self.modules}, frozenset(self.modules), {})

    def _built(self, kernel: str, candidate: Choices) -> Built:
        text = print_module(alone(self.modules[kernel], kernel))
        for choice in candidate:
            before, after = {"volatile": ("store float", "store volatile float"), "as-is": ("%", "%")}[choice]
            text = text.replace(before, after)
        return build_kernel(kernel, text, self.arch)


@dataclass(frozen=True)
class ChoiceKind:
    name: str = "explore"
    original: Choices = ()

    def to_json(self, candidate: Choices) -> list[str]:
        return list(candidate)

    def from_json(self, value: Any) -> Choices:
        return tuple(value)

    def builder(self, modules: Mapping[str, Module], arch: str) -> ChoiceBuilder:
        return ChoiceBuilder(modules, arch)

    def described(self, candidate: Choices) -> list[tuple[str, str]]:
        return [("again", choice) for choice in candidate]


CHOICES: VariantKind[Choices] = ChoiceKind()


def test_another_kind_is_judged_recorded_and_read_again(tmp_path: Path) -> None:
    facts = facts_of(PythonFile(str(AGAIN)), RunSettings(evaluations=3))
    batch: list[Choices] = [(), ("as-is",), ("volatile",)]
    with (
        VariantRun.create(tmp_path, CHOICES, facts) as run,
        VariantAnswers(run, 1) as answers,
    ):
        reference = answers.reference()
        found = answers.of(batch, "tried", 1)
        assert [answer.candidate for answer in found] == batch and all(answer.fresh for answer in found)
        assert found[0].outcome == reference.original and found[1].seen and found[1].key == found[0].key
        assert found[2].key != found[0].key
        again = answers.of(batch, "tried", 1)
        assert again == found and answers.looked_up == answers.evaluated == 3
    assert kind_of(tmp_path, ["evolve", "explore"]) == "explore"
    with pytest.raises(Misuse, match="holds no run that this version can read"):
        kind_of(tmp_path, ["evolve"])
    with VariantRun.open(tmp_path, CHOICES) as read:
        assert [each.candidate for each in read.accepted][:2] == batch[:2]
        assert read.variant("v2").candidate == ("as-is",) and read.variant("v2").written == ["as-is"]
        assert read.original == reference.original and [row.phase for row in read.rows()] == ["tried"] * 3
        assert {"build", "run", "time"} <= set(next(read.rows()).timings)
        assert read.resuming == "kw explore --resume"
    with VariantRun.open(tmp_path) as unread:  # of any kind: candidates as they are written
        assert unread.accepted[1].candidate == ["as-is"]
    with pytest.raises(Misuse, match="is no run of kw evolve") as raised:
        VariantRun.open(tmp_path, pickle.loads(pickle.dumps(ChoiceKind("evolve"))))
    assert "kw explore --resume" in str(raised.value.hint)


def test_runs_that_name_no_kind_are_evolutions(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.db", create=True) as journal:
        journal.begin({"format": 1, "subject": {"kind": "given"}})
    with Run.open(tmp_path, ChoiceKind("evolve")) as old:
        assert old.kind_name == "evolve"
    with pytest.raises(Misuse, match="is no run of kw explore"):
        Run.open(tmp_path, CHOICES)


# -- one place that hands out work and records it ----------------------------------------------------------------------


def judge(texts: Sequence[Choices]) -> Iterator[tuple[int, Evaluated]]:
    """The last first, as workers may finish; with timings."""
    for index in reversed(range(len(texts))):
        (text,) = texts[index]
        outcome = Rejected("compile", "no") if text == "no" else Ok(float(len(text)), 0.0)
        yield index, Evaluated(outcome, "", {}, {"compile": 0.25, "run": 0.5})


def asked(folder: Path, *, ordered: bool) -> list[tuple[Any, ...]]:
    with Run.create(folder, CHOICES, {}) as run:
        answers = Answers(run, in_order=ordered)
        told: list[str] = []
        batch: list[Choices] = [("aa",), ("no",), ("aa",), ("b",)]
        found = answers.of(batch, judge, "tried", {"generation": 2}, lambda answer: told.append(answer.candidate[0]))
        assert [answer.candidate for answer in found] == batch and found[0] is found[2]
        assert answers.evaluated == len(told) == 3
        later = answers.of([("b",), ("c",)], judge)
        assert [answer.row for answer in later] == [found[3].row, 4] and answers.looked_up == 1
    with Run.open(folder, CHOICES) as read:
        known = Answers(read)
        assert [a.outcome for a in known.of(batch, lambda _: iter(()))] == [answer.outcome for answer in found]
        return [(row.candidate[0], row.phase, dict(row.facts), dict(row.timings)) for row in read.rows()]


def test_rows_are_recorded_as_they_come_or_in_the_order_asked(tmp_path: Path) -> None:
    for ordered, expected in ((False, ["b", "no", "aa", "c"]), (True, ["aa", "no", "b", "c"])):
        folder = tmp_path / str(ordered)
        folder.mkdir()
        rows = asked(folder, ordered=ordered)
        assert [row[0] for row in rows] == expected
        assert all(row[3] == {"compile": 0.25, "run": 0.5} for row in rows)
        assert [row[1:3] for row in rows] == [("tried", {"generation": 2})] * 3 + [("", {})]


def test_what_is_complete_does_not_wait_for_the_end() -> None:
    evaluated = Evaluated(Ok(1.0, 0.0), "")
    clock = iter(range(100))
    order = [1, 0, 3, 2, 4]
    groups = list(in_order(((index, evaluated) for index in order), 1.5, lambda: float(next(clock))))
    assert [[index for index, _ in group] for group in groups] == [[0, 1], [2, 3], [4]]


# -- what evaluation must not know -------------------------------------------------------------------------------------


def test_evaluation_knows_no_kind_of_candidate() -> None:
    rooms = Path(kernelwright.__file__).parent
    for path in sorted(rooms.glob("evaluate/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[1:2] not in (["edits"], ["grammar"]), f"{path}:{node.lineno}"
