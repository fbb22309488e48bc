"""Programs that are tables of times, and the brute-force answer to what their best thresholds are.

A program is a list of occasions per dataset; an occasion is a tree of guards with values and costs at its leaves. Nothing in
here knows the tuner: the oracle enumerates every distinguishable assignment.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from kernelwright.evaluate.outcome import Rejected
from kernelwright.versions.program import INFINITE, Compared, Ran


@dataclass(frozen=True)
class Leaf:
    cost: float | None
    """None: this version fails."""


@dataclass(frozen=True)
class Guard:
    name: str
    value: int
    taken: Node
    rest: Node
    legal: bool = True


Node = Leaf | Guard


class TableProgram:
    deterministic = True

    def __init__(
        self,
        occasions: Mapping[str, list[Node]],
        noise: float = 0.0,
        seed: int = 0,
        tell: bool = True,
        tell_legal: bool = False,
    ) -> None:
        """``tell``: whether it says what was decided; ``tell_legal``: also where no threshold lets a version run."""
        self.occasions = occasions
        self.runs: list[tuple[str, dict[str, int]]] = []
        self.deterministic = noise == 0.0
        self._noise = noise
        self._random = random.Random(seed)
        self._tell = tell
        self._tell_legal = tell_legal

    def run(self, dataset: str, thresholds: Mapping[str, int]) -> Ran:
        self.runs.append((dataset, dict(thresholds)))
        compared, time = walk(self.occasions[dataset], thresholds)
        if not self._tell:
            compared = [c if c.name in thresholds else Compared(c.name, c.value, None) for c in compared]
        if not self._tell_legal:
            compared = [replace(c, legal=True) for c in compared]
        if time is None:
            return Ran(tuple(compared), None, Rejected("memory", "out of memory"))
        return Ran(tuple(compared), time * max(0.01, self._random.gauss(1.0, self._noise)) if self._noise else time)


def walk(occasions: list[Node], thresholds: Mapping[str, int]) -> tuple[list[Compared], float | None]:
    compared: list[Compared] = []
    whole = 0.0
    for node in occasions:
        while isinstance(node, Guard):
            taken = node.legal and node.value >= thresholds.get(node.name, INFINITE)
            compared.append(Compared(node.name, node.value, taken, node.legal))
            node = node.taken if taken else node.rest
        if node.cost is None:
            return compared, None
        whole += node.cost
    return compared, whole


def guards_in(node: Node) -> list[Guard]:
    return [node, *guards_in(node.taken), *guards_in(node.rest)] if isinstance(node, Guard) else []


def assignments(occasions: Mapping[str, list[Node]]) -> list[dict[str, int]]:
    """Every assignment that some dataset can tell from the others."""
    values: dict[str, set[int]] = {}
    for nodes in occasions.values():
        for guard in (g for node in nodes for g in guards_in(node)):
            values.setdefault(guard.name, {INFINITE}).add(guard.value)
    names = sorted(values)
    return [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*(sorted(values[n]) for n in names))]


@dataclass(frozen=True)
class Exhaustive:
    best: dict[str, float]
    """Per dataset the least time of all assignments."""
    most: int
    """How many datasets one assignment can give their least time."""
    most_running: int
    """How many datasets run with the assignment that most run with."""


def exhaustive(occasions: Mapping[str, list[Node]]) -> Exhaustive:
    times = {
        name: [t if (t := walk(nodes, a)[1]) is not None else float("inf") for a in assignments(occasions)]
        for name, nodes in occasions.items()
    }
    best = {name: min(found) for name, found in times.items()}
    rows = range(len(next(iter(times.values()))))
    most = max(sum(times[name][i] == best[name] for name in times) for i in rows)
    return Exhaustive(best, most, max(sum(times[name][i] < float("inf") for name in times) for i in rows))


def shape(guards: int, generator: random.Random) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Trees over guards g0, g1, ...: (name, guards that may follow when taken, when not). Guards may have several parents."""
    found = []
    for number in range(guards):
        later = [n for n in range(number + 1, guards)]
        taken = tuple(n for n in later if generator.random() < 0.15)
        rest = tuple(n for n in later if generator.random() < 0.5)
        found.append((f"g{number}", taken, rest))
    return found


def monotone_occasion(
    forest: list[tuple[str, tuple[int, ...], tuple[int, ...]]],
    root: int,
    crossovers: Mapping[str, int],
    generator: random.Random,
    best: int,
    illegal: Collection[tuple[str, int]] = (),
) -> Node:
    """An occasion in which the version of each guard is the faster one exactly when its value is at least its crossover. ``illegal``:
    guards and values at which it cannot run, whatever the threshold."""
    name, taken, rest = forest[root]
    value = generator.choice((1, 2, 4, 8, 16, 32, 64)) + generator.randrange(2)
    worse = best + generator.randrange(1, 1000)
    legal = (name, value) not in illegal
    wins = legal and value >= crossovers[name]

    def below(following: tuple[int, ...], cost: int) -> Node:
        if not following:
            return Leaf(cost)
        return monotone_occasion(forest, generator.choice(following), crossovers, generator, cost, illegal)

    return Guard(name, value, below(taken, best if wins else worse), below(rest, worse if wins else best), legal)


def spoiled(node: Node, generator: random.Random) -> Node:
    """The same with a fifth of the versions failing, and a fifth of the guards illegal."""
    if isinstance(node, Leaf):
        return Leaf(None) if generator.random() < 0.2 else node
    taken, rest = spoiled(node.taken, generator), spoiled(node.rest, generator)
    return replace(node, taken=taken, rest=rest, legal=generator.random() >= 0.2)
