"""The error for code that the virtual GPU cannot run."""

from __future__ import annotations

from kernelwright.errors import CompileError, Place
from kernelwright.ir.module import Instruction


def refuse(instruction: Instruction, why: str) -> CompileError:
    """The error for an instruction that the device cannot run; it shows the instruction."""
    function = instruction.function
    place = Place(f"<ir of {function.name}>" if function else "<ir>", text=str(instruction).strip())
    return CompileError(f"The virtual GPU cannot run '{instruction.opcode}': {why}.", place=place)
