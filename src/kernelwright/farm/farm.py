"""The compile farm: a population in; for each individual, what the workers made of it, out.

    with Farm(setup, arguments, batch=backend.batch) as farm:
        for index, made in farm.map(population):     # as they finish: a result, Raised(error) or Lost(stage, reason)
            ...

``setup`` gives each worker what it does with a batch: a ``BundleRunner``'s ``compile`` or ``run``, say. Workers stay from one
generation to the next. What has the same text is made once for all that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kernelwright.farm.cluster import pool_for
from kernelwright.farm.pool import Pool
from kernelwright.farm.task import Work


class Farm:
    """Resident workers that each hold ``work = setup(*arguments)``, which takes a list of texts. ``batch``: how many, at least and
    at most, as a back end has it. ``jobs``: how many workers (None: the cores available). ``cluster``, ``files``, ``gpus``: as for
    ``pool_for``.
    """

    def __init__(
        self,
        setup: Callable[..., Work],
        arguments: Sequence[Any] = (),
        *,
        batch: tuple[int, int],
        jobs: int | None = None,
        timeout_s: float | None = None,
        cluster: str | None = None,
        files: Sequence[Path | str] = (),
        gpus: float = 0.0,
    ) -> None:
        self._pool = pool_for(
            cluster, setup, arguments, files=files, gpus=gpus, workers=jobs, timeout_s=timeout_s, batch=batch
        )

    @property
    def workers(self) -> int:
        """How many processes at most."""
        return self._pool.workers

    def map(self, population: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """``(index, result | Lost | Raised)`` of every individual, in the order in which they finish. Raises as ``Pool.map``."""
        places: dict[str, list[int]] = {}
        for index, text in enumerate(population):
            places.setdefault(text, []).append(index)
        distinct = list(places)
        for number, made in self._pool.map(distinct):
            for index in places[distinct[number]]:
                yield index, made

    def pids(self) -> list[int]:
        """The worker processes of this machine that there are now."""
        return self._pool.pids() if isinstance(self._pool, Pool) else []

    def close(self) -> None:
        """Ends the workers; what is in work is lost."""
        self._pool.close()

    def __enter__(self) -> Farm:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
