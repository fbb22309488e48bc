"""Versions that compute something else than the untuned program, or than an oracle, count as failed, however fast they are.

oracle      untuned     another version
42          nan         42                  untuned is excluded
            nan         42                  untuned is excluded: of two that differ, NaN is not the result
            nan         nan                 both are good, and it is reported that neither computes a number
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.evaluate.workload.comparison import Ignore, Rule, judge
from kernelwright.evaluate.workload.program_case import WORDS
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.program import INFINITE, Ran, Thresholds

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
    def deterministic(self) -> bool:
        """Whether the same thresholds give the same time in every run; then one run is enough."""

    def answer(self, dataset: str, thresholds: Thresholds) -> Answer:
        """Runs the program on a dataset; guards that ``thresholds`` does not name decide as the program does."""


class CheckedProgram:
    """``program`` with every output compared by ``rule``: with the oracle's, or with that of the untuned program."""

    def __init__(self, program: AnsweringProgram, rule: Rule, oracle: Oracle = lambda _: None) -> None:
        self._program = program
        self._rule = rule
        self._oracle = oracle
        self._expected: dict[str, Arrays] = {}
        self._whose: dict[str, str] = {}
        self._run_untuned: set[str] = set()
        self._rejected: dict[str, list[Answer]] = {}
        self.remarks: dict[str, str] = {}
        """By dataset, what limits what the comparison says: nothing is compared, or NaN with NaN."""

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
        agreeing = "" if self._oracle(dataset) is not None else self._agreeing(dataset, answer)
        reason = f"its output differs from {self._whose[dataset]}: {wrong}{agreeing}"
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
            self._whose[dataset] = "the oracle's"
            if right is None:
                first = answer
                if dataset not in self._run_untuned:
                    untuned = self._program.answer(dataset, {})
                    first = answer if untuned.ran.failure is not None else untuned
                right = self._most_numbers(dataset, first)
            self._expected[dataset] = right
            self._remark(dataset, right)
        return self._expected[dataset]

    def _most_numbers(self, dataset: str, first: Answer) -> Arrays:
        """The output of ``first``; where it holds NaN or infinities, that of the version with the fewest. A fault spreads NaN, and
        versions that compute the same have them at the same places."""
        best, fewest = first.output, not_numbers(first.output)
        self._whose[dataset] = "that of the first version that ran"
        if not fewest or isinstance(self._rule, Ignore):
            return best
        names = list(dict.fromkeys(compared.name for compared in first.ran.compared))
        nothing = dict.fromkeys(names, INFINITE)
        for taken in (names, *([name] for name in names)):
            other = self._program.answer(dataset, {**nothing, **dict.fromkeys(taken, -INFINITE)})
            if other.ran.failure is None and (count := not_numbers(other.output)) < fewest:
                best, fewest = other.output, count
                self._whose[dataset] = "that of a version that computes numbers where others have NaN or infinity"
        return best

    def _remark(self, dataset: str, expected: Arrays) -> None:
        if isinstance(self._rule, Ignore):
            return
        if not any(array.size for name, array in expected.items() if not name.endswith(WORDS)):
            words = any(array.size for array in expected.values())
            what = "only words are compared" if words else "what the versions compute is not compared"
            self.remarks[dataset] = (
                f"{what}: the program prints no number. If it writes files, name them with --outputs"
            )
        elif (count := not_numbers(expected)) and self._oracle(dataset) is None:
            self.remarks[dataset] = (
                f"{count} of the numbers are NaN or infinite in every version; if that is wrong, give the right output with --oracle"
            )


def not_numbers(output: Arrays) -> int:
    """How many elements are NaN or infinite."""
    return sum(int(np.count_nonzero(~np.isfinite(a))) for a in output.values() if a.dtype.kind in "fc")


def difference(found: Arrays, expected: Arrays, rule: Rule) -> str:
    """How two outputs differ, in a sentence; empty when they do not."""
    if found.keys() != expected.keys():
        return f"it has {', '.join(found) or 'no output'}, expected {', '.join(expected) or 'none'}"
    verdicts = {name: judge(rule, array, expected[name]) for name, array in found.items()}
    return next((f"{name} {verdict.sentence}" for name, verdict in verdicts.items() if not verdict.accepted), "")
