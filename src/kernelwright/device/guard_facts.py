"""What guards ask about a launch, read from its parameters and the memory they point into."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.guards import LaunchFacts
from kernelwright.ir import Function
from kernelwright.ir.types import PointerType
from kernelwright.launch import Launch


def facts_of(
    launch: Launch, kernel: Function, region: Callable[[int], range | None], variables: tuple[range, ...]
) -> LaunchFacts:
    """``region``: the addresses of the allocation that an address lies in. ``variables``: those of device variables."""
    parameters = parameter_layout(kernel).parameters
    each = tuple(launch.parameters[p.offset : p.offset + p.size] for p in parameters)
    regions = tuple(
        region(int.from_bytes(data, "little")) if isinstance(p.type, PointerType) and not p.byval else None
        for p, data in zip(parameters, each, strict=True)
    )
    return LaunchFacts(launch, each, regions, variables)


def facts_of_execution(execution: Execution, arena: Arena) -> LaunchFacts:
    """A launch that is about to be made on the memory of ``arena``."""

    def region(address: int) -> range | None:
        buffer = arena.find(address)
        return range(buffer.address, buffer.end) if buffer is not None else None

    loaded, launch = execution.loaded, execution.launch
    variables = tuple(range(b.address, b.end) for b in loaded.variables.buffers.values())
    return facts_of(launch, loaded.module.functions[launch.kernel], region, variables)
