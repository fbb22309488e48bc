"""What guards ask about a launch, read from its parameters and the memory they point into."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.guards import LaunchFacts
from kernelwright.ir import Function
from kernelwright.ir.types import PointerType
from kernelwright.launch import Launch

MOST_BYTES = 1024
"""Of a device variable whose content guards can ask for: options and small tables, no data."""
Contents = tuple[tuple[str, bytes], ...]


def facts_of(
    launch: Launch,
    kernel: Function,
    region: Callable[[int], range | None],
    variables: tuple[range, ...],
    contents: Contents = (),
) -> LaunchFacts:
    """``region``: the addresses of the allocation that an address lies in. ``variables``: those of device variables; ``contents``: what
    the small ones hold, where that is known."""
    parameters = parameter_layout(kernel).parameters
    each = tuple(launch.parameters[p.offset : p.offset + p.size] for p in parameters)
    regions = tuple(
        region(int.from_bytes(data, "little")) if isinstance(p.type, PointerType) and not p.byval else None
        for p, data in zip(parameters, each, strict=True)
    )
    return LaunchFacts(launch, each, regions, variables, contents)


def contents_of(loaded: Loaded, arena: Arena) -> Contents:
    """By name what a module's small device variables hold now."""
    small = ((name, b) for name, b in loaded.variables.buffers.items() if b.end - b.address <= MOST_BYTES)
    return tuple((name, bytes(arena.bytes(b.address, b.end - b.address))) for name, b in small)


def facts_of_execution(execution: Execution, arena: Arena) -> LaunchFacts:
    """A launch that is about to be made on the memory of ``arena``."""

    def region(address: int) -> range | None:
        buffer = arena.find(address)
        return range(buffer.address, buffer.end) if buffer is not None else None

    loaded, launch = execution.loaded, execution.launch
    variables = tuple(range(b.address, b.end) for b in loaded.variables.buffers.values())
    return facts_of(launch, loaded.module.functions[launch.kernel], region, variables, contents_of(loaded, arena))
