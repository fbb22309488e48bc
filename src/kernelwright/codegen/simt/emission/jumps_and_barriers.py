"""How blocks end: jumps and branches, and the places where lanes wait for others."""

from __future__ import annotations

import math
from collections.abc import Callable

from kernelwright.codegen.simt.emission import struct_offsets, warp_cooperation
from kernelwright.codegen.simt.emission.accesses import memory_access
from kernelwright.codegen.simt.emission.lane_control import LaneControl
from kernelwright.codegen.simt.emission.representation import splat
from kernelwright.codegen.simt.program.program import Block, Op

PATIENCE = 64
"""How often a loop that waits goes round before it lets others run."""


def jump(c: LaneControl, block: Block, term: Op) -> None:
    """The end of a block that goes to one other."""
    c.spend(term.targets)
    c.edge(term.targets[0], c.e.mask)
    targets = [term.targets[0].id]
    c.go(c.state | {targets[0]}, targets)


def branch(c: LaneControl, block: Block, term: Op) -> None:
    """The end of a block with a condition, which lanes may decide differently."""
    e = c.e
    c.spend(term.targets)
    condition = e.get(term.args[0])
    if block not in c.divergence.divergent:
        _branch_together(c, f"br i1 {condition.parts[0]}, label %{{0}}, label %{{1}}", list(term.targets))
        return
    yes = e.active_bits(e.vector_of(condition))
    no = e.let(f"xor i32 {yes}, {e.whole_mask()}")
    c.edges([(term.targets[0], yes), (term.targets[1], no)])
    ids = [t.id for t in term.targets]
    c.go(c.state | frozenset(ids), ids)


def _branch_together(c: LaneControl, text: str, targets: list[Block]) -> None:
    """A branch that all lanes take together; ``text`` has a place for the label of each target."""
    e = c.e
    labels = [e.fresh_label("way") for _ in targets]
    e.line(text.format(*labels))
    kept = [e.snapshot() for _ in targets]
    for target, label, known in zip(targets, labels, kept, strict=True):
        e.label(label)
        e.restore(known)
        c.edge(target, e.mask)
        c.go(c.state | {target.id}, [target.id])


def switch(c: LaneControl, block: Block, term: Op) -> None:
    """The end of a block with many targets by value."""
    e = c.e
    c.spend(term.targets)
    rep = e.get(term.args[0])
    type = term.args[0].type
    if block not in c.divergence.divergent:
        targets = list(dict.fromkeys(term.targets))
        place = {t: i for i, t in enumerate(targets)}
        cases = " ".join(
            f"{type} {case}, label %{{{place[t]}}}" for case, t in zip(term.detail, term.targets[1:], strict=True)
        )
        _branch_together(c, f"switch {type} {rep.parts[0]}, label %{{{place[term.targets[0]]}}} [ {cases} ]", targets)
        return
    value = e.vector_of(rep)
    by_target: dict[Block, str] = {}
    taken = None
    for case, target in zip(term.detail, term.targets[1:], strict=True):
        hit = e.let(f"icmp eq {e.vector_type(type)} {value}, {splat(type, str(case))}")
        mask = e.active_bits(hit)
        taken = mask if taken is None else e.let(f"or i32 {taken}, {mask}")
        by_target[target] = mask if target not in by_target else e.let(f"or i32 {by_target[target]}, {mask}")
    default = e.whole_mask() if taken is None else e.let(f"xor i32 {taken}, {e.whole_mask()}")
    first = term.targets[0]
    by_target[first] = default if first not in by_target else e.let(f"or i32 {by_target[first]}, {default}")
    c.edges([(target, by_target[target]) for target in sorted(by_target, key=lambda t: t.id)])
    ids = [t.id for t in by_target]
    c.go(c.state | frozenset(ids), ids)


def return_(c: LaneControl, block: Block, term: Op) -> None:
    """The end of a block in which lanes end."""
    e = c.e
    if block in c.divergence.partial and c.points:
        # Barriers and gathers do not wait for those who have left.
        pointer = e.frame_pointer("live")
        live = e.let(f"load i32, ptr {pointer}")
        gone = e.let(f"xor i32 {e.mask}, -1")
        e.line(f"store i32 {e.let(f'and i32 {live}, {gone}')}, ptr {pointer}")
    if not c.state and block not in c.divergence.partial:
        e.line("ret i64 0")
    else:
        c.go(c.state, None)


def stop(c: LaneControl, block: Block, term: Op) -> None:
    """The program promised that control never comes here."""
    memory_access.stop(c.e, "trap", term)
    c.e.line("br label %abort")


