"""The compile farm: a population in, a place to run it from for each individual out.

    with Farm(Ptx("sm_90"), frame) as farm:
        compiled = farm.compile(population)          # one generation after the other
        compiled.results[n]                          # Built(image, kernel, slot), Raised(error) or Lost(stage, reason)

What has the same text is compiled once; what was compiled in an earlier generation is still there; what has stayed for some
generations is compiled again, into better code.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from kernelwright.errors import Misuse, ToolError
from kernelwright.farm.backends.backend import Backend, Level
from kernelwright.farm.backends.frame import Frame
from kernelwright.farm.building import Built, building
from kernelwright.farm.lost_items import Lost, Raised
from kernelwright.farm.pool import Pool

KEPT = 4096
"""Individuals remembered; those unused for longest are forgotten first, and their images with the last of them."""
STAYED = 3
"""Generations after which an individual is worth optimising."""

Result = Built | Raised | Lost


@dataclass(frozen=True)
class Compiled:
    """One generation. ``results`` in the population's order; ``new`` individuals were compiled, ``improved`` again."""

    results: tuple[Result, ...]
    distinct: int
    new: int
    improved: int
    seconds: float


class Farm:
    """A back end in resident workers. ``jobs``: how many (None: the cores available). ``keep``: images also go to the cache
    on disk, which pays for runs that are repeated. ``stayed``: generations before better code is made; 0 for never.

    Raises ``ToolError`` when the back end is not usable here, ``Misuse`` for a frame in another language than its.
    """

    def __init__(
        self,
        backend: Backend,
        frame: Frame,
        *,
        jobs: int | None = None,
        timeout_s: float | None = None,
        keep: bool = False,
        stayed: int = STAYED,
    ) -> None:
        if missing := backend.missing():
            raise ToolError(f"the back end {backend.name} cannot be used: {missing}")
        if frame.language != backend.language:
            raise Misuse(f"the back end {backend.name} takes {backend.language}, and the frame is {frame.language}")
        self.backend = backend
        self.frame = frame
        self._stayed = stayed
        self._pool = Pool(building, (backend, frame, keep), workers=jobs, timeout_s=timeout_s, batch=backend.batch)
        self._known: OrderedDict[str, tuple[Result, int]] = OrderedDict()

    def compile(self, population: Sequence[str]) -> Compiled:
        """Raises ``ToolError`` when workers cannot be set up."""
        begin = time.perf_counter()
        distinct = dict.fromkeys(population)
        new = [text for text in distinct if text not in self._known]
        self._make(new, "quick")
        due = [text for text in distinct if self._meet(text)]
        self._make(due, "full")
        results = tuple(self._known[text][0] for text in population)
        while len(self._known) > max(KEPT, len(distinct)):
            self._known.popitem(last=False)
        return Compiled(results, len(distinct), len(new), len(due), time.perf_counter() - begin)

    def forget(self) -> None:
        """Everything that was compiled: the next generation begins anew."""
        self._known.clear()

    def pids(self) -> list[int]:
        """The worker processes there are now."""
        return self._pool.pids()

    def close(self) -> None:
        self._pool.close()

    def __enter__(self) -> Farm:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _make(self, texts: list[str], level: Level) -> None:
        for at, result in self._pool.map([(level, text) for text in texts]):
            _, met = self._known.get(texts[at], (None, 0))
            if level == "quick" or isinstance(result, Built):
                self._known[texts[at]] = result, met

    def _meet(self, text: str) -> bool:
        """Counts the generation; whether this individual is due for better code."""
        result, met = self._known[text]
        self._known[text] = result, met + 1
        self._known.move_to_end(text)
        return self._stayed > 0 and met + 1 == self._stayed and isinstance(result, Built)
