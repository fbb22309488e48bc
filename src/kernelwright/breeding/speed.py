"""How fast a run breeds: individuals per second, and how long compiling, running and searching took.

Of each generation the journal has an event ``speed``: ``n``, ``individuals``, ``seconds`` on the clock, and ``search``, the part of
these that making the next generation took; starting the workers is no part of it. Seconds of compiling and running are
workers' time, noted with each program.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from kernelwright.evaluate.run.journal import Journal
from kernelwright.lazy_dataclasses import dataclass

EVENT = "speed"

T = TypeVar("T")


@dataclass(frozen=True)
class Speed:
    """Of all generations that were noted. Seconds."""

    individuals: int
    seconds: float
    search_s: float
    compile_s: float
    """Of all workers together, as ``run_s``: programs translated and compiled."""
    run_s: float
    """Programs run on all cases, and their fitness."""

    @property
    def per_s(self) -> float:
        """Individuals per second, those whose fitness was known included."""
        return self.individuals / max(self.seconds, 1e-9)


def speed_of(journal: Journal) -> Speed | None:
    """None for a run without a whole generation, and for one by a version that did not note it."""
    noted = [event.data for event in journal.events(EVENT)]
    if not noted:
        return None
    spent = journal.seconds()
    return Speed(
        sum(each["individuals"] for each in noted),
        sum(each["seconds"] for each in noted),
        sum(each["search"] for each in noted),
        spent.get("compile", 0.0),
        spent.get("run", 0.0),
    )


class Stopwatch:
    """Notes the speed of each generation, once: what a resumed run repeats is not noted again. Starting workers and trying the
    first programs is over, and not counted, when ``started`` is called."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._noted = {event.data["n"] for event in journal.events(EVENT)}
        self._begin = time.perf_counter()
        self._search_s = 0.0

    def started(self) -> None:
        """The workers are there: from here on time is a generation's, as was that of making it."""
        self._begin = time.perf_counter() - self._search_s

    def searched(self, step: Callable[[], T]) -> T:
        """What a step of the search gives."""
        begin = time.perf_counter()
        found = step()
        self._search_s += time.perf_counter() - begin
        return found

    def note(self, generation: int, individuals: int) -> None:
        """At the end of a generation; the next begins."""
        now = time.perf_counter()
        if generation not in self._noted:
            seconds, search = round(now - self._begin, 6), round(self._search_s, 6)
            found = {"n": generation, "individuals": individuals, "seconds": seconds, "search": search}
            self._journal.note(EVENT, found)
        self._begin, self._search_s = now, 0.0
