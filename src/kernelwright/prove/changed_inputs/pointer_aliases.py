"""Launches whose pointers share memory: one argument is given what another one points to.

    add(a, b, out)  ->  add(a, b, a)      out points to what a points to      where out is not longer than a

Nothing in a kernel says that its buffers differ, but for ``__restrict__``; a program may well update one in place. Only pairs count of
which the kernel writes one. Whether the kernel may be launched like that (it may race then) is for the original to show.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, permutations, zip_longest

from kernelwright.cuda.names import base_name
from kernelwright.prove.changed_inputs.case_survey import Change, PointerSeen, Survey


def alias_changes(survey: Survey, seed: int) -> Iterator[Change]:
    """What is written comes to what is read and to what else is written, in turn; then the other way round."""
    pairs = [pair for pair in permutations(survey.pointers.values(), 2) if _may_share(*pair, survey)]
    to_read = [pair for pair in pairs if not pair[1].writes]
    both_written = [pair for pair in pairs if pair[0].writes and pair[1].writes]
    in_turn = chain.from_iterable(zip_longest(to_read, both_written))
    last = [pair for pair in pairs if not pair[0].writes]
    done: set[frozenset[PointerSeen]] = set()
    for one, other in filter(None, chain(in_turn, last)):
        if frozenset((one, other)) not in done:  # either way the same bytes are behind both
            done.add(frozenset((one, other)))
            words = f"{one.name} of {base_name(one.kernel)} points to what {other.name} points to"
            yield Change(words, aliases=((one, other),), seed=seed * 1000 + len(done))


def _may_share(one: PointerSeen, other: PointerSeen, survey: Survey) -> bool:
    """Whether the first may point to what the second does, without reaching past its end, and that could tell."""
    apart = survey.pointed.get((one.kernel, one.index)) != survey.pointed.get((other.kernel, other.index))
    told = one.kernel == other.kernel and (one.writes or other.writes) and not (one.restricted or other.restricted)
    return apart and told and one.behind <= other.behind
