"""What each kernel of a program takes on a real GPU: two events around every launch, read when the GPU has come past them.

The program does not wait for it. Before the first event the GPU is kept busy for as long as the host takes to queue the launch and the
second: else the time between them would be the host's, some 15 us. Where the host has taken longer, the launch counts as late: its time
may be the host's in part, and from then on the GPU is kept busy for longer. What lies between is the kernel and what it takes to start
one; kernels of other streams may run beside it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Any

from kernelwright.cuda.names import readable
from kernelwright.device.real_gpu.driver import DriverError
from kernelwright.device.real_gpu.gpu import REGISTERS, CudaGpu
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

MOST_PENDING = 512
"""Launches whose events have not been read yet; the oldest are waited for then."""

QUEUED_NS = 100_000
"""How long the GPU is kept busy at first. A launch and an event are mostly queued in a third of that."""

MOST_QUEUED_NS = 4_000_000
SPARE = 2
"""After a late launch the GPU is kept busy so many times as long as it took to queue."""

Shape = tuple[str, Triple, Triple, int]
"""Mangled name, grid, block, bytes of dynamic shared memory."""


@dataclass
class Timed:
    """Launches of one kernel with one geometry."""

    launches: int = 0
    in_time_us: float = 0.0
    least_us: float = 0.0
    most_us: float = 0.0
    """These three of launches that were queued in time; of all, where none was."""
    late_us: float = 0.0
    registers: int = 0
    occupancy: float = 0.0
    """Resident warps, of the most a multiprocessor holds."""
    late: int = 0
    """Launches that took longer to queue than the GPU was kept busy."""
    each_us: list[float | None] = field(default_factory=list)
    """In their order; None for late ones."""

    def add(self, time_us: float, is_late: bool) -> None:
        """Adds the microseconds of one more launch. ``is_late``: it was queued after the GPU became idle, so ``each_us`` has None."""
        is_first = len(self.each_us) == self.late and not is_late
        self.each_us.append(None if is_late else round(time_us, 3))
        if is_late:
            self.late += 1
            self.late_us += time_us
            if self.in_time_us:
                return
        else:
            self.in_time_us += time_us
        begins = is_first or len(self.each_us) == 1
        self.least_us = time_us if begins else min(self.least_us, time_us)
        self.most_us = time_us if begins else max(self.most_us, time_us)

    @property
    def time_us(self) -> float:
        """Microseconds of all launches: a late one counts as those in time do on average; where none was in time, as it was measured."""
        in_time = len(self.each_us) - self.late
        return self.in_time_us * len(self.each_us) / in_time if in_time else self.late_us


@dataclass(frozen=True)
class _Pending:
    timed: Timed
    start: int
    end: int
    is_late: bool


class LaunchTimes:
    """The launches of one session, by shape."""

    def __init__(self, gpu: CudaGpu) -> None:
        self.timed: dict[Shape, Timed] = {}
        self._gpu = gpu
        self._driver = gpu.driver
        self._resident_threads = gpu.properties.max_threads_per_multiprocessor
        self._pending: deque[_Pending] = deque()
        self._free: list[int] = []
        self._queued_ns = QUEUED_NS

    def launch(self, shape: Shape, function: int, stream: int, start: Callable[[], None]) -> None:
        """Launches by ``start``, between two events. Raises what it raises."""
        if len(self._pending) >= MOST_PENDING:
            self._read(self._pending.popleft())
        timed = self.timed.get(shape)
        if timed is None:
            timed = self.timed[shape] = self._new(shape, function)
        first, second = self._event(), self._event()
        # Nothing of the host lies in the time of a launch that is all queued before the GPU comes to it.
        begin = time.perf_counter_ns()
        self._gpu.keep_busy(self._queued_ns, stream)
        self._driver.record(first, stream)
        try:
            start()
        except DriverError:
            self._free += (first, second)
            raise
        timed.launches += 1
        self._driver.record(second, stream)
        taken = time.perf_counter_ns() - begin
        self._pending.append(_Pending(timed, first, second, taken > self._queued_ns))
        if taken > self._queued_ns:
            self._queued_ns = min(SPARE * taken, MOST_QUEUED_NS)

    def finish(self) -> None:
        """Waits for what is under way. What a failure took with it has no time."""
        try:
            while self._pending:
                self._read(self._pending.popleft())
        except DriverError:
            self._pending.clear()

    def start_over(self) -> None:
        """The context is about to be reset, and the events with it."""
        self.finish()
        self._free.clear()

    def rows(self) -> list[dict[str, Any]]:
        """One row per shape, ready for JSON: what ``merge_times`` takes."""
        return [
            {
                "kernel": readable(name), "mangled": name, "grid": grid, "block": block, "dynamic_shared_bytes": shared,
                "launches": t.launches, "time_us": round(t.time_us, 3), "least_us": round(t.least_us, 3),
                "most_us": round(t.most_us, 3), "registers": t.registers, "occupancy": t.occupancy,
                "late": t.late, "each_us": t.each_us,
            }
            for (name, grid, block, shared), t in self.timed.items()
            if t.launches
        ]  # fmt: skip

    def _new(self, shape: Shape, function: int) -> Timed:
        _, _, block, shared = shape
        threads = block[0] * block[1] * block[2]
        try:
            blocks = self._driver.resident_blocks(function, threads, shared)
            registers = self._driver.function_attribute(function, REGISTERS)
        except DriverError:
            return Timed()  # a launch that will be refused, and says so itself
        return Timed(registers=registers, occupancy=blocks * threads / max(self._resident_threads, 1))

    def _event(self) -> int:
        return self._free.pop() if self._free else self._driver.create_event(0)

    def _read(self, pending: _Pending) -> None:
        self._driver.synchronize_event(pending.end)
        pending.timed.add(1e3 * self._driver.elapsed_ms(pending.start, pending.end), pending.is_late)
        self._free += (pending.start, pending.end)


def merge_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of shapes as one row per kernel, dearest first; grid and block are those of most launches. Single launches are left out."""
    made: dict[str, dict[str, Any]] = {}
    usual: dict[str, int] = {}
    for row in rows:
        kept = made.get(row["mangled"])
        if kept is None:
            made[row["mangled"]] = {key: value for key, value in row.items() if key != "each_us"}
            usual[row["mangled"]] = row["launches"]
            continue
        total = kept["time_us"] + row["time_us"]
        if total:
            weighted = kept["occupancy"] * kept["time_us"] + row["occupancy"] * row["time_us"]
            kept["occupancy"] = weighted / total
        if row["launches"] > usual[row["mangled"]]:
            usual[row["mangled"]] = row["launches"]
            kept |= {key: row[key] for key in ("grid", "block", "dynamic_shared_bytes")}
        kept["launches"] += row["launches"]
        kept["late"] = kept.get("late", 0) + row.get("late", 0)
        kept["time_us"] = total
        kept["least_us"] = min(kept["least_us"], row["least_us"])
        kept["most_us"] = max(kept["most_us"], row["most_us"])
        kept["registers"] = max(kept["registers"], row["registers"])
    whole = sum(row["time_us"] for row in made.values())
    for row in made.values():
        row["mean_us"] = row["time_us"] / row["launches"] if row["launches"] else 0.0
        row["share"] = row["time_us"] / whole if whole else 0.0
    return sorted(made.values(), key=lambda row: (-row["time_us"], row["mangled"]))
