"""Breeding beside DEAP, a widely used package for genetic programming in Python, where it is installed (PyPI ``deap``).

Both get the same points, the same functions and constants, the problem's own fitness, population and tournament, and as many
evaluations. Ours goes through the grammar, on the back end that ``kw breed --backend auto`` would take on one core, in this
process. DEAP is set up as its users do: trees, half and half to a depth of 2 to 6, crossover at one point (0.9), subtrees replaced
(0.1), depth 17 at most; a tree becomes the text of a lambda, which Python compiles. That is called once with whole NumPy arrays
in double precision for formulas of real numbers, and once for each of the 64 settings, in plain Python, for the multiplexer.

Seconds are of the processor. *Evaluating* is from a program to its fitness, compiling included; *searching besides* also counts
how new ones are made. Programs that a search lets grow cost more: *nodes each* is their mean size. An evaluation is a program
judged; ours judges none twice, DEAP asks again about a copy that variation made.
"""

from __future__ import annotations

import importlib.util
import math
import operator
import random
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import field
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.bench.result import Measured, Say
from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.choice import weigh
from kernelwright.breeding.program_results import answers_to
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.breeding import Individual, breeding_of, dials_of
from kernelwright.grammar.problems import path_of
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search import Result
from kernelwright.search.generations import Generations

SEEDS, QUICK_SEEDS = (1, 2, 3), (1,)
EVALUATIONS, QUICK_EVALUATIONS = 5_000, 500
RATED = ("pagie1", "vladislavleva4", "multiplexer6")
"""Problems whose rates are compared."""
CROSSOVER, MUTATION, DEPTH = 0.9, 0.1, 17
"""Of DEAP's trees."""
NODE = re.compile(r"[A-Za-z_]\w*|[\d.]+f?|[-+*&|~]")
"""Of our programs' text, in the three problems' grammars."""


@dataclass
class Bout:
    """One run of one system: what it took, and the best it found."""

    evaluations: int = 0
    evaluating_s: float = 0.0
    whole_s: float = 0.0
    nodes: int = 0
    """Of all programs evaluated: operators, functions, variables and numbers."""
    best: float = field(default=math.inf)

    def judged(self, worth: float | None, nodes: int = 0) -> float:
        """Counts an evaluation; what is worth nothing comes last."""
        found = math.inf if worth is None else worth
        self.evaluations += 1
        self.nodes += nodes
        self.best = min(self.best, found)
        return found


def compare(result: Measured, quick: bool, say: Say) -> None:
    """Adds rows, and the ratio of each pair as a note. ``quick``: one seed, 500 evaluations."""
    seeds, evaluations = (QUICK_SEEDS, QUICK_EVALUATIONS) if quick else (SEEDS, EVALUATIONS)
    installed = importlib.util.find_spec("deap") is not None
    for name in RATED:
        problem = load_problem(path_of(name))
        chosen = weigh(problem, problem.settings["population"], 1)[0].name
        say(f"{name}: {evaluations} evaluations, ours on {chosen}")
        ours = [grammatical(problem, chosen, seed, evaluations) for seed in seeds]
        result.rows.append(_row(problem, f"ours, {chosen}", ours))
        if not installed:
            result.rows.append(dict.fromkeys(result.rows[-1]) | {"against": name, "system": "DEAP: not installed"})
            continue
        say(f"{name}: {evaluations} evaluations, DEAP")
        theirs = [trees(problem, seed, evaluations) for seed in seeds]
        result.rows.append(_row(problem, f"DEAP, {TREES[name].how}", theirs))
        fast = [rate(ours, whole) / rate(theirs, whole) for whole in (False, True)]
        result.notes.append(
            f"{name}: ours evaluates {fast[0]:.2f} times as many programs a second as DEAP, {fast[1]:.2f} times with searching"
        )
    if not installed:
        result.notes.append("pip install deap, and the benchmark sets its figures beside ours")
    result.notes.append("PonyGE2 is not compared: it is on no package index, and no module that can be imported")


