"""Memory as a thread of the reference executor sees it: every access finds the bytes it may touch, or stops the launch.

``find_*`` answers with ``(low, high, items, base)``: an access of this size and kind at any ``low <= address <= high`` is
item ``(address - base) // size`` of ``items``. Translated code keeps the answer and asks again only when an address falls
outside, so that nearly all accesses cost one comparison.
"""

from __future__ import annotations

from typing import Any, NoReturn

from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW
from kernelwright.device.describe_access import describe_access, plural
from kernelwright.device.reference.past_buffer import bytes_past_buffer, read_past_buffer
from kernelwright.device.reference.thread_state import Region, Stop, Thread

Place = tuple[int, int, Any, int]


def find_generic(t: Thread, address: int, size: int, align: int, code: str, site: int, write: bool = False) -> Place:
    """A generic pointer: shared, local or global by its value."""
    if address & (align - 1):
        _misaligned(t, address, size, align, site, write)
    if SHARED_BASE <= address < SHARED_BASE + WINDOW:
        low, high, items, base = find_shared(t, address - SHARED_BASE, size, align, code, site, write)
        return low + SHARED_BASE, high + SHARED_BASE, items, base + SHARED_BASE
    if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
        low, high, items, _ = find_local(t, address - LOCAL_BASE, size, align, code, site, write)
        return low + LOCAL_BASE, high + LOCAL_BASE, items, LOCAL_BASE
    return find_global(t, address, size, align, code, site, write)


def find_global(t: Thread, address: int, size: int, align: int, code: str, site: int, write: bool = False) -> Place:
    """The bytes of an access to global memory; ends the thread with a fault where there are none, or it is misaligned."""
    if address & (align - 1):
        _misaligned(t, address, size, align, site, write)
    memory = t.block.launch.memory
    buffer = memory.arena.find(address)
    if buffer is not None and not memory.arena.reaches(buffer):
        _outside(t, address, size, site, write)
    if buffer is None or address + size > buffer.end or (write and not buffer.writable):
        past = None if write else read_past_buffer(t, address, size, site)
        if past is None:
            _outside(t, address, size, site, write)
        # No address lies between these bounds: each such read comes here.
        return 1, 0, memoryview(past).cast(code), address  # type: ignore[call-overload]
    return buffer.address, buffer.end - size, memory.items(code), memory.arena.base


def find_shared(t: Thread, offset: int, size: int, align: int, code: str, site: int, write: bool = False) -> Place:
    """PTX cuts addresses of shared memory to 32 bits (PTX ISA, "Addresses as Operands"): ``end[~i]`` with an unsigned ``i`` is right."""
    cut = offset & 0xFFFF_FFFF
    over = offset - cut if cut + size <= t.block.shared.size else 0
    args = (t, t.block.shared, "shared memory", SHARED_BASE, offset - over, size, align, code, site, write)
    low, high, items, base = _find_in_region(*args)
    return low + over, high + over, items, base + over


def find_local(t: Thread, offset: int, size: int, align: int, code: str, site: int, write: bool = False) -> Place:
    """The same of a thread's local memory."""
    return _find_in_region(t, t.local, "local memory", LOCAL_BASE, offset, size, align, code, site, write)


def _find_in_region(
    t: Thread, region: Region, name: str, base: int, offset: int, size: int, align: int, code: str, site: int, write: bool
) -> Place:  # fmt: skip
    if offset & (align - 1):
        _misaligned(t, base + offset, size, align, site, write)
    if offset + size > region.size:
        past = offset - region.size
        where = f"{past} bytes after its end" if past >= 0 else f"{-past} bytes before its end"
        message = f"{'writes' if write else 'reads'} {plural(size, 'byte')} of {name} at offset {offset}, {where} (it has {region.size})"
        raise Stop("out-of-bounds", message, t, site, base + offset, size, write, name)
    return 0, region.size - size, region.items(code), 0


FIND = {0: find_generic, 1: find_global, 3: find_shared, 4: find_global, 5: find_local}
"""By the address space of the pointer."""


def read_bytes(t: Thread, generic: int, size: int, align: int, site: int, again: bool = False) -> bytes:
    """Bytes at a generic address, checked as one access. ``again``: the access was made already, in another form."""
    if size == 0:
        return b""
    if again and (past := bytes_past_buffer(t.block.launch.memory, generic, size)) is not None:
        return past
    _, _, items, base = find_generic(t, generic, size, align, "B", site)
    return bytes(items[generic - base : generic - base + size])


def write_bytes(t: Thread, generic: int, data: bytes, align: int, site: int) -> None:
    """The store that belongs to ``read_bytes``."""
    if not data:
        return
    _, _, items, base = find_generic(t, generic, len(data), align, "B", site, True)
    items[generic - base : generic - base + len(data)] = data


def read_string(t: Thread, generic: int, site: int) -> str:
    """The zero-terminated text at a generic address."""
    found = bytearray()
    while True:
        if bytes_past_buffer(t.block.launch.memory, generic + len(found), 1) is not None:
            _outside(t, generic + len(found), 1, site, False)  # what prints stops at the end of a buffer
        byte = read_bytes(t, generic + len(found), 1, 1, site)
        if byte == b"\0":
            return found.decode("utf-8", "replace")
        found += byte


def _misaligned(t: Thread, address: int, size: int, align: int, site: int, write: bool) -> NoReturn:
    kind, message, buffer = describe_access(t.block.launch.memory.arena, address, size, align, write)
    raise Stop(kind, message, t, site, address, size, write, buffer)


def _outside(t: Thread, address: int, size: int, site: int, write: bool) -> NoReturn:
    kind, message, buffer = describe_access(t.block.launch.memory.arena, address, size, 1, write)
    raise Stop(kind, message, t, site, address, size, write, buffer)
