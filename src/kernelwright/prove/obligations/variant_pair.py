"""An original kernel and its variant, instruction by instruction.

Edits never touch control flow, so both have the same blocks; what stands in them is taken from the variant's final text, after repair.
"""

from __future__ import annotations

from functools import cached_property

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.edits.genome import Applied
from kernelwright.edits.line_templates import AS_STORE, OF_WARP, POLICIES
from kernelwright.edits.original import Id, Original
from kernelwright.ir import Argument, Function, Instruction, Names, Value
from kernelwright.lazy_dataclasses import dataclass


class Unprovable(Exception):
    """Why nothing can be said of a variant at all. Does not leave ``prove/obligations``."""


@dataclass(frozen=True, eq=False)
class VariantPair:
    """Raises ``Unprovable`` where the two do not fit."""

    original: Original
    applied: Applied
    arch: str = DEFAULT_ARCHITECTURE
    """The GPU that it is compiled for."""
    is_compiled: bool = True
    """Whether LLVM compiles it as it stands; what is only a step on the way it does not see."""

    @cached_property
    def before(self) -> Function:
        """The original kernel."""
        return self.original.function

    @cached_property
    def after(self) -> Function:
        """The kernel in the variant's module, as its text has it."""
        return self.applied.module.functions[self.original.kernel]

    @cached_property
    def order_before(self) -> list[list[Id]]:
        """By block, the instructions of the original."""
        return self.original.order

    @cached_property
    def order_after(self) -> list[list[Id]]:
        """By block, those of the variant."""
        draft = self.applied.draft
        return [[id for id in draft.order(b) if id not in draft.dead] for b in range(len(self.original.order))]

    @cached_property
    def varied(self) -> dict[Id, Instruction]:
        """By number, what stands in the variant."""
        found: dict[Id, Instruction] = {}
        draft = self.applied.draft
        if len(self.after.blocks) != len(self.order_after):
            raise Unprovable("the variant has other blocks than its original")
        for number, (block, ids) in enumerate(zip(self.after.blocks, self.order_after, strict=True)):
            given = len(draft.setting.fixed) if number == 0 else 0
            rest = [i for i in block.instructions if not i.opcode.startswith("#dbg")][given:]
            if len(rest) != len(ids):
                raise Unprovable("the variant's text has other instructions than its edits")
            for id, instruction in zip(ids, rest, strict=True):
                if not self._fits(id, instruction):
                    raise Unprovable(f"instruction {id} is another one in the variant's text")
                found[id] = instruction
        return found

    def _fits(self, id: Id, found: Instruction) -> bool:
        draft = self.applied.draft
        node = draft.known(id)
        extras = draft.extras.get(id, ())
        if AS_STORE in extras:
            return found.opcode == "store" and found.ordering != ""
        if any(POLICIES.get(extra) for extra in extras) or OF_WARP in extras:
            return found.opcode == "call"
        if id in self.original.registers or node.origin in self.original.registers:
            return found.opcode in ("call", "freeze")
        name = f"%{found.name}" if found.has_result else ""
        return found.opcode == node.instruction.opcode and name == node.result

    def operands_before(self, id: Id) -> tuple[str, ...]:
        """The operands of an instruction of the original, as text."""
        return self.original.nodes[id].operands

    def operands_after(self, id: Id) -> list[str]:
        """The operands of an instruction after edits and repair, as text."""
        return self.applied.draft.operands(id)

    @cached_property
    def deleted(self) -> list[Id]:
        """Original instructions that are gone, with or without a value in their place."""
        return [id for id in self.applied.draft.dead if isinstance(id, int)]

    @cached_property
    def copies(self) -> list[Id]:
        """Live instructions that the original does not have; without those that make and clear a thread's own variable."""
        made = {name for slot in self.applied.draft.private_cells.values() for name in (slot.variable, slot.cleared)}
        return [id for ids in self.order_after for id in ids if isinstance(id, str) and id not in made]

    @cached_property
    def changed_uses(self) -> list[tuple[Id, int]]:
        """Operands of instructions of the original that are others in the variant, as its text has it."""
        found: list[tuple[Id, int]] = []
        for id in (id for ids in self.order_after for id in ids if isinstance(id, int)):
            before, after = self.original.nodes[id].instruction, self.varied[id]
            if before.opcode == after.opcode and OF_WARP not in self.applied.draft.extras.get(id, ()):
                pairs = zip(map(written, before.operands), map(written, after.operands), strict=True)
            else:  # another form of the same: a store for an exchange, assembly for a load, a barrier of the warp
                pairs = zip(self.operands_before(id), self.operands_after(id), strict=True)
            found += [(id, index) for index, (old, new) in enumerate(pairs) if old != new]
        # An array that became a variable of each thread is settled as a whole (``private_arrays``).
        private = {use for slot in self.applied.draft.private_cells.values() for use in slot.accesses}
        return [use for use in found if use not in private]

    def place(self, id: Id) -> str:
        """``nw.cu:47``, or nothing."""
        draft = self.applied.draft
        node = draft.node(id)
        found = self.original.location(node.origin) if node is not None else None
        return f"{found.file.rpartition('/')[2]}:{found.line}" if found is not None else ""


def written(value: Value) -> str:
    """A value as operands are written, without its type."""
    if isinstance(value, Argument | Instruction):
        return f"%{value.name}"
    return value.reference(Names())
