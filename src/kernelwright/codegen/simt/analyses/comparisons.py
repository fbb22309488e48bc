"""What comparing numbers of known ranges comes to."""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.linear_form import Range

NEGATED = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "ult": "uge", "uge": "ult",
    "ugt": "ule", "ule": "ugt",
}  # fmt: skip


def truth(predicate: str, difference: Range) -> bool | None:
    """Whether a comparison holds for all numbers whose difference lies in a range; None: for some. Unsigned ones: of numbers that
    are not negative."""
    low, high = difference
    if predicate in ("eq", "ne"):
        same = None if low <= 0 <= high and (low or high) else low == 0
        return same if predicate == "eq" or same is None else not same
    if predicate[1:] in ("gt", "ge"):
        low, high = -high, -low
    most = 0 if predicate.endswith("e") else -1
    return True if high <= most else False if low > most else None


def last_turn(predicate: str, start: Range, moves: int, bound_low: int) -> int | None:
    """How many turns in a row ``predicate`` lets go on a number that begins in ``start`` and is compared with 0, at most; None: it is not
    knows. ``bound_low``: the least that an unsigned number is compared with."""
    low, high = start
    if predicate[0] == "u":
        if predicate in ("ugt", "uge") or bound_low < 0:
            return None
        predicate = "s" + predicate[1:]  # below a number that is not negative
    if predicate == "ne" and low == high and moves and low * moves <= 0 and low % moves == 0:
        return -low // moves
    bound = 0 if predicate.endswith("e") else 1
    if predicate in ("slt", "sle") and moves > 0:
        return max(0, (-bound - low) // moves + 1)
    if predicate in ("sgt", "sge") and moves < 0:
        return max(0, (high - bound) // -moves + 1)
    return None
