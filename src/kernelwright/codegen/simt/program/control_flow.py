"""Control flow of a program: reachable blocks, loops with one latch, the order of execution, dominators.

The order is what reconvergence depends on: loop bodies are contiguous, exits come after the body, a latch is the last block
of its loop. Then "run the pending block with the smallest number" brings the lanes of a warp together as early as a
post-dominator stack would, and lanes never wait for lanes that wait for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.codegen.simt.program.program import Block, Loop, Op, Operand, Phi, Program, Var
from kernelwright.ir.graph import DominatorTree, back_edges, immediate_dominators, loop_body, postorder


def arrange(program: Program) -> None:
    """Puts ``program.blocks`` into the order of execution and fills ``id``, ``preds``, ``loop`` and ``program.loops``."""
    _prune(program)
    tails: dict[Block, list[Block]] = {}
    for tail, header in _back_edges(program):
        tails.setdefault(header, []).append(tail)
    for header, several in tails.items():
        if len(several) > 1:
            _add_latch(program, header, several)
    _find_loops(program)
    shared = [loop for loop in program.loops if loop.latch.loop is not loop]
    for loop in shared:
        # Who leaves the inner loop must not begin the next round of the outer one before all have left.
        _add_latch(program, loop.header, [loop.latch])
    if shared:
        _find_loops(program)
    program.blocks = _order(program.entry)
    for i, block in enumerate(program.blocks):
        block.id = i


def _find_loops(program: Program) -> None:
    _prune(program)
    back = _back_edges(program)
    tree = DominatorTree(program.blocks, _predecessors)
    program.reducible = all(tree.dominates(head, tail) for tail, head in back)
    for block in program.blocks:
        block.loop = None
    program.loops = _loops(back) if program.reducible else []


def _prune(program: Program) -> None:
    """Drops unreachable blocks and what phis expected from them; fills ``preds``."""
    seen = postorder([program.entry], _successors)[::-1]
    for block in seen:
        block.preds = []
    for block in seen:
        for target in dict.fromkeys(block.succs):
            target.preds.append(block)
    for block in seen:
        for phi in block.phis:
            kept = [(a, b) for a, b in zip(phi.args, phi.sources, strict=True) if b in block.preds]
            if len(kept) != len(phi.args):
                phi.args = tuple(a for a, _ in kept)
                phi.sources = tuple(b for _, b in kept)
    program.blocks = seen


def _successors(block: Block) -> tuple[Block, ...]:
    return block.succs


def _predecessors(block: Block) -> list[Block]:
    return block.preds


def _back_edges(program: Program) -> list[tuple[Block, Block]]:
    return back_edges(program.entry, lambda block: dict.fromkeys(block.succs))


def _add_latch(program: Program, header: Block, tails: list[Block]) -> None:
    """Puts one block between a loop's header and the places it is continued from."""
    latch = Block(_next_number(program), header.function, None)
    program.blocks.append(latch)
    latch.term = Op("jump", (), (), None, None, (header,))
    for tail in tails:
        term = tail.term
        targets = tuple(latch if t is header else t for t in term.targets)
        tail.term = Op(term.code, term.args, term.outs, term.detail, term.origin, targets)
    for phi in header.phis:
        pairs = list(zip(phi.args, phi.sources, strict=True))
        inner = [(a, b) for a, b in pairs if b in tails]
        outer = [(a, b) for a, b in pairs if b not in tails]
        merged: Operand = inner[0][0]
        if any(a is not merged for a, _ in inner):
            out = program.var(phi.outs[0].type, phi.outs[0].pointer)
            made = Phi(tuple(a for a, _ in inner), tuple(b for _, b in inner), out)
            out.op = made
            latch.phis.append(made)
            merged = out
        phi.args = (*(a for a, _ in outer), merged)
        phi.sources = (*(b for _, b in outer), latch)


def _next_number(program: Program) -> int:
    return max(b.number for b in program.blocks) + 1


def dominators(order: list[Block]) -> dict[Block, Block]:
    """The immediate dominator of each block; ``order`` is a reverse post-order from the entry, which dominates itself."""
    return immediate_dominators(order, _predecessors)


def post_dominators(order: list[Block]) -> dict[Block, Block | None]:
    """The immediate post-dominator of each block; ``None`` is the end of the kernel.

    Blocks that are sure to stop the launch (``stop``) do not count as ends: no thread goes on after them. Blocks that may go
    round for ever and never return do: the lanes in there are missing wherever the others go on.
    """
    returning = set(postorder([b for b in order if b.term.code == "return"], _predecessors))
    stopping = _stopping(order)
    ends = {b for b in order if b.term.code == "return" or b not in returning | stopping}
    backward = postorder([b for b in order if b in ends], _predecessors)[::-1]

    def following(block: Block | None) -> Sequence[Block | None]:
        return (None,) if block in ends or block is None else block.succs

    found = immediate_dominators([None, *backward], following)
    return {b: found.get(b) for b in order}


def _stopping(order: list[Block]) -> set[Block]:
    """The blocks that every way leads from to one that stops the launch, and soon."""
    waiting = [b for b in order if b.term.code == "stop"]
    found = set(waiting)
    while waiting:
        for pred in waiting.pop().preds:
            if pred not in found and all(t in found for t in pred.succs):
                found.add(pred)
                waiting.append(pred)
    return found


def _loops(back: list[tuple[Block, Block]]) -> list[Loop]:
    """Natural loops, inner ones first; sets ``block.loop`` to the innermost."""
    found: list[Loop] = []
    for latch, header in back:
        found.append(Loop(header, latch, loop_body(header, [latch], _predecessors)))
    found.sort(key=lambda loop: len(loop.blocks))
    for i, loop in enumerate(found):
        for block in loop.blocks:
            if block.loop is None:
                block.loop = loop
        loop.parent = next((o for o in found[i + 1 :] if loop.header in o.blocks and o is not loop), None)
    for loop in reversed(found):
        loop.depth = loop.parent.depth + 1 if loop.parent else 1
    return found


def _order(entry: Block) -> list[Block]:
    """Reverse post-order in which a loop's body is contiguous: a walk that enters a loop first visits what follows it."""
    exits: dict[Block, list[Block]] = {}

    def following(block: Block) -> list[Block]:
        loop = block.loop
        if loop is None or loop.header is not block:
            return list(dict.fromkeys(block.succs))
        if block not in exits:
            left = [t for b in loop.blocks for t in b.succs if t not in loop.blocks]
            # Sets have no order of their own: number decides, so that two runs agree.
            exits[block] = sorted(dict.fromkeys(left), key=lambda t: (t.loop.depth if t.loop else 0, t.number))
        return list(dict.fromkeys([*exits[block], *block.succs]))

    return postorder([entry], following)[::-1]


def note_uses(program: Program) -> None:
    """Fills ``var.block`` and ``var.crosses``; a phi's operand is used at the end of the block it comes from."""
    for block in program.blocks:
        for phi in block.phis:
            phi.outs[0].block = block
        for op in block.ops:
            for out in op.outs:
                out.block = block
        # What a gather answers is there when the lanes go on.
        for out in block.term.outs:
            out.block = block.succs[0]
    for block in program.blocks:
        for phi in block.phis:
            for arg, source in zip(phi.args, phi.sources, strict=True):
                if isinstance(arg, Var) and arg.block is not source:
                    arg.crosses = True
        for op in (*block.ops, block.term):
            for arg in op.args:
                if isinstance(arg, Var) and arg.block is not block:
                    arg.crosses = True
