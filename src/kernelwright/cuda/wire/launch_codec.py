"""A launch as a program sends it (``kw_launch`` and the parameter buffer) → the launch."""

from __future__ import annotations

import struct
from collections.abc import Callable

from kernelwright.launch import Launch

_LAUNCH = struct.Struct("<QII3I3III")
"""``protocol.Launch``, unpacked here by hand: it is the message that programs send most."""


def read_launch(body: bytes, name_of: Callable[[int], str]) -> tuple[int, int, Launch]:
    """The stream, the kernel's number and the launch. ``name_of``: a kernel's mangled name by its number; raises its own."""
    stream, number, cooperative, gx, gy, gz, bx, by, bz, shared_bytes, size = _LAUNCH.unpack_from(body)
    parameters = body[_LAUNCH.size : _LAUNCH.size + size]
    launch = Launch(name_of(number), (gx, gy, gz), (bx, by, bz), parameters, shared_bytes, bool(cooperative))
    return stream, number, launch
