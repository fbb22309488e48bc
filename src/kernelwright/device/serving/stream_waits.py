"""Who has waited for what: work in streams, events, and the program that touches memory in between.

Work of two streams, or of a stream and the program, is ordered when something says so: the same stream, an event, a wait of
the program, or the legacy default stream, which waits for blocking streams and they for it. Whatever touches the same bytes
without that, one of them writing, is a finding. One clock per stream counts its work, as race detectors do for threads.
"""

from __future__ import annotations

from dataclasses import field

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import Message
from kernelwright.device.arena import Buffer
from kernelwright.device.checking.findings import CheckFinding, End
from kernelwright.device.checking.touched_bytes import Bytes
from kernelwright.lazy_dataclasses import dataclass

LEGACY = 0
Stream = tuple[int, int]
"""The number of a device, and of a stream there."""
Clock = dict[Stream, int]
"""By stream, how much of its work is known to be over."""


@dataclass
class Work:
    """Something that touches device memory. ``name`` stands in messages; ``kernel`` is empty for copies."""

    name: str
    reads: list[Bytes]
    writes: list[Bytes]
    place: End = field(default_factory=End)
    kernel: str = ""
    stream: Stream = (0, LEGACY)
    tick: int = 0


class Waiting:
    """The order of a program's work on its devices, and what is under way as far as the program knows."""

    def __init__(self) -> None:
        self.matters = False
        """Whether anything can go wrong: there is a second stream or device, or memory that host and device share."""
        self._streams: dict[Stream, Clock] = {}
        self._independent: set[Stream] = set()
        self._events: dict[int, Clock] = {}
        self._host: Clock = {}
        self._ticks: Clock = {}
        self._pending: list[Work] = []
        """Work that the program has not waited for; whatever it has waited for is over for everybody."""
        self._waited_for_one = False
        """The message before this one waited for one stream only."""

    def issue(
        self, number: int, work: Work, waits: bool = False, device: int = 0, peer: int | None = None
    ) -> list[CheckFinding]:
        """Work goes into a stream of a device; ``waits``: and the program waits for it; ``peer``: another device, whose legacy stream
        waits for this one's, and this one's for it. Returns what it collides with."""
        stream = device, number
        clock = self._streams.setdefault(stream, {})
        if number == LEGACY:
            self._join(clock, self._ready(stream))
            if peer is not None:
                self._join(clock, self._ready((peer, LEGACY)))
        elif stream not in self._independent:
            self._join(clock, self._streams.get((device, LEGACY), {}))
        found = self._collisions(clock, work)
        self._ticks[stream] = clock[stream] = self._ticks.get(stream, 0) + 1
        work.stream, work.tick = stream, clock[stream]
        if number == LEGACY and peer is not None:
            self._join(self._streams.setdefault((peer, LEGACY), {}), clock)
        if waits:
            self._wait(clock)
        elif self.matters:
            self._pending.append(work)
        return found

    def host(self, work: Work) -> list[CheckFinding]:
        """The program itself touches memory, without a call of CUDA."""
        return self._collisions(self._host, work)

    def free(self, buffer: Buffer | None) -> list[CheckFinding]:
        """A buffer is gone. ``cudaFree`` waits for everything; a free behind a wait for one stream does not."""
        found: list[CheckFinding] = []
        if buffer is not None and self._waited_for_one and buffer.size:
            gone = Work("cudaFree", [], [Bytes.box(buffer, buffer.address, buffer.size)])
            found = self._collisions(self._host, gone)
        self._wait_for_all()
        return found

    def _collisions(self, clock: Clock, now: Work) -> list[CheckFinding]:
        found = []
        for earlier in self._pending:
            if clock.get(earlier.stream, 0) >= earlier.tick:
                continue
            pairs = [(a, b, "writes") for a in earlier.writes for b in (*now.writes, *now.reads)]
            pairs += [(a, b, "reads") for a in earlier.reads for b in now.writes]
            hit = next(((a, at, verb) for a, b, verb in pairs if (at := a.common(b)) is not None), None)
            if hit is not None:
                found.append(_finding(earlier, now, *hit))
        return found

    # -- what orders -------------------------------------------------------------------------------------------------

    def follow(self, message: Received) -> None:
        """A message that creates streams, records events or waits."""
        body, device = message.body, message.device
        waited_for_one = False
        match message.type:
            case Message.ALLOCATE:
                assert isinstance(body, wire.Allocate)
                self.matters |= body.kind != wire.MemoryKind.DEVICE
            case Message.STREAM_CREATE:
                assert isinstance(body, wire.Stream)
                self.matters = True
                self._streams[device, body.stream] = {}
                if body.flags & 1:
                    self._independent.add((device, body.stream))
            case Message.EVENT_RECORD:
                assert isinstance(body, wire.Event)
                self._events[body.event] = self._ready((device, body.stream))
            case Message.STREAM_WAIT:
                assert isinstance(body, wire.Event)
                self._join(self._streams.setdefault((device, body.stream), {}), self._events.get(body.event, {}))
            case Message.EVENT_SYNCHRONIZE | Message.EVENT_QUERY:
                # A query that says "done" is a wait; here all work is done by the time anybody asks.
                assert isinstance(body, wire.Handle)
                self._wait(self._events.get(body.handle, {}))
            case Message.STREAM_SYNCHRONIZE | Message.STREAM_QUERY:
                assert isinstance(body, wire.Handle)
                self._wait(self._ready((device, body.handle)))
                waited_for_one = True
            case Message.DEVICE_SYNCHRONIZE | Message.DEVICE_RESET:
                self._wait({stream: tick for stream, tick in self._ticks.items() if stream[0] == device})
        self._waited_for_one = waited_for_one

    def _ready(self, stream: Stream) -> Clock:
        """What is over when a stream has come to this point."""
        clock = dict(self._streams.get(stream, {}))
        if stream[1] == LEGACY:
            for other, its in self._streams.items():
                if other[0] == stream[0] and other not in self._independent:
                    self._join(clock, its)
        return clock

    def _join(self, clock: Clock, other: Clock) -> None:
        for stream, tick in other.items():
            clock[stream] = max(clock.get(stream, 0), tick)

    def _wait(self, clock: Clock) -> None:
        self._join(self._host, clock)
        self._pending = [w for w in self._pending if self._host.get(w.stream, 0) < w.tick]

    def _wait_for_all(self) -> None:
        self._wait(self._ticks)


def _finding(earlier: Work, now: Work, hit: Bytes, address: int, verb: str) -> CheckFinding:
    ended = "may still be running: nothing waited for it"
    if now.name == "cudaFree":
        message = f"buffer '{hit.buffer.name}' is freed while {earlier.name} {verb} it, which {ended}"
    else:
        message = f"{now.name} touches buffer '{hit.buffer.name}', which {earlier.name} {verb} and {ended}"
    first = now if now.kernel else earlier
    return CheckFinding(
        "async",
        message,
        "async free" if now.name == "cudaFree" else "async",
        kernel=first.kernel,
        file=first.place.file,
        line=first.place.line,
        also=earlier.place if now.kernel and earlier.kernel else None,
        address=address,
        buffer=hit.buffer.name,
    )
