"""The GPU's space (paper 004, Tables 2 and 3 and section 5.5, without their times): how large it is, how often a walk ends nowhere, how
many nodes the tree has at depth 10, and what the engine does in a second of one core.

It is the paper's space; *extended* is ours, with reductions across threads and tiles that do not divide their loop: what it costs, without
promises. Sizes are Knuth's estimate, for axpy with Chen's beside it. Decisions are taken in the paper's order; *reverse* is its reverse, at
the first depth with more than 100,000 nodes. *Nodes left*: those whose bound is below the time of the hand-tiled kernel, which a search
that has one as fast need not enter. Rates count processor time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from kernelwright.bench.result import Measured, Row, Say
from kernelwright.bench.space.measure import WHOLE, tiled_us
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.bound import LowerBound
from kernelwright.space.bound.ground_numbering import GroundNumbering
from kernelwright.space.computation.objects import Backbone
from kernelwright.space.engine.constraints import Integers
from kernelwright.space.estimate import chen, knuth
from kernelwright.space.gpu.paper import PAPER
from kernelwright.space.gpu.sets import DECISION_ORDER, GPU
from kernelwright.space.gpu.space import gpu_space
from kernelwright.space.library.table import example
from kernelwright.space.partial import Partial
from kernelwright.space.why import Reasons
from kernelwright.target import gpu

T = TypeVar("T")

DEPTH = 10
MANY = 100_000
MOST_NODES, CHUNK = 1_000_000, 10_000


@dataclass(frozen=True)
class Case:
    """A computation of the paper's, and its figures there: size, dead ends in percent, nodes at depth 10; of the ``extended`` space there
    are none."""

    name: str
    computation: str
    sizes: dict[str, int]
    size: float | None
    dead_ends: float | None
    nodes: int | None
    walks: int
    extended: bool = False


CASES = (
    Case("axpy", "axpy", {"n": 1 << 26}, 1.1e11, 0.1, 86_587, 20_000),
    Case("matmul 256x256x32", "matmul", {"m": 256, "n": 256, "k": 32}, 1.83e21, 14.0, 134_060, 5_000),
    Case("matmul 1024", "matmul", {"m": 1024, "n": 1024, "k": 1024}, 3.5e21, 2.8, 161_980, 20_000),
    Case("matmul strided", "matmul_strided", {"m": 1024, "n": 1024, "k": 1024}, 6.0e20, 2.3, 142_780, 5_000),
    Case("matmul 1000, extended", "matmul", {"m": 1000, "n": 1000, "k": 1000}, None, None, None, 5_000, extended=True),
    Case("mv 8192, extended", "mv", {"m": 8192, "n": 8192}, None, None, None, 5_000, extended=True),
)
PROMISED = "matmul 1024"


def measure(quick: bool, say: Say) -> Measured:
    """Sizes, dead ends and nodes a second of the spaces of the paper's kernels; ``quick``: two of them."""
    result = Measured("space-tree")
    for case in CASES:
        if not quick or case.name in ("axpy", PROMISED) or case.extended:
            result.rows.append(_row(case, quick, say, result))
    return result


def _row(case: Case, quick: bool, say: Say, result: Measured) -> Row:
    say(f"{case.name}: rules to tables")
    started = time.process_time()
    backbone = example(case.computation).computation(**case.sizes).backbone()
    root = Partial.root(gpu_space(backbone, space=GPU if case.extended else PAPER), seed=1)
    grounded = time.process_time() - started
    order = root.space.variables_of(*DECISION_ORDER)
    constraints = root.space.constraints
    walks = 300 if quick else case.walks
    say(f"{case.name}: {walks} random walks")
    before = root.solver.decisions
    found, seconds = _timed(lambda: knuth(root.solver, root.state, order, walks))
    children = (root.solver.decisions - before) / seconds
    row: Row = {
        "space": case.name,
        "variables": constraints.variables,
        "relations": len(constraints.binary) + len(constraints.ternary),
        "clauses": len(constraints.clause_first) - 1,
        "tables, MB": round(root.solver.bytes / 1e6, 1),
        "state, bytes": root.state.nbytes,
        "rules to tables, s": round(grounded, 1),
        "size": str(found.leaves),
        "size, paper": f"{case.size:.2g}" if case.size else "",
        "dead ends, %": round(100 * found.dead_ends.mean, 3),
        "dead ends, paper": case.dead_ends if case.dead_ends is not None else "",
        "children/s": round(children),
        "descents/s": round(walks / seconds),
        "decisions/s": round(_decisions_per_second(root, order)),
        "depth": found.median_depth,
    }
    if not quick:
        say(f"{case.name}: nodes at depth {DEPTH}")
        row[f"nodes at depth {DEPTH}"] = int(root.solver.enumerate_to(root.state, order, DEPTH).nodes[DEPTH])
        row["nodes, paper"] = case.nodes or ""
        if case.name == PROMISED:
            left, micros = _after_the_cut(root, backbone, order)
            row |= {"nodes left, %": round(100 * left, 1), "a bound, us": round(micros, 2)}
            result.at_most(f"{case.name}: nodes at depth {DEPTH} that a bound leaves, %", 100 * left, 40)
            result.at_most(f"{case.name}: microseconds of a bound", micros, 5)
        depth, nodes = _first_wide_depth(root, np.ascontiguousarray(order[::-1]))
        row["nodes, reverse"] = f"{nodes} at depth {depth}"
    if not quick and case.name == "axpy":
        row["size, Chen"] = str(chen(root.solver, root.state, order, repetitions=10))
    say(f"{case.name}: shuffled decisions, and why")
    differences = _shuffled_differences(root, order, 40 if quick else 300)
    explained = _explanation_seconds(root, order, 10 if quick else 60)
    row |= {
        "why, ms, median": round(1e3 * float(np.median(explained)), 1),
        "why, ms, longest": round(1e3 * max(explained), 1),
        "shuffled fixpoints that differ": differences,
    }
    result.at_most(f"{case.name}: shuffled decisions that reach another fixpoint", differences, 0)
    if case.name == PROMISED:
        result.at_least(f"{case.name}: propagated children per second", children, 80_000)
        result.at_least(f"{case.name}: descents per second", walks / seconds, 400)
        assert case.size is not None
        result.at_least(f"{case.name}: size, of the paper's", found.leaves.mean / case.size, 0.1)
        result.at_most(f"{case.name}: dead ends, %", 100 * found.dead_ends.mean, 5)
        result.at_most(f"{case.name}: why, ms, longest", 1e3 * max(explained), 50)
    if case.name == "axpy":
        result.at_most(f"{case.name}: dead ends, %", 100 * found.dead_ends.mean, 0.1)
    return row


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    started = time.process_time()
    found = call()
    return found, time.process_time() - started


