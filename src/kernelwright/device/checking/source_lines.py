"""The line of an instruction for a finding: never 0 where anything near it has one.

The optimiser joins loads and stores of several lines and leaves them without. Then it is the line of what the address or the value is
made of, else of what uses the result, else of the nearest neighbour in the block, else of the function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kernelwright.device.fault import Location
from kernelwright.device.locations import is_header, location_of
from kernelwright.ir.debug import function_location
from kernelwright.ir.module import Instruction


def line_of(instruction: Instruction) -> Location:
    """Where an instruction is, or is nearest to."""
    place = location_of(instruction)
    if place.line:
        return place
    for near in _near(instruction):
        found = location_of(near)
        if found.line and not is_header(found.file):
            return replace(place, file=found.file, line=found.line, column=found.column)
    function = instruction.function
    start = function_location(function) if function is not None else None
    return replace(place, file=start.file, line=start.line) if start is not None else place


def _near(instruction: Instruction) -> Iterator[Instruction]:
    yield from (one for one in instruction.users if isinstance(one, Instruction))
    yield from (one for one in instruction.operands if isinstance(one, Instruction))
    block = instruction.parent
    if block is None:
        return
    at = instruction.index
    for distance in range(1, len(block.instructions)):
        for position in (at - distance, at + distance):
            if 0 <= position < len(block.instructions):
                yield block.instructions[position]
