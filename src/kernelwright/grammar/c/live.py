"""Programs without what has no effect: assignments that nothing reads, choices between nothing and nothing.

before   ``tmp = a; tmp = b; if (tmp < n) { tmp = 1; } y = b;``, where only y is read afterwards
after    ``y = b;``

Random programs are full of it, and an assembler takes longer to find it out. What may go wrong stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from kernelwright.grammar.c.ranges import Range, is_never_zero, range_of
from kernelwright.grammar.c.tree import REAL, Array, Assign, Expression, If, Statement


def effective(
    statements: tuple[Statement, ...], wanted: Set[str], arrays: Mapping[str, Array], known: Mapping[str, Range]
) -> tuple[Statement, ...]:
    """What of ``statements`` decides the variables in ``wanted``, or may go wrong. ``known``: the ranges of variables that are
    never assigned."""
    return _Sweep(arrays, known).backwards(statements, wanted)[0]


def read_by(statements: tuple[Statement, ...], wanted: Set[str], arrays: Mapping[str, Array]) -> frozenset[str]:
    """The variables whose values before ``statements`` decide those in ``wanted`` after them."""
    return _Sweep(arrays, {}).backwards(statements, wanted)[1]


class _Sweep:
    def __init__(self, arrays: Mapping[str, Array], known: Mapping[str, Range]) -> None:
        self._arrays = arrays
        self._known = known

    def backwards(
        self, statements: tuple[Statement, ...], live: Set[str]
    ) -> tuple[tuple[Statement, ...], frozenset[str]]:
        """What is kept, and the variables that are read from its beginning on."""
        kept: list[Statement] = []
        now = set(live)
        for each in reversed(statements):
            if isinstance(each, Assign):
                if each.name in now or self._risky(each.value):
                    now.discard(each.name)
                    _read(each.value, now)
                    kept.append(each)
            elif isinstance(each, If):
                then, one = self.backwards(each.then, now)
                otherwise, other = self.backwards(each.otherwise, now)
                if then or otherwise or self._risky(each.condition):
                    now = {*one, *other}
                    _read(each.condition, now)
                    kept.append(If(each.condition, then, otherwise))
            else:
                _read(each.condition, now)
                while True:  # what the next round reads
                    body, before = self.backwards(each.body, now)
                    if before <= now:
                        break
                    now |= before
                kept.append(type(each)(each.condition, body))
        return tuple(reversed(kept)), frozenset(now)

    def _risky(self, of: Expression) -> bool:
        """Whether it may note a fault."""
        op, kind, arguments = of
        if op == "element":
            low, high = range_of(arguments[1], self._known)
            return low < 0 or high >= self._arrays[arguments[0]].width or self._risky(arguments[1])
        if op in ("/", "%") and kind not in REAL and not (kind == "int" and is_never_zero(arguments[1], self._known)):
            return True
        return any(self._risky(each) for each in arguments if isinstance(each, Expression))


def _read(of: Expression, found: set[str]) -> None:
    """Adds the variables that it reads."""
    if of.op == "variable":
        found.add(of.arguments[0])
    for each in of.arguments:
        if isinstance(each, Expression):
            _read(each, found)
