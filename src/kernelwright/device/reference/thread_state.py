"""What a launch consists of while it runs: the launch, its blocks and threads, their memory, and how it is stopped.

Memory access, the race detector, the helpers of translated code and the scheduler all work on these. A thread is a Python
generator. It runs until it needs others and then yields what it waits for, an ``Event``:

    (BARRIER, id, count, arrive, reduction, predicate, site)    a block barrier; ``count`` 0 means all threads
    (WARP_OPERATION, name, mask, arguments, site)               an operation of the warp's lanes in ``mask``
    (ACTIVE, site)                                              ``activemask``
    (PAUSE, site)                                               nothing: it ran long enough for now

A barrier whose reduction is ``GRID`` opens when all blocks are there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import field
from typing import Any, Protocol, cast

from kernelwright.device.arena import POISON, Arena
from kernelwright.device.fault import Kind
from kernelwright.device.schedule import WARP, Schedule
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

BARRIER, WARP_OPERATION, ACTIVE, PAUSE = range(4)
"""Kinds of events."""
GRID = "grid"

Event = tuple[Any, ...]

QUANTUM = 4096
"""Loop iterations after which a thread lets others run, so that one that spins on a flag cannot starve who sets it."""

READY, WAITING_WARP, WAITING_ACTIVE, WAITING_BARRIER, DONE = range(5)
"""States of a thread."""


class ThreadExit(Exception):
    """The PTX ``exit`` instruction: ends the thread wherever it is."""


class Stop(Exception):
    """Ends a launch. The scheduler turns it into a ``Fault`` with names and places."""

    def __init__(
        self, kind: Kind, message: str, thread: Thread | None, site: int, address: int = 0, size: int = 0,
        write: bool = False, buffer: str = "",
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.thread = thread
        self.site = site
        self.address = address
        self.size = size
        self.write = write
        self.buffer = buffer
        self.other_site = -1
        self.other_thread: Thread | None = None


class Region:
    """Shared memory of a block or local memory of a thread: ``size`` bytes, seen as items of any kind."""

    __slots__ = ("_items", "raw", "size", "written")

    def __init__(self, size: int, watched: bool = False) -> None:
        self.size = size
        self.written: bytearray | None = bytearray(size) if watched else None
        """One byte per byte, not zero when it was written; only kept for a launch that is watched."""
        self.raw = bytearray([POISON]) * ((size + 15) // 16 * 16)
        self._items: dict[str, Any] = {}

    def items(self, code: str) -> Any:
        """The memory as items of a ``struct`` code, without a copy: item i begins at byte i times its size."""
        found = self._items.get(code)
        if found is None:
            found = self._items[code] = cast(Any, memoryview(self.raw)).cast(code)
        return found


class GlobalMemory:
    """The arena, with its buffers as they are while a launch runs."""

    def __init__(self, arena: Arena, overread: int | None = None) -> None:
        """``overread``: the byte that a read past a buffer gives; None: such a read is a fault, as is what else only GPUs let pass."""
        self.arena = arena
        self.overread = overread
        self._items: dict[str, Any] = {}

    def items(self, code: str) -> Any:
        """The whole arena as items of a ``struct`` code, without a copy."""
        found = self._items.get(code)
        if found is None:
            found = self._items[code] = self.arena.typed(code)
        return found


class Clock:
    """What a thread knows: everything its block did before a barrier, and what others did up to a time of theirs."""

    __slots__ = ("blocks", "epoch", "known", "time")

    def __init__(self) -> None:
        self.epoch = 0
        self.time = 0
        self.known: dict[Thread, int] = {}
        self.blocks: dict[int, int] = {}
        """By block: every access of an earlier epoch than this is known."""

    def learn(self, known: dict[Thread, int], blocks: dict[int, int]) -> None:
        """Adds what another clock knows: by thread a time, by block an epoch; the later of two is kept."""
        for thread, time in known.items():
            if self.known.get(thread, -1) < time:
                self.known[thread] = time
        for block, epoch in blocks.items():
            if self.blocks.get(block, -1) < epoch:
                self.blocks[block] = epoch


NO_MEMORY = Region(0)
NO_CLOCK = Clock()
"""What all threads share that need none of their own."""


class AccessWatch(Protocol):
    """What is told of every access and every synchronisation of a watched launch (``race_watch.Watch``)."""

    def read(
        self, t: Thread, address: int, size: int, site: int, volatile: bool = False, check_written: bool = True
    ) -> None:
        """Called for each read, at ``site``. ``check_written``: whether unwritten bytes are a finding."""

    def before(self, t: Thread, address: int, size: int) -> bytes:
        """The bytes that a store is about to change; nothing when it is going to fault."""

    def write(self, t: Thread, address: int, size: int, site: int, old: bytes, volatile: bool = False) -> None:
        """Called after a store; ``old`` are the bytes before it."""

    def atomic(self, t: Thread, address: int, size: int, site: int) -> None:
        """Called for each atomic, which reads and writes ``size`` bytes."""

    def copied(self, t: Thread, to: int, source: int, size: int, site: int, old: bytes) -> None:
        """Called after a copy of ``size`` bytes from ``source``; ``old`` are the target's bytes before it."""

    def meet(self, threads: Iterable[Thread]) -> None:
        """These threads have synchronised with each other: each knows what the others did before."""

    def open_barrier(self, block: Block, threads: list[Thread]) -> None:
        """A barrier of the block has let ``threads`` go on."""

    def open_grid(self) -> None:
        """A barrier of the whole grid has let all threads go on."""