def rate(bouts: list[Bout], whole: bool = False) -> float:
    """Evaluations per second of processor time, all runs together; ``whole``: searching counted."""
    spent = sum(each.whole_s if whole else each.evaluating_s for each in bouts)
    return sum(each.evaluations for each in bouts) / max(spent, 1e-9)


def _row(problem: Problem, system: str, bouts: list[Bout]) -> dict[str, Any]:
    target = problem.settings.get("target", problem.perfect)
    return {
        "against": problem.name,
        "system": system,
        "seeds": len(bouts),
        "evaluations": bouts[0].evaluations,
        "nodes each": round(statistics.mean(each.nodes / each.evaluations for each in bouts)),
        "evaluating, per cpu s": round(rate(bouts)),
        "searching besides": round(rate(bouts, whole=True)),
        "median best": float(f"{statistics.median(each.best for each in bouts):.4g}"),
        "reach the target": f"{sum(each.best <= target for each in bouts)} of {len(bouts)}",
    }


# -- ours --------------------------------------------------------------------------------------------------------------


def grammatical(problem: Problem, backend: str, seed: int, evaluations: int, enough: float = -math.inf) -> Bout:
    """Bred from the grammar with the problem's own settings, for so many evaluations; until a fitness is ``enough``, at the end of its
    generation."""
    bout, known, uncounted_s = Bout(), dict[str, float](), 0.0
    dials = dials_of(problem)
    begin = time.process_time()
    search = Generations(breeding_of(problem, dials), seed=seed, rates=dials)
    with closing(back_end(backend).runner(problem)) as runner:
        while bout.evaluations < evaluations and bout.best > enough:
            generation: list[Individual] = search.ask()
            new = [text for text in dict.fromkeys(each.text for each in generation) if text not in known]
            new = new[: evaluations - bout.evaluations]
            start = time.process_time()
            for text, answers in zip(new, answers_to(runner, new), strict=True):
                worth = None if isinstance(answers, Rejected) else problem.worth(answers)
                known[text] = bout.judged(worth)
            bout.evaluating_s += time.process_time() - start
            counted = time.process_time()
            bout.nodes += sum(len(NODE.findall(text)) for text in new)
            uncounted_s += time.process_time() - counted
            worths = [known.get(each.text, math.inf) for each in generation]
            search.tell([Result(i, (w,) if w < math.inf else None) for i, w in zip(generation, worths, strict=True)])
    bout.whole_s = time.process_time() - begin - uncounted_s
    return bout


# -- DEAP --------------------------------------------------------------------------------------------------------------


