"""Modules into the memory of an arena, and out of it."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.execution import Loaded
from kernelwright.device.variables import load_variables
from kernelwright.ir.module import Module


def load(
    module: Module,
    arena: Arena,
    source: str = "",
    placed: Mapping[str, Buffer] | None = None,
    fresh: Mapping[str, Buffer] | None = None,
    ptx: Mapping[str, str] | None = None,
) -> Loaded:
    """Puts a module's variables into memory. Raises ``CompileError`` for those nothing defines, ``DeviceError`` for lack of room.

    ``placed``: variables that are in memory already and keep their values; ``fresh``: those whose memory is there, but not
    yet their initial values. ``ptx``: what the timing model would otherwise make itself, by architecture.
    """
    return Loaded(module, load_variables(module, arena, placed, fresh), source, ptx or {})


def unload(loaded: Loaded, arena: Arena) -> None:
    """Frees a module's variables."""
    for buffer in loaded.variables.buffers.values():
        if arena.find(buffer.address) == buffer:
            arena.free(buffer)
