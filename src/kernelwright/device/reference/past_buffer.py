"""Reads past a buffer that a GPU lets pass, as the reference executor makes and notes them."""

from __future__ import annotations

from kernelwright.device.overread import buffer_overread
from kernelwright.device.reference.thread_state import GlobalMemory, SeenOverread, Thread


def read_past_buffer(t: Thread, address: int, size: int, site: int) -> bytes | None:
    """What such a read gives, after it has been noted; None where it is a fault."""
    launch = t.block.launch
    memory = launch.memory
    data = bytes_past_buffer(memory, address, size)
    if data is None:
        return None
    reached = buffer_overread(memory.arena, address, size)
    assert reached is not None
    buffer, before, far = reached
    seen = launch.overreads.get((site, before, buffer.address))
    if seen is None:
        launch.overreads[site, before, buffer.address] = SeenOverread(1, far, t, address, size)
        return data
    seen.count += 1
    if (far, -t.block.number, -t.number) > (seen.farthest, -seen.thread.block.number, -seen.thread.number):
        seen.farthest, seen.thread, seen.address, seen.size = far, t, address, size
    return data


def bytes_past_buffer(memory: GlobalMemory, address: int, size: int) -> bytes | None:
    """The bytes of a read that leaves its buffer: those inside from memory, the others all the same; None for another read, or
    where it is a fault."""
    if memory.overread is None or buffer_overread(memory.arena, address, size) is None:
        return None
    arena, filler = memory.arena, bytes([memory.overread])
    return b"".join(bytes(arena.bytes(a, 1)) if arena.find(a) else filler for a in range(address, address + size))
