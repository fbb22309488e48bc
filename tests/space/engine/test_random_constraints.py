"""The engine in C against the oracle on constraints that no rule would make: of each kind, many that share variables and literals, on
variables of several optional objects."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kernelwright.space.engine.constraints import Constraints, Counter, Member, Term
from kernelwright.space.engine.oracle import Oracle
from kernelwright.space.engine.solver import Solver

OBJECTS = 2


def random_constraints(seed: int, variables: int = 12) -> Constraints:
    draw = random.Random(seed)
    sizes = [2] * OBJECTS + [draw.choice([2, 3, 4, 5, 5, 7]) for _ in range(variables)]
    presence = [0] * OBJECTS + [draw.choice([0, 0, 1, 2, 3]) for _ in range(variables)]
    relations: list[np.ndarray] = []
    table = np.random.default_rng(seed)

    def relation(scope: list[int], kept: float) -> list[int]:
        relations.append(table.random([sizes[v] for v in scope]) < kept)
        return [*scope, len(relations) - 1]

    def mask(v: int) -> int:
        return draw.randrange(1, (1 << sizes[v]) - 1)

    def scopes(length: int, count: int) -> list[list[int]]:
        return [list(s) for s in sorted({tuple(sorted(draw.sample(range(len(sizes)), length))) for _ in range(count)})]

    binary = [relation(scope, 0.85) for scope in scopes(2, 8)]
    ternary = [relation(scope, 0.8) for scope in scopes(3, 30)]
    clauses = [[(v, mask(v)) for v in draw.sample(range(len(sizes)), draw.choice([2, 3, 4, 6]))] for _ in range(10)]
    # Families that share one literal, and that share two.
    for shared in (1, 2):
        family = [(v, mask(v)) for v in draw.sample(range(len(sizes)), shared)]
        for _ in range(12):
            others = draw.sample([v for v in range(len(sizes)) if v not in dict(family)], 4 - shared)
            clauses.append([*family, *((v, mask(v)) for v in others)])
    counters = [_counter(draw, sizes, mask) for _ in range(draw.choice([1, 3, 70]))]
    lengths = [len(c) for c in clauses]
    return Constraints(
        sizes=np.array(sizes, np.int32),
        initial=np.array([(1 << n) - 1 for n in sizes], np.uint16),
        presence=np.array(presence, np.uint32),
        exists=tuple((g, 2) for g in range(OBJECTS)),
        values=np.arange(1.0, 17.0).reshape(1, 16),
        value_row=np.zeros(len(sizes), np.int32),
        relations=tuple(relations),
        binary=np.array(binary, np.int32).reshape(-1, 3),
        ternary=np.array(ternary, np.int32).reshape(-1, 4),
        clause_first=np.cumsum([0, *lengths]).astype(np.int32),
        literals=np.array([row for clause in clauses for row in clause], np.int32),
        counters=tuple(counters),
    )


def _counter(draw: random.Random, sizes: list[int], mask) -> Counter:  # type: ignore[no-untyped-def]
    members = []
    for v in draw.sample(range(len(sizes)), 4):
        guards = [(v, mask(v))] if draw.random() < 0.8 else []
        members.append(
            Member(tuple(guards), amount=draw.choice([None, draw.randrange(OBJECTS, len(sizes))]), constant=2.0)
        )
    sums = draw.random() < 0.5
    return Counter(12.0 if sums else 60.0, (Term(tuple(members), sums=sums),))


@pytest.mark.parametrize("seed", range(60))
def test_the_engine_does_what_the_oracle_does(seed: int) -> None:
    constraints = random_constraints(seed)
    solver, oracle = Solver(constraints), Oracle(constraints)
    root, expected = solver.root(), oracle.root()
    assert (root is None) == (expected is None)
    if root is None or expected is None:
        return
    assert np.array_equal(root, expected)
    for walk in range(4):
        draw, state = random.Random(walk), root.copy()
        while True:
            present = sum(1 << g for g, (v, yes) in enumerate(constraints.exists) if state[v] == yes)
            open_ = [
                v
                for v in range(constraints.variables)
                if int(state[v]).bit_count() > 1 and not int(constraints.presence[v]) & ~present
            ]
            if not open_:
                break
            v = draw.choice(open_)
            mask = draw.randrange(1, 1 << int(constraints.sizes[v])) & int(state[v]) or int(state[v]) & -int(state[v])
            after = state.copy()
            held, expected = solver.restrict(after, v, mask), oracle.restrict(state, v, mask)
            assert held == (expected is not None)
            if expected is None:
                break
            assert np.array_equal(after, expected)
            state = after
