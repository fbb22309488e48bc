"""A measurement on a machine that is there for so long: a loop over many things asks before each whether to go on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from kernelwright.bench.result import Measured, Row
from kernelwright.lazy_dataclasses import dataclass

Each = TypeVar("Each")


@dataclass(frozen=True)
class Deadline:
    """``ends``: on the monotonic clock, in seconds; None: never."""

    ends: float | None = None

    @classmethod
    def within(cls, seconds: float | None) -> Deadline:
        """That many seconds from now; None: never."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    @property
    def is_over(self) -> bool:
        """Whether the time is up; False for one that never ends."""
        return self.ends is not None and time.monotonic() >= self.ends

    def share(self, of: int) -> Deadline:
        """For the first of so many things that share what is left."""
        if self.ends is None:
            return self
        now = time.monotonic()
        return Deadline(now + max(self.ends - now, 0.0) / of)

    def before(self, all_of: Iterable[Each], result: Measured) -> Iterator[Each]:
        """Those that are begun in time; the others are named in a note of the result."""
        left: list[str] = []
        for each in all_of:
            if self.is_over:
                left.append(str(each))
            else:
                yield each
        if left:
            result.notes.append(f"not reached in time: {', '.join(left)}")

    def side_by_side(self, run: Callable[[str], Row | None], names: Sequence[str], result: Measured) -> list[Row]:
        """The rows of those that are begun in time, several at the same time: for what is not timed."""

        def begin(name: str) -> Row | str | None:
            return name if self.is_over else run(name)

        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            done = list(pool.map(begin, names))
        left = [each for each in done if isinstance(each, str)]
        if left:
            result.notes.append(f"not reached in time: {', '.join(left)}")
        return [each for each in done if each is not None and not isinstance(each, str)]


NEVER = Deadline()
SIDE_BY_SIDE = min(8, os.cpu_count() or 1)
