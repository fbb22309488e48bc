"""All solutions of a small space by OR-Tools CP-SAT, which shares nothing with the engine; counters are asked of each solution."""

from __future__ import annotations

import itertools
import math

import numpy as np
from ortools.sat.python import cp_model

from kernelwright.space.engine.constraints import Constraints, Counter, Masks, Term
from kernelwright.space.engine.solver import Solver

ABSENT = -1
Solution = tuple[int, ...]
"""Per variable the number of its value, ``ABSENT`` where its objects do not exist."""


def solutions(c: Constraints) -> set[Solution]:
    model = cp_model.CpModel()
    owners = [[c.exists[g] for g in range(len(c.exists)) if int(p) >> g & 1] for p in c.presence]
    domains = [
        [i for i in range(int(c.sizes[v])) if int(c.initial[v]) >> i & 1] + ([ABSENT] if owners[v] else [])
        for v in range(c.variables)
    ]
    x = [model.new_int_var_from_domain(cp_model.Domain.from_values(d), f"x{v}") for v, d in enumerate(domains)]

    def allow(scope: list[int], accepts) -> None:  # type: ignore[no-untyped-def]
        tuples = [t for t in itertools.product(*(domains[v] for v in scope)) if ABSENT in t or accepts(t)]
        model.add_allowed_assignments([x[v] for v in scope], tuples)

    for v, objects in enumerate(owners):
        # Absent exactly where one of its objects does not exist.
        scope = [v, *(e for e, _ in objects)]
        rows = [
            t
            for t in itertools.product(*(domains[w] for w in scope))
            if (t[0] == ABSENT) == any(not 1 << value & yes for value, (_, yes) in zip(t[1:], objects, strict=True))
        ]
        if objects:
            model.add_allowed_assignments([x[w] for w in scope], rows)
    for *scope, number in (*c.binary.tolist(), *c.ternary.tolist()):
        allow(scope, lambda t, relation=c.relations[number]: bool(relation[tuple(t)]))
    for a, b in itertools.pairwise(c.clause_first.tolist()):
        literals = c.literals[a:b].tolist()
        allow([v for v, _ in literals], lambda t, ls=literals: any(m >> i & 1 for i, (_, m) in zip(t, ls, strict=True)))

    found: set[Solution] = set()

    class Collect(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            found.add(tuple(self.value(v) for v in x))

    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.solve(model, Collect())
    return {s for s in found if all(counts(c, k, s) for k in c.counters)}


def counts(c: Constraints, counter: Counter, s: Solution) -> bool:
    """Whether a solution is within a counter's limit."""

    def holds(v: int, mask: int) -> bool:
        return s[v] != ABSENT and bool(mask >> s[v] & 1)

    def value(term: Term) -> float:
        classes: list[tuple[int, float]] = []
        for i, m in enumerate(term.members):
            if not all(holds(*g) for g in m.guards) or (m.amount is not None and s[m.amount] == ABSENT):
                continue
            weight = m.constant if m.amount is None else float(c.values[c.value_row[m.amount]][s[m.amount]])
            if term.same is None or not any(holds(int(term.same[j][i]), term.same_mask) for j, _ in classes):
                classes.append((i, weight))
        weights = [w for _, w in classes]
        return term.coefficient * (sum(weights) if term.sums else math.prod(weights))

    return sum(value(t) for t in counter.terms if t.guard is None or holds(*t.guard)) <= counter.limit


def leaves(solver: Solver) -> set[Solution]:
    """What the engine finds, trying every value of every open variable."""
    c = solver.constraints
    order = np.arange(c.variables, dtype=np.int32)
    root = solver.root()
    found: set[Solution] = set()
    stack: list[Masks] = [] if root is None else [root]
    while stack:
        state = stack.pop()
        v = solver.next_open(state, order)
        if v is None:
            found.add(solution_of(c, state))
        else:
            stack.extend(solver.expand(state, v)[0].copy())
    return found


def solution_of(c: Constraints, state: Masks) -> Solution:
    present = sum(1 << g for g, (v, yes) in enumerate(c.exists) if state[v] == yes)
    there = [not int(p) & ~present for p in c.presence]
    return tuple(int(m).bit_length() - 1 if t else ABSENT for m, t in zip(state, there, strict=True))
