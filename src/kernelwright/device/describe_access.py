"""A bad access in words: what lies at the address, and what it is nearest to."""

from __future__ import annotations

from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW, Arena, Buffer
from kernelwright.device.fault import Kind

NULL_PAGE = 1 << 16


def describe_access(arena: Arena, address: int, size: int, align: int, write: bool) -> tuple[Kind, str, str]:
    """Kind of fault, sentence, and name of the memory concerned, for ``size`` bytes at a generic ``address``."""
    start = f"{'writes' if write else 'reads'} {plural(size, 'byte')} "
    inside = arena.find(address)
    if align > 1 and address % align:
        name = inside.name if inside else ""
        return "misaligned", f"{start}at {address:#x}, which is no multiple of {align}", name
    for base, name in ((SHARED_BASE, "shared memory"), (LOCAL_BASE, "local memory")):
        if base <= address < base + WINDOW:
            return "out-of-bounds", f"{start}at offset {address - base} of {name}, which is smaller", name
    if inside is not None and not arena.reaches(inside):
        return "out-of-bounds", f"{start}of buffer '{inside.name}', {_whose(arena, inside)}", inside.name
    if inside is not None and address + size <= inside.end:
        return "out-of-bounds", f"{start}of buffer '{inside.name}', which is constant", inside.name
    freed = arena.find_freed(address)
    if freed is not None and inside is None:
        offset = address - freed.address
        return "use-after-free", f"{start}at offset {offset} of buffer '{freed.name}', which is freed", freed.name
    if address < NULL_PAGE:
        return "out-of-bounds", f"{start}at {address:#x}: the pointer is null", ""
    near = inside or arena.nearest(address)
    if near is None or not arena.contains(address):
        return "out-of-bounds", f"{start}at {address:#x}, where no memory is", ""
    if address < near.address:
        where = f"{plural(near.address - address, 'byte')} before the start"
    elif address >= near.end:
        where = f"{plural(address - near.end, 'byte')} after the end"
    else:
        where = f"{plural(address + size - near.end, 'byte')} across the end"
    sentence = f"{start}at {address:#x}, {where} of buffer '{near.name}' ({plural(near.size, 'byte')})"
    return "out-of-bounds", sentence, near.name


def _whose(arena: Arena, buffer: Buffer) -> str:
    return (
        f"which is memory of device {buffer.device}, and the kernel runs on device {arena.device}, which may not reach it "
        f"(cudaDeviceEnablePeerAccess)"
    )


def plural(count: int, noun: str) -> str:
    """A count with its noun, which gets an s unless it is one: ``1 edit``, ``2 edits``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
