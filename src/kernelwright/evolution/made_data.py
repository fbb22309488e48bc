"""Further data sets from a program's own arguments: a size halved, made odd, doubled.

    512 512 input.txt      gives      256 512 input.txt (halved), 385 512 input.txt (odd), 1024 512 input.txt (doubled, held out)

A gain on one size may be a gain of that size alone. Which of the integers is a size is not said: one is taken for a size when another
value makes the program launch the same kernels, in other shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kernelwright.evaluate.capture.capture import Capture
from kernelwright.lazy_dataclasses import dataclass

LEAST = 8
"""Integers below are seldom sizes, and have no half worth having."""
MOST_TRIED = 6
"""Integers that are tried, from the left."""
_NUMBER = re.compile(r"(?P<before>|-+[\w-]+=)(?P<number>[1-9]\d{0,8})")

HALVED, ODD, DOUBLED = "halved", "odd", "doubled"
_CHANGES: dict[str, Callable[[int], int]] = {
    HALVED: lambda n: n // 2,
    ODD: lambda n: n * 3 // 4 | 1,
    DOUBLED: lambda n: n * 2,
}


@dataclass(frozen=True)
class MadeLine:
    """Arguments of the program with the word at ``place`` changed."""

    how: str
    place: int
    words: tuple[str, ...]


def places(arguments: Sequence[str]) -> list[int]:
    """Where integers stand that may be sizes: whole words, or behind ``--name=``."""
    found = []
    for place, word in enumerate(arguments):
        match = _NUMBER.fullmatch(word)
        if match and int(match["number"]) >= LEAST:
            found.append(place)
    return found[:MOST_TRIED]


def changed(arguments: Sequence[str], place: int, how: str) -> MadeLine:
    """The arguments with one integer changed; ``how`` is ``halved``, ``odd`` or ``doubled``."""
    match = _NUMBER.fullmatch(arguments[place])
    assert match is not None
    word = f"{match['before']}{_CHANGES[how](int(match['number']))}"
    return MadeLine(how, place, (*arguments[:place], word, *arguments[place + 1 :]))


def is_another_size(made: Capture, given: Capture) -> bool:
    """Whether it launches the same kernels, some in shapes that the given one has not."""
    shapes = [{(n.kernel, n.launch.grid, n.launch.block) for n in capture.launches} for capture in (made, given)]
    kernels = [{kernel for kernel, _, _ in each} for each in shapes]
    return kernels[0] == kernels[1] and shapes[0] != shapes[1] and not any(n.fault for n in made.launches)
