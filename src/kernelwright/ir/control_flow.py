"""The control flow graph of a function: reverse postorder, dominators, the latches of its loops.

Everything here is a snapshot: make it anew after blocks or branches changed. Moving instructions is fine.
"""

from __future__ import annotations

from kernelwright.ir.graph import DominatorTree, postorder
from kernelwright.ir.module import BasicBlock, Function, Instruction
from kernelwright.ir.values import Value


def reverse_postorder(function: Function) -> list[BasicBlock]:
    """The blocks reachable from the entry; each comes before its successors, back edges aside."""
    return postorder(function.blocks[:1], lambda block: block.successors)[::-1]


class Dominators:
    """``a`` dominates ``b`` when every path from the entry to ``b`` passes ``a``; a block dominates itself.

    Blocks that cannot be reached follow LLVM: everything dominates them, they dominate nothing reachable.
    """

    def __init__(self, function: Function) -> None:
        self.order = reverse_postorder(function)
        """The reachable blocks in reverse postorder."""
        before: dict[BasicBlock, list[BasicBlock]] = {block: [] for block in self.order}
        for block in self.order:
            for successor in block.successors:
                before[successor].append(block)
        self._tree = DominatorTree(self.order, before.__getitem__)

    def is_reachable(self, block: BasicBlock) -> bool:
        """Whether a path leads from the entry to ``block``."""
        return block in self._tree

    def immediate(self, block: BasicBlock) -> BasicBlock | None:
        """The closest block that strictly dominates ``block``; ``None`` for the entry and unreachable blocks."""
        found = self._tree.parents.get(block)
        return None if found is block else found

    def dominates(self, a: BasicBlock, b: BasicBlock) -> bool:
        """Whether every path to ``b`` passes ``a``."""
        if not self.is_reachable(b):
            return True
        return self.is_reachable(a) and self._tree.dominates(a, b)

    def before(self, a: Instruction, b: Instruction) -> bool:
        """Whether ``a`` has always run when ``b`` runs: strictly earlier in the same block, or in a dominating block."""
        block, other = a.parent, b.parent
        if block is None or other is None:
            return False
        if block is other:
            return a is not b and block.instructions.index(a) < block.instructions.index(b)
        return self.dominates(block, other)

    def reaches_operand(self, value: Value, user: Instruction, index: int) -> bool:
        """Whether ``value`` may be operand ``index`` of ``user`` by the rule of SSA.

        Constants and arguments of the function always may. A phi uses its operand at the end of the block it comes from.
        """
        if not isinstance(value, Instruction):
            return True
        if user.opcode != "phi":
            if user.parent is not None and not self.is_reachable(user.parent):
                return value.parent is not None
            return self.before(value, user)
        return value.parent is not None and self.dominates(value.parent, user.blocks[index])


def loop_latches(dominators: Dominators) -> dict[BasicBlock, list[BasicBlock]]:
    """By the header of each natural loop, the blocks that jump back to it. Irreducible cycles are none."""
    found: dict[BasicBlock, list[BasicBlock]] = {}
    for block in dominators.order:
        for successor in dict.fromkeys(block.successors):
            if dominators.dominates(successor, block):
                found.setdefault(successor, []).append(block)
    return found
