"""Where a run of breeding stands: what came of each generation, for its watchers and, once, for the journal."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import field

from kernelwright.breeding.run import Bred, BreedRun
from kernelwright.breeding.worker_judge import FITNESS
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.run.answers import Answer
from kernelwright.grammar.breeding import Individual
from kernelwright.lazy_dataclasses import dataclass


@dataclass
class Standing:
    """Where a run stands, for its watchers: changed in place."""

    run: BreedRun
    phase: str = "start"
    generation: int = 0
    fresh: int = 0
    """Programs judged in this session, since ``began``."""
    remembered: int = 0
    """Programs whose fitness an earlier run had found."""
    trouble: str = ""
    """Why fitness could not be kept for later runs."""
    asked: int = 0
    """Individuals of all generations, so that what was not judged was known."""
    best: Bred | None = None
    rejected: Counter[str] = field(default_factory=Counter)
    met: set[int] = field(default_factory=set)
    """The rows of the programs asked about."""
    jobs: int = 1
    began: float = field(default_factory=time.monotonic)

    @property
    def evaluations(self) -> int:
        """Programs asked about, each counted once."""
        return len(self.met)

    @property
    def rate(self) -> float:
        """Programs per second, this session."""
        return self.fresh / max(self.seconds, 1e-9)

    @property
    def seconds(self) -> float:
        """Of this session."""
        return time.monotonic() - self.began


def note_generation(standing: Standing, generation: list[Individual], found: list[Answer[str]]) -> None:
    """The generation's figures, for its watchers and, once, for the journal."""
    best_genotype, before = None, standing.evaluations
    for individual, answer in zip(generation, found, strict=True):
        if answer.row not in standing.met:
            standing.met.add(answer.row)
            if isinstance(answer.outcome, Rejected):
                standing.rejected[answer.outcome.stage] += 1
        worth = worth_of_outcome(answer.outcome)
        if worth is not None:
            bred = Bred(individual.text, worth, answer.name)
            if standing.best is None or standing.run.beats(bred, standing.best):
                standing.best, best_genotype = bred, individual.genotype
    new = standing.evaluations - before
    standing.asked += len(generation)
    known = {data["n"] for data in standing.run.generations}
    if standing.generation not in known:
        best = standing.best
        noted = {"name": best.name, "fitness": best.fitness} if best else None
        more = {"genotype": list(best_genotype)} if best_genotype else {}
        standing.run.journal.note(
            "generation",
            {"n": standing.generation, "best": noted, "new": new, "evaluations": standing.evaluations, **more},
        )


def note_end(standing: Standing, held_out: Outcome | None = None) -> None:
    """What the run ends with, in the journal, once. ``held_out``: what came of the best on inputs held out, where there are some."""
    standing.phase = "finished"
    if standing.run.ended is None:
        best = standing.best
        facts = {"best": best.name if best else None, "fitness": best.fitness if best else None}
        facts |= {"evaluations": standing.evaluations, "generations": standing.generation}
        if held_out is not None:
            why = held_out.reason if isinstance(held_out, Rejected) else ""
            facts |= {"held_out_fitness": worth_of_outcome(held_out), "held_out_why": why}
        standing.run.journal.note("end", facts)


def worth_of_outcome(outcome: Outcome) -> float | None:
    """A program's fitness; None for one that was rejected."""
    return outcome.metrics[FITNESS] if isinstance(outcome, Ok) else None
