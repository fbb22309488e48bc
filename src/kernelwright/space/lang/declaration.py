"""A space as it is declared: sets, choices, rules, clauses, counters, optional objects (paper 004, section 3).

    toy = Space("colours")

    class Node(ObjectSet): ...

    colour = toy.enum("colour", "RED GREEN BLUE", Node)

    @toy.fact
    def are_neighbours(a: Node, b: Node) -> bool:
        return b in a.neighbours

    @toy.rule
    def neighbours_differ(a: Node, b: Node) -> Condition:
        "Two neighbours do not have the same colour."
        return are_neighbours(a, b) >> (colour(a) != colour(b))

A rule is a function that is called once, with symbols that stand for any *different* objects of the sets its parameters are
annotated with; it holds for all of them for which the choices it names exist. A clause is called for each tuple of objects by itself and
may loop over what they refer to, and return several conditions. Docstrings are the reasons that explanations quote.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.lang.choices import Atom, Choice, Fact, Limit, Sets, sets_of
from kernelwright.space.lang.conditions import Condition, ObjectSet

RuleFunction = Callable[..., Condition | Iterable[Condition]]


@dataclass(frozen=True)
class Rule:
    """``per_object``: called with the objects themselves; a rule otherwise. ``counter``: it returns a ``Count``."""

    name: str
    reason: str
    sets: Sets
    function: Callable[..., Any] = field(repr=False)
    kind: str = "rule"


@dataclass(frozen=True)
class Counted:
    """An object that counts when ``when`` (a condition, or two joined by ``&``) holds, as its ``amount``: a choice or a number."""

    amount: Atom | float
    when: Condition


@dataclass(frozen=True)
class Amount:
    """The product (or sum) over the objects of ``over``, a set or a sequence of objects: ``member`` says how each counts. Objects that
    ``same`` says are one count once; ``same`` is an equivalence, and other rules keep it one."""

    over: type[ObjectSet] | Sequence[object]
    member: Callable[..., Counted]
    sums: bool = False
    same: Callable[[Any, Any], Condition] | None = None
    when: Condition | None = None
    times: float = 1.0

    def __le__(self, limit: Limit | float) -> Count:
        return Count(self, limit)


@dataclass(frozen=True)
class Count:
    """The amount is at most ``limit``."""

    amount: Amount | Total
    limit: Limit | float


@dataclass(frozen=True)
class Total:
    """The sum over the objects of a set of what ``part`` says of each."""

    over: type[ObjectSet]
    part: Callable[[Any], Amount]

    def __le__(self, limit: Limit | float) -> Count:
        return Count(self, limit)


def counted(amount: Atom | float, when: Condition) -> Counted:
    """An amount that counts where ``when`` holds."""
    return Counted(amount, when)


def product(
    over: type[ObjectSet] | Sequence[object],
    member: Callable[..., Counted],
    same: Callable[[Any, Any], Condition] | None = None,
    when: Condition | None = None,
    times: float = 1.0,
) -> Amount:
    """The product of what counts; ``when`` and ``times`` are for a part of a ``total``."""
    return Amount(over, member, False, same, when, times)


def number_of(
    over: type[ObjectSet] | Sequence[object],
    when: Callable[..., Condition],
    same: Callable[[Any, Any], Condition] | None = None,
) -> Amount:
    """How many objects there are with ``when``."""
    return Amount(over, lambda *objects: Counted(1.0, when(*objects)), True, same)


def total(over: type[ObjectSet], part: Callable[[Any], Amount]) -> Total:
    """The sum of ``part`` over a set."""
    return Total(over, part)


class Space:
    """The declaration; ``ground`` (grounding.py) makes variables and tables of it for given objects."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.choices: dict[str, Choice] = {}
        self.rules: dict[str, Rule] = {}
        self.limits: dict[str, str] = {}
        self.exists: Choice | None = None
        self.exists_with = ""

    def extended(self, name: str) -> Space:
        """A space with the same choices and rules, to which more can be added."""
        more = Space(name)
        more.choices, more.rules, more.limits = dict(self.choices), dict(self.rules), dict(self.limits)
        more.exists, more.exists_with = self.exists, self.exists_with
        return more

    def without(self, *rules: str) -> Space:
        """The space without these rules."""
        fewer = self.extended(self.name)
        for rule in rules:
            del fewer.rules[rule]
        return fewer

    def enum(
        self,
        name: str,
        values: str,
        *sets: type[ObjectSet],
        opposite: Mapping[str, str] | None = None,
        where: Callable[..., bool] | None = None,
        reason: str = "",
    ) -> Choice:
        """A choice between named values. ``opposite={"BEFORE": "AFTER"}`` makes it antisymmetric, ``opposite={}`` symmetric."""
        return self._add_choice(Choice(name, tuple(values.split()), sets, reason, opposite, where))

    def integer(
        self, name: str, object_set: type[ObjectSet], universe: Callable[..., Iterable[int]], reason: str = ""
    ) -> Choice:
        """A choice between numbers, which ``universe`` tells per object; over all objects at most 16 different ones."""
        return self._add_choice(Choice(name, (), (object_set,), reason, universe=universe))

    def optional(self, name: str, object_set: type[ObjectSet], owner: str) -> Choice:
        """The objects of a set exist only where this choice is YES, and with each all objects whose attribute ``owner`` is it."""
        self.exists_with = owner
        self.exists = self._add_choice(Choice(name, ("NO", "YES"), (object_set,), "the object exists"))
        return self.exists

    def limit(self, name: str, reason: str) -> Limit:
        """A number that is given when the space is grounded."""
        self.limits[name] = reason
        return Limit(name)

    def fact(self, function: Callable[..., bool]) -> Fact:
        """A fact as a function of the objects themselves."""
        return Fact(function.__name__, sets_of(function), function)

    def given(self, name: str, *sets: type[ObjectSet]) -> Fact:
        """A fact whose tuples of objects are given when the space is grounded."""
        return Fact(name, sets)

    def rule(self, function: RuleFunction) -> RuleFunction:
        """A decorator. The function gives one condition on symbols. Raises ``Misuse`` for one without a docstring or with a name taken."""
        self._add_rule(function, "rule")
        return function

    def clause(self, function: RuleFunction) -> RuleFunction:
        """A decorator. The function gives one condition or several for each tuple of objects. Raises ``Misuse`` as ``rule``."""
        self._add_rule(function, "clause")
        return function

    def counter(self, function: Callable[..., Count]) -> Callable[..., Count]:
        """A decorator. The function gives a ``Count``, an amount with its limit, for given objects. Raises ``Misuse`` as ``rule``."""
        self._add_rule(function, "counter")
        return function

    def _add_choice(self, choice: Choice) -> Choice:
        if choice.name in self.choices:
            raise Misuse(f"{self.name} has two choices called {choice.name}")
        self.choices[choice.name] = choice
        return choice

    def _add_rule(self, function: Callable[..., Any], kind: str) -> None:
        name = function.__name__
        if name in self.rules:
            raise Misuse(f"{self.name} has two rules called {name}")
        reason = " ".join((inspect.getdoc(function) or "").split())
        if not reason:
            raise Misuse(f"rule {name} has no reason", hint="its docstring is what explanations quote")
        self.rules[name] = Rule(name, reason, sets_of(function), function, kind)