def protected(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """``pdiv``, as one writes it for NumPy."""
    return np.where(b == 0, 1.0, np.divide(a, b))


def formula(problem: Problem, function: Callable[..., Any]) -> float | None:
    """The fitness of a compiled tree over real numbers: one call, with whole arrays."""
    answers = function(*(column.astype(np.float64) for column in problem.cases.values()))
    return problem.worth(np.broadcast_to(answers, (problem.count,)))


SETTINGS = [tuple(bool(n >> bit & 1) for bit in range(6)) for n in range(64)]
CHOSEN = [data[a0 + 2 * a1] for a0, a1, *data in SETTINGS]


def boolean(problem: Problem, function: Callable[..., Any]) -> float:
    """How many of the multiplexer's 64 settings a compiled tree has wrong: a call for each."""
    return float(sum(function(*bits) != chosen for bits, chosen in zip(SETTINGS, CHOSEN, strict=True)))


def spelled(problem: Problem, text: str) -> float | None:
    """What a string is worth that a tree has put together: its letters, and its length, as a program of ours answers."""
    places = problem.cases["at"]
    letters = [ord(text[at]) if 0 <= at < len(text) else 0 for at in places[:-1]]
    return problem.worth(np.array([*letters, len(text)], np.int32))


@dataclass(frozen=True)
class Tree:
    """A problem in DEAP's terms. ``functions``: with their number of arguments; ``constant``: draws one, where there are some."""

    functions: Mapping[Callable[..., Any], int]
    worth: Callable[[Problem, Any], float | None]
    """Of a compiled tree: a function of the inputs, or its value where there are none."""
    how: str
    constant: Callable[[], float] | None = None
    leaves: str = ""
    """Letters in the place of the problem's inputs."""


ARITHMETIC: Mapping[Callable[..., Any], int] = {np.add: 2, np.subtract: 2, np.multiply: 2, protected: 2}


def one() -> float:
    """A constant for the grammar of formulas."""
    return 1.0


def two_digits() -> float:
    """As the grammar of ``vladislavleva4`` writes them: 0.00 to 9.99."""
    return random.randrange(1000) / 100


TREES: Mapping[str, Tree] = {
    "pagie1": Tree(ARITHMETIC, formula, "NumPy", one),
    "vladislavleva4": Tree(ARITHMETIC, formula, "NumPy", two_digits),
    "string_match": Tree({operator.add: 2}, spelled, "plain Python", leaves=f"{ascii_lowercase}_"),
    "multiplexer6": Tree({operator.and_: 2, operator.or_: 2, operator.not_: 1}, boolean, "plain Python"),
}


def trees(problem: Problem, seed: int, evaluations: int, enough: float = -math.inf) -> Bout:
    """Bred as trees by DEAP, as ``grammatical``."""
    before = random.getstate()
    random.seed(seed)
    try:
        with np.errstate(all="ignore"):
            return _grown(problem, TREES[problem.name], evaluations, enough)
    finally:
        random.setstate(before)


def _grown(problem: Problem, tree: Tree, evaluations: int, enough: float) -> Bout:
    from deap import algorithms, base, creator, gp, tools

    bout, begin = Bout(), time.process_time()
    primitives = gp.PrimitiveSet(f"tree_{problem.name}", 0 if tree.leaves else len(problem.cases))
    for leaf in tree.leaves:
        primitives.addTerminal(leaf, leaf)
    for function, count in tree.functions.items():
        primitives.addPrimitive(function, count, name=function.__name__)
    if tree.constant is not None:
        primitives.addEphemeralConstant(f"constant_{problem.name}", tree.constant)
    if not hasattr(creator, "KwTree"):
        creator.create("KwLeast", base.Fitness, weights=(-1.0,))
        creator.create("KwTree", gp.PrimitiveTree, fitness=creator.KwLeast)
    grow = partial(gp.genHalfAndHalf, primitives, min_=2, max_=6)
    toolbox = base.Toolbox()
    toolbox.register("mate", gp.cxOnePoint)
    toolbox.register("mutate", gp.mutUniform, expr=partial(gp.genFull, min_=0, max_=2), pset=primitives)
    for variation in ("mate", "mutate"):
        toolbox.decorate(variation, gp.staticLimit(key=operator.attrgetter("height"), max_value=DEPTH))
    dials = dials_of(problem)

    def judged(each: Any) -> Iterator[float]:
        yield bout.judged(tree.worth(problem, gp.compile(each, primitives)), len(each))

    population = [creator.KwTree(grow()) for _ in range(dials.population)]
    while True:
        new = [each for each in population if not each.fitness.valid]
        start = time.process_time()
        for each in new[: evaluations - bout.evaluations]:
            each.fitness.values = tuple(judged(each))
        bout.evaluating_s += time.process_time() - start
        if bout.evaluations >= evaluations or bout.best <= enough:
            break
        parents = tools.selTournament(population, len(population), dials.tournament)
        population = algorithms.varAnd(parents, toolbox, CROSSOVER, MUTATION)
    bout.whole_s = time.process_time() - begin
    return bout
