"""A space for given objects: which variable decides what, which rule a constraint came from, and how both read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.engine.constraints import Constraints, Integers, Masks
from kernelwright.space.lang.choices import Atom, Choice, atoms_of
from kernelwright.space.lang.conditions import Condition, ObjectSet, Setting, Value
from kernelwright.space.lang.declaration import Rule, Space
from kernelwright.space.lang.scopes import Scoped


class GroundChoice:
    """The variables of a choice: by object, or by pair of objects in either order."""

    def __init__(self, choice: Choice, values: tuple[Value, ...], objects: int, ids: Mapping[object, int]) -> None:
        self.choice, self.values, self.ids = choice, values, ids
        self.variables = np.full([objects] * len(choice.sets), -1, np.int64)
        self.flipped = np.zeros(self.variables.shape, bool)
        self.opposite_numbers = [values.index(choice.opposite.get(v, v)) for v in values]

    def add(self, objects: tuple[object, ...], variable: int) -> None:
        """``variable`` decides for these objects; of a symmetric choice for the opposite order, too."""
        at = tuple(self.ids[o] for o in objects)
        self.variables[at] = variable
        if self.choice.is_symmetric:
            self.variables[at[::-1]], self.flipped[at[::-1]] = variable, True

    def number(self, objects: Sequence[object]) -> int:
        """The variable for these objects; -1 when there is none. Raises ``KeyError`` for an object that is not of the space."""
        return int(self.variables[tuple(self.ids[o] for o in objects)])

    def find(self, objects: Sequence[object]) -> tuple[int, bool]:
        """The variable for these objects, and whether its values are those of the opposite order; -1 when there is none."""
        if any(o not in self.ids for o in objects):
            return -1, False
        at = tuple(self.ids[o] for o in objects)
        return int(self.variables[at]), bool(self.flipped[at])

    def mask(self, accepted: Sequence[bool], flipped: bool) -> int:
        """The mask of the accepted values, as the variable numbers them."""
        return sum(1 << (self.opposite_numbers[i] if flipped else i) for i, a in enumerate(accepted) if a)


@dataclass(frozen=True)
class GroundSpace:
    """See ``grounding.ground``."""

    space: Space
    name: str
    constraints: Constraints
    variables: list[tuple[str, tuple[object, ...]]]
    """Per variable its choice and its objects."""
    choices: dict[str, GroundChoice]
    rules: list[Rule]
    scoped: tuple[Scoped, Scoped]
    clause_rules: Integers
    counter_rules: list[int]
    unary: list[tuple[int, int, int]]
    """What rules about one choice removed before any propagation: variable, mask, rule."""
    asked: npt.NDArray[np.int64]
    """Per rule, of how many tuples of objects it says anything."""
    limits: Mapping[str, float]
    members: Mapping[type[ObjectSet], Sequence[object]]
    optional: Mapping[object, int]
    """Per object that may not exist the bits of the optional objects that it exists with."""
    given: Mapping[str, Sequence[tuple[object, ...]]]
    """Per given fact the tuples for which it is true."""

    def presence_of(self, thing: object) -> int:
        """The bits of the optional objects that a thing exists with; 0 for what always exists."""
        return self.optional.get(thing, 0)

    def literal(self, condition: Condition) -> tuple[int, int]:
        """The variable and the mask of a condition on one choice of given objects. Raises ``Misuse`` for any other."""
        atoms = atoms_of(condition)
        if len(atoms) != 1:
            raise Misuse("a decision is a condition on one choice", hint="as in order(a, b).BEFORE or size(d) == 4")
        found = literal_of(condition, atoms[0], self.choices, self.limits)
        if found is None:
            things = ", ".join(map(str, atoms[0].arguments))
            raise Misuse(f"{self.name} has no choice {atoms[0].choice.name}({things})")
        return found

    def value_mask(self, choice: str, objects: Sequence[object], value: Value) -> tuple[int, int]:
        """The variable of a choice, and the mask of one value. Raises ``Misuse`` when there is no such choice or value."""
        if choice not in self.choices:
            raise Misuse(f"{self.name} has no choice {choice}", hint=f"it has {', '.join(self.choices)}")
        known = self.choices[choice]
        variable, flipped = known.find(objects)
        if variable < 0:
            raise Misuse(f"{self.name} has no choice {choice}({', '.join(map(str, objects))})")
        if value not in known.values:
            raise Misuse(f"{choice} has no value {value}", hint=f"it has {', '.join(map(str, known.values))}")
        return variable, known.mask([v == value for v in known.values], flipped)

    def values_in(self, variable: int, mask: int) -> list[Value]:
        """The values of a mask, for the variable's objects in their own order."""
        values = self.choices[self.variables[variable][0]].values
        return [v for i, v in enumerate(values) if mask >> i & 1]

    def values_for(self, state: Masks, choice: str, objects: Sequence[object]) -> list[Value]:
        """What a state leaves of a choice, for the objects in the given order.
        Raises ``Misuse`` for a choice that the space lacks."""
        known = self.choices[choice]
        variable, flipped = known.find(objects)
        if variable < 0:
            raise Misuse(f"{self.name} has no choice {choice}({', '.join(map(str, objects))})")
        found = self.values_in(variable, int(state[variable]))
        return [known.choice.opposite.get(v, v) for v in found] if flipped else found

    def describe(self, variable: int, mask: int) -> str:
        """``order(a, b) is BEFORE or INNER``."""
        choice, objects = self.variables[variable]
        values = " or ".join(map(str, self.values_in(variable, mask))) or "nothing"
        return f"{choice}({', '.join(map(str, objects))}) is {values}"

    def rules_of(self, constraint: int, variable: int, before: int, after: int, state: Masks) -> list[Rule]:
        """The rules for which a constraint took from ``variable`` what ``before`` has and ``after`` has not, while its other variables had
        the domains of ``state``: as few as suffice together."""
        kind, number = self.constraints.kind_of(constraint)
        if kind in ("binary", "ternary"):
            scope = self.constraints.scope(constraint)
            found = self.scoped[kind == "ternary"].rules_of(number)
            for each in list(found):
                fewer = [other for other in found if other is not each]
                if self._remove(scope, [r for r, _ in fewer], variable, before & ~after, state):
                    found = fewer
            return [self.rules[rule] for rule in dict.fromkeys(rule for _, rule in found)]
        if kind == "clause":
            return [self.rules[int(self.clause_rules[number])]]
        if kind == "counter":
            return [self.rules[self.counter_rules[number]]]
        return []

    def _remove(
        self, scope: Sequence[int], relations: Sequence[int], variable: int, removed: int, state: Masks
    ) -> bool:
        """Whether relations together allow no value of ``removed`` to a variable."""
        if not relations:
            return False
        table = np.logical_and.reduce([self.constraints.relations[r] for r in relations])
        for axis, other in enumerate(scope):
            mask = removed if other == variable else int(state[other])
            table = np.take(table, [i for i in range(table.shape[axis]) if mask >> i & 1], axis=axis)
        return not table.any()

    def variables_of(self, *choices: str) -> Integers:
        """All variables of these choices, in this order: an order of decisions for the engine's batch calls.
        Raises ``Misuse`` for a choice that the space lacks."""
        place = {name: i for i, name in enumerate(choices)}
        unknown = [name for name in choices if name not in self.choices]
        if unknown:
            raise Misuse(f"{self.name} has no choice {unknown[0]}", hint=f"it has {', '.join(self.choices)}")
        chosen = [v for v, (name, _) in enumerate(self.variables) if name in place]
        return np.array(sorted(chosen, key=lambda v: place[self.variables[v][0]]), np.int32)


def literal_of(
    condition: Condition, atom: Atom, choices: Mapping[str, GroundChoice], limits: Mapping[str, float]
) -> tuple[int, int] | None:
    """The variable and mask of a condition on one choice, ``atom``; None when its objects have no such choice."""
    known = choices[atom.choice.name]
    variable, flipped = known.find(atom.arguments)
    if variable < 0:
        return None
    values = {n: c.values for n, c in choices.items()}
    accepted = condition.truth(Setting({atom.key: 0}, [len(known.values)], {}, values, limits))
    return variable, known.mask([bool(a) for a in np.broadcast_to(accepted, [len(known.values)])], flipped)
