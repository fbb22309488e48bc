"""What is decided, and what is known: a choice per tuple of objects, facts about objects, and conditions on both."""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_type_hints

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.space.engine.constraints import MOST_VALUES
from kernelwright.space.lang.conditions import Condition, ObjectSet, Setting, Truth, Value, key_of

Sets = tuple[type[ObjectSet], ...]


class Choice:
    """A decision for each object of a set, or for each pair of different objects of two sets.

    ``opposite`` maps a value for (a, b) to that for (b, a) and makes one decision of the two; values without an entry are their
    own opposite. ``where`` says for which objects there is a choice. ``universe`` tells the values of an integer choice per object.
    """

    def __init__(
        self,
        name: str,
        values: tuple[Value, ...],
        sets: Sets,
        reason: str = "",
        opposite: Mapping[str, str] | None = None,
        where: Callable[..., bool] | None = None,
        universe: Callable[..., Iterable[int]] | None = None,
    ) -> None:
        if not 1 <= len(sets) <= 2:
            raise Misuse(f"{name} is a choice for one or two objects, not for {len(sets)}")
        if len(values) > MOST_VALUES:
            raise Misuse(f"{name} has {len(values)} values; a choice has at most {MOST_VALUES}")
        self.name, self.values, self.sets, self.reason = name, values, sets, reason
        self.where, self.universe = where, universe
        self.is_symmetric = opposite is not None
        both = {**(opposite or {}), **{b: a for a, b in (opposite or {}).items()}}
        for value in both:
            self.check_value(value)
        self.opposite: dict[Value, Value] = dict(both.items())

    def __call__(self, *objects: object) -> Atom:
        if len(objects) != len(self.sets):
            raise Misuse(f"{self.name} is a choice for {len(self.sets)} objects, not for {len(objects)}")
        return Atom(self, objects)

    def check_value(self, value: Value) -> None:
        """Raises ``Misuse`` for a value that the choice has not. What integers there are is known once the objects are."""
        if self.universe is None and value not in self.values:
            raise Misuse(f"{self.name} has no value {value}", hint=f"it has {', '.join(map(str, self.values))}")


class Fact:
    """A yes or no about objects that no choice changes: a function of the objects, or given with them as tuples."""

    def __init__(self, name: str, sets: Sets, function: Callable[..., bool] | None = None) -> None:
        self.name, self.sets, self.function = name, sets, function

    def __call__(self, *objects: object) -> Condition:
        if len(objects) != len(self.sets):
            raise Misuse(f"{self.name} is a fact about {len(self.sets)} objects, not about {len(objects)}")
        return FactOf(self, objects)


def sets_of(function: Callable[..., Any]) -> Sets:
    """The sets that a function's parameters are annotated with. Raises ``Misuse`` for one that is not."""
    hints = get_type_hints(function)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        annotated = hints.get(parameter.name)
        if not (isinstance(annotated, type) and issubclass(annotated, ObjectSet)):
            raise Misuse(
                f"parameter {parameter.name} of {function.__name__} names no set of objects",
                hint="annotate it with a subclass of ObjectSet, as in `def rule(d: Dim)`",
            )
        found.append(annotated)
    return tuple(found)


class FactOf(Condition):
    """A fact about objects, which no choice changes."""

    def __init__(self, fact: Fact, arguments: tuple[object, ...]) -> None:
        self.fact, self.arguments = fact, arguments

    @property
    def key(self) -> object:
        """Equal for the same fact about the same objects."""
        return self.fact.name, *(key_of(a) for a in self.arguments)

    def truth(self, setting: Setting) -> Truth:
        return np.full([1] * len(setting.sizes), setting.facts[self.key])


class Limit:
    """A number that a space is grounded with: how many threads a block may have."""

    def __init__(self, name: str) -> None:
        self.name = name


class Related(Condition):
    """``function`` of the values of these choices (of the limit, too, where there is one) is true."""

    def __init__(self, function: Callable[..., bool], atoms: tuple[Atom, ...], limit: Limit | None = None) -> None:
        self.function, self.atoms, self.limit = function, atoms, limit

    def accepts(self, values: Sequence[Value], limits: Mapping[str, float]) -> bool:
        """Whether these values, one for each choice in order, are allowed under these limits by name."""
        return bool(self.function(*values) if self.limit is None else self.function(*values, limits[self.limit.name]))

    def truth(self, setting: Setting) -> Truth:
        places = [setting.axes[atom.key] for atom in self.atoms]
        own = [setting.values[atom.choice.name] for atom in self.atoms]
        table = np.array([self.accepts(v, setting.limits) for v in itertools.product(*own)], bool)
        table = table.reshape([len(v) for v in own])
        if len(set(places)) < len(places):  # a choice compared with itself
            table, places = np.einsum("ii->i", table), places[:1]
        moved = table.transpose(np.argsort(places))
        return moved.reshape([size if axis in places else 1 for axis, size in enumerate(setting.sizes)])


def related(function: Callable[..., bool], *atoms: Atom) -> Condition:
    """``function`` of the values of the choices holds: ``related(lambda x, y: 96 % (x * y) == 0, size(a), size(b))``."""
    return Related(function, atoms)


class Atom:
    """A choice for these objects: ``order(a, b)``. Its attributes are conditions: ``order(a, b).BEFORE``."""

    def __init__(self, choice: Choice, arguments: tuple[object, ...]) -> None:
        self.choice, self.arguments = choice, arguments

    @property
    def key(self) -> object:
        """Equal for the same choice for the same objects."""
        return self.choice.name, *(key_of(a) for a in self.arguments)

    def is_in(self, *values: Value) -> Condition:
        """One of these values."""
        for value in values:
            self.choice.check_value(value)
        accepted = frozenset(values)
        return Related(lambda value: value in accepted, (self,))

    def __getattr__(self, value: str) -> Condition:
        if value.startswith("_"):
            raise AttributeError(value)
        return self.is_in(value)

    def _compared(self, how: Callable[[Any, Any], bool], other: object) -> Condition:
        if isinstance(other, Atom):
            return Related(how, (self, other))
        if isinstance(other, Limit):
            return Related(how, (self,), other)
        return Related(lambda value: how(value, other), (self,))

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared(operator.eq, other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared(operator.ne, other)

    def __le__(self, other: object) -> Condition:
        return self._compared(operator.le, other)

    def __lt__(self, other: object) -> Condition:
        return self._compared(operator.lt, other)

    def __ge__(self, other: object) -> Condition:
        return self._compared(operator.ge, other)

    def __gt__(self, other: object) -> Condition:
        return self._compared(operator.gt, other)

    __hash__ = None  # type: ignore[assignment]


def atoms_of(condition: Condition) -> list[Atom]:
    """The choices in a condition, each once."""
    found: dict[object, Atom] = {}
    for each in condition.leaves():
        for atom in each.atoms if isinstance(each, Related) else ():
            found.setdefault(atom.key, atom)
    return list(found.values())


def facts_of(condition: Condition) -> list[FactOf]:
    """The facts in a condition."""
    return [each for each in condition.leaves() if isinstance(each, FactOf)]
