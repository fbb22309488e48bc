"""Sizes that a kernel is tried at which were not tuned on, where sizes are given at launch: it is right at all of them, or no winner.

matmul tuned at 1024 1024 1024     →   1 1 1,  257 257 257,  255 255 255,  257 255 127, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kernelwright.errors import Misuse
from kernelwright.exploration.subject import Subject

MOST_WORK = 1 << 24
"""Iterations of a launch that is tried: some seconds."""

Sizes = dict[str, int]


def other_launches(subject: Subject, asked: Sequence[Sequence[int]] = ()) -> list[Sizes]:
    """The smallest launch, one above and one below a round number, and mixtures of these; none is the tuned one. ``asked``: more of
    them, in the order of the sizes. Raises ``Misuse`` for those that the kernels are not made for."""
    if not subject.dynamic:
        if asked:
            raise Misuse(
                f"{subject} has no sizes at launch: its kernels run at these alone",
                hint="--dynamic with the names of those that are given at launch",
            )
        return []
    found = [dict(zip(dict(subject.sizes), each, strict=False)) for each in asked]
    for sizes, given in zip(found, asked, strict=True):
        _check(subject, sizes, given)
    found += [each for each in _around(subject) if each not in found and each != dict(subject.sizes)]
    return found


def _check(subject: Subject, sizes: Sizes, given: Sequence[int]) -> None:
    names = ", ".join(name for name, _ in subject.sizes)
    if len(given) != len(subject.sizes):
        raise Misuse(f"a launch of {subject.computation} has {len(subject.sizes)} sizes, not {len(given)}", hint=names)
    multiples = {size.name: size.multiple for size in subject.dynamic}
    for name, tuned in subject.sizes:
        if name not in multiples and sizes[name] != tuned:
            raise Misuse(f"{name} is {tuned} at every launch, not {sizes[name]}", hint=f"--dynamic {name}")
        if sizes[name] < 1 or sizes[name] % multiples.get(name, 1):
            least = multiples[name]
            said = f"launches are of multiples of {least}" if least > 1 else "there is nothing to compute"
            raise Misuse(f"{name} = {sizes[name]}: {said}", hint=f"--at with {least} or more for {name}")
    subject.at(sizes).check()


def _around(subject: Subject) -> Iterator[Sizes]:
    tuned, dynamic = dict(subject.sizes), subject.dynamic
    room = max(tuned.values())
    while room > 1 and subject.at(_with(subject, room)).work > MOST_WORK:
        room //= 2
    round_number = _with(subject, room)
    yield {**tuned, **{size.name: size.multiple for size in dynamic}}
    for shift in (1, -1):
        yield _shifted(subject, round_number, [shift] * len(dynamic))
    for first in range(min(3, len(dynamic))):
        if len(dynamic) > 1:
            yield _shifted(subject, round_number, [(-1, 1, 3)[(first + n) % 3] for n in range(len(dynamic))])


def _with(subject: Subject, room: int) -> Sizes:
    """Sizes at launch cut to at most ``room``, and multiples of what they have to be."""
    cut = {
        s.name: max(1, min(n, room) // s.multiple) * s.multiple
        for s in subject.dynamic
        for n in (dict(subject.sizes)[s.name],)
    }
    return {**dict(subject.sizes), **cut}


def _shifted(subject: Subject, sizes: Mapping[str, int], shifts: Sequence[int]) -> Sizes:
    moved = {
        size.name: max(size.multiple, sizes[size.name] + shift * size.multiple)
        for size, shift in zip(subject.dynamic, shifts, strict=True)
    }
    return {**sizes, **moved}
