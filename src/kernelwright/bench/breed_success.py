"""How often breeding reaches the target of a problem of the literature, and DEAP beside it: ``kw bench breed --programs pagie1``.

Of twenty seeds, within 10,000 programs each; a run ends with the generation that reaches the target. Set up as the comparison of rates
(``bench/breed_peers.py``), with populations of 200 for the small problems. The string is put together of letters by DEAP, by a sum of
strings; ours has a statement for each letter.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kernelwright.bench.breed_peers import Bout, grammatical, trees
from kernelwright.bench.result import Measured, Say
from kernelwright.breeding.choice import weigh
from kernelwright.errors import Misuse
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.breeding import dials_of
from kernelwright.grammar.problems import path_of

SEEDS, QUICK_SEEDS = tuple(range(1, 21)), (1, 2)
EVALUATIONS, QUICK_EVALUATIONS = 10_000, 1_000
SMALL_POPULATION = 200
Bred = Callable[[Problem, int, int, float], Bout]
PROBLEMS: Mapping[str, int | None] = {
    "pagie1": None,
    "vladislavleva4": None,
    "multiplexer6": SMALL_POPULATION,
    "string_match": SMALL_POPULATION,
}
"""With the population, where it is not the problem's own."""


def success_rates(result: Measured, names: Sequence[str], quick: bool, say: Say) -> None:
    """Adds a row for each problem and system. Raises ``Misuse`` for a problem that is not compared. ``quick``: two seeds."""
    if unknown := [name for name in names if name not in PROBLEMS]:
        raise Misuse(f"breed compares no success rates of {unknown[0]!r}", hint=f"those of {', '.join(PROBLEMS)}")
    seeds, evaluations = (QUICK_SEEDS, QUICK_EVALUATIONS) if quick else (SEEDS, EVALUATIONS)
    is_installed = importlib.util.find_spec("deap") is not None
    for name in names:
        problem = load_problem(path_of(name))
        if population := PROBLEMS[name]:
            problem = replace(problem, settings={**problem.settings, "population": population})
        chosen = weigh(problem, dials_of(problem).population, 1)[0].name
        systems: dict[str, Bred] = {f"ours, {chosen}": partial(_ours, chosen)}
        if is_installed:
            systems["DEAP"] = trees
        for system, bred in systems.items():
            _rate(result, problem, system, partial(bred, problem), seeds, evaluations, say)
    if not is_installed:
        result.notes.append("pip install deap, and the benchmark sets its figures beside ours")


def _ours(backend: str, problem: Problem, seed: int, evaluations: int, enough: float) -> Bout:
    return grammatical(problem, backend, seed, evaluations, enough)


def _rate(
    result: Measured, problem: Problem, system: str, bred: Callable[[int, int, float], Bout], seeds: Sequence[int],
    evaluations: int, say: Say,
) -> None:  # fmt: skip
    target = problem.settings.get("target", problem.perfect)
    bouts = []
    for seed in seeds:
        bouts.append(bred(seed, evaluations, target))
        say(f"{problem.name}, {system}, seed {seed}: {bouts[-1].best:.4g} after {bouts[-1].evaluations} programs")
    reached = [each.evaluations for each in bouts if each.best <= target]
    result.rows.append(
        {
            "success": problem.name,
            "system": system,
            "population": dials_of(problem).population,
            "programs, at most": evaluations,
            "target": target,
            "reach it": f"{len(reached)} of {len(bouts)}",
            "programs until then, median": round(statistics.median(reached)) if reached else None,
            "median best": float(f"{statistics.median(each.best for each in bouts):.4g}"),
            "cpu s": round(sum(each.whole_s for each in bouts), 1),
        }
    )
