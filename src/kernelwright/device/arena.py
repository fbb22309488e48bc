"""The arena: the global memory of a program's devices, one shared mapping at the same address in every process and in every run.

A device pointer *is* an address in the arena, so a program, the worker that runs its kernels, and a replay of both
agree on every pointer without translation. Around each buffer lies a gap of at least ``GAP`` bytes that no buffer
owns: an access that leaves its buffer by less than that can be named ("4 bytes after the end of 'd_rows'") instead of
silently reaching a neighbour.

Layout of a generic (64-bit) address, shared by every executor:

    0 .. 0xffff_ffff          nothing: null and small integers never name memory
    SHARED_BASE + offset      shared memory; ``addrspace(3)`` pointers are the offset alone, from 0
    LOCAL_BASE + offset       local memory; ``addrspace(5)`` pointers are the offset alone, every thread sees its own
    ARENA_BASE + ...          global and constant memory; ``addrspace(1)`` and ``(4)`` pointers are the generic address
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from kernelwright.device.shared_mapping import HUGE, give_back, make_huge, map_again, map_file, release
from kernelwright.errors import DeviceError
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:  # what serves a real GPU has no arrays, and importing NumPy takes longer than all else it imports
    import numpy.typing as npt

SHARED_BASE = 0x0100_0000_0000
LOCAL_BASE = 0x0200_0000_0000
WINDOW = 0x0100_0000_0000
"""Bytes of address space that belong to each of the shared and the local window."""
FUNCTION_BASE = 0x0300_0000_0000
"""Functions have addresses too, 16 bytes apart, so that they can be compared; nothing can be read there."""
ARENA_BASE = 0x4000_0000_0000
GENERIC = {0: 0, 1: 0, 3: SHARED_BASE, 4: 0, 5: LOCAL_BASE}
"""What turns a pointer of an address space into a generic one: ``generic = pointer + GENERIC[space]``."""
RESERVE = 64 << 30
"""Address space of an arena in bytes; memory is committed page by page as it is used."""
GAP = 64 << 10
POISON = 0xCD
"""The byte that unwritten memory holds: new buffers, shared and local memory."""

BOUNDS = [("start", "<u8"), ("end", "<u8"), ("index", "<u4"), ("writable", "<u4")]
"""The fields of a row of ``Arena.bounds()``: 24 bytes, a buffer owns the addresses ``start <= a < end``."""

_PAGE = mmap.PAGESIZE
_SLOTS = 16
_REMEMBERED = 1 << 14
"""Freed buffers whose names are kept."""


@dataclass(frozen=True)
class Buffer:
    """A named piece of global memory: ``size`` bytes from ``address``."""

    address: int
    size: int
    name: str
    writable: bool = True
    """False for ``__constant__`` memory: kernels that store to it fault; the host may."""
    device: int = 0
    """Whose memory it is, where several devices have the arena."""
    is_shared: bool = False
    """Every device reaches it, and the host: pinned and managed memory."""

    @property
    def end(self) -> int:
        """The address behind its last byte."""
        return self.address + self.size


@dataclass(frozen=True)
class Snapshot:
    """Every buffer of an arena with its bytes, as ``Arena.restore`` takes them."""

    contents: tuple[tuple[Buffer, bytes], ...]


class Arena:
    """Global memory of one device. Use it as a context manager, or ``close`` it.

    Raises ``DeviceError`` when the system cannot reserve the address range (Linux on 64 bits only).
    """

    def __init__(self, reserve: int = RESERVE) -> None:
        if not sys.platform.startswith("linux") or sys.maxsize < 2**32:
            raise DeviceError(
                "The virtual GPU needs Linux on a 64-bit machine, because its memory is one shared mapping.",
                hint="run it in a Linux container or virtual machine",
            )
        fd = os.memfd_create("kernelwright-arena", os.MFD_CLOEXEC)
        try:
            os.ftruncate(fd, reserve)
            base = map_file(fd, reserve, [ARENA_BASE + slot * RESERVE for slot in range(_SLOTS)])
        except BaseException:
            os.close(fd)
            raise
        self._open(fd, base, reserve)

    @classmethod
    def attach(cls, fd: int, base: int = ARENA_BASE, reserve: int = RESERVE) -> Arena:
        """The arena that another process made, seen through its file descriptor, with an empty table of buffers.

        Raises ``DeviceError`` when the addresses are taken in this process.
        """
        arena = cls.__new__(cls)
        mapped = map_file(fd, reserve, [base])
        arena._open(fd, mapped, reserve)
        return arena

    def _open(self, fd: int, base: int, reserve: int) -> None:
        self.fd = fd
        self.base = base
        self.reserve = reserve
        self.version = 0
        """Grows with every change of the table of buffers, so that a cached ``bounds()`` knows when it is stale."""
        self.host_writes = False
        """Whether the host may write to buffers while kernels run (pinned and managed memory); who allocates such says so."""
        self.device = 0
        """The device at work, of several: new buffers are its, and its kernels reach those in ``bounds()``."""
        self.devices = 1
        """How many have their memory here."""
        self._peers: dict[int, frozenset[int]] = {}
        self._live: list[Buffer] = []
        self._starts: list[int] = []
        self._freed: dict[int, Buffer] = {}
        self._freed_end = base
        self._next = base + GAP
        self._written_to = base
        self._bounds: dict[int, tuple[int, npt.NDArray[Any]]] = {}
        self._bytes: memoryview = memoryview((ctypes.c_char * reserve).from_address(base)).cast("B")
        self.closed = False
        # An arena that is dropped unclosed, say with the frames of an exception, must not keep its addresses from the next.
        self._release = weakref.finalize(self, release, fd, base, reserve)
        self._release.atexit = False

    # -- buffers ---------------------------------------------------------------------------------------------------

    def allocate(
        self,
        size: int,
        name: str,
        align: int = 256,
        *,
        writable: bool = True,
        fill: int | None = POISON,
        is_shared: bool = False,
    ) -> Buffer:
        """A new buffer of ``size`` bytes at a multiple of ``align``, of the device at work.

        Every byte is ``fill``, or zero with ``fill=None``, which commits no memory. Addresses rise from call to call
        and are used again only when the arena is full, so that a stale pointer keeps naming the buffer it was for.
        Raises ``DeviceError`` when the arena has no room.
        """
        self._check_open()
        if size < 0 or align <= 0 or align & (align - 1):
            raise DeviceError(
                f"Buffer '{name}' cannot have {size} bytes at a multiple of {align}: the alignment must be a power of "
                "two and the size not negative."
            )
        address = self._place(size, align, name)
        buffer = Buffer(address, size, name, writable, self.device, is_shared)
        self._forget_freed(address - GAP, buffer.end + GAP)
        at = bisect.bisect_left(self._starts, address)
        self._live.insert(at, buffer)
        self._starts.insert(at, address)
        self.version += 1
        if fill is not None:
            self._fill(address, size, fill)
        elif address < self._written_to:
            self._let_go(address, buffer.end)
        return buffer

    def _place(self, size: int, align: int, name: str) -> int:
        address = _align(self._next, align)
        if address + size + GAP <= self.base + self.reserve:
            self._next = address + size + GAP
            return address
        # The end is reached: the first hole between live buffers that is wide enough.
        low = self.base + GAP
        for buffer in [*self._live, None]:
            high = buffer.address if buffer else self.base + self.reserve
            address = _align(low, align)
            if address + size + GAP <= high:
                return address
            if buffer:
                low = buffer.end + GAP
        live = sum(b.size for b in self._live)
        raise DeviceError(
            f"No room for buffer '{name}' of {size} bytes: the device has {self.reserve} bytes and {live} are in use.",
            hint="free buffers first, or use smaller inputs",
        )

    def free(self, buffer: Buffer | int) -> None:
        """Gives a buffer's memory back; its name is remembered for accesses that come too late.

        ``buffer`` may be its address. Raises ``DeviceError`` for what is not the start of a live buffer, naming it when
        it was freed before.
        """
        self._check_open()
        address = buffer.address if isinstance(buffer, Buffer) else buffer
        at = bisect.bisect_left(self._starts, address)
        if at == len(self._starts) or self._starts[at] != address:
            old = self.find_freed(address)
            inside = self.find(address)
            if old and old.address == address:
                raise DeviceError(f"Buffer '{old.name}' at {address:#x} is freed twice.", hint="remove the second free")
            if inside:
                raise DeviceError(
                    f"{address:#x} is {address - inside.address} bytes inside buffer '{inside.name}', not its start.",
                    hint=f"free {inside.address:#x}",
                )
            raise DeviceError(f"{address:#x} is not the address of a buffer, so it cannot be freed.")
        freed = self._live.pop(at)
        self._starts.pop(at)
        self._remember_freed(freed)
        self.version += 1
        # Of the huge pages that it lay in, all up to its neighbours: the gaps in them were committed with it, or with one freed before.
        before = _align(self._live[at - 1].end, _PAGE) if at else self.base
        after = self._live[at].address // _PAGE * _PAGE if at < len(self._live) else self.base + self.reserve
        self._let_go(max(address // HUGE * HUGE, before), min(_align(freed.end, HUGE), after))

    def rewind(self, mark: int) -> None:
        """Frees every buffer from the address ``mark`` on and hands out addresses from there again.

        ``mark`` is what ``next_address`` was. For memory that lives as long as one call: a second call then sees the same
        addresses as the first.
        """
        for buffer in [b for b in self._live if b.address >= mark]:
            self.free(buffer)
        self._freed = {a: b for a, b in self._freed.items() if a < mark}
        self._next = min(self._next, mark)

    @property
    def next_address(self) -> int:
        """From where on the next buffer will lie, unless the arena is full."""
        return self._next

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The live buffers by rising address."""
        return tuple(self._live)

    # -- several devices -------------------------------------------------------------------------------------------

    @property
    def peers(self) -> frozenset[int]:
        """The devices whose memory the device at work reaches besides its own."""
        return self._peers.get(self.device, frozenset())

    def set_peers(self, peers: frozenset[int]) -> None:
        """``peers``: numbers of the devices whose memory the device at work reaches from now on, besides its own."""
        self._peers[self.device] = peers
        self.version += 1

    def reaches(self, buffer: Buffer) -> bool:
        """Whether kernels of the device at work may touch the buffer."""
        return buffer.device == self.device or buffer.is_shared or buffer.device in self.peers

    # -- what lies where -------------------------------------------------------------------------------------------

    def find(self, address: int) -> Buffer | None:
        """The live buffer that owns ``address``, of whatever device."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at >= 0 and address < self._live[at].end:
            return self._live[at]
        return None

    def find_freed(self, address: int) -> Buffer | None:
        """The freed buffer that owned ``address``, as long as the addresses are not in use again."""
        for buffer in reversed(self._freed.values()):
            if buffer.address <= address < max(buffer.end, buffer.address + 1):
                return buffer
        return None

    def nearest(self, address: int) -> Buffer | None:
        """The live buffer that lies closest to ``address``, which is in no buffer."""
        at = bisect.bisect_right(self._starts, address)
        beside = self._live[max(at - 1, 0) : at + 1]
        return min(beside, key=lambda b: max(b.address - address, address - b.end + 1), default=None)

    def contains(self, address: int) -> bool:
        """Whether the address lies in the arena at all, owned or not."""
        return self.base <= address < self.base + self.reserve

    # -- bytes -----------------------------------------------------------------------------------------------------

    def view(self, buffer: Buffer, dtype: npt.DTypeLike = "u1") -> npt.NDArray[Any]:
        """The buffer's memory as an array of ``size // itemsize`` elements, without a copy.

        The array reads and writes the arena itself and must not outlive it: after ``close`` it shows other memory.
        """
        import numpy as np

        self._check_open()
        kind = np.dtype(dtype)
        whole = buffer.size // kind.itemsize * kind.itemsize
        return np.frombuffer(self.bytes(buffer.address, whole), dtype=kind)

    def bytes(self, address: int, size: int) -> memoryview:
        """``size`` bytes from ``address`` as a writable memoryview, whatever buffer they are in.
        Raises ``DeviceError`` for addresses outside the device's memory."""
        self._check_open()
        start = address - self.base
        if start < 0 or start + size > self.reserve:
            raise DeviceError(f"{address:#x} .. {address + size:#x} lies outside the device's memory.")
        return self._bytes[start : start + size]

    def commit(self, address: int, size: int) -> None:
        """Commits memory that will be used from one end to the other, in huge pages where it is as large as one and the system has them.
        Bytes stay what they are. Page by page, as they are touched, ten times as long goes by."""
        first = address // HUGE * HUGE
        last = min(_align(address + size, HUGE), self.base + self.reserve)
        if size >= HUGE and first >= self.base:
            make_huge(first, last)

    def typed(self, code: str) -> memoryview:
        """The whole arena as items of a ``struct`` code ("I", "f", ...), item ``(address - base) // itemsize``."""
        view: memoryview = cast(Any, self._bytes).cast(code)
        return view

    def bounds(self) -> npt.NDArray[Any]:
        """The table of the buffers that the device at work reaches, for compiled code: a read-only array of ``BOUNDS`` rows sorted
        by address.

        ``index`` is the position in ``buffers``. The array is made again only when buffers come or go.
        """
        made = self._bounds.get(self.device)
        if made is None or made[0] != self.version:
            import numpy as np

            rows = [(b.address, b.end, i, b.writable) for i, b in enumerate(self._live) if self.reaches(b)]
            table = np.array(rows, dtype=BOUNDS)
            table.setflags(write=False)
            made = self._bounds[self.device] = (self.version, table)
        return made[1]

    # -- states ----------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """A copy of every live buffer's bytes."""
        self._check_open()
        return Snapshot(tuple((b, bytes(self.bytes(b.address, b.size))) for b in self._live))

    def restore(self, snapshot: Snapshot) -> None:
        """Makes buffers and bytes what they were: later buffers go, freed ones return to their addresses."""
        self._check_open()
        wanted = {buffer.address: buffer for buffer, _ in snapshot.contents}
        for buffer in self.buffers:
            if wanted.get(buffer.address) != buffer:
                self.free(buffer)
        for buffer, _ in snapshot.contents:
            self._forget_freed(buffer.address - GAP, buffer.end + GAP)
        self._live = [buffer for buffer, _ in snapshot.contents]
        self._starts = [buffer.address for buffer in self._live]
        self._next = max([self._next, *(buffer.end + GAP for buffer in self._live)])
        self.version += 1
        for buffer, content in snapshot.contents:
            self.bytes(buffer.address, buffer.size)[:] = content

    def reset(self) -> None:
        """Frees every buffer and starts again at the first address, so that the next run sees the same pointers."""
        for buffer in self.buffers:
            self.free(buffer)
        self._freed.clear()
        self._freed_end = self.base
        self._next = self.base + GAP

    def clear(self) -> None:
        """As ``reset``, but the memory of the buffers stays committed: new ones at their addresses are filled as ever, and soon.

        For runs one after another, each of which begins with no buffer."""
        self._check_open()
        self._written_to = max(self._written_to, self._next)
        self._live, self._starts, self._freed = [], [], {}
        self._freed_end = self.base
        self._next = self.base + GAP
        self.version += 1

    def close(self) -> None:
        """Releases the memory. Arrays made by ``view`` must not be used afterwards."""
        if self.closed:
            return
        self.closed = True
        self._release()

    def __enter__(self) -> Arena:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def aside(self) -> Iterator[bool]:
        """Within, this process writes to a copy of its own, which is thrown away at the end: others see nothing of it, and what
        they write meanwhile stays. Gives whether that could be had; if not, nothing has changed. Buffers must not come or go.
        Raises ``DeviceError`` when the memory cannot be mapped again."""
        size = min(_align(self._next, _PAGE) - self.base, self.reserve)
        got = map_again(self.fd, self.base, size, private=True)
        try:
            yield got
        finally:
            if not map_again(self.fd, self.base, size, private=False):
                raise DeviceError("The device's memory could not be mapped again.", hint="free some memory")

    # -- inside ----------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self.closed:
            raise DeviceError("This arena is closed.", hint="make a new one")

    def _fill(self, address: int, size: int, value: int) -> None:
        if size:
            self.commit(address, size)
            ctypes.memset(address, value, size)

    def _let_go(self, start: int, end: int) -> None:
        """Gives the memory of whole pages back; read again, they are zero. Gaps are wider than a page, so that no other buffer lies in the
        pages of one."""
        give_back(start // _PAGE * _PAGE, _align(end, _PAGE))

    def _remember_freed(self, buffer: Buffer) -> None:
        self._freed.pop(buffer.address, None)
        self._freed[buffer.address] = buffer
        self._freed_end = max(self._freed_end, buffer.end)
        if len(self._freed) > _REMEMBERED:
            del self._freed[next(iter(self._freed))]

    def _forget_freed(self, start: int, end: int) -> None:
        """Freed buffers whose addresses are in use again. There are none as long as addresses rise, and that is quick."""
        if start < self._freed_end:
            self._freed = {a: b for a, b in self._freed.items() if a >= end or b.end <= start}


def _align(address: int, align: int) -> int:
    return (address + align - 1) & -align
