"""Work spread over resident processes that may crash, hang or eat memory without harm to their caller.

    with Pool(prepare, (workload,)) as pool:              # prepare(workload) -> evaluate, once in each worker
        for index, result in pool.map(candidates):        # as they finish
            ...                                           # a result, Raised(error), or Lost(stage, reason)

Each worker holds a few milliseconds' worth of items; one that runs dry is given what others have not begun. An item that
ends its worker runs once more, alone; when it does so again it is ``Lost``. With ``batch``, work takes a list: a list that
fails is halved until the culprit stands alone.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from kernelwright.errors import Misuse, ToolError, check_kind
from kernelwright.farm.crew import START_S, Answer, Crew, Death, Worker
from kernelwright.farm.lost_items import Cause, Lost, Raised, cause, raised
from kernelwright.farm.machine import available_cores, total_memory
from kernelwright.farm.messages import INLINE_BYTES, Kind, pack
from kernelwright.farm.task import Work, task
from kernelwright.lazy_dataclasses import dataclass

CHANCES = 2
"""How often an item may end its worker."""
OUTSIDE_CHANCES = 6
"""The same where the worker was ended by a signal from outside, which says little about the item."""
SET_UP_DEATHS = 3
"""Workers that die one after the other before they are set up: then it is the set-up's fault."""
FILL_S = 0.02
"""Work that a worker holds in advance, in seconds, once it is known how long an item takes."""
HELD_AT_LEAST, HELD_AT_MOST = 2, 64
LONGEST_S, SHORTEST_S, TIMES_LONGEST = 300.0, 10.0, 60.0
"""Limits of an item's time when none is given: the first until some have finished, then that many times the longest."""
MEMORY_SHARE = 0.8


@dataclass(eq=False)
class _Parcel:
    """What one worker gets at once: items by their indices."""

    indices: tuple[int, ...]
    deaths: int = 0
    outside: int = 0

    @property
    def alone(self) -> bool:
        """Whether nothing else may wait in the same worker."""
        return self.deaths + self.outside > 0