# -- waiting --------------------------------------------------------------------------------------------------


def barrier(c: LaneControl, block: Block, term: Op) -> None:
    """The lanes wait: the number of the point is what the function returns when nothing else can run."""
    e = c.e
    point = c.points[block]
    if term.args:
        bits = e.operand_mask(term.args[0])
        pointer = e.frame_pointer("predicate")
        if block in c.divergence.partial:
            bits = e.let(f"or i32 {e.let(f'load i32, ptr {pointer}')}, {bits}")
        e.line(f"store i32 {bits}, ptr {pointer}")
    if _has_nobody_to_wait_for(c, block, term):
        pointer = e.let(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT['attention']}")
        unwatched = e.let(f"icmp eq i32 {e.let(f'load i32, ptr {pointer}')}, 0")
        tell = e.fresh_label("tell")
        e.line(f"br i1 {unwatched}, label %resume{point}, label %{tell}, !prof !1")
        e.label(tell)
    c.stop_at(point)


def _has_nobody_to_wait_for(c: LaneControl, block: Block, term: Op) -> bool:
    """Whether the block has one warp, whose lanes come to a barrier together: it goes on, unless it is watched."""
    options, detail = c.e.options, term.detail
    return (
        options.block is not None
        and math.prod(options.block) <= 32
        and not (options.split or options.checked or term.args or detail.is_grid or detail.threads)
        and block not in c.divergence.partial
        and not any(op.code == "arrive" for op in c.e.program.ops())
    )


def gather(c: LaneControl, block: Block, term: Op) -> None:
    """Do the work when every lane of the member mask is here, else wait for the runtime's answer."""
    e = c.e
    if term.detail.name == "yield":
        _yield(c, block, term)
        return
    members = e.get(term.args[0])
    pointer = e.frame_pointer("live")
    live = e.let(f"load i32, ptr {pointer}")
    absent = e.let(f"and i32 {live}, {e.let(f'xor i32 {e.mask}, -1')}")
    if members.shape[0] == "u":
        wanted = members.parts[0]
    else:
        bits, t = f"<{e.lanes} x i1>", e.vector_type("i32")
        row = e.vector_of(members)
        active = e.as_vector(e.mask)
        wanted = warp_cooperation.joined_masks(e, e.let(f"select {bits} {active}, {t} {row}, {t} zeroinitializer"))
    outside = warp_cooperation.outside_members(e, members)
    missing = e.let(f"or i32 {e.let(f'and i32 {absent}, {wanted}')}, {outside}")
    here = e.let(f"icmp eq i32 {missing}, 0")
    for arg in term.args:
        e.vector(arg)
    together, wait = e.fresh_label("together"), e.fresh_label("wait")
    e.line(f"br i1 {here}, label %{together}, label %{wait}")
    e.label(together)
    kept = e.snapshot()
    warp_cooperation.tell_members(e, term, c.points[block])
    warp_cooperation.HANDLERS[term.detail.name](e, term)
    after = block.succs[0]
    c.edge(after, e.mask)
    c.go(c.state | {after.id}, [after.id])
    e.label(wait)
    e.restore(kept)
    warp_cooperation.leave_operands(e, term)
    c.wait_apart(c.points[block])


def _yield(c: LaneControl, block: Block, term: Op) -> None:
    """Now and then, stop and let others run, though nothing is missing."""
    e = c.e
    after = block.succs[0]
    c.spend(term.targets)
    slot = c.spins(block)
    count = e.let(f"add i32 {e.let(f'load i32, ptr {slot}')}, 1")
    e.line(f"store i32 {count}, ptr {slot}")
    enough = "true" if term.detail.mode else e.let(f"icmp ugt i32 {count}, {PATIENCE}")
    wait, on = e.fresh_label("wait"), e.fresh_label("round")
    e.line(f"br i1 {enough}, label %{wait}, label %{on}")
    kept, again = e.snapshot(), e.snapshot()
    e.label(on)
    e.restore(again)
    c.edge(after, e.mask)
    c.go(c.state | {after.id}, [after.id])
    e.label(wait)
    e.restore(kept)
    e.line(f"store i32 0, ptr {slot}")
    c.edge(after, e.mask, pending=False)
    c.wait_apart(c.points[block])


ENDS: dict[str, Callable[[LaneControl, Block, Op], None]] = {
    "jump": jump,
    "branch": branch,
    "switch": switch,
    "return": return_,
    "stop": stop,
    "barrier": barrier,
    "gather": gather,
}
"""How each kind of terminator is written."""
