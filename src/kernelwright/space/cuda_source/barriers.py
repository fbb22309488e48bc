"""Where threads must wait for one another: as few places as the temporaries of a leaf need.

A temporary is written by ``put`` and read by ``get``, by other threads. Between the two stands a barrier; and where both are
in a loop, another one between ``get`` and the ``put`` of the next iteration. Both are asked of the innermost sequence that
holds the two, where the first is a range of gaps between its members, the second a range that wraps around its end. Fewest
points in ranges: the ranges without wrapping by their right ends, then one more for those that are still open.

    for k0:                              for k0:
        a_to_mad[...] = a                    a_to_mad[...] = a
        b_to_mad[...] = b          →         b_to_mad[...] = b
        x = a_to_mad[...]                    barrier
        y = b_to_mad[...]                    x = a_to_mad[...]
        mad += x * y                         y = b_to_mad[...]
                                             mad += x * y
                                             barrier
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelwright.space.computation.objects import Instruction, Temporary
from kernelwright.space.cuda_source.loop_tree import Barrier, Join, Sequence


def place_barriers(root: Sequence, temporaries: Iterable[Temporary]) -> int:
    """Puts barriers into the tree. Returns how many."""
    needs: dict[Sequence, list[tuple[int, int]]] = {}
    for temporary in temporaries:
        sequence, put, get = _meeting(root, temporary.put, temporary.get)
        needs.setdefault(sequence, []).append((put, get))
    placed = 0
    for sequence, pairs in needs.items():
        gaps = _fewest_gaps(pairs, len(sequence.body), repeats=sequence is not root)
        for gap in sorted(gaps, reverse=True):
            sequence.body.insert(gap + 1, Barrier())
        placed += len(gaps)
    return placed


def _meeting(sequence: Sequence, put: Instruction, get: Instruction) -> tuple[Sequence, int, int]:
    """The innermost sequence that holds both, and which of its members hold them."""
    first = next(n for n, member in enumerate(sequence.body) if _holds(member, put))
    second = next(n for n, member in enumerate(sequence.body) if _holds(member, get))
    member = sequence.body[first]
    if first == second and isinstance(member, Sequence):
        return _meeting(member, put, get)
    return sequence, first, second


def _holds(member: Sequence | Instruction | Barrier | Join, instruction: Instruction) -> bool:
    if isinstance(member, Sequence):
        return any(_holds(inner, instruction) for inner in member.body)
    return member is instruction


def _fewest_gaps(pairs: list[tuple[int, int]], members: int, *, repeats: bool) -> set[int]:
    """Gap ``g`` is behind member ``g``; the last one is the end of the sequence."""
    gaps: set[int] = set()
    for put, get in sorted(pairs, key=lambda pair: pair[1]):
        if not any(put <= gap < get for gap in gaps):
            gaps.add(get - 1)
    if repeats:
        open_pairs = [(put, get) for put, get in pairs if not any(gap >= get or gap < put for gap in gaps)]
        if open_pairs:
            gaps.add(members - 1)
    return gaps
