"""What is wrong with a declared space, for its objects: dead rules, impossible objects, schedules that are rejected.

A rule is dead when it never removes anything: whatever it forbids is no value that anything has, or the other rules exclude it as soon
as it is decided. What is called dead is dead for certain. A rule whose cases the others exclude only after further decisions is not
found, nor is a counter that could exceed its limit by its members alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.engine.constraints import Counter, LiteralPair, Masks, Member, Term
from kernelwright.space.engine.solver import Solver
from kernelwright.space.lang.conditions import Condition
from kernelwright.space.lang.declaration import Rule
from kernelwright.space.lang.ground_space import GroundSpace
from kernelwright.space.lang.grounding import ground_again
from kernelwright.space.partial import Partial
from kernelwright.space.why import Decision, Reasons

Schedules = Mapping[str, Sequence[Condition]]
"""Decisions of an expert, by the schedule's name."""

EXPLAINED = 8
"""Cases of a dead rule of which it is told what excludes them: that takes many times longer than to find out."""


@dataclass(frozen=True)
class Finding:
    """``kind``: ``empty space``, ``impossible object``, ``dead rule`` or ``rejected schedule``; ``name``: which; ``why``: lines."""

    kind: str
    name: str
    why: str


def reviewed(
    space: GroundSpace, schedules: Schedules, watch: Callable[[str], None] = lambda rule: None
) -> list[Finding]:
    """All findings. Of an empty space only that. ``watch`` is called with each rule before it is looked at."""
    solver = Solver(space.constraints)
    root = solver.root()
    if root is None:
        why = _without_values(space) or str(Reasons(space, solver).clash([]))
        return [Finding("empty space", space.name, why)]
    found = list(_impossible_objects(space, solver, root))
    for rule in space.rules:
        watch(rule.name)
        why = _why_dead(space, rule)
        if why:
            found.append(Finding("dead rule", rule.name, f"{rule.reason}\n{why}"))
    return [*found, *_rejected(space, schedules)]


def _without_values(space: GroundSpace) -> str:
    """A choice that offers no value for objects that exist always, which no rule took from them."""
    c, by_rules = space.constraints, {variable for variable, _, _ in space.unary}
    empty = [int(v) for v in np.nonzero((c.initial == 0) & (c.presence == 0))[0] if int(v) not in by_rules]
    if not empty:
        return ""
    choice, objects = space.variables[empty[0]]
    return f"{choice}({', '.join(map(str, objects))}) offers no value"


def _impossible_objects(space: GroundSpace, solver: Solver, root: Masks) -> Iterator[Finding]:
    for variable, mask in space.constraints.exists:
        if not int(root[variable]) & mask:
            (thing,) = space.variables[variable][1]
            yield Finding("impossible object", str(thing), str(Reasons(space, solver).why([], variable, mask)))


def _rejected(space: GroundSpace, schedules: Schedules) -> Iterator[Finding]:
    for name, conditions in schedules.items():
        partial = Partial.root(space)
        for number, condition in enumerate(conditions, 1):
            try:
                partial = partial.decide(condition)
            except Misuse as error:
                yield Finding("rejected schedule", name, f"decision {number}: {error.message}")
                break


# -- dead rules


def _why_dead(space: GroundSpace, rule: Rule) -> str:
    """Empty for a rule that may remove something."""
    empty = [each.__name__ for each in rule.sets if not space.members.get(each)]
    if empty:
        return f"there is no object of {empty[0]}"
    others = ground_again(space, space.space.without(rule.name))
    alone = ground_again(space, space.space.without(*(r.name for r in space.rules if r.name != rule.name)))
    solver = Solver(others.constraints)
    root = solver.root()
    if root is None:
        return ""
    if any(_largest(alone, counter, root) > counter.limit for counter in alone.constraints.counters):
        return ""
    excluding: dict[str, None] = {}
    asked = 0
    for case in _broken(alone, root):
        asked += 1
        if solver.replay(root.copy(), case) == len(case):
            return ""
        if asked <= EXPLAINED:
            clash = Reasons(others, solver).clash(case)
            excluding |= dict.fromkeys(r.name for step in (clash.steps if clash else ()) for r in step.rules)
    if not asked:
        return "the values that are left at the root cannot break it"
    by = ", ".join([*excluding, *(["..."] if asked > EXPLAINED else [])])
    return f"the other rules exclude all {asked} cases that it forbids: {by}"


def _broken(alone: GroundSpace, root: Masks) -> Iterator[list[Decision]]:
    """Each way in which the constraints of a rule are broken with values that are left, as decisions."""
    constraints = alone.constraints
    for variable, removed, _ in alone.unary:
        for bit in _bits(int(root[variable]) & removed):
            yield [*_existing(alone, [variable]), (variable, 1 << bit)]
    for rows in (constraints.binary, constraints.ternary):
        for *scope, number in rows.tolist():
            relation = constraints.relations[number]
            left = [_bits(int(root[v])) for v in scope]
            for places in np.argwhere(~relation[np.ix_(*left)]).tolist():
                decided = [(v, 1 << bits[place]) for v, bits, place in zip(scope, left, places, strict=True)]
                yield [*_existing(alone, scope), *decided]
    for first, last in zip(constraints.clause_first[:-1], constraints.clause_first[1:], strict=True):
        literals = constraints.literals[first:last].tolist()
        decided = [(v, int(root[v]) & ~mask) for v, mask in literals]
        if all(mask for _, mask in decided):
            yield [*_existing(alone, [v for v, _ in literals]), *decided]


def _existing(space: GroundSpace, variables: Sequence[int]) -> list[Decision]:
    """A constraint says something where all objects of its variables exist."""
    bits = int(np.bitwise_or.reduce(space.constraints.presence[list(variables)]))
    return [decision for group, decision in enumerate(space.constraints.exists) if bits >> group & 1]


def _largest(space: GroundSpace, counter: Counter, root: Masks) -> float:
    """What a counter comes to at most with the values that are left, where all counted objects are different ones."""
    return sum(
        _largest_term(space, term, root) for term in counter.terms if term.guard is None or _may_hold(term.guard, root)
    )


def _largest_term(space: GroundSpace, term: Term, root: Masks) -> float:
    weights = [_weight(space, m, root) for m in term.members if all(_may_hold(g, root) for g in m.guards)]
    return term.coefficient * (sum(weights) if term.sums else prod(weights))


def _weight(space: GroundSpace, member: Member, root: Masks) -> float:
    if member.amount is None:
        return member.constant
    values = space.constraints.values[space.constraints.value_row[member.amount]]
    return max((float(values[bit]) for bit in _bits(int(root[member.amount]))), default=1.0)


def _may_hold(literal: LiteralPair, root: Masks) -> bool:
    variable, mask = literal
    return bool(int(root[variable]) & mask)


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
