"""Instructions by IR block and class, counted apart from the weights that the timing model is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernelwright.codegen.cost.loop_copies import original
from kernelwright.codegen.cost.ptx_counts import CLASSES, instruction_class, origins
from kernelwright.codegen.machine.block_counts import machine_code
from kernelwright.codegen.machine.sass import OPCODES
from kernelwright.codegen.ptx_text import read_ptx

PTX_CLASSES = {name for name, _ in CLASSES}
MACHINE_CLASSES = {*OPCODES, "other"}


@dataclass
class Counts:
    """By IR block (its label without the ``%``), then by class. ``outlined``: machine instructions that few executions enter."""

    blocks: dict[str, Counter[str]] = field(default_factory=dict)
    outlined: Counter[str] = field(default_factory=Counter)

    def total(self) -> Counter[str]:
        """All blocks together, without what is outlined."""
        return sum(self.blocks.values(), Counter[str]())


def ptx_counts(ptx: str, labels: Mapping[str, Collection[str]] | None = None) -> dict[str, Counts]:
    found = {function.name: Counts() for function in read_ptx(ptx)}
    for function in read_ptx(ptx):
        origin = origins(function, (labels or {}).get(function.name))
        for block in function.blocks:
            counted = found[function.name].blocks.setdefault(origin[block.label], Counter())
            counted.update(instruction_class(each.opcode) for each in block.instructions)
    return found


def machine_counts(ptx: str, arch: str, **more: Any) -> dict[str, Counts]:
    """All copies of a block together."""
    found = {}
    for name, function in machine_code(ptx, arch, **more).functions.items():
        found[name] = Counts(outlined=Counter(each.instruction.kind for each in function.cold))
        for label, placed in function.blocks.items():
            found[name].blocks.setdefault(original(label), Counter()).update(each.instruction.kind for each in placed)
    return found
