"""The threads of a block, run in the order of the schedule: who runs, who waits, and when the waiting ends.

A thread runs until it yields an event (``thread_state.py``). Between these points it runs alone, so an execution is one
interleaving of the threads out of those a GPU may choose.
"""

from __future__ import annotations

from typing import NoReturn

from kernelwright.device.reference.thread_state import (
    ACTIVE,
    BARRIER,
    DONE,
    GRID,
    PAUSE,
    QUANTUM,
    READY,
    WAITING_ACTIVE,
    WAITING_BARRIER,
    WAITING_WARP,
    WARP_OPERATION,
    Block,
    RunningLaunch,
    Stop,
    Thread,
    ThreadExit,
)
from kernelwright.device.reference.warp import OPERATIONS
from kernelwright.device.schedule import WARP

PATIENCE = 8
"""Rounds without any event but pauses after which a block makes room for the next one, which it may be waiting for."""


class BlockScheduler:
    """Runs the threads of one block."""

    def __init__(self, launch: RunningLaunch, number: int) -> None:
        self.launch = launch
        self.block = Block(launch, number)
        self.threads = [Thread(self.block, n) for n in range(launch.threads_per_block)]
        self.live = len(self.threads)
        warps = (len(self.threads) + WARP - 1) // WARP
        self.warps: list[list[Thread]] = []
        for warp in range(warps):
            mine = self.threads[warp * WARP : (warp + 1) * WARP]
            self.warps.append([mine[n] for n in launch.schedule.lanes(number, warp) if n < len(mine)])
        self.order = launch.schedule.warps(number, warps)
        self.size = len(self.threads)
        self.arrivals: dict[int, list[Thread]] = {}
        """Threads that announced themselves at a barrier (``barrier.arrive``) and went on."""
        self.exited_early = False
        """Whether some threads had exited when the others met at a barrier."""
        self.at_grid: list[Thread] = []
        """Threads at a barrier of the grid, when all that live are."""
        for thread in self.threads:
            thread.code = launch.start(thread)

    def run(self) -> bool:
        """Runs until every thread is done (True), all that is left only spins, or waits for the grid (False: call again later)."""
        idle = 0
        while self.live:
            moved = False
            for warp in self.order:
                moved |= self._run_warp(self.warps[warp])
            moved |= self._release_barriers()
            if self.at_grid:
                return False
            if moved:
                idle = 0
            elif self.live and not any(t.state == READY for t in self.threads):
                self._deadlock()
            else:
                idle += 1
                if idle > PATIENCE:
                    return False
        # Threads and their generators refer to each other; without this list they go as soon as nothing else does.
        self.threads, self.warps = [], []
        return True

    def _run_warp(self, warp: list[Thread]) -> bool:
        """Runs the ready lanes until each waits or has paused once. Whether anything happened but pauses."""
        moved = False
        paused: set[Thread] = set()
        while True:
            for thread in warp:
                if thread.state == READY and thread not in paused:
                    if self._step(thread):
                        moved = True
                    else:
                        paused.add(thread)
            if not self._release_warp(warp, bool(paused)):
                return moved
            moved = True

    def _step(self, thread: Thread) -> bool:
        """Runs one thread to its next event. False when it only paused."""
        value, thread.value = thread.value, None
        try:
            event = thread.code.send(value)
        except (StopIteration, ThreadExit):
            thread.state = DONE
            self.live -= 1
            return True
        kind = event[0]
        if kind == PAUSE:
            self.launch.spend(QUANTUM, thread, event[1])
            thread.value = QUANTUM
            return False
        thread.event = event
        if kind == BARRIER and event[3]:
            self.arrivals.setdefault(event[1], []).append(thread)
        elif kind == BARRIER:
            thread.state = WAITING_BARRIER
        elif kind == ACTIVE:
            thread.state = WAITING_ACTIVE
        else:
            if not event[2] >> thread.lane & 1:
                message = (
                    f"lane {thread.lane} takes part in {event[1]} but its member mask {event[2]:#010x} leaves it out"
                )
                raise Stop("barrier", message, thread, event[-1])
            thread.state = WAITING_WARP
        return True

    # -- warps -----------------------------------------------------------------------------------------------------

    def _release_warp(self, warp: list[Thread], paused: bool) -> bool:
        """Completes every operation of the warp whose lanes have all arrived."""
        waiting = [t for t in warp if t.state == WAITING_WARP]
        released = False
        if waiting:
            alive = sum(1 << t.lane for t in warp if t.state != DONE)
            groups: dict[tuple[str, int], list[Thread]] = {}
            for thread in waiting:
                groups.setdefault((thread.event[1], thread.event[2]), []).append(thread)
            for (name, mask), threads in groups.items():
                if sum(1 << t.lane for t in threads) == mask & alive:
                    self._complete(name, threads)
                    released = True
        if released or paused or any(t.state == READY for t in warp):
            return released
        return self._release_active(warp)

    def _complete(self, name: str, threads: list[Thread]) -> None:
        results = OPERATIONS[name]({t.lane: t.event[3] for t in threads})
        for thread in threads:
            thread.value = results[thread.lane]
            thread.state = READY
        if name == "bar.warp.sync" and self.launch.watch:
            self.launch.watch.meet(threads)

    def _release_active(self, warp: list[Thread]) -> bool:
        """No lane can move but those at an ``activemask``: the ones at the first such instruction see each other."""
        waiting = [t for t in warp if t.state == WAITING_ACTIVE]
        if not waiting:
            return False
        first = min(t.event[1] for t in waiting)
        together = [t for t in waiting if t.event[1] == first]
        mask = sum(1 << t.lane for t in together)
        for thread in together:
            thread.value = mask
            thread.state = READY
        return True

    # -- barriers --------------------------------------------------------------------------------------------------

    def _release_barriers(self) -> bool:
        waiting: dict[int, list[Thread]] = {}
        for thread in self.threads:
            if thread.state == WAITING_BARRIER:
                waiting.setdefault(thread.event[1], []).append(thread)
        released = False
        for threads in waiting.values():
            if self._is_complete(threads):
                self._check_same_barrier(threads)
                self._open_barrier(threads)
                released = True
        return released

    def _is_complete(self, threads: list[Thread]) -> bool:
        """Barriers for all need every live thread; counted ones count warps, whose missing lanes do not matter."""
        count = max(t.event[2] for t in threads)
        if count == 0:
            return len(threads) == self.live
        here = {*threads, *self.arrivals.get(threads[0].event[1], ())}
        warps = {t.warp for t in here}
        whole = all(t in here or t.state == DONE for w in warps for t in self.warps[w])
        return whole and WARP * len(warps) >= count

    def _check_same_barrier(self, threads: list[Thread]) -> None:
        """Threads of one warp are at one barrier; warps may be at several where what GPUs let pass is let pass."""
        first, of_warp = threads[0], dict[int, Thread]()
        for other in threads:
            mate = of_warp.setdefault(other.warp, other)
            if _is_same(mate, other) and _is_same(first, other):
                continue
            is_plain = not (first.event[4] or other.event[4])
            if not (_is_same(mate, other) and is_plain) or self.launch.memory.overread is None or self.launch.watched:
                self._divergent(first, other, "meet at different barriers")
            if not self.launch.met:
                self.launch.met = (first.event[-1], other.event[-1])

    def _open_barrier(self, threads: list[Thread]) -> None:
        self.exited_early |= self.live < self.size and threads[0].event[2] == 0
        if threads[0].event[4] == GRID:
            if not self.launch.is_cooperative:
                raise Stop(
                    "barrier",
                    "threads wait for the grid in a launch that is not cooperative",
                    threads[0],
                    threads[0].event[-1],
                )
            self.at_grid = threads
            return
        predicates = [t.event[5] for t in threads]
        results = {"popc": sum(map(bool, predicates)), "and": all(predicates), "or": any(predicates), "": None}
        for thread in threads:
            thread.value = results[thread.event[4]]
            thread.state = READY
        arrived = self.arrivals.pop(threads[0].event[1], [])
        watch = self.launch.watch
        if watch and threads[0].event[2]:
            watch.meet([*threads, *arrived])
        elif watch:
            watch.open_barrier(self.block, threads)

    def leave_grid(self) -> None:
        """The barrier of the grid opens."""
        for thread in self.at_grid:
            thread.state = READY
        if self.launch.watch:
            self.launch.watch.open_barrier(self.block, self.at_grid)
        self.at_grid = []

    def _deadlock(self) -> NoReturn:
        waiting = [t for t in self.threads if t.state != DONE]
        first = waiting[0]
        for other in waiting:
            if other.event[0] != first.event[0] or other.event[-1] != first.event[-1]:
                self._divergent(first, other, "wait for each other at different places")
        if first.event[0] == WARP_OPERATION:
            missing = first.event[2] & ~sum(1 << t.lane for t in waiting if t.warp == first.warp)
            message = f"{first.event[1]} waits for ever: lanes {missing:#010x} of its member mask never arrive"
        else:
            message = f"the barrier waits for ever: {len(waiting)} threads are there, it counts {first.event[2]}"
        raise Stop("barrier", message, first, first.event[-1])

    def _divergent(self, first: Thread, other: Thread, what: str) -> NoReturn:
        message = f"threads {first.position} and {other.position} of the block {what}"
        stop = Stop("barrier", message, first, first.event[-1])
        stop.other_site, stop.other_thread = other.event[-1], other
        raise stop


def _is_same(one: Thread, other: Thread) -> bool:
    """Whether two threads wait at one barrier; those that count some threads may stand at several places."""
    return bool(one.event[-1] == other.event[-1] or one.event[2] or other.event[2])
