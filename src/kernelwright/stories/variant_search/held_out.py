"""How much faster the best is on the data sets that are held out: nothing in the search has seen them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kernelwright.evaluate.candidate import C
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.worker_process import Reference, setup
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evaluate.timing.data_sets import speedups_by_set
from kernelwright.evaluate.workload.subject import Recordings
from kernelwright.farm import Pool
from kernelwright.stories.variant_search.search import Search

TIMEOUT_S = 300.0


def time_held_out(search: Search[C], best: Found[C] | None) -> None:
    """Notes the speed-up of the best on each held-out data set, as the timing model says; once, however often the run is resumed."""
    subject, run = search.run.subject, search.run
    if best is None or not isinstance(subject, Recordings) or run.held_out(best.name):
        return
    numbers = sorted({each.recording for each in subject.held} - {each.recording for each in subject.chosen})
    if not numbers:
        return
    search.say("time on held-out data")
    chosen = tuple(each for each in subject.held if each.recording in numbers)
    asked = (replace(subject, chosen=chosen, held=()), run.kind, run.settings.virtual, Demands("any"))
    with Pool(setup, asked, workers=1, timeout_s=TIMEOUT_S, shared=True) as pool:
        answers: dict[int, Any] = dict(pool.map([None, best.candidate]))
    search.note("held-out", {"name": best.name, "variant": best.name, "sets": _sets(numbers, answers[0], answers[1])})


def _sets(numbers: list[int], reference: object, evaluated: object) -> list[dict[str, Any]]:
    if not isinstance(reference, Reference) or not isinstance(evaluated, Evaluated):
        return [{"set": number + 1, "speedup": None, "why": "it could not be run"} for number in numbers]
    if not isinstance(evaluated.outcome, Ok):
        return [{"set": number + 1, "speedup": None, "why": str(evaluated.outcome)} for number in numbers]
    found = speedups_by_set(reference.original, evaluated.outcome, reference.time_us)
    return [{"set": number + 1, "speedup": speedup} for number, speedup in zip(numbers, found, strict=True)]
