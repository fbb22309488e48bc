"""Versions that compute something else than the untuned program, or than an oracle, count as failed, however fast they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.evaluate.workload.comparison import Rule, judge
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.program import Ran, Thresholds

Oracle = Callable[[str], Arrays | None]
"""The right output for a dataset; None where it is not known."""


@dataclass(frozen=True)
class Answer:
    """A run and what it computed."""

    ran: Ran
    output: Arrays


class AnsweringProgram(Protocol):
    """A program of several versions whose outputs can be looked at."""

    @property
    def deterministic(self) -> bool: ...

    def answer(self, dataset: str, thresholds: Thresholds) -> Answer: ...


class CheckedProgram:
    """``program`` with every output compared by ``rule``: with the oracle's, or with that of the untuned program."""

    def __init__(self, program: AnsweringProgram, rule: Rule, oracle: Oracle = lambda _: None) -> None:
        self._program = program
        self._rule = rule
        self._oracle = oracle
        self._expected: dict[str, Arrays] = {}
        self._run_untuned: set[str] = set()
        self._rejected: dict[str, list[Answer]] = {}

    @property
    def deterministic(self) -> bool:
        return self._program.deterministic

    def run(self, dataset: str, thresholds: Thresholds) -> Ran:
        answer = self._program.answer(dataset, thresholds)
        if not thresholds:
            self._run_untuned.add(dataset)
        if answer.ran.failure is not None:
            return answer.ran
        expected = self._expected_of(dataset, thresholds, answer)
        wrong = difference(answer.output, expected, self._rule)
        if not wrong:
            return answer.ran
        if self._oracle(dataset) is not None:
            return Ran(answer.ran.compared, None, Rejected("compare", f"its output differs from the oracle's: {wrong}"))
        reason = f"its output differs from that of the first version that ran: {wrong}{self._agreeing(dataset, answer)}"
        return Ran(answer.ran.compared, None, Rejected("compare", reason))

    def _agreeing(self, dataset: str, answer: Answer) -> str:
        """A remark where another version that was rejected computed the same: then the first one may be the wrong one."""
        before = self._rejected.setdefault(dataset, [])
        others = [each for each in before if each.ran.compared != answer.ran.compared]
        before.append(answer)
        if all(difference(answer.output, each.output, self._rule) for each in others):
            return ""
        return "; another version computes what this one does, so the first may be wrong: give the right output with --oracle"

    def _expected_of(self, dataset: str, thresholds: Thresholds, answer: Answer) -> Arrays:
        """The oracle's output; else the untuned program's, which is run once more where tuning goes on from a record."""
        if dataset not in self._expected:
            right = self._oracle(dataset)
            if right is None and dataset not in self._run_untuned:
                untuned = self._program.answer(dataset, {})
                right = untuned.output if untuned.ran.failure is None else None
            self._expected[dataset] = answer.output if right is None else right
        return self._expected[dataset]


def difference(found: Arrays, expected: Arrays, rule: Rule) -> str:
    """How two outputs differ, in a sentence; empty when they do not."""
    if found.keys() != expected.keys():
        return f"it has {', '.join(found) or 'no output'}, expected {', '.join(expected) or 'none'}"
    verdicts = {name: judge(rule, array, expected[name]) for name, array in found.items()}
    return next((f"{name} {verdict.sentence}" for name, verdict in verdicts.items() if not verdict.accepted), "")
