"""An implementation that is decided in part: decisions are added one at a time; what is left can be asked, and why the rest is gone."""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.engine.constraints import Masks
from kernelwright.space.engine.solver import Solver
from kernelwright.space.lang.conditions import Condition, Value
from kernelwright.space.lang.ground_space import GroundSpace
from kernelwright.space.why import Decision, Explanation, Reasons


@dataclass(frozen=True)
class Partial:
    """A state of a space and the decisions that led to it. ``decide`` gives another; nothing is changed in place."""

    space: GroundSpace
    solver: Solver
    state: Masks
    decisions: tuple[Decision, ...] = ()

    @classmethod
    def root(cls, space: GroundSpace, seed: int = 0) -> Partial:
        """Nothing decided. Raises ``Misuse`` with the reason when the space is empty."""
        solver = Solver(space.constraints, seed)
        state = solver.root()
        if state is None:
            raise Misuse(f"{space.name} has no implementation\n{Reasons(space, solver).clash([])}")
        return cls(space, solver, state)

    def decide(self, *conditions: Condition) -> Partial:
        """With these conditions, each on one choice. Raises ``Misuse`` with what clashes with what when they cannot all hold."""
        state, decisions = self.state.copy(), list(self.decisions)
        for condition in conditions:
            variable, mask = self.space.literal(condition)
            if not int(state[variable]) & mask:
                reason = Reasons(self.space, self.solver).why(decisions, variable, mask)
                raise Misuse(f"this cannot be decided: {reason}", hint="leave one of these decisions out")
            decisions.append((variable, mask))
            if not self.solver.restrict(state, variable, mask):
                clash = Reasons(self.space, self.solver).clash(decisions)
                raise Misuse(f"these decisions exclude one another: {clash}", hint="leave one of them out")
        return Partial(self.space, self.solver, state, tuple(decisions))

    def values(self, choice: str, *objects: object) -> list[Value]:
        """What is left of a choice."""
        return self.space.values_for(self.state, choice, objects)

    def why(self, condition: Condition) -> Explanation:
        """Why a condition on one choice cannot hold any more. Raises ``Misuse`` when it can."""
        variable, mask = self.space.literal(condition)
        return Reasons(self.space, self.solver).why(self.decisions, variable, mask)

    def completed(self, order: tuple[str, ...], attempts: int = 20) -> Partial:
        """A random implementation that keeps the decisions. Raises ``Misuse`` when none of the walks reaches one."""
        variables = self.space.variables_of(*order)
        for _ in range(attempts):
            state = self.state.copy()
            walk = self.solver.descend(state, variables)
            if not walk.is_dead_end:
                return Partial(self.space, self.solver, state, (*self.decisions, *walk.decisions))
        raise Misuse(f"{attempts} random walks from these decisions ended nowhere")
