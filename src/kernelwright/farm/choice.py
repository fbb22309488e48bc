"""Which back end, by measurement: each compiles a sample of the population here, and what it would take for all of it follows.

    seconds = batches · fixed + individuals · each, on as many cores, + individuals · cases · case

``fixed`` and ``each`` come from compiling one individual and the sample; ``case``, what running one individual on one case
takes, from whoever knows how to run it. Interpreting has neither of the first two, so it wins where cases are few.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelwright.errors import ToolError
from kernelwright.farm.backends.backend import Backend
from kernelwright.farm.backends.frame import Frame

ROUNDS = 3
SAMPLE = 24


@dataclass(frozen=True)
class Cost:
    """Seconds: of one call, of each individual in it, and of running an individual on one case."""

    fixed_s: float
    each_s: float
    case_s: float = 0.0

    def predicted(self, backend: Backend, individuals: int, cases: int, cores: int) -> float:
        """Seconds for a population, compiled by ``cores`` workers and run on ``cases`` cases."""
        calls = max(1, min(cores, individuals // backend.batch[0]))
        share = math.ceil(individuals / calls)
        compiling = math.ceil(share / backend.batch[1]) * self.fixed_s + share * self.each_s
        return compiling + individuals * cases * self.case_s


@dataclass(frozen=True)
class Candidate:
    """A back end with its frame, the same sample of individuals in its language, and seconds per case, as far as known."""

    backend: Backend
    frame: Frame
    sample: tuple[str, ...]
    case_s: float = 0.0


@dataclass(frozen=True)
class Weighed:
    """``predicted_s`` is infinite for one that cannot be used here, for ``reason``."""

    candidate: Candidate
    cost: Cost | None
    predicted_s: float
    reason: str = ""

    def row(self) -> dict[str, Any]:
        """For a table: milliseconds."""
        cost = self.cost
        return {
            "back end": self.candidate.backend.name,
            "fixed ms": _rounded(cost.fixed_s * 1e3) if cost else None,
            "each ms": _rounded(cost.each_s * 1e3) if cost else None,
            "µs per case": _rounded(cost.case_s * 1e6) if cost else None,
            "predicted ms": _rounded(self.predicted_s * 1e3) if cost else None,
            "note": self.reason,
        }


@dataclass(frozen=True)
class Choice:
    """All that were weighed, best first."""

    weighed: tuple[Weighed, ...]
    individuals: int
    cases: int
    cores: int

    @property
    def best(self) -> Candidate:
        return self.weighed[0].candidate

    def explained(self) -> str:
        """One sentence."""
        first, *rest = [each for each in self.weighed if not math.isinf(each.predicted_s)]
        versus = f", {rest[0].candidate.backend.name} {rest[0].predicted_s * 1e3:.3g} ms" if rest else ""
        return (
            f"{first.candidate.backend.name}: {self.individuals} individuals on {self.cases} cases and {self.cores} cores "
            f"take {first.predicted_s * 1e3:.3g} ms{versus}"
        )


def measured(candidate: Candidate, clock: Callable[[], float] = time.perf_counter) -> Cost:
    """The cost of a back end on this machine. Raises what compiling raises."""
    sample = candidate.sample[:SAMPLE]
    if not sample:
        raise ToolError("a back end cannot be measured without individuals")
    one, all_of_them = [
        min(_seconds(candidate, part, clock) for _ in range(ROUNDS)) for part in (sample[:1], sample)
    ]  # fmt: skip
    each = max(0.0, all_of_them - one) / max(1, len(sample) - 1)
    return Cost(max(0.0, one - each), each, candidate.case_s)


def choose(
    candidates: Sequence[Candidate],
    *,
    individuals: int,
    cases: int,
    cores: int,
    costs: Mapping[str, Cost] | None = None,
) -> Choice:
    """Weighs them; ``costs`` by the name of a back end are taken as they are, the others measured.

    Raises ``ToolError`` when none can be used.
    """
    weighed = [_weighed(each, individuals, cases, cores, costs or {}) for each in candidates]
    weighed.sort(key=lambda each: each.predicted_s)
    if not weighed or math.isinf(weighed[0].predicted_s):
        why = "; ".join(f"{each.candidate.backend.name}: {each.reason}" for each in weighed) or "there is none"
        raise ToolError(f"no back end can be used: {why}")
    return Choice(tuple(weighed), individuals, cases, cores)


def _weighed(
    candidate: Candidate, individuals: int, cases: int, cores: int, costs: Mapping[str, Cost]
) -> Weighed:  # fmt: skip
    missing = candidate.backend.missing()
    if missing:
        return Weighed(candidate, None, math.inf, missing)
    cost = costs.get(candidate.backend.name) or measured(candidate)
    return Weighed(candidate, cost, cost.predicted(candidate.backend, individuals, cases, cores))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _seconds(candidate: Candidate, part: Sequence[str], clock: Callable[[], float]) -> float:
    begin = clock()
    candidate.backend.compile(part, candidate.frame, "quick")
    return clock() - begin
