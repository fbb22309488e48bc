"""What each kernel of a program takes on a real GPU: two events around every launch, read when the GPU has come past them.

The program does not wait for it. Before the first event the GPU is kept busy for as long as the host takes to queue the launch and the
second: else the time between them would be the host's, some 15 us. What lies between is the kernel and what it takes to start one;
kernels of other streams may run beside it.
"""

from __future__ import annotations

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
"""A launch and an event are queued in less, but for a launch now and then, and for the first of a kernel whose code is loaded only then
(``CUDA_MODULE_LOADING``)."""

Shape = tuple[str, Triple, Triple, int]
"""Mangled name, grid, block, bytes of dynamic shared memory."""


@dataclass
class Timed:
    """Launches of one kernel with one geometry."""

    launches: int = 0
    time_us: float = 0.0
    least_us: float = 0.0
    most_us: float = 0.0
    registers: int = 0
    occupancy: float = 0.0
    """Resident warps, of the most a multiprocessor holds."""
    each_us: list[float] = field(default_factory=list)
    """In their order."""

    def add(self, time_us: float) -> None:
        self.each_us.append(round(time_us, 3))
        self.least_us = min(self.least_us, time_us) if self.time_us else time_us
        self.most_us = max(self.most_us, time_us)
        self.time_us += time_us


@dataclass(frozen=True)
class _Pending:
    timed: Timed
    start: int
    end: int


class LaunchTimes:
    """The launches of one session, by shape."""

    def __init__(self, gpu: CudaGpu) -> None:
        self.timed: dict[Shape, Timed] = {}
        self._gpu = gpu
        self._driver = gpu.driver
        self._resident_threads = gpu.properties.max_threads_per_multiprocessor
        self._pending: deque[_Pending] = deque()
        self._free: list[int] = []

    def launch(self, shape: Shape, function: int, stream: int, start: Callable[[], None]) -> None:
        """Launches by ``start``, between two events. Raises what it raises."""
        if len(self._pending) >= MOST_PENDING:
            self._read(self._pending.popleft())
        timed = self.timed.get(shape)
        if timed is None:
            timed = self.timed[shape] = self._new(shape, function)
        pending = _Pending(timed, self._event(), self._event())
        self._gpu.keep_busy(QUEUED_NS, stream)
        self._driver.record(pending.start, stream)
        try:
            start()
        except DriverError:
            self._free += (pending.start, pending.end)
            raise
        timed.launches += 1
        self._driver.record(pending.end, stream)
        self._pending.append(pending)

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
                "each_us": t.each_us,
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
        pending.timed.add(1e3 * self._driver.elapsed_ms(pending.start, pending.end))
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
        kept["time_us"] = total
        kept["least_us"] = min(kept["least_us"], row["least_us"])
        kept["most_us"] = max(kept["most_us"], row["most_us"])
        kept["registers"] = max(kept["registers"], row["registers"])
    whole = sum(row["time_us"] for row in made.values())
    for row in made.values():
        row["mean_us"] = row["time_us"] / row["launches"] if row["launches"] else 0.0
        row["share"] = row["time_us"] / whole if whole else 0.0
    return sorted(made.values(), key=lambda row: (-row["time_us"], row["mangled"]))
