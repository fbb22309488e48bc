"""Which values are still needed where."""

from __future__ import annotations

from kernelwright.ir.control_flow import all_blocks_postorder
from kernelwright.ir.module import Argument, BasicBlock, Function, Instruction
from kernelwright.ir.values import Value


class Liveness:
    """Live values at the borders of each block: arguments and results, never constants.

    A value is live at a point when some path from there reaches a use before its definition. A phi's result is defined at
    the top of its block, and its operands are used at the end of the blocks they come from: they are live out of those
    blocks, and not live into the phi's own block for the phi's sake.
    """

    def __init__(self, function: Function) -> None:
        values: list[Value] = [*function.arguments, *(i for i in function.instructions() if i.has_result)]
        bit = {value: 1 << n for n, value in enumerate(values)}
        blocks = function.blocks
        used: dict[BasicBlock, int] = {}
        defined: dict[BasicBlock, int] = {}
        at_end = dict.fromkeys(blocks, 0)
        for block in blocks:
            needs = makes = 0
            for instruction in block.instructions:
                if instruction.opcode == "phi":
                    for value, source in zip(instruction.operands, instruction.blocks, strict=True):
                        at_end[source] |= bit.get(value, 0)
                else:
                    for value in instruction.operands:
                        needs |= bit.get(value, 0) & ~makes
                makes |= bit.get(instruction, 0)
            used[block], defined[block] = needs, makes
        live_in = dict.fromkeys(blocks, 0)
        live_out = dict.fromkeys(blocks, 0)
        order = all_blocks_postorder(blocks)
        changed = True
        while changed:
            changed = False
            for block in order:
                out = at_end[block]
                for successor in block.successors:
                    out |= live_in[successor]
                live_out[block] = out
                into = used[block] | (out & ~defined[block])
                if into != live_in[block]:
                    live_in[block] = into
                    changed = True
        self.live_in = {block: _values(mask, values) for block, mask in live_in.items()}
        """Per block the values needed at its first instruction that is no phi, as far as they come from outside."""
        self.live_out = {block: _values(mask, values) for block, mask in live_out.items()}
        """Per block the values needed after its last instruction, phi operands on its outgoing edges included."""

    def live_before(self, instruction: Instruction) -> set[Value]:
        """The values needed by ``instruction`` or by what follows it. Looks at the block from its end."""
        block = instruction.parent
        if block is None:
            raise ValueError("the instruction is in no block")
        live = set(self.live_out[block])
        for i in reversed(block.instructions):
            live.discard(i)
            if i.opcode != "phi":
                live.update(v for v in i.operands if isinstance(v, Argument | Instruction))
            if i is instruction:
                break
        return live


def _values(mask: int, values: list[Value]) -> set[Value]:
    found = set()
    while mask:
        low = mask & -mask
        found.add(values[low.bit_length() - 1])
        mask ^= low
    return found
