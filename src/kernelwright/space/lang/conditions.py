"""Conditions on choices, as rules write them: ``order(a, b).BEFORE & order(b, c).BEFORE >> order(a, c).BEFORE`` with Python's operators.

    order(a, b).BEFORE          the choice has this value            ~x          not
    order(a, b).is_in("A", "B") one of these                         x & y       and
    size(d) <= 4                an integer choice, or a limit        x | y       or
    size(a) == size(b)          two choices compared by value        x >> y      x implies y
    related(f, size(a), size(b))  ``f`` of the values                any_of(...)  or, of many

Python binds ``>>`` before ``&`` before ``|`` before ``==``: put parentheses around what is implied, and around comparisons.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Value = str | int
Truth = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Setting:
    """What a condition is evaluated in: the axis of each atom and the size of each axis, facts about the objects at hand, the values of
    the choices by name, and the limits."""

    axes: Mapping[object, int]
    sizes: Sequence[int]
    facts: Mapping[object, bool]
    values: Mapping[str, Sequence[Value]]
    limits: Mapping[str, float]


class ObjectSet:
    """Base of the sets of objects: a subclass is a set, and an instance of it stands for any of its objects in a rule.

        class Statement(ObjectSet): ...
        class Dim(ObjectSet, subset_of=Statement): ...

    An attribute of such an object stands for that attribute of each object: ``pair.lhs``.
    """

    superset: type[ObjectSet] | None = None

    def __init_subclass__(cls, *, subset_of: type[ObjectSet] | None = None) -> None:
        cls.superset = subset_of

    def __init__(self, parameter: int, path: tuple[str, ...] = ()) -> None:
        self._parameter, self._path = parameter, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return ObjectSet(self._parameter, (*self._path, name))

    @property
    def _symbol(self) -> tuple[int, tuple[str, ...]]:
        return self._parameter, self._path


def key_of(argument: object) -> object:
    """What two arguments that are the same have in common: a symbol's parameter and path, or the object itself."""
    return argument._symbol if isinstance(argument, ObjectSet) else argument


class Condition:
    """What holds or does not, once the choices are made."""

    def __or__(self, other: Condition) -> Condition:
        return Connective("or", (self, other))

    def __and__(self, other: Condition) -> Condition:
        return Connective("and", (self, other))

    def __rshift__(self, other: Condition) -> Condition:
        return Connective("or", (~self, other))

    def __invert__(self) -> Condition:
        return Connective("not", (self,))

    def __bool__(self) -> bool:
        raise Misuse(
            "a condition on choices is not true or false yet",
            hint="write & for and, | for or, ~ for not; Python's own words ask at once",
        )

    def leaves(self) -> Iterable[Condition]:
        """The conditions that it is put together from."""
        return (self,)

    def truth(self, setting: Setting) -> Truth:
        """For every combination of values (one axis per atom) whether it holds, in a shape that broadcasts to ``sizes``."""
        raise NotImplementedError


class Constant(Condition):
    def __init__(self, holds: bool) -> None:
        self.holds = holds

    def __bool__(self) -> bool:
        return self.holds

    def truth(self, setting: Setting) -> Truth:
        return np.full([1] * len(setting.sizes), self.holds)


class Connective(Condition):
    def __init__(self, word: str, parts: tuple[Condition, ...]) -> None:
        for part in parts:
            if not isinstance(part, Condition):
                raise Misuse(
                    f"{part!r} stands where a condition is wanted",
                    hint="a comparison in a longer condition wants parentheses: (size(a) == size(b))",
                )
        self.word, self.parts = word, parts

    def leaves(self) -> Iterable[Condition]:
        return itertools.chain.from_iterable(part.leaves() for part in self.parts)

    def truth(self, setting: Setting) -> Truth:
        found = self.parts[0].truth(setting)
        if self.word == "not":
            return ~found
        for part in self.parts[1:]:
            more = part.truth(setting)
            found = found | more if self.word == "or" else found & more
        return found


def disjuncts(condition: Condition, negated: bool = False) -> Iterable[Condition]:
    """The parts of which one has to hold: ``(x & y) >> z`` has three, ``~x``, ``~y`` and ``z``."""
    if isinstance(condition, Connective) and condition.word == "not":
        yield from disjuncts(condition.parts[0], not negated)
    elif isinstance(condition, Connective) and condition.word == ("and" if negated else "or"):
        for part in condition.parts:
            yield from disjuncts(part, negated)
    else:
        yield ~condition if negated else condition


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Whether one of them holds; false for none."""
    parts = tuple(conditions)
    return Connective("or", parts) if parts else Constant(False)
