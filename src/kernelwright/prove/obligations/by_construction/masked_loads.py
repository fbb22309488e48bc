"""Loads that went up and read nowhere else than before: those that every thread comes to all the same, and masked ones, which read the
first element of an argument's memory where they are not needed. The argument is in ``edits/kinds/loads/hoist_masked_loads.py``.

It is asked of the variant as it is after all edits and repair: the address is a chain of selects, one for each branch that lies between
the load's place and its old one, and each takes the old address where the branch goes to the load. So a thread reads at the old address
just where the original does, in the same turn of every loop around both: all that dominates a place is of one turn with it. What other
threads read is used nowhere. That the load may cross what stands between the two places is a question of its own (``order``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kernelwright.edits.instruction_words import describe_argument, describe_instruction
from kernelwright.edits.kinds.loads.masks import first_element
from kernelwright.edits.memory.ways import Taken, way
from kernelwright.edits.original import Id
from kernelwright.guards import AtStart
from kernelwright.ir import Argument, Instruction, Value
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.bounds import ALLOCATED, alignment_of, least_alignment
from kernelwright.prove.obligations.effects import Effect, effect_of, is_byval
from kernelwright.prove.obligations.obligation import Method, Obligation
from kernelwright.prove.obligations.values import shape_of
from kernelwright.prove.obligations.variant_pair import VariantPair, written


@dataclass(frozen=True)
class MaskedLoad:
    """A load of the original that the variant makes further up."""

    id: Id
    instead: tuple[int, ...]
    """The arguments whose first element it reads where the original does not come to read; none where it always does."""


def masked_loads(pair: VariantPair) -> list[MaskedLoad]:
    """Those of a variant that are what they have to be; others are asked about as any load that went up."""
    found = []
    for block, ids in enumerate(pair.order_after):
        for id in ids:
            if isinstance(id, int) and pair.original.nodes[id].block != block and pair.varied[id].opcode == "load":
                instead = _instead(pair, id, block)
                if instead == () or (instead and _used_where_needed(pair, id)):
                    found.append(MaskedLoad(id, instead))
    return found


def of_masked_loads(pair: VariantPair) -> Iterator[Obligation]:
    """What each of them owes."""
    for each in masked_loads(pair):
        what, _ = describe_instruction(pair.original, each.id)
        place, subject = pair.place(each.id), str(each.id)
        if each.instead:
            claim = f"{what} reads where the original reads, or a value that is unused"
            why = "its address is the old one only where each branch goes to where it stood"
        else:
            claim = f"{what} is made by the threads that made it before"
            why = "the threads that come to its new place come to its old one"
        yield Obligation(claim, "construction", why, place=place, subject=subject)
        for index in each.instead:
            for claim, hindrance in _first_is_readable(pair, each.id, index):
                method: Method = "tested" if hindrance else "construction"
                why = hindrance or "it is checked at each launch, or presupposed of its memory"
                yield Obligation(claim, method, why, place=place, subject=subject)


def _first_is_readable(pair: VariantPair, id: Id, index: int) -> Iterator[tuple[str, str]]:
    """What has to hold of the beginning of an argument's memory, and what is missing for it."""
    load, argument = pair.varied[id], pair.before.arguments[index]
    called = describe_argument(pair.original, index)
    guard = first_element(pair.original, index, load)
    missing = "" if guard in pair.applied.guards else f"no guard says so: {guard}"
    yield f"{called} has an element to read", missing
    shape = shape_of(pair, pair.applied.guards)
    wanted = alignment_of(shape, pair.original.nodes[id].instruction)
    known = ALLOCATED if AtStart(index) in pair.applied.guards else least_alignment(shape, argument)
    yield f"{called} is a multiple of {wanted}", "" if known % wanted == 0 else "nothing says so"


def _instead(pair: VariantPair, id: Id, block: int) -> tuple[int, ...] | None:
    """The arguments at whose first element a load reads otherwise; None where it is not masked as it has to be."""
    original = pair.original
    home = original.nodes[id].block
    if block not in original.dominated_by[home]:
        return None
    path = original.above[home]
    address: Value = pair.varied[id].operands[0]
    found: dict[int, None] = {}
    # The highest branch is asked about last, so its select comes first.
    for here, above in reversed(list(pairwise(path[: path.index(block) + 1]))):
        branches = way(original, above, here)
        if branches is None:
            return None
        for taken in branches:
            arms = _arms(pair, address, taken)
            if arms is None:
                return None
            address, otherwise = arms
            if not isinstance(otherwise, Argument) or is_byval(otherwise):
                return None
            found[otherwise.index] = None
    return tuple(found) if written(address) == original.nodes[id].operands[0] else None


def _arms(pair: VariantPair, address: Value, taken: Taken) -> tuple[Value, Value] | None:
    """Of a select by a branch's condition: its value where the branch goes that way, and the other."""
    if not isinstance(address, Instruction) or address.opcode != "select":
        return None
    condition, holds, fails = address.operands
    if written(condition) not in (pair.operands_before(taken.branch)[0], pair.operands_after(taken.branch)[0]):
        return None
    return (holds, fails) if taken.outcome else (fails, holds)


def _used_where_needed(pair: VariantPair, id: Id) -> bool:
    """Whether all that uses what a load reads stands where the original has read it."""
    home, load = pair.original.nodes[id].block, pair.varied[id]
    number = {block: n for n, block in enumerate(pair.after.blocks)}
    for user in dict.fromkeys(load.users):
        if not isinstance(user, Instruction) or user.parent is None:
            return False
        if effect_of(user) is Effect.PIN:
            continue
        places = (
            [block for block, value in zip(user.blocks, user.operands, strict=True) if value is load]
            if user.is_phi
            else [user.parent]
        )
        if any(home not in pair.original.dominated_by[number[place]] for place in places):
            return False
    return True
