"""``kw breed --explain``: the grammar, some programs and how they are derived, the code around them, the back ends weighed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from kernelwright.breeding.back_end_table import BACKENDS
from kernelwright.breeding.choice import Weighed, rule, weigh
from kernelwright.breeding.run import Settings
from kernelwright.breeding.surrounding_code import cuda, cuda_frame, inputs
from kernelwright.grammar import Derivation, Problem, load_problem
from kernelwright.grammar.breeding import breeding_of
from kernelwright.grammar.derivation import steps
from kernelwright.grammar.readable import readable

PROGRAMS = 3
STEPS = 12
"""Of a derivation that is told step by step."""
TRIES = 1000


def explained(path: Path, settings: Settings, as_json: bool, jobs: int | None = None) -> str:
    """Text for a person, or one JSON object."""
    problem = load_problem(path)
    found = _derivations(problem, settings.seed)
    weighed = weigh(problem, settings.dials.population, jobs)
    if as_json:
        facts: dict[str, Any] = {
            "problem": str(path),
            "grammar": str(problem.language),
            "start": problem.language.start,
            "cases": problem.count,
            "inputs": {name: f"{kind}[{width}]" if width else kind for name, kind, width in inputs(problem)},
            "answer": problem.answer,
            "goal": problem.goal,
            "programs": [{"text": each.text, "choices": list(each.choices)} for each in found],
            "kernel": kernel(problem, found[0].text) if found else "",
            "backends": [each.row() for each in weighed],
            "rule": rule(problem, settings.dials.population, jobs),
            "settings": settings.as_json(),
        }
        return json.dumps(facts)
    return "\n".join(_parts(path, problem, settings, found, weighed, jobs))


def kernel(problem: Problem, text: str) -> str:
    """A program with the code around it, as a CUDA kernel."""
    frame = cuda_frame(problem)
    lines = [*([*problem.functions.splitlines(), ""] if problem.functions else [])]
    lines += [f"__global__ void population({frame.parameters})", "{"]
    lines += [f"    {line}" for line in frame.before.splitlines() if line.strip()]
    lines += ["", "    // the program"]
    lines += [f"    {line}" for line in readable(problem, text).splitlines() if cuda(problem, text).strip()]
    lines += [""] + [f"    {line}" for line in frame.after.splitlines() if line.strip()]
    return "\n".join([*lines, "}"])


def _derivations(problem: Problem, seed: int) -> list[Derivation]:
    """Of random programs, drawn as the first generation is."""
    dice, operators = random.Random(seed), breeding_of(problem)
    found: dict[str, Derivation] = {}
    for _ in range(TRIES):
        derivation = operators.draw(dice).derivation
        found.setdefault(derivation.text, derivation)
        if len(found) == PROGRAMS:
            break
    return list(found.values())


def _parts(
    path: Path,
    problem: Problem,
    settings: Settings,
    found: list[Derivation],
    weighed: list[Weighed],
    jobs: int | None,
) -> list[str]:
    grammar = problem.language
    parts = [f"{path}: {problem.count} cases, fitness is made {'small' if problem.goal == 'least' else 'large'}", ""]
    parts += [f"the grammar, from <{grammar.start}> on", "", *(f"    {line}" for line in str(grammar).splitlines())]
    if grammar.idle:
        parts += ["", f"    no derivation meets <{'>, <'.join(grammar.idle)}>"]
    for number, each in enumerate(found, start=1):
        parts += ["", f"program {number}, {len(each.choices)} choices of {each.codons} integers", ""]
        parts += [f"    {line}" for line in readable(problem, each.text).splitlines()]
    if found:
        shortest = min(found, key=lambda each: len(each.choices))
        told = steps(grammar, shortest)
        parts += ["", f"how program {found.index(shortest) + 1} is derived", ""]
        parts += [f"    {' '.join(line.split())}" for line in told[:STEPS]]
        parts += [f"    ... {len(told) - STEPS} more"] if len(told) > STEPS else []
        parts += ["", "the kernel around it: a thread for each case, a row of blocks for each program", ""]
        parts += [f"    {line}" for line in kernel(problem, shortest.text).splitlines()]
    parts += ["", f"the back end: {settings.backend}, {_why(settings, weighed)}", ""]
    parts += [f"    {_row(each)}" for each in weighed]
    if weighed[0].predicted_s is not None:
        parts += ["", f"    {rule(problem, settings.dials.population, jobs)}"]
        parts += [
            f"    {row.name} {row.optimises} code was not tried: optimising takes longer than {row.optimises} code takes to run"
            for row in BACKENDS.values()
            if row.optimises and row.name not in [each.name for each in weighed]
        ]
    dials = settings.dials
    parts += ["", f"{settings.generations} generations of {dials.population}, seed {settings.seed}"]
    return parts


def _why(settings: Settings, weighed: list[Weighed]) -> str:
    best = weighed[0]
    if settings.backend != best.name:
        return "as asked for"
    if best.predicted_s is None:
        return "because the others do not take these programs"
    return f"which is the quickest for {settings.dials.population} programs"


def _row(each: Weighed) -> str:
    if each.cost is None or each.predicted_s is None:
        return f"{each.name:12} {each.note}"
    cost = each.cost
    return (
        f"{each.name:12} {cost.fixed_s * 1e3:7.2f} ms for a batch, {cost.each_s * 1e3:6.3f} ms for each program: "
        f"{each.predicted_s * 1e3:.0f} ms for a generation"
    )
