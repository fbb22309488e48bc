"""What has to hold at once for a goal to be seen: relations of numbers, along the way that leads to it.

    if (k > 3) { if (flag && x < 1.0f) ... }       the condition at 'flag && x < 1.0f', true
                                                   k > 3, flag == 1, x < 1.0f

A condition made of others is taken apart; of what may hold in several ways each is an alternative. The way to a block are the
branches that dominate it and have one side only that leads there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from kernelwright.ir import BasicBlock, ConstantInt, Instruction, Value
from kernelwright.ir.control_flow import Dominators
from kernelwright.ir.types import i1
from kernelwright.lazy_dataclasses import dataclass

ALTERNATIVES = 4
"""Ways in which a goal may come about that are looked at."""
DEPTH = 8
"""Conditions within conditions that are taken apart."""
TRUE, FALSE = ConstantInt(i1, 1), ConstantInt(i1, 0)
_OPPOSITE = {
    "eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "ord": "uno", "uno": "ord", "true": "false", "false": "true",
}  # fmt: skip


@dataclass(frozen=True)
class Relation:
    """``left predicate right``, as ``icmp`` and ``fcmp`` say it."""

    predicate: str
    left: Value
    right: Value


Relations = tuple[Relation, ...]


def is_value(condition: Value, held: bool) -> Relation:
    """That a truth value is true, or false."""
    return Relation("eq", condition, TRUE if held else FALSE)


def compared(comparison: Instruction, held: bool) -> Relation:
    """What a comparison says, or its contrary."""
    return Relation(comparison.predicate if held else _inverse(comparison), *comparison.operands[:2])


def _inverse(comparison: Instruction) -> str:
    predicate = comparison.predicate
    if predicate in _OPPOSITE:
        return _OPPOSITE[predicate]
    kind, rest = predicate[0], predicate[1:]
    # Of real numbers, what is not less is greater, equal, or not a number.
    return (kind if comparison.opcode == "icmp" else "u" if kind == "o" else "o") + _OPPOSITE[rest]


def required(goal: Relation, block: BasicBlock | None, dominators: Dominators) -> list[Relations]:
    """All that has to hold for ``goal`` in ``block``: the nearest to the entry first; of several alternatives the first few."""
    way = list(_way_to(block, dominators)) if block is not None else []
    parts = [_taken_apart(relation, DEPTH) for relation in (*way, goal)]
    found = []
    for chosen in islice(product(*parts), ALTERNATIVES):
        found.append(tuple(dict.fromkeys(relation for some in chosen for relation in some)))
    return found


def _way_to(block: BasicBlock, dominators: Dominators) -> Iterator[Relation]:
    """The branches that decide whether a block is reached, from the entry on."""
    above = dominators.immediate(block)
    if above is None:
        return
    yield from _way_to(above, dominators)
    last = above.terminator
    if last is None or last.opcode != "br" or len(last.operands) != 1 or len(set(above.successors)) != 2:
        return
    leading = [next_block for next_block in above.successors if _leads(above, next_block, block, dominators)]
    if len(leading) == 1:
        yield is_value(last.operands[0], leading[0] is above.successors[0])


def _leads(above: BasicBlock, taken: BasicBlock, block: BasicBlock, dominators: Dominators) -> bool:
    """Whether ``block`` is reached from ``above`` by way of ``taken``: without coming by ``above`` again."""
    waiting, seen = [taken], {above}
    while waiting:
        one = waiting.pop()
        if one is block:
            return True
        if one not in seen:
            seen.add(one)
            waiting += one.successors
    return False


def _taken_apart(relation: Relation, depth: int) -> list[Relations]:
    """A truth value's relation as those it is made of, each alternative all at once."""
    value, truth = relation.left, relation.right
    if truth not in (TRUE, FALSE) or relation.predicate not in ("eq", "ne") or not isinstance(value, Instruction):
        return [(relation,)]
    held = (truth is TRUE) == (relation.predicate == "eq")
    if value.opcode in ("icmp", "fcmp"):
        made = compared(value, held)
        return _taken_apart(made, depth - 1) if depth and made.right in (TRUE, FALSE) else [(made,)]
    found = [
        tuple(one for part in chosen for one in part)
        for ways in (_ways(value, held) if depth else ())
        for chosen in product(*(_taken_apart(is_value(*way), depth - 1) for way in ways))
    ]
    return found[:ALTERNATIVES] or [(is_value(value, held),)]


def _ways(value: Instruction, held: bool) -> Iterator[list[tuple[Value, bool]]]:
    """The ways in which a truth value made of others is true or false: which of them are what."""
    given = value.operands
    if value.opcode == "xor" and TRUE in given:
        yield [(given[0] if given[1] is TRUE else given[1], not held)]
    elif value.opcode == "freeze":
        yield [(given[0], held)]
    elif value.opcode in ("and", "or"):
        yield from _of_two(given[0], given[1], held, value.opcode == "and")
    elif value.opcode == "select" and given[2] is FALSE:
        yield from _of_two(given[0], given[1], held, True)
    elif value.opcode == "select" and given[1] is TRUE:
        yield from _of_two(given[0], given[2], held, False)
    elif value.opcode == "select":
        for side in (True, False):
            yield [(given[0], side), (given[1 if side else 2], held)]
    elif value.opcode == "phi":
        for one in given:
            if one not in (TRUE, FALSE):
                yield [(one, held)]


def _of_two(one: Value, other: Value, held: bool, both: bool) -> Iterator[list[tuple[Value, bool]]]:
    """``both``: of an ``and``; else of an ``or``."""
    if held == both:
        yield [(one, held), (other, held)]
    else:
        # Whether the other one is asked too shows only where the first does not decide.
        yield [(one, not held), (other, held)]
        yield [(one, held)]


__all__ = ["Relation", "Relations", "compared", "is_value", "required"]
