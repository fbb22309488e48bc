"""What a grid has launched itself: the queue in device memory that ``cuda/include/kernelwright/device_launches.h`` fills.

    for one in take_launches(loaded, queue, arena, stack_bytes): ...

Those of a block come in the order in which it launched them. CUDA lets a grid end when all that it launched has ended, and says of little
else when it runs; one after the other, each with what it launches in turn, is an order that it allows (CUDA C++ Programming Guide, "CUDA
Dynamic Parallelism"). What goes to ``cudaStreamTailLaunch`` comes last.
"""

from __future__ import annotations

import struct

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.execution import Loaded
from kernelwright.errors import DeviceError
from kernelwright.launch import Launch

DEEPEST = 24
"""Levels of grids that launch grids, as CUDA has it."""
_HEAD = struct.Struct("<II")
_HEAD_BYTES = 64
_ROW = struct.Struct("<QQ3I3III")
_TAIL = 3
"""cudaStreamTailLaunch."""


def take_launches(loaded: Loaded, queue: Buffer, arena: Arena, stack_bytes: int) -> list[Launch]:
    """Empties the queue of a module. Raises ``DeviceError`` for what is no kernel of it."""
    memory = arena.bytes(queue.address, queue.size)
    count, _ = _HEAD.unpack_from(memory)
    if not count:
        return []
    _HEAD.pack_into(memory, 0, 0, 0)
    kernels = {loaded.variables.addresses[k.name]: k for k in loaded.module.kernels}
    most = queue.size - _HEAD_BYTES
    found: list[tuple[bool, Launch]] = []
    for number in range(min(count, most // _ROW.size)):
        kernel, parameters, *shape, shared_bytes, stream = _ROW.unpack_from(memory, _HEAD_BYTES + number * _ROW.size)
        known = kernels.get(kernel)
        if known is None:
            raise DeviceError(
                "a kernel launches something that is no kernel of its file", hint="launch kernels by name"
            )
        given = bytes(arena.bytes(parameters, parameter_layout(known).size))
        grid, block = (shape[0], shape[1], shape[2]), (shape[3], shape[4], shape[5])
        launch = Launch(known.name, grid, block, given, shared_bytes, stack_bytes=stack_bytes)
        found.append((stream == _TAIL, launch))
    return [launch for _, launch in sorted(found, key=lambda each: each[0])]
