"""What decides whether control comes from a block to one that it dominates.

head:  br i1 %in, label %then, label %end        way(original, head, then) == (Taken(4, True),)       it goes there where %in is true
then:  br label %end                             way(original, head, end) == ()                       it always comes there
"""

from __future__ import annotations

from kernelwright.edits.memory.ordering import reached, successors
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Taken:
    """A branch that goes one of its two ways."""

    branch: Id
    outcome: bool
    """What its condition is then."""


def way(original: Original, above: int, here: int) -> tuple[Taken, ...] | None:
    """What has to hold at the end of block ``above`` for control to come to ``here`` before it comes to ``above`` again; nothing where
    it always does, None where more than one branch decides. Whatever lies between is taken to end."""
    edges = successors(original)
    if not any(here in following for following in edges):
        return None
    if _always_comes(edges, above, here):
        return ()
    entered_from = {block for block, following in enumerate(edges) if here in following}
    if entered_from != {above} or len(edges[above]) != 2 or edges[above][0] == edges[above][1]:
        return None
    branch = original.order[above][-1]
    if original.nodes[branch].instruction.opcode != "br":
        return None
    return (Taken(branch, edges[above][0] == here),)


def _always_comes(edges: list[list[int]], above: int, here: int) -> bool:
    """Whether no path from ``above`` ends, or comes back to it, without ``here``."""
    passed = reached(lambda block: [] if block == here else edges[block], edges[above]) - {here}
    return above not in passed and all(edges[block] for block in passed)
