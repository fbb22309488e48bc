"""Loops that wait for another thread must let others run: a lane that spins on a lock would keep the lane that has it waiting.

before   b3: ... atomic cas ...; branch %locked -> b3, b4       after   b3: ...; branch %locked -> b9, b4
                                                                        b9: gather [yield] -> b3

A loop waits for another thread when whether it goes on depends on what it reads with an atomic or a volatile load.
"""

from __future__ import annotations

from kernelwright.codegen.simt.program.program import Block, Loop, Op, Program, Var
from kernelwright.codegen.simt.program.warp_operations import WarpOp
from kernelwright.ir.module import Instruction

YIELD = WarpOp("yield")


def add_yields(program: Program) -> bool:
    """Puts a yield on the way back of every loop that waits. Whether there were any."""
    if not program.reducible:
        return False
    found = [loop for loop in program.loops if _waits(loop)]
    for loop in found:
        _insert(program, loop)
    return bool(found)


def _waits(loop: Loop) -> bool:
    seen: set[Var] = set()
    for block in loop.blocks:
        for op in block.ops:
            if op.code == "atomic" or (op.code == "load" and op.detail.volatile):
                seen.update(op.outs)
    if not seen:
        return False
    changed = True
    while changed:
        changed = False
        for block in loop.blocks:
            for op in (*block.phis, *block.ops):
                if op.outs and op.outs[0] not in seen and any(a in seen for a in op.args):
                    seen.update(op.outs)
                    changed = True
    return any(
        block.term.args and block.term.args[0] in seen and any(t not in loop.blocks for t in block.succs)
        for block in loop.blocks
    )


def _asked(loop: Loop) -> Instruction | None:
    """What a waiting loop asks, for messages: the branch that leaves it."""
    return next(
        (
            b.term.origin
            for b in sorted(loop.blocks, key=lambda b: b.number)
            if any(t not in loop.blocks for t in b.succs)
        ),
        None,
    )


def _insert(program: Program, loop: Loop) -> None:
    latch, header = loop.latch, loop.header
    if latch.term.code == "gather":
        return
    made = Block(max(b.number for b in program.blocks) + 1, header.function, None)
    term = latch.term
    made.term = Op("gather", (), (), YIELD, _asked(loop), (header,))
    targets = tuple(made if t is header else t for t in term.targets)
    latch.term = Op(term.code, term.args, term.outs, term.detail, term.origin, targets)
    for phi in header.phis:
        phi.sources = tuple(made if s is latch else s for s in phi.sources)
    program.blocks.append(made)
