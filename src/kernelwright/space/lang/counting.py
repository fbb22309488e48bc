"""Counters of a declared space, as the engine counts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.space.engine.constraints import Counter, Integers, LiteralPair, Member, Term
from kernelwright.space.lang.choices import Limit, atoms_of
from kernelwright.space.lang.conditions import Condition, Connective, ObjectSet
from kernelwright.space.lang.declaration import Amount, Count, Total
from kernelwright.space.lang.ground_space import GroundChoice, literal_of

Choices = Mapping[str, GroundChoice]
MOST_GUARDS = 2


def ground_counter(
    count: Count,
    choices: Choices,
    members: Mapping[type[ObjectSet], Sequence[object]],
    limits: Mapping[str, float],
) -> Counter:
    """A counter of a declared space on the objects of one, with its terms and limit."""
    limit = limits[count.limit.name] if isinstance(count.limit, Limit) else count.limit
    whole = count.amount
    amounts = [whole.part(t) for t in members.get(whole.over, ())] if isinstance(whole, Total) else [whole]
    terms = [_term(amount, choices, members, limits) for amount in amounts]
    return Counter(float(limit), tuple(t for t in terms if t is not None))


def _term(
    amount: Amount,
    choices: Choices,
    members: Mapping[type[ObjectSet], Sequence[object]],
    limits: Mapping[str, float],
) -> Term | None:
    guard = None
    if amount.when is not None:
        found = _guards(amount.when, choices, limits)
        if found is None:
            return None
        if len(found) != 1:
            raise Misuse("a part of a total counts when one condition on one choice holds")
        guard = found[0]
    things = members.get(amount.over, ()) if isinstance(amount.over, type) else amount.over
    kept: list[object] = []
    counted: list[Member] = []
    for thing in things:
        member = _member(amount, thing, choices, limits)
        if member is not None:
            kept.append(thing)
            counted.append(member)
    same, mask = _sameness(amount, kept, choices, limits)
    return Term(tuple(counted), amount.sums, guard, amount.times, same, mask)


def _member(amount: Amount, thing: object, choices: Choices, limits: Mapping[str, float]) -> Member | None:
    counted = amount.member(thing)
    guards = _guards(counted.when, choices, limits)
    if guards is None:
        return None
    if len(guards) > MOST_GUARDS:
        raise Misuse(f"{thing} counts under {len(guards)} conditions; a counter knows at most {MOST_GUARDS}")
    least = 0.0 if amount.sums else 1.0
    if isinstance(counted.amount, int | float):
        if counted.amount < least:
            raise Misuse(f"a counter counts {thing} as {counted.amount:g}, less than {least:g}")
        return Member(guards, None, float(counted.amount))
    known = choices[counted.amount.choice.name]
    variable, _ = known.find(counted.amount.arguments)
    if variable < 0:
        return None
    if any(not isinstance(v, int) or v < least for v in known.values):
        raise Misuse(
            f"a counter counts by {known.choice.name}, which has values below {least:g} or that are no numbers"
        )
    return Member(guards, variable)


def _guards(condition: Condition, choices: Choices, limits: Mapping[str, float]) -> tuple[LiteralPair, ...] | None:
    """The literals that a conjunction consists of; None when one of its choices does not exist."""
    found = []
    for part in _conjuncts(condition):
        atoms = atoms_of(part)
        if not atoms:
            if not part:
                return None
            continue
        if len(atoms) != 1:
            raise Misuse("a counter's condition is about one choice, or two such conditions joined by &")
        literal = literal_of(part, atoms[0], choices, limits)
        if literal is None:
            return None
        found.append(literal)
    return tuple(found)


def _conjuncts(condition: Condition) -> Iterable[Condition]:
    if isinstance(condition, Connective) and condition.word == "and":
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition


def _sameness(
    amount: Amount, things: Sequence[object], choices: Choices, limits: Mapping[str, float]
) -> tuple[Integers | None, int]:
    """Per pair of objects the variable that says whether they are one, and with which values."""
    if amount.same is None:
        return None, 0
    found = np.full((len(things), len(things)), -1, np.int32)
    masks: dict[tuple[str, bool], int] = {}

    def compared(a: object, b: object) -> tuple[str, int, bool]:
        """Of a pair its choice, the variable, and whether that is about it in the other order."""
        condition = amount.same(a, b) if amount.same is not None else None
        assert condition is not None
        atom = atoms_of(condition)[0]
        variable, flipped = choices[atom.choice.name].find(atom.arguments)
        if (atom.choice.name, flipped) not in masks and variable >= 0:
            literal = literal_of(condition, atom, choices, limits)
            masks[atom.choice.name, flipped] = literal[1] if literal else 0
        return atom.choice.name, variable, flipped

    for i, a in enumerate(things):
        for j in range(i + 1, len(things)):
            name, variable, flipped = compared(a, things[j])
            found[i, j] = found[j, i] = variable
            if (name, not flipped) not in masks:
                compared(things[j], a)
    if len(set(masks.values())) > 1:
        raise Misuse("what makes two counted objects one must be the same value in either order")
    return found, next(iter(masks.values()), 0)
