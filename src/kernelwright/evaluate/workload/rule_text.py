"""Rules of comparison as text, and the table that says which output is compared by which.

    change 1%                                              one rule for everything
    scores: exact; temp as float32: relative 1e-3 floor 1e-6; *: ignore

What ``str`` prints, ``parse_rule`` and ``parse_rules`` read again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.comparison import (
    Absolute,
    Change,
    Exact,
    Gevo,
    Ignore,
    Metric,
    Relative,
    Rule,
    Spread,
    Ulp,
)
from kernelwright.lazy_dataclasses import dataclass

FORMS = "exact, absolute N, relative N [floor N], ulp N, change N, spread N, gevo N, metric module:function N, ignore"

_WITH_NUMBER: dict[str, Callable[[float], Rule]] = {
    "absolute": Absolute,
    "ulp": Ulp,
    "change": Change,
    "spread": Spread,
    "gevo": Gevo,
}
_WITHOUT: dict[str, Callable[[], Rule]] = {"exact": Exact, "ignore": Ignore}


def parse_rule(text: str) -> Rule:
    """The rule that ``text`` names; a number alone is ``change`` by that much, and 0 is ``exact``.

    Numbers may be percentages: ``1%`` is 0.01. Raises ``Misuse`` that lists the forms.
    """
    words = text.split()
    match words:
        case [name] if name in _WITHOUT:
            return _WITHOUT[name]()
        case [number] if number[0].isdigit() or number[0] in ".-+":
            return rule_for(_number(number, text))
        case [name, number] if name in _WITH_NUMBER:
            return _WITH_NUMBER[name](_number(number, text))
        case ["relative", number]:
            return Relative(_number(number, text))
        case ["relative", number, "floor", floor]:
            return Relative(_number(number, text), _number(floor, text))
        case ["metric", function, number]:
            module, colon, name = function.partition(":")
            if not (colon and all(p.isidentifier() for p in module.split(".")) and name.isidentifier()):
                raise Misuse(f"{function!r} names no function", hint="write module:function, of a function by itself")
            return Metric(function, _number(number, text))
    raise Misuse(f"{text!r} is no rule of comparison", hint=f"the forms are {FORMS}; N may be a percentage")


def rule_for(tolerance: float) -> Rule:
    """The rule for a tolerance without a name: 0 is exact, anything else is measured against the change made."""
    return Change(tolerance) if tolerance else Exact()


def _number(word: str, text: str) -> float:
    try:
        number = float(word[:-1]) / 100 if word.endswith("%") else float(word)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise Misuse(f"{word!r} in {text!r} is no tolerance", hint="write a number of at least 0: 0.01, 1e-2 or 1%")
    return number


EXACT = Exact()


@dataclass(frozen=True)
class Entry:
    """The outputs whose names match ``pattern`` (as file names do in a shell) are compared by ``rule``."""

    pattern: str
    rule: Rule
    type: str = ""
    """The NumPy name of the element type, for outputs that are recorded as bytes; empty: as found out."""

    def __str__(self) -> str:
        return f"{self.pattern}{' as ' + self.type if self.type else ''}: {self.rule}"


@dataclass(frozen=True)
class Rules:
    """Which output is compared by which rule: the first entry that matches its name, else ``default``."""

    entries: tuple[Entry, ...] = ()
    default: Rule = EXACT

    def of(self, name: str) -> Rule:
        """The rule for the output ``name``."""
        found = self._entry(name)
        return found.rule if found else self.default

    def type_of(self, name: str) -> np.dtype[np.generic] | None:
        """The element type that is written down for ``name``, None when none is."""
        found = self._entry(name)
        return np.dtype(found.type) if found and found.type else None

    def _entry(self, name: str) -> Entry | None:
        return next((e for e in self.entries if fnmatchcase(name, e.pattern)), None)

    def __str__(self) -> str:
        # A default of its own kind is the entry that matches what is left.
        return "; ".join([*map(str, self.entries), f"*: {self.default}"]) if self.entries else str(self.default)


def parse_rules(text: str) -> Rules:
    """The table that ``text`` describes. Raises ``Misuse`` for an unknown rule or an element type."""
    parts = [part.strip() for part in text.replace("\n", ";").split(";") if part.strip()]
    if not parts:
        raise Misuse("an empty text is no rule of comparison", hint=f"the forms are {FORMS}")
    if len(parts) == 1 and ": " not in parts[0]:
        return Rules(default=parse_rule(parts[0]))
    entries = [_entry(part) for part in parts]
    if entries[-1].pattern == "*" and not entries[-1].type:
        return Rules(tuple(entries[:-1]), entries[-1].rule)
    return Rules(tuple(entries))


def _entry(part: str) -> Entry:
    name, colon, rule = part.partition(": ")
    if not colon:
        raise Misuse(f"{part!r} does not say which output it is for", hint="write NAME: RULE; NAME: RULE")
    pattern, _, type = name.strip().partition(" as ")
    return Entry(pattern.strip(), parse_rule(rule), _known_type(type.strip()) if type else "")


def _known_type(name: str) -> str:
    try:
        if np.dtype(name).kind in "biufc":
            return name
    except TypeError:
        pass
    raise Misuse(f"{name!r} is no element type", hint="write a NumPy type of numbers: float32, int32, float16")


def rules_from(given: str | Rule | Rules | float | Mapping[str, str | Rule]) -> Rules:
    """Rules from whatever a workload states: a text, a number, one rule, or a mapping from output to rule."""
    if isinstance(given, Rules):
        return given
    if isinstance(given, str):
        return parse_rules(given)
    if isinstance(given, int | float):
        return Rules(default=rule_for(_number(repr(given), repr(given))))
    if isinstance(given, Mapping):
        made = {name: parse_rule(rule) if isinstance(rule, str) else rule for name, rule in given.items()}
        return Rules(tuple(Entry(name, rule) for name, rule in made.items() if name != "*"), made.get("*", EXACT))
    return Rules(default=given)
