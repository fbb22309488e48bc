"""The populations that compilers are compared on: generations of a search, as paper 001 measures them (the first ten, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.program_results import answers_to
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem
from kernelwright.grammar.breeding import Individual, breeding_of, dials_of
from kernelwright.search.generations import Generations
from kernelwright.search.strategy import Result

JUDGED_BY = "interpreted"
"""The back end that tells the search what programs are worth; no compiler that is compared has seen them then."""


def generations_of(problem: Problem, population: int, wanted: Sequence[int], seed: int) -> dict[int, list[str]]:
    """By generation, from 1 on: the texts of its distinct programs, for the generations that are ``wanted``."""
    search = Generations(breeding_of(problem), seed=seed, rates=replace(dials_of(problem), population=population))
    known, found = dict[str, float | None](), dict[int, list[str]]()
    with closing(back_end(JUDGED_BY).runner(problem)) as runner:
        for number in range(1, max(wanted) + 1):
            individuals: list[Individual] = search.ask()
            texts = list(dict.fromkeys(each.text for each in individuals))
            if number in wanted:
                found[number] = texts
            new = [text for text in texts if text not in known]
            for text, answers in zip(new, answers_to(runner, new), strict=True):
                known[text] = None if isinstance(answers, Rejected) else problem.worth(answers)
            worths = [known[each.text] for each in individuals]
            search.tell([Result(i, (w,) if w is not None else None) for i, w in zip(individuals, worths, strict=True)])
    return found
