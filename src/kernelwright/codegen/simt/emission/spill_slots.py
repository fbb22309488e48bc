"""Where values lie that other blocks look at: stack slots, or the warp's frame if they must survive a suspension."""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.liveness import live_into
from kernelwright.codegen.simt.analyses.uniformity import Shape, V
from kernelwright.codegen.simt.emission.lane_control import LaneControl
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import stored
from kernelwright.codegen.simt.program.program import Block, Operand, Var, bits_of


def place_values(c: LaneControl) -> None:
    """Decides which values need a place, and which of them must keep the lanes that are not active."""
    e = c.e
    program = e.program
    everything = not program.reducible
    phis = {p.outs[0] for b in program.blocks for p in b.phis} | {o for b in program.blocks for o in b.term.outs}
    defined = [o for op in program.ops() for o in op.outs]
    for var in defined:
        # A phi of a loop is read in its own block, the number it extends was made before the loop.
        if (var.crosses or var in phis) and var.shape[0] == "x":
            root: Var = var.shape[1]
            if root.op is not None and root.op.code != "source":
                root.crosses = True
    _note_loop_exits(e)
    forced = {v for v in defined if v.blend} | c.divergence.kept
    saved = _saved(c)
    slots = 0
    for var in defined:
        if not (var.crosses or var in phis):
            continue
        var.blend = var in forced or (everything and var.shape is V)
        parts = _slot_count(e, var)
        type = e.slot_type(var.type) if var.shape is V else stored(var.type)
        var.slots = []
        for _ in range(parts):
            slots += 1
            if var in saved:
                var.slots.append(_frame_slot(c, type, var))
            else:
                e.head.append(f"  %s{slots} = alloca {type}")
                if var.shape is V:
                    e.head.append(f"  store {type} zeroinitializer, ptr %s{slots}")
                var.slots.append(f"%s{slots}")
    for var in e.mirror_slots:
        slots += 1
        type = e.slot_type(var.type)
        if var in saved:
            e.mirror_slots[var] = _frame_slot(c, type, None, e.lanes * max(bits_of(var.type), 8) // 8)
        else:
            e.head += [f"  %s{slots} = alloca {type}", f"  store {type} zeroinitializer, ptr %s{slots}"]
            e.mirror_slots[var] = f"%s{slots}"


def _slot_count(e: Lanes, var: Var) -> int:
    shape: Shape = var.shape[4] if var.shape[0] == "x" else var.shape
    return e.parts if shape[0] == "s" else 1


def _frame_slot(c: LaneControl, type: str, var: Var | None, size: int = 0) -> str:
    e = c.e
    if var is not None:
        width = max(bits_of(var.type), 8) // 8
        size = e.lanes * width if var.shape is V else max(width, 8)
    align = 64 if size >= 64 else max(size, 8)
    c.frame_end = (c.frame_end + align - 1) // align * align
    e.number += 1
    name = f"%s_{e.number}"
    e.head.append(f"  {name} = getelementptr i8, ptr %f, i64 {c.frame_end}")
    c.frame_end += size
    e.frame_slots.add(name)
    return name


def _note_loop_exits(e: Lanes) -> None:
    """Finds the values that lanes take along when they leave a loop at different times."""
    if not any(loop.divergent for loop in e.program.loops):
        return
    for block in e.program.blocks:
        for phi in block.phis:
            for arg, source in zip(phi.args, phi.sources, strict=True):
                _note_exit(e, arg, source)
        for op in (*block.ops, block.term):
            for arg in op.args:
                _note_exit(e, arg, block)


def _note_exit(e: Lanes, arg: Operand, block: Block) -> None:
    if not isinstance(arg, Var) or not arg.crosses or arg.block is None:
        return
    loop = arg.block.loop
    while loop is not None and not loop.divergent:
        loop = loop.parent
    if loop is None or block in loop.blocks:
        return
    if arg.shape is V:
        arg.blend = True
    elif arg.mirror is None:
        arg.mirror = loop
        e.mirrors.setdefault(loop, []).append(arg)
        e.mirror_slots[arg] = ""
    if arg.shape[0] == "x":
        _note_exit(e, arg.shape[1], block)


def _saved(c: LaneControl) -> set[Var]:
    """The values a warp must find again after it was suspended."""
    if not c.points:
        return set()
    live = live_into(c.e.program)
    return {v for block in c.points for v in live[block.succs[0]]}
