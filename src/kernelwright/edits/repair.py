"""SSA repair: every operand whose value is gone, or not there yet, gets another one. Runs once, after all edits.

    %sum = fadd float %gone, %b   →   %sum = fadd float %near, %b

In this order: what an edit recorded for this operand; what took the place of the deleted value, and of that one, and so on;
the original's operand; else one of the eight nearest values of the type, or a constant, chosen by a hash of the operand.
So the same edits always give the same text, and any edits give valid IR (paper 000, section 3.4, chooses anew each time).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice

from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Use

NEAREST = 8


def repair(draft: Draft) -> None:
    """Puts right what the edits have broken, and says what in ``draft.repaired``."""
    draft.settle()
    # First all that is wrong, then the repairs: a repair breaks nothing, so their order does not matter.
    for use in [u for u in draft.suspects() if not _holds(draft, u)]:
        value = _value_for(draft, use)
        draft.broken[use] = draft.operands(use[0])[use[1]]
        draft.set_operand(use, value)
        draft.repaired[use] = value


def _holds(draft: Draft, use: Use) -> bool:
    id, index = use
    value = draft.operands(id)[index]
    return draft.reaches(value, draft.known(id).operand_types[index], draft.place_of(use))


def _value_for(draft: Draft, use: Use) -> str:
    id, index = use
    node, place = draft.known(id), draft.place_of(use)
    type = node.operand_types[index]
    for value in _told(draft, use):
        if draft.reaches(value, type, place):
            return value
    near = list(islice((v for v in draft.visible(type, place) if v != node.result), NEAREST))
    near.append((draft.original.constants.get(type) or [draft.original.zero(type)])[0])
    return near[_hashed(use, draft.operands(id)[index]) % len(near)]


def _told(draft: Draft, use: Use) -> Iterator[str]:
    """The values that were named for this operand."""
    id, index = use
    if use in draft.preferred:
        yield draft.preferred[use]
    value = draft.operands(id)[index]
    seen = {value}
    while True:
        home = draft.definition(value)
        found = draft.dead.get(home) if home is not None else None
        if found is None or found in seen:
            break
        value = found
        seen.add(value)
        yield value
    yield draft.known(id).operands[index]


def _hashed(use: Use, value: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{use[0]} {use[1]} {value}".encode(), digest_size=8).digest(), "little")
