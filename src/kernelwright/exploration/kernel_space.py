"""The space of a subject as a tree of decisions (``search.tree.decision_tree``), each node with a bound, each leaf a kernel.

space = KernelSpace(subject)
children = space.children(space.root().node)          # of the first open decision
space.words(path), space.kernel(decisions)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.exploration.decisions import Decisions, decision_text, parts_of
from kernelwright.exploration.subject import Subject
from kernelwright.search.tree.decision_tree import Child
from kernelwright.space.bound import LowerBound
from kernelwright.space.bound.ground_numbering import GroundNumbering
from kernelwright.space.cuda_source import GeneratedKernel, generate
from kernelwright.space.engine.solver import Solver
from kernelwright.space.gpu.leaf import Decided
from kernelwright.space.gpu.sets import DECISION_ORDER
from kernelwright.space.gpu.space import gpu_space
from kernelwright.space.why import Reasons

State = npt.NDArray[np.uint16]


class KernelSpace:
    """A tree for one search at a time. ``order``: of the choices, the first one decided first; ``given``: decisions that hold in all of
    it."""

    def __init__(self, subject: Subject, order: Sequence[str] = DECISION_ORDER, given: Decisions = ()) -> None:
        """Raises ``Misuse`` for an order that names no choice of the space, and for decisions that contradict one another."""
        self.subject = subject
        self.ground = gpu_space(subject.backbone)
        self.solver = Solver(self.ground.constraints)
        self.order = self.ground.variables_of(*order)
        self.bound = LowerBound(subject.backbone, GroundNumbering(self.ground), subject.gpu)
        self.given = given
        self._begin = self.decided(given) if given else self.solver.root()

    # -- the tree ------------------------------------------------------------------------------------------------------

    def root(self) -> Child[State] | None:
        state = self._begin
        return None if state is None else Child((), state.copy(), self.bound.time_us(state))

    def children(self, node: State, *, bounds: bool = True) -> list[Child[State]] | None:
        variable = self.solver.next_open(node, self.order)
        if variable is None:
            return None
        states, masks = self.solver.expand(node, variable)
        times = self.bound.times_us(states).tolist() if bounds and len(states) else [0.0] * len(states)
        rows = zip(states, masks.tolist(), times, strict=True)
        # A row of its own: the whole batch would live as long as one child does.
        return [Child((variable, mask), state.copy(), time) for state, mask, time in rows]

    # -- decisions -----------------------------------------------------------------------------------------------------

    def candidate(self, path: Sequence[Hashable]) -> Decisions:
        """Those of a leaf of the tree, the given ones first."""
        return (*self.given, *self.words(path))

    def words(self, path: Sequence[Hashable]) -> Decisions:
        """The decisions of a path as text."""
        found = []
        for step in path:
            variable, mask = cast(tuple[int, int], step)
            choice, objects = self.ground.variables[variable]
            (value,) = self.ground.values_in(variable, mask)
            found.append(decision_text(choice, objects, value))
        return tuple(found)

    def decided(self, decisions: Decisions) -> State:
        """The state after decisions. Raises ``Misuse`` for one that is none of this space, or that others exclude."""
        state = self.solver.root()
        if state is None:
            raise Misuse(f"{self.subject} has no implementation")
        whole, taken = state.copy(), list[tuple[int, int]]()
        for number, text in enumerate(decisions):
            try:
                variable, mask = self.mask_of(text)
            except Misuse as error:
                about = "" if text in error.message else f"{text}: "
                raise Misuse(f"decision {number + 1}, {about}{error.message}", hint=error.hint) from error
            if not int(whole[variable]) & mask:
                raise Misuse(f"decision {number + 1}, {text}, is never possible", hint=self._gone((), variable, mask))
            if not int(state[variable]) & mask:
                why = self._gone(taken, variable, mask)
                raise Misuse(f"decision {number + 1}, {text}, contradicts those before it", hint=why)
            if not self.solver.restrict(state, variable, mask):
                clash = Reasons(self.ground, self.solver).clash([*taken, (variable, mask)])
                raise Misuse(f"decision {number + 1}, {text}, contradicts those before it", hint=str(clash))
            taken.append((variable, mask))
        return state

    def mask_of(self, decision: str) -> tuple[int, int]:
        """The variable of a decision as text, and the mask of its value. Raises ``Misuse``."""
        choice, names, value = parts_of(decision)
        return self.ground.value_mask(choice, [self.named(choice, name, decision) for name in names], value)

    def _gone(self, taken: Sequence[tuple[int, int]], variable: int, mask: int) -> str:
        """Which decisions and rules exclude a value."""
        return str(Reasons(self.ground, self.solver).why(taken, variable, mask))

    def named(self, choice: str, name: str, text: str) -> Any:
        """The object of a choice by its name; ``text``: what is being read. Raises ``Misuse``."""
        if choice not in self.ground.choices:
            raise Misuse(f"{text}: there is no choice {choice}", hint=f"there are {', '.join(self.ground.choices)}")
        found = next((each for each in self.ground.choices[choice].ids if str(each) == name), None)
        if found is None:
            raise Misuse(
                f"{text}: {self.subject} has no {name}", hint="kw explore writes decisions into its run folder"
            )
        return found

    def kernel(self, decisions: Decisions) -> GeneratedKernel:
        """The kernel of a leaf. Raises ``Misuse`` for decisions that leave something open, or that code generation refuses."""
        state = self.decided(decisions)
        variable = self.solver.next_open(state, self.order)
        if variable is not None:
            raise Misuse(
                f"these decisions leave {self.ground.describe(variable, int(state[variable]))} open",
                hint="a kernel has all decisions taken",
            )
        return generate(self.subject.backbone, Decided(self.ground, state))

    def fixed_kernel(self, decisions: Decisions) -> GeneratedKernel:
        """The same decisions with the sizes that are tuned on written into the text, where the kernel is given them at launch."""
        fixed = self.subject.at(dict(self.subject.sizes))
        return generate(fixed.backbone, Decided(self.ground, self.decided(decisions)))