@dataclass
class SeenOverread:
    """Reads past one side of a buffer at one site: how many, and the farthest."""

    count: int
    farthest: int
    thread: Thread
    address: int
    size: int


@dataclass
class RunningLaunch:
    """A running launch, as its blocks and threads see it."""

    entry: Callable[..., Any]
    """Makes the generator of a thread from the thread and the kernel's arguments."""
    arguments: tuple[Any, ...]
    memory: GlobalMemory
    grid: Triple
    block: Triple
    dynamic_bytes: int
    """Of the shared memory of a block, what the launch asked for."""
    shared_bytes: int
    """All shared memory of a block."""
    local_bytes: int
    """Of a thread."""
    schedule: Schedule
    budget: int
    watch: AccessWatch | None
    is_cooperative: bool = False
    stack_bytes: int = 0
    """Of those, at most, where functions call themselves."""
    text: list[str] = field(default_factory=list)
    overreads: dict[tuple[int, bool, int], SeenOverread] = field(default_factory=dict)
    """By site, side and address of the buffer."""
    met: tuple[int, ...] = ()
    """The sites of two barriers at which threads of a block were there for each other, as GPUs count them; the first time."""
    time: int = 0

    def __post_init__(self) -> None:
        x, y, z = self.block
        self.threads_per_block = x * y * z
        self.watched = self.watch is not None

    def start(self, thread: Thread) -> Any:
        """The generator of a thread."""
        return self.entry(thread, *self.arguments)

    def spend(self, iterations: int, thread: Thread, site: int) -> None:
        """Charges loop iterations to the budget. Raises ``Stop`` when it is used up."""
        self.budget -= iterations
        if self.budget < 0:
            raise Stop("endless", "the kernel does not end: its budget of loop iterations is used up", thread, site)

    def tick(self) -> int:
        """A clock that moves whenever it is read."""
        self.time += 1
        return self.time


class Block:
    """A block of threads: its place in the grid and its shared memory."""

    __slots__ = ("launch", "number", "position", "shared")

    def __init__(self, launch: RunningLaunch, number: int) -> None:
        self.launch = launch
        self.number = number
        x, y, _ = launch.grid
        self.position = (number % x, number // x % y, number // x // y)
        self.shared = Region(launch.shared_bytes, launch.watched)


class Thread:
    """One GPU thread: its place in the grid, its local memory, and its generator."""

    __slots__ = (
        "block", "clock", "code", "ctaid_x", "ctaid_y", "ctaid_z", "event", "lane", "local", "nctaid_x", "nctaid_y", "nctaid_z",
        "ntid_x", "ntid_y", "ntid_z", "number", "sp", "state", "tid_x", "tid_y", "tid_z", "value", "warp",
    )  # fmt: skip

    code: Generator[Event, Any, Any]
    event: Event

    def __init__(self, block: Block, number: int) -> None:
        launch = block.launch
        self.block = block
        self.number = number
        self.warp, self.lane = divmod(number, WARP)
        self.ntid_x, self.ntid_y, self.ntid_z = launch.block
        self.nctaid_x, self.nctaid_y, self.nctaid_z = launch.grid
        self.ctaid_x, self.ctaid_y, self.ctaid_z = block.position
        self.tid_x = number % self.ntid_x
        self.tid_y = number // self.ntid_x % self.ntid_y
        self.tid_z = number // self.ntid_x // self.ntid_y
        self.local = Region(launch.local_bytes, launch.watched) if launch.local_bytes else NO_MEMORY
        self.clock = Clock() if launch.watched else NO_CLOCK
        self.sp = 0
        self.state = READY
        self.value: Any = None

    @property
    def position(self) -> tuple[int, int, int]:
        """``threadIdx``: x, y and z of the thread in its block."""
        return self.tid_x, self.tid_y, self.tid_z

    def recharge(self, site: int) -> int:
        """A function that cannot pause has used up its iterations: it gets as many again while the budget lasts."""
        self.block.launch.spend(QUANTUM, self, site)
        return QUANTUM
