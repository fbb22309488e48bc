"""Warp operations that control flow may reach lane by lane become places where lanes wait for each other.

before   b3: %7 = warp [shuffle down] %m %v 1 31          after   b3: gather [shuffle down] %m %v 1 31 -> b9
             ... %7 ...                                           b9: ... %7 ...

A gather whose lanes are all here does its work at once. Otherwise they wait, other lanes run, and the runtime answers
when everybody has come. What a waiting lane still needs must then be kept lane by lane.

So it must at a barrier in a loop that other lanes pass by on their way to the next round:

    for (...) if (x) { ...; __syncthreads(); ... }
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.codegen.simt.analyses.divergence import Divergence, reachable
from kernelwright.codegen.simt.analyses.liveness import live_into
from kernelwright.codegen.simt.analyses.uniformity import analyse
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.program.control_flow import arrange, note_uses
from kernelwright.codegen.simt.program.program import Block, Op, Program, Var


def settle(program: Program, options: SimtOptions) -> Divergence:
    """Analyses the program, cutting blocks until every warp operation is reached by all lanes or is a gather."""
    forced = frozenset[Var]()
    if options.split:
        # Lanes may come apart anywhere: all is cut, and nearly all that must be kept is known, before anything is analysed.
        _cut_gathers(program, program.blocks)
        forced = kept_by_waiting_lanes(program, True)
    control = analyse(program, options.geometry, forced, options.split)
    while True:
        if _cut_gathers(program, [block for block in program.blocks if block in control.partial]):
            control = analyse(program, options.geometry, forced, options.split)
            continue
        # The root of a value that is kept as its extension is alive with it, which takes shapes to see.
        needed = kept_by_waiting_lanes(program, options.split, control)
        if needed <= forced:
            control.kept = forced
            return control
        forced |= needed
        control = analyse(program, options.geometry, forced, options.split)


def waits(block: Block, split: bool) -> bool:
    """Whether lanes of a warp can wait at the end of this block while others go on."""
    return block.term.code == "gather" or (split and block.term.code == "barrier")


def _cut_gathers(program: Program, blocks: Sequence[Block]) -> bool:
    """Ends these blocks at warp operations, since some lanes may reach them before others. Whether anything was cut."""
    found = False
    for block in list(blocks):
        while True:
            at = next(
                (i for i, op in enumerate(block.ops) if op.code == "warp" and op.detail.name != "activemask"), None
            )
            if at is None:
                break
            block = _cut(program, block, at)
            found = True
    if found:
        arrange(program)
        note_uses(program)
    return found


def _cut(program: Program, block: Block, at: int) -> Block:
    op = block.ops[at]
    after = Block(max(b.number for b in program.blocks) + 1, block.function, block.origin, block.part + 1)
    after.start = after.end = block.end
    after.ops, after.term = block.ops[at + 1 :], block.term
    for target in dict.fromkeys(after.succs):
        for phi in target.phis:
            phi.sources = tuple(after if s is block else s for s in phi.sources)
    block.ops = block.ops[:at]
    block.term = Op("gather", op.args, op.outs, op.detail, op.origin, (after,))
    for out in op.outs:
        out.op = block.term
    program.blocks.append(after)
    return after


def kept_by_waiting_lanes(program: Program, split: bool, control: Divergence | None = None) -> frozenset[Var]:
    """The values that must be kept lane by lane, because lanes may wait while others go on, and the answers they get."""
    places = [b for b in program.blocks if waits(b, split) or (control is not None and _is_passed_by(b, control))]
    if not places:
        return frozenset()
    live = live_into(program)
    kept = {v for b in places for v in live[b.succs[0]]}
    return frozenset(kept | {o for b in places for o in b.term.outs})


def _is_passed_by(barrier: Block, control: Divergence) -> bool:
    """Whether lanes can come to this barrier while others go round a loop that it is in without it: what those make anew is what the
    waiting ones have. Lanes that leave all loops around it make nothing anew."""
    if barrier.term.code != "barrier":
        return False
    loop = barrier.loop
    while loop is not None:
        for parting in loop.blocks & control.divergent:
            ways = set(parting.succs)
            to_barrier = {way for way in ways if barrier in reachable([way], loop.header)}
            past_it = {way for way in ways if loop.header in reachable([way], barrier)}
            if any(one is not other for one in to_barrier for other in past_it):
                return True
        loop = loop.parent
    return False
