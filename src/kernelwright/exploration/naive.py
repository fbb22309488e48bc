"""The kernel that gains are counted from: a leaf that stages nothing, with one element for each thread as far as the space has it.

Outer levels of loops become blocks, tiles threads, the innermost of the last loop along neighbouring addresses; reductions are
loops; values stay in registers. Where a result of a whole row is used for each element of it (softmax), the reductions are done one
after the other before the elements, by one thread for each row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.exploration.decisions import Decisions
from kernelwright.exploration.kernel_space import KernelSpace, State
from kernelwright.space.computation import Dim, Instruction
from kernelwright.space.computation.arrays import Loop

MOST_STEPS = 5000
"""Nodes that are looked at before it is given up."""
KINDS = {True: ("THREAD", "BLOCK", "LOOP", "UNROLL", "VECTOR"), False: ("LOOP", "UNROLL", "THREAD", "BLOCK", "VECTOR")}
"""By preference: of a parallel tile, and of what is reduced."""
ORDERS = ("MERGED", "OUTER", "INNER", "BEFORE", "AFTER")
CACHES = ("L1", "READ_ONLY", "L2", "NONE")
TILE, INNER_TILE = 32, 4
"""Sizes of the tiles of the last loop that is spread over threads; those of the others are a fourth."""


def naive_decisions(space: KernelSpace) -> Decisions:
    """Raises ``Misuse`` for a space that has no such kernel."""
    root = space.solver.root()
    if root is None:
        raise Misuse(f"{space.subject} has no implementation")
    path: list[tuple[int, int]] = []
    for dim in (d for r in space.subject.backbone.reductions for d in r.dims if d.is_static):
        variable, mask = space.ground.value_mask("dim_kind", (dim,), "LOOP")
        kept = root.copy()
        if int(root[variable]) != mask and space.solver.restrict(root, variable, mask):
            path.append((variable, mask))
        else:
            root = kept
    for temporary in space.subject.backbone.temporaries:
        variable, mask = space.ground.value_mask("exists", (temporary,), "NO")
        kept = root.copy()
        if int(root[variable]) != mask and int(root[variable]) & mask and space.solver.restrict(root, variable, mask):
            path.append((variable, mask))
        elif int(kept[variable]) != mask:
            root = kept  # a value that cannot stay in registers
    for instruction, dim in _finished_before(space):
        variable, mask = space.ground.value_mask("order", (instruction, dim), "BEFORE")
        kept = root.copy()
        if int(root[variable]) != mask and int(root[variable]) & mask and space.solver.restrict(root, variable, mask):
            path.append((variable, mask))
        elif int(kept[variable]) != mask:
            root = kept
    found = _completed(space, root)
    if found is None:
        raise Misuse(f"{space.subject} has no implementation that stages nothing")
    return space.words([*path, *found])


def _completed(space: KernelSpace, root: State) -> list[tuple[int, int]] | None:
    """Depth first, the preferred value first."""
    order = _order(space)
    stack: list[tuple[State, list[tuple[int, int]]]] = [(root, [])]
    for _ in range(MOST_STEPS):
        if not stack:
            return None
        state, path = stack.pop()
        variable = space.solver.next_open(state, order)
        if variable is None:
            return path
        states, masks = space.solver.expand(state, variable)
        ranked = sorted(
            zip(states, masks.tolist(), strict=True), key=lambda pair: _rank(space, variable, pair[1]), reverse=True
        )
        stack += [(after, [*path, (variable, mask)]) for after, mask in ranked]
    return None


def _order(space: KernelSpace) -> npt.NDArray[np.int32]:
    """Sizes first, then kinds, those of the store's last loop and of its innermost tiles first: they get the axes of threads."""
    store = _store(space)
    loops = _loops(space)

    def place(variable: int) -> tuple[int, int, int]:
        choice, objects = space.ground.variables[variable]
        first = objects[0]
        if choice in ("size", "dim_kind") and isinstance(first, Dim):
            own = 0 if first.instruction == store.name else 1
            late = -loops.index(first.loop.name) if first.loop.name in loops else 1
            return (0 if choice == "size" else 1), own * 100 + late, -first.level
        return 2, 0, 0

    return np.array(sorted(space.order.tolist(), key=place), np.int32)


def _rank(space: KernelSpace, variable: int, mask: int) -> float:
    """Small is preferred."""
    choice, objects = space.ground.variables[variable]
    (value,) = space.ground.values_in(variable, mask)
    dim = objects[0]
    if choice == "size" and isinstance(dim, Dim):
        return abs(math.log2(int(value) / _wanted(space, dim)))
    if choice == "dim_kind" and isinstance(dim, Dim):
        if not dim.is_static and dim.is_parallel and dim.loop not in _sequential(space):
            return float(value != "BLOCK")
        return KINDS[dim.is_parallel and dim.loop not in _sequential(space)].index(str(value))
    if choice == "thread_mapping" and value in ("OUT", "IN"):
        a, b = objects
        assert isinstance(a, Dim) and isinstance(b, Dim)
        outside = (_depth(space, a), a.level) < (_depth(space, b), b.level)
        return float((value == "OUT") != outside)
    preferred: dict[str, Sequence[str]] = {"order": ORDERS, "cache": CACHES}
    return preferred[choice].index(str(value)) if choice in preferred else 0.0


def _store(space: KernelSpace) -> Instruction:
    return next(i for i in space.subject.backbone.instructions if i.operation == "store")


def _loops(space: KernelSpace) -> list[str]:
    """Those that the output varies over and that are spread over threads, outermost first; where there is none, all."""
    loops = list(dict.fromkeys(d.loop for d in _store(space).dims))
    spread = [each.name for each in loops if each not in _sequential(space)]
    return spread or [each.name for each in loops]


def _finished_before(space: KernelSpace) -> list[tuple[Instruction, Dim]]:
    """Reductions with the dims of what uses their results for each iteration of a loop that they run over: they would be done again in
    each."""
    backbone = space.subject.backbone
    found = []
    for reduction in backbone.reductions:
        reduced, users = {d.loop for d in reduction.dims}, {reduction.instruction.name}
        for i in backbone.instructions:  # operands come first
            if users & set(i.operands):
                users.add(i.name)
                found += [(reduction.instruction, d) for d in i.dims if d.loop in reduced]
    return found


def _sequential(space: KernelSpace) -> set[Loop]:
    """The loops of these dims."""
    return {dim.loop for _, dim in _finished_before(space)}


def _depth(space: KernelSpace, dim: Dim) -> int:
    loops = _loops(space)
    return loops.index(dim.loop.name) if dim.loop.name in loops else len(loops)


def _wanted(space: KernelSpace, dim: Dim) -> float:
    size, loops = TILE if dim.level == 1 else INNER_TILE, _loops(space)
    if dim.loop.name not in loops[-1:]:  # an output of one number varies over none
        return size / 4
    tiles = sum(d.loop == dim.loop and d.is_static for d in _store(space).dims)
    return TILE * INNER_TILE if len(loops) == tiles == 1 else size