def _after_the_cut(root: Partial, backbone: Backbone, order: Integers) -> tuple[float, float]:
    """The share of the nodes at that depth whose bound is below the hand-tiled kernel's time, and what a bound takes, in microseconds."""
    bound = LowerBound(backbone, GroundNumbering(root.space), gpu("h200"))
    best_us = next(tiled_us(problem) for problem in WHOLE if problem.tiled is not None)
    prefixes = root.solver.enumerate_to(root.state, order, DEPTH, keep=MOST_NODES).prefixes
    left, seconds = 0, 0.0
    for some in np.array_split(prefixes, -(-len(prefixes) // CHUNK)):
        states = np.repeat(root.state[None], len(some), axis=0)
        for state, prefix in zip(states, some.tolist(), strict=True):
            for variable, mask in prefix:
                root.solver.restrict(state, variable, mask)
        found, taken = _timed(lambda: bound.times_us(states))  # noqa: B023
        left += int((found < best_us).sum())
        seconds += taken
    return left / len(prefixes), 1e6 * seconds / len(prefixes)


def _decisions_per_second(root: Partial, order: Integers, walks: int = 50) -> float:
    """One decision at a time from Python, along random walks."""
    paths = [root.solver.descend(root.state.copy(), order).decisions for _ in range(walks)]
    _, seconds = _timed(lambda: [root.solver.replay(root.state.copy(), path) for path in paths])
    return sum(map(len, paths)) / seconds


def _first_wide_depth(root: Partial, order: Integers) -> tuple[int, int]:
    """The first depth with more than ``MANY`` nodes, and how many."""
    for depth in range(4, 64):
        nodes = int(root.solver.enumerate_to(root.state, order, depth).nodes[depth])
        if nodes > MANY:
            return depth, nodes
    return depth, nodes


def _shuffled_differences(root: Partial, order: Integers, walks: int) -> int:
    """Of random prefixes of walks, how many lead to another state when they are decided in another order."""
    draw, different = random.Random(1), 0
    always = root.space.constraints.presence
    for _ in range(walks):
        path = root.solver.descend(root.state.copy(), order).decisions
        prefix = [d for d in path if draw.random() < 0.5 and not always[d[0]]]
        states = []
        for decisions in (prefix, draw.sample(prefix, len(prefix))):
            state = root.state.copy()
            held = root.solver.replay(state, decisions) == len(decisions)
            states.append(state if held else np.zeros_like(state))
        different += not np.array_equal(states[0], states[1])
    return different


def _explanation_seconds(root: Partial, order: Integers, queries: int) -> list[float]:
    """Of values that random walks removed, how long it takes to say why."""
    draw, reasons = random.Random(2), Reasons(root.space, root.solver)
    found: list[float] = []
    while len(found) < queries:
        state = root.state.copy()
        walk = root.solver.descend(state, order)
        removed = root.state & ~state
        gone = np.nonzero((removed != 0) & (state != 0))[0]
        if walk.is_dead_end or not len(gone):
            continue
        variable = int(draw.choice(gone))
        value = int(removed[variable]) & -int(removed[variable])
        started = time.process_time()
        reasons.why(walk.decisions, variable, value)
        found.append(time.process_time() - started)
    return found
