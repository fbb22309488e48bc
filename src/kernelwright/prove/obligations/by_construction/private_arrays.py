"""Shared arrays that became a variable of each thread: the argument is in ``edits/kinds/arrays/private_cells.py``.

It is about a kernel in which nothing but the accesses that were found reaches the array, and nothing but these the variable. So it is asked
once more of the variant as it is after all edits and repair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelwright.edits.draft import PrivateSlot
from kernelwright.edits.kinds.arrays.private_cells import readable_array
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.prove.obligations.variant_pair import VariantPair


def private_arrays(pair: VariantPair) -> Iterator[Obligation]:
    """What each of them owes."""
    for array, slot in pair.applied.draft.private_cells.items():
        claim = f"each thread has a cell of {readable_array(array)} that no other thread uses"
        missing = [guard for guard in slot.guards if guard not in pair.applied.guards]
        if missing:
            yield Obligation(claim, "tested", f"no guard says so: {missing[0]}")
        elif not _is_alone(pair, array, slot):
            yield Obligation(claim, "tested", "another edit uses the array, or what took its place")
        else:
            checked = ", ".join(map(str, slot.guards))
            yield Obligation(claim, "construction", f"it is checked at each launch: {checked}")


def _is_alone(pair: VariantPair, array: str, slot: PrivateSlot) -> bool:
    """Whether the accesses go to the variable, nothing else does, and nothing goes to the array."""
    draft = pair.applied.draft
    mention = re.compile(rf"@{re.escape(array)}(?![\w.$])")
    expected = {*slot.accesses, (slot.cleared, 1)}
    derived = set[str]()
    for ids in pair.order_after:
        for id in ids:
            node = draft.known(id)
            for index, operand in enumerate(pair.operands_after(id)):
                if operand == f"%{slot.variable}" and (id, index) not in expected:
                    return False
                if mention.search(operand) or operand in derived:
                    if node.instruction.opcode != "getelementptr" or index:
                        return False
                    derived.add(node.result)
    gone = {id for id, _ in slot.accesses if id in draft.dead}
    kept = all(pair.operands_after(id)[index] == f"%{slot.variable}" for id, index in slot.accesses if id not in gone)
    entry = pair.order_after[0]
    if not kept or slot.variable not in entry or slot.cleared not in entry:
        return False
    # The entry comes before every other block; in it, the variable is cleared before it is used.
    begun = entry.index(slot.cleared)
    return entry.index(slot.variable) < begun and all(entry.index(id) > begun for id, _ in slot.accesses if id in entry)