class Pool:
    """Processes that each hold ``work = setup(*arguments)`` and apply it to items.

    ``setup`` is imported by its name in the workers. ``workers``: how many processes at most (None: the cores available);
    they start as they are needed. ``timeout_s``: seconds one item may take (None: generous, and following what the others
    take). ``memory_bytes``: what a worker may allocate beyond what set-up leaves it with (None: a fair share of the
    machine). ``batch = (least, most)``: ``work`` takes a list of up to ``most`` items and returns as many results.
    ``shared``: set-up runs once and the workers are copies of that process; for a set-up that leaves no threads, open
    connections or GPU contexts behind. A new worker then costs milliseconds.

    Nothing is started before the first ``map``. Items are handed out and watched while the caller waits in ``map``.
    """

    def __init__(
        self,
        setup: Callable[..., Work],
        arguments: Sequence[Any] = (),
        *,
        workers: int | None = None,
        timeout_s: float | None = None,
        memory_bytes: int | None = None,
        batch: tuple[int, int] | None = None,
        shared: bool = False,
    ) -> None:
        check_kind(workers, (int, type(None)), "the number of workers", "give a whole number from 1 up: jobs=2")
        self.workers = available_cores() if workers is None else workers
        if self.workers < 1:
            raise Misuse(f"{workers} workers cannot work", hint="give 1 or more")
        if batch is not None and not 1 <= batch[0] <= batch[1]:
            raise Misuse(f"batches of {batch[0]} to {batch[1]} items cannot be made", hint="give (least, most)")
        self.memory_bytes = memory_bytes or int(total_memory() * MEMORY_SHARE / self.workers)
        self._timeout_s = timeout_s
        self._batch = batch
        self._crew = Crew(task(setup, tuple(arguments), shared=shared, memory_bytes=self.memory_bytes))
        self._numbers = itertools.count(1)
        self._running = False
        self._set_up_deaths = 0
        self._closed = False
        self._large = False
        self._finished = 0
        self._mean_s = 0.0
        self._longest_s = 0.0

    @property
    def starts(self) -> int:
        """How many worker processes there have been."""
        return self._crew.starts

    def pids(self) -> list[int]:
        """The worker processes there are now."""
        return [each.pid for each in list(self._crew.workers.values()) if each.pid]

    @property
    def timeout_s(self) -> float:
        """What one item, or one batch, may take now."""
        if self._timeout_s is not None:
            return self._timeout_s
        if self._finished < 2 * self.workers:
            return LONGEST_S
        return min(LONGEST_S, max(SHORTEST_S, TIMES_LONGEST * self._longest_s))

    def map(self, items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """``(index, result | Lost | Raised)`` of every item, in the order in which they finish.

        Raises what ``setup`` raises, ``ToolError`` when workers cannot be set up, ``Misuse`` while another ``map`` of this
        pool is unfinished. Abandoning the iterator ends it.
        """
        if self._running:
            raise Misuse("this pool is busy with another map", hint="finish that one, or use a second pool")
        if self._closed:
            raise Misuse("this pool is closed", hint="make a new one")
        self._running = True
        run = _Run(self, list(items))
        try:
            yield from run.results()
        finally:
            run.abandon()
            self._running = False

    def close(self) -> None:
        """Ends every process of this pool; what is in work is lost."""
        if not self._closed:
            self._closed = True
            self._crew.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # -- what a run asks of it ------------------------------------------------------------------------------------

    def _sizes(self, count: int) -> list[int]:
        """How many items each parcel takes: equal shares, a multiple of the workers where batches may be small enough."""
        if self._batch is None:
            return [1] * count
        least, most = self._batch
        parcels = math.ceil(count / most)
        parcels = max(parcels, min(math.ceil(parcels / self.workers) * self.workers, count // least))
        return [count // parcels + (n < count % parcels) for n in range(parcels)] if parcels else []

    def _held(self) -> int:
        """Parcels that a worker holds at once."""
        if not self._mean_s or self._large:
            return HELD_AT_LEAST
        return min(HELD_AT_MOST, max(HELD_AT_LEAST, math.ceil(FILL_S / self._mean_s)))

    def _took(self, seconds: float) -> None:
        self._finished += 1
        self._longest_s = max(self._longest_s, seconds)
        self._mean_s += (seconds - self._mean_s) / min(self._finished, 32)


class _Run:
    """One ``map``: what is still to hand out, what is in work, what has finished."""

    def __init__(self, pool: Pool, items: list[Any]) -> None:
        self._pool = pool
        self._crew = pool._crew
        self._items = items
        self._left = len(items)
        self._done: deque[tuple[int, Any]] = deque()
        self._parcels: dict[int, _Parcel] = {}
        starts = itertools.accumulate(pool._sizes(len(items)), initial=0)
        self._pending = deque(_Parcel(tuple(range(a, b))) for a, b in itertools.pairwise(starts))

    def results(self) -> Iterator[tuple[int, Any]]:
        while self._left:
            self._hand_out()
            if not self._done:
                for event in self._crew.events(self._patience()):
                    if isinstance(event, Answer):
                        self._answered(event)
                    else:
                        self._died(event)
                self._watch()
            while self._done:
                self._left -= 1
                yield self._done.popleft()

    def abandon(self) -> None:
        """Takes back what was not begun; an answer to what was is dropped when it comes."""
        for worker in self._crew.workers.values():
            worker.take_back()

    # -- handing out ----------------------------------------------------------------------------------------------

    def _hand_out(self) -> None:
        workers = self._crew.workers
        if not self._pending and self._idle():
            self._take_from_the_busiest()
        while self._pending and (len(workers) < self._pool.workers or self._idle()):
            worker = self._idle() or self._crew.start_worker()
            if not self._give(worker):
                break
        if not self._pending or self._pending[0].alone:
            return
        held = self._pool._held()
        for level in range(1, held):
            for worker in list(workers.values()):
                if not self._pending or self._pending[0].alone:
                    return
                if len(worker.waiting) == level and not self._reserved(worker):
                    self._give(worker)

    def _idle(self) -> Worker | None:
        return next((w for w in self._crew.workers.values() if not w.waiting and not w.killed), None)

    def _reserved(self, worker: Worker) -> bool:
        """Whether it is about to go, or works on something that should be alone."""
        return worker.killed or any(n in self._parcels and self._parcels[n].alone for n in worker.waiting)

    def _take_from_the_busiest(self) -> None:
        busiest = max(self._crew.workers.values(), key=lambda w: len(w.waiting) - w.ready)
        if len(busiest.waiting) > busiest.ready:
            self._return(busiest)

    def _return(self, worker: Worker) -> None:
        """What it has not begun is to be handed out again."""
        back = [self._parcels.pop(n) for n in worker.take_back() if n in self._parcels]
        self._pending.extendleft(reversed(back))

    def _give(self, worker: Worker) -> bool:
        parcel = self._pending[0]
        items = [self._items[i] for i in parcel.indices]
        try:
            body = pack(items if self._pool._batch else items[0])
        except Exception as error:
            self._pending.popleft()
            self._failed(parcel, raised(error))
            return True
        number = next(self._pool._numbers)
        self._pool._large = len(body) > INLINE_BYTES
        if not worker.give(number, body):
            return False
        self._parcels[number] = self._pending.popleft()
        return True

    # -- what comes back ------------------------------------------------------------------------------------------

    def _answered(self, answer: Answer) -> None:
        self._pool._set_up_deaths = 0
        parcel = self._parcels.pop(answer.message.number, None)
        if parcel is None:
            answer.message.discard()
            return
        try:
            seconds, value = answer.message.value()
        except Exception as error:
            self._failed(parcel, raised(error))
            return
        self._pool._took(seconds)
        if answer.message.kind is Kind.RAISED:
            self._failed(parcel, value)
        elif self._pool._batch is None:
            self._done.append((parcel.indices[0], value))
        elif isinstance(value, Sequence) and len(value) == len(parcel.indices):
            self._done.extend(zip(parcel.indices, value, strict=True))
        else:
            self._failed(parcel, Raised(ToolError(f"a batch of {len(parcel.indices)} items has not as many results")))

    def _failed(self, parcel: _Parcel, what: Raised | Lost) -> None:
        if len(parcel.indices) > 1:
            self._halve(parcel)
        else:
            self._done.append((parcel.indices[0], what))

    def _halve(self, parcel: _Parcel) -> None:
        middle = len(parcel.indices) // 2
        for part in (parcel.indices[middle:], parcel.indices[:middle]):
            self._pending.appendleft(_Parcel(part, min(parcel.deaths, 1)))

    def _died(self, death: Death) -> None:
        worker = death.worker
        self._return(worker)
        lost = cause(death.code, death.log)
        if worker.killed:
            limit = self._limit(worker)
            lost = Cause(Lost("timeout", f"it took longer than {limit:g} s and was stopped"))
        if not worker.ready and not worker.killed:
            self._pool._set_up_deaths += 1
            if self._pool._set_up_deaths >= (OUTSIDE_CHANCES if lost.outside else 1) * SET_UP_DEATHS:
                raise ToolError(f"setting up a worker process failed: {lost.lost.reason}")
        for number in worker.waiting:  # the one it had begun
            parcel = self._parcels.pop(number, None)
            if parcel is not None:
                self._ended_its_worker(parcel, lost.lost, lost.outside)

    def _ended_its_worker(self, parcel: _Parcel, lost: Lost, outside: bool) -> None:
        if outside:
            parcel.outside += 1
        else:
            parcel.deaths += 1
        if len(parcel.indices) > 1 and not outside:
            self._halve(parcel)
        elif parcel.deaths < CHANCES and parcel.outside < OUTSIDE_CHANCES:
            self._pending.appendleft(parcel)
        else:
            self._failed(parcel, lost)

    # -- time -----------------------------------------------------------------------------------------------------

    def _limit(self, worker: Worker) -> float:
        """Seconds from ``since`` on. An item that runs again gets twice the time: the machine may have been busy."""
        if not worker.ready:
            return START_S
        again = any(self._parcels[n].alone for n in worker.waiting[:1] if n in self._parcels)
        return self._pool.timeout_s * (2 if again else 1)

    def _patience(self) -> float:
        """Seconds until some worker has taken too long."""
        now = time.monotonic()
        waits = [w.since + self._limit(w) - now for w in self._crew.workers.values() if w.waiting and not w.killed]
        return max(0.0, min(waits, default=START_S))

    def _watch(self) -> None:
        now = time.monotonic()
        for worker in self._crew.workers.values():
            if worker.waiting and not worker.killed and now - worker.since > self._limit(worker):
                if not worker.ready:
                    raise ToolError(f"setting up a worker process took longer than {START_S:g} s")
                self._crew.kill(worker)
