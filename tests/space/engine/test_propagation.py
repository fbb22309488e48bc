"""The engine in C does what the oracle in Python does, whatever the order; and neither loses a solution nor invents one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kernelwright.space.engine.oracle import Oracle
from kernelwright.space.engine.solver import Change, Solver
from kernelwright.space.lang.ground_space import GroundSpace
from tests.space.solutions import leaves, solution_of, solutions
from tests.space.toys import loops

SPACES = [(("a1", "a2", "b1"), 0), (("a1", "b1", "c1"), 1), (("a1", "b1", "a2"), 2)]
IDS = ["plain", "optional", "two optional"]


@pytest.fixture(scope="module", params=SPACES, ids=IDS)
def space(request: pytest.FixtureRequest) -> GroundSpace:
    names, boxes = request.param
    return loops(names, boxes)


def open_variables(space: GroundSpace, state: np.ndarray) -> list[int]:
    c = space.constraints
    present = sum(1 << g for g, (v, yes) in enumerate(c.exists) if state[v] == yes)
    return [v for v in range(c.variables) if int(state[v]).bit_count() > 1 and not int(c.presence[v]) & ~present]


def test_the_engine_does_what_the_oracle_does(space: GroundSpace) -> None:
    solver, oracle = Solver(space.constraints), Oracle(space.constraints)
    root = solver.root()
    assert root is not None and np.array_equal(root, oracle.root())
    failed = 0
    for seed in range(12):
        draw, state = random.Random(seed), root.copy()
        while found := open_variables(space, state):
            v = draw.choice(found)
            mask = draw.randrange(1, 1 << int(space.constraints.sizes[v])) & int(state[v]) or int(state[v]) & -int(
                state[v]
            )
            after = state.copy()
            held, expected = solver.restrict(after, v, mask), oracle.restrict(state, v, mask)
            assert held == (expected is not None)
            if not held:
                failed += 1
                break
            assert expected is not None and np.array_equal(after, expected), space.describe(v, mask)
            state = after


def test_the_order_of_decisions_does_not_matter(space: GroundSpace) -> None:
    solver = Solver(space.constraints)
    root = solver.root()
    assert root is not None
    order = np.arange(space.constraints.variables, dtype=np.int32)
    for seed in range(40):
        draw = random.Random(seed)
        solver.seed(seed)
        walk = solver.descend(root.copy(), order)
        prefix = [d for d in walk.decisions if draw.random() < 0.6]
        states = []
        for _ in range(3):
            state = root.copy()
            held = solver.replay(
                state, sorted(prefix, key=lambda d: (space.constraints.presence[d[0]] != 0, draw.random()))
            )
            states.append(state if held == len(prefix) else None)
        assert all((s is None) == (states[0] is None) for s in states)
        assert states[0] is None or all(np.array_equal(states[0], s) for s in states[1:])


@pytest.mark.parametrize(("names", "boxes"), [(("a1", "a2", "b1"), 0), (("a1", "b1"), 1)], ids=["plain", "optional"])
def test_leaves_are_the_solutions(names: tuple[str, ...], boxes: int) -> None:
    space = loops(names, boxes)
    solver = Solver(space.constraints)
    expected = solutions(space.constraints)
    assert len(expected) > 100
    assert leaves(solver) == expected


def test_no_value_of_a_solution_is_removed() -> None:
    space = loops(("a1", "b1"), 1)
    c = space.constraints
    solver = Solver(c)
    every = sorted(solutions(c))
    root = solver.root()
    assert root is not None
    draw = random.Random(3)
    for solution in draw.sample(every, 40):
        state = root.copy()
        for v in draw.sample(range(c.variables), c.variables):
            exists_now = not int(c.presence[v]) & ~sum(1 << g for g, (e, yes) in enumerate(c.exists) if state[e] == yes)
            if solution[v] >= 0 and exists_now:
                assert solver.restrict(state, v, 1 << solution[v])
                for w, value in enumerate(solution):
                    assert value < 0 or not state[w] or int(state[w]) >> value & 1, space.describe(w, 1 << value)
        assert solution_of(c, state) == solution or open_variables(space, state)


def test_what_was_recorded_leads_from_one_state_to_the_next(space: GroundSpace) -> None:
    solver = Solver(space.constraints)
    held, root, changes = solver.recorded(None)
    assert held and np.array_equal(root, solver.root())
    rebuilt = space.constraints.initial.copy()
    for change in (Change(*row) for row in changes.tolist()):
        assert rebuilt[change.variable] == change.before
        rebuilt[change.variable] = change.after
    alive = root != 0
    assert np.array_equal(rebuilt[alive], root[alive])


def test_equal_seeds_walk_alike(space: GroundSpace) -> None:
    order = np.arange(space.constraints.variables, dtype=np.int32)
    found = []
    for _ in range(2):
        solver = Solver(space.constraints, seed=4)
        root = solver.root()
        assert root is not None
        found.append(solver.walks(root, order, 20))
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])


def test_walks_and_enumeration_count_the_same_tree() -> None:
    space = loops(("a1", "b1"), 0)
    solver = Solver(space.constraints, seed=1)
    root = solver.root()
    assert root is not None
    order = np.arange(space.constraints.variables, dtype=np.int32)
    tree = solver.enumerate_to(root, order, 12, keep=5)
    exact = int(tree.leaves.sum()) + int(tree.nodes[12])
    assert exact == len(leaves(solver))
    depths, sizes = solver.walks(root, order, 4000)
    estimate = np.where(depths >= 0, 10.0**sizes, 0)
    assert abs(estimate.mean() - exact) < 4 * estimate.std() / len(estimate) ** 0.5 + 1e-9
