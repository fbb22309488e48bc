"""Inputs for the sides of one kernel's conditions that no accepted input has shown.

    search = GoalSearch(conditions, survey, seed, admits=..., count=..., accept=...)
    search.saw(change, counters)                 # what other inputs have shown
    unseen = search.look_for(goals, aims)

For each goal, in this order: a change under which all that it requires holds, as far as it can be solved; changes that have shown
the parts of it, put together; changes of what decides it, each alone and on top of what came nearest; all of that at random. Goals
take turns, so that what easy ones leave of the effort goes to hard ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from kernelwright.ir import Instruction
from kernelwright.ir.control_flow import Dominators
from kernelwright.prove.changed_inputs.case_survey import Change, Survey
from kernelwright.prove.coverage.aimed_changes import aimed_changes
from kernelwright.prove.coverage.conditions import Conditions, Goal
from kernelwright.prove.coverage.required_relations import Relation, Relations, required
from kernelwright.prove.coverage.solved_relations import solved

Counters = NDArray[np.int64] | None
Count = Callable[[Change], Counters]
"""What the conditions counted with a change; None where the original does not come to its end."""
Asks = Callable[[Change], bool]

LEAST = 4
"""Changes for a goal in each turn."""
WITNESSES = 2
"""Changes that are kept for each side."""
TOGETHER = 4
"""Ways to put together what has shown parts of a goal, in each turn."""


class GoalSearch:
    """``admits``: whether the variant is meant for what a change makes of the launches.
    ``accept``: makes an input of a change, and says whether the original accepts it."""

    def __init__(
        self, conditions: Conditions, survey: Survey, seed: int, *, admits: Asks, count: Count, accept: Asks
    ) -> None:
        self._conditions = conditions
        self._survey = survey
        self._seed = seed
        self._admits = admits
        self._count = count
        self._accept = accept
        self._goals = {goal.relation: goal for goal in conditions.goals}
        self._dominators = Dominators(conditions.function)
        self._shown: dict[Goal, list[Change]] = {}
        """By goal, the first changes that have shown it; none for what is seen without one."""
        self._steps: list[tuple[Change, NDArray[np.int64]]] = []
        """What was accepted because it showed something, and what it counted."""

    def saw(self, change: Change | None, counters: Counters) -> None:
        """Notes what a run has shown. ``change``: None for the case as it is, which comes first."""
        if counters is None:
            return
        for goal in self._conditions.goals:
            known = self._shown.get(goal)
            if (known is None or 0 < len(known) < WITNESSES) and goal.is_seen(counters):
                self._shown.setdefault(goal, [])
                if change is not None:
                    self._shown[goal].append(change)

    def look_for(self, goals: Sequence[Goal], aims: int) -> list[Goal]:
        """Those of the goals that no input of at most ``aims`` shows."""
        missing = list(goals)
        waiting = {goal: self._towards(goal, number) for number, goal in enumerate(goals)}
        while aims > 0 and (asked := [goal for goal in missing if goal in waiting]):
            share = max(LEAST, aims // len(asked))
            for goal in asked:
                if goal not in missing:
                    continue
                tried = 0
                for change in islice(waiting[goal], min(share, aims)):
                    tried, aims = tried + 1, aims - 1
                    missing = self._try(change, missing)
                    if goal not in missing:
                        break
                if tried < share:
                    del waiting[goal]
        return missing

    def _try(self, change: Change, missing: list[Goal]) -> list[Goal]:
        """What is still missing then."""
        counters = self._count(change)
        self.saw(change, counters)
        shown = [one for one in missing if counters is not None and one.is_seen(counters)]
        if counters is None or not shown or not self._accept(change):
            return missing
        self._steps.append((change, counters))
        return [one for one in missing if one not in shown]

    def _towards(self, goal: Goal, number: int) -> Iterator[Change]:
        return filter(self._admits, self._all_towards(goal, number))

    def _all_towards(self, goal: Goal, number: int) -> Iterator[Change]:
        value = goal.value
        block = value.parent if isinstance(value, Instruction) else None
        alternatives = required(goal.relation, block, self._dominators)
        function, tried = self._conditions.function, set()
        for relations, everywhere in product(alternatives, (False, True)):
            change = solved(relations, function, self._survey, f"aimed at {goal.words}", everywhere=everywhere)
            if change is not None and (change.buffers or not everywhere):
                yield change
                yield from (change.on_top_of(step) for step in self._nearest(relations)[:1])
        seed = self._seed * 100 + number
        for turn, change in enumerate(aimed_changes(goal, function, self._survey, seed)):
            if turn % LEAST == 0:
                for merged in self._together(alternatives):
                    if merged not in tried:
                        tried.add(merged)
                        yield merged
            yield change
            nearest = self._nearest(alternatives[0])
            if nearest:
                yield change.on_top_of(nearest[turn % len(nearest)])

    def _together(self, alternatives: Sequence[Relations]) -> Iterator[Change]:
        """What has shown the parts of a goal, each on top of the one before."""
        for relations in alternatives:
            goals = [self._goals[relation] for relation in relations if relation in self._goals]
            parts = [self._shown[goal] for goal in dict.fromkeys(goals) if self._shown.get(goal)]
            if len(parts) > 1:
                for chosen in islice(product(*parts), TOGETHER):
                    yield reduce(lambda under, above: above.on_top_of(under), dict.fromkeys(chosen))

    def _nearest(self, relations: Sequence[Relation]) -> list[Change]:
        """What was accepted, the ones before others that showed more of what is required; the latest among equals."""
        goals = [self._goals[relation] for relation in relations if relation in self._goals]
        parts = [sum(goal.is_seen(counters) for goal in goals) for _, counters in self._steps]
        order = sorted(range(len(parts)), key=lambda place: (parts[place], place), reverse=True)
        return [self._steps[place][0] for place in order]


__all__ = ["GoalSearch"]
