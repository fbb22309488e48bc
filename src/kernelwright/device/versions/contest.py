"""Whether a version is slower than its original on the GPU that the program runs on: then the original runs.

A version was found at other sizes, and where times are estimated on a GPU that a model speaks of. So after the first launches of a
kernel version and original take turns for a few, each between two events on the launch's stream, and are compared pair by pair. Both give
what they are accepted for, so the program sees no difference. Launches that the host queues too slowly take as long with either, and
decide nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Protocol

from kernelwright.device.real_gpu.driver import DriverError
from kernelwright.lazy_dataclasses import dataclass

BEFORE = 4
"""Launches of the version before the contest: a program with few launches has none."""
PAIRS = 8
SLOWER, CERTAIN = 1.05, 6
"""The version is given up where it takes so many times as long in the median pair, and longer at all in so many pairs."""


class Events(Protocol):
    """What of a driver is needed. Handles and streams are numbers."""

    def create_event(self, flags: int = 0) -> int:
        """A new event that is timed, with flags of 0. Raises ``DriverError``, as all of these do."""

    def destroy_event(self, event: int) -> None:
        """Gives an event back."""

    def record(self, event: int, stream: int = 0) -> None:
        """Queues an event behind what the stream holds."""

    def synchronize_event(self, event: int) -> None:
        """Waits until the GPU has come past an event."""

    def elapsed_ms(self, start: int, end: int) -> float:
        """Milliseconds between two events that the GPU has come past."""


@dataclass
class Contest:
    """Of one version of a kernel with the original."""

    events: Events
    launches: int = 0
    pending: list[tuple[int, int]] = field(default_factory=list)
    """Events around launches of the version and of the original, in turn, that have not been read yet."""
    version_us: float = 0.0
    original_us: float = 0.0
    """Medians, once both are known."""
    lost: bool | None = None
    """None until it is decided."""

    def takes_next(self) -> bool:
        """Whether the version runs the next launch; the original does when it has lost, or when it is its turn. Waits for what is timed
        when all have run."""
        if self.lost is None and len(self.pending) == 2 * PAIRS:
            self._decide()
        if self.lost is not None:
            return not self.lost
        return self.launches < BEFORE or len(self.pending) % 2 == 0

    def around(self, start: Callable[[], None], stream: int) -> None:
        """Launches by ``start``. Raises what it raises."""
        self.launches += 1
        if self.lost is not None or self.launches <= BEFORE:
            start()
            return
        made: list[int] = []
        try:
            made += [self.events.create_event()]
            made += [self.events.create_event()]
            self.events.record(made[0], stream)
        except DriverError:
            self._destroy(made)
            self._give_up()
            start()
            return
        try:
            start()
        except BaseException:
            self._destroy(made)
            raise
        self.pending.append((made[0], made[1]))
        try:
            self.events.record(made[1], stream)
        except DriverError:
            self._give_up()

    def _decide(self) -> None:
        try:
            for _, last in self.pending:
                self.events.synchronize_event(last)
            taken = [1e3 * self.events.elapsed_ms(first, last) for first, last in self.pending]
        except DriverError:
            self._give_up()
            return
        version, original = taken[::2], taken[1::2]
        ratios = [one / other for one, other in zip(version, original, strict=True) if other > 0]
        self.version_us, self.original_us = statistics.median(version), statistics.median(original)
        longer = sum(ratio > 1 for ratio in ratios)
        self._end(bool(ratios) and statistics.median(ratios) > SLOWER and longer >= CERTAIN)

    def _give_up(self) -> None:
        """Where nothing can be timed, as in a stream whose launches are being captured, the version runs."""
        self._end(False)

    def _end(self, lost: bool) -> None:
        self.lost = lost
        self._destroy([event for both in self.pending for event in both])
        self.pending.clear()

    def _destroy(self, events: Sequence[int]) -> None:
        for event in events:
            try:
                self.events.destroy_event(event)
            except DriverError:
                break  # the context is gone, and its events with it

    @property
    def sentence(self) -> str:
        """Why the version is given up, where it is."""
        return f"it is slower here than the original, {self.version_us:.2f} us a launch where that takes {self.original_us:.2f}"
