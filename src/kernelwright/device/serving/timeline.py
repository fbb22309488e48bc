"""Streams and events in estimated time: when each piece of work would begin and end on the GPU that is simulated.

The virtual GPU does work in the order it is asked; this clock says when a GPU with streams would have done it, so that
events measure something that repeats. Times are microseconds since the session began.

    a stream       does its work in order
    stream 0       begins when every blocking stream has ended, and they wait for it (CUDA's legacy default stream)
    the engines    kernels, copies to the device and copies from it: one of each at a time, side by side
    the host       needs ``ISSUE_US`` for each call, and waits where it synchronises; what it computes takes no time

Not modelled: kernels of two streams that share the GPU, and how long a copy of pageable memory keeps the host.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from kernelwright.lazy_dataclasses import dataclass

Engine = Literal["kernel", "to device", "to host", "none"]

ISSUE_US = 2.0
"""What a launch or an asynchronous copy costs the host thread: an assumption, of the size that profilers show."""
COPY_US = 1.0
"""What a copy or fill takes beside its bytes: an assumption."""
LEGACY = 0
"""The number of the legacy default stream."""


@dataclass
class HostClock:
    """What the devices of one program have in common."""

    now: float = 0.0
    """When the host thread is done with what it has asked for."""
    events: dict[int, float] = field(default_factory=dict)
    """When each recorded event is over."""


@dataclass
class _Stream:
    blocking: bool
    """Waits for the legacy default stream, and is waited for by it."""
    end: float = 0.0


class Timeline:
    """The estimated clock of one device. ``device_gb_per_s`` and ``host_gb_per_s`` are what its memory and its link carry; ``host``: of
    several devices all have the same."""

    def __init__(self, device_gb_per_s: float, host_gb_per_s: float, host: HostClock | None = None) -> None:
        self._device_bytes_per_us = device_gb_per_s * 1e3
        self._host_bytes_per_us = host_gb_per_s * 1e3
        self._host = host or HostClock()
        self._streams = {LEGACY: _Stream(True, self._host.now)}
        self._engines: dict[Engine, float] = {}
        self._blocking_end = 0.0
        self._end = 0.0

    @property
    def end_us(self) -> float:
        """When all work ends that it was given, and the host has given it."""
        return max(self._end, self._host.now)

    # -- streams ---------------------------------------------------------------------------------------------------

    def create(self, stream: int, blocking: bool) -> None:
        """A new stream, with nothing in it. ``blocking``: it and the legacy default stream wait for each other."""
        self._streams[stream] = _Stream(blocking, self._host.now)

    def destroy(self, stream: int) -> None:
        """What was given to the stream still ends; the device remembers when."""
        if stream != LEGACY:
            self._streams.pop(stream, None)

    def has(self, stream: int) -> bool:
        """Whether the stream was created and not destroyed; the legacy default stream always is there."""
        return stream in self._streams

    def run(self, stream: int, microseconds: float, engine: Engine = "kernel") -> float:
        """Puts work at the end of a stream; returns when it ends."""
        self._host.now += ISSUE_US
        return self._place(stream, microseconds, engine)

    def copy(self, stream: int, size: int, engine: Engine) -> float:
        """A copy of ``size`` bytes: between host and device, or (engine ``none``) inside the device, where they go twice."""
        if engine == "none":
            return self.run(stream, COPY_US + 2 * size / self._device_bytes_per_us, "kernel")
        return self.run(stream, COPY_US + size / self._host_bytes_per_us, engine)

    def copy_from_peer(self, peer: Timeline, stream: int, size: int) -> float:
        """A copy of ``size`` bytes between this device and another, over the link to the host. In the legacy stream both devices wait
        for it, and it for them (CUDA C++ Programming Guide, "Peer-to-Peer Memory Copy")."""
        legacy = self._streams[LEGACY], peer._streams[LEGACY]
        if stream == LEGACY:
            legacy[0].end = max(each._ready(LEGACY) for each in (self, peer))
        end = self.run(stream, COPY_US + size / self._host_bytes_per_us, "to device")
        if stream == LEGACY:
            legacy[1].end = end
        return end

    def fill(self, stream: int, size: int) -> float:
        """Puts a fill of ``size`` bytes at the end of a stream; returns when it ends, in microseconds."""
        return self.run(stream, COPY_US + size / self._device_bytes_per_us, "kernel")

    def synchronize(self, stream: int | None = None) -> None:
        """The host waits for a stream, or for everything."""
        self._host.now = max(self._host.now, self._end if stream is None else self._ready(stream))

    # -- events ----------------------------------------------------------------------------------------------------

    def record(self, event: int, stream: int) -> None:
        """The event's time is when all work that the stream has now will have ended."""
        self._host.events[event] = self._place(stream, 0.0, "none")

    def wait(self, stream: int, event: int) -> None:
        """What comes into the stream from now on begins after the event."""
        target = self._streams[stream]
        target.end = max(target.end, self._host.events.get(event, 0.0))

    def synchronize_event(self, event: int) -> None:
        """The host waits for an event; one that was never recorded is over already."""
        self._host.now = max(self._host.now, self._host.events.get(event, 0.0))

    def forget_event(self, event: int) -> None:
        """Drops an event's time, if it has one."""
        self._host.events.pop(event, None)

    def elapsed_ms(self, start: int, end: int) -> float | None:
        """Milliseconds between two events; None when one of them was never recorded."""
        events = self._host.events
        return (events[end] - events[start]) / 1e3 if start in events and end in events else None

    # -- inside ----------------------------------------------------------------------------------------------------

    def _ready(self, stream: int) -> float:
        """When all that the stream waits for has ended."""
        found = self._streams[stream]
        if stream == LEGACY:
            return max(found.end, self._blocking_end)
        return max(found.end, self._streams[LEGACY].end) if found.blocking else found.end

    def _place(self, stream: int, microseconds: float, engine: Engine) -> float:
        found = self._streams[stream]
        begin = max(self._ready(stream), self._host.now)
        if engine != "none":
            begin = max(begin, self._engines.get(engine, 0.0))
        end = begin + microseconds
        if engine != "none":
            self._engines[engine] = end
        found.end = end
        if found.blocking and end > self._blocking_end:
            self._blocking_end = end
        if end > self._end:
            self._end = end
        return end
