"""``Program`` → the text of one host function that runs a warp.

The function starts, or goes on where the warp stopped; runs the pending block with the smallest number until none is left;
returns 0, or the suspension point at which its lanes wait.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.simt.analyses.divergence import Divergence
from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission import arithmetic, slow_quotients, struct_offsets, warp_cooperation
from kernelwright.codegen.simt.emission.accesses import memory_access
from kernelwright.codegen.simt.emission.jumps_and_barriers import ENDS
from kernelwright.codegen.simt.emission.lane_control import LaneControl
from kernelwright.codegen.simt.emission.lane_values import Lanes, all_lanes
from kernelwright.codegen.simt.emission.spill_slots import place_values
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.program.program import Block, Op, Program

ENTRY = "kernelwright_warp"
"""The name of every generated function; each lives in a module of its own."""
MOST_TWICE = 100
"""Operations of a block that is written twice at most."""


class Emitter:
    """Writes the function, operation by operation (``HANDLERS``) and block end by block end (``ENDS``)."""

    def __init__(self, program: Program, control: Divergence, options: SimtOptions) -> None:
        self.e = Lanes(program, options)
        self.control = LaneControl(self.e, control)
        dividing = slow_quotients.dividing_blocks(program)
        self.slow_paths = {block.id: len(program.blocks) + n for n, block in enumerate(dividing)}
        """Behind all blocks, where the slow paths of a block's divisions are counted."""

    def function(self) -> str:
        """The whole text."""
        e = self.e
        program = e.program
        place_values(self.control)
        self.control.plan()
        e.head += [f"  %p{b.id} = alloca i32" for b in program.blocks if b in self.control.divergence.partial]
        for block in program.blocks:
            if block.id in self.control.pending.check:
                self._check(block)
            if block.id in self.control.pending.body:
                self._body(block)
        if any("label %done" in x for x in e.out):
            e.label("done")
            e.line("ret i64 0")
        e.label("abort")
        e.line("ret i64 -1")
        self._entry()
        lanes = e.lanes
        allocas = [
            f"  %scratch{i} = alloca [{lanes if lanes > 32 else 32} x i128], align 64" for i in range(e.scratches)
        ]
        if e.passes_parts:
            allocas += ["  %rem = alloca [4 x i64]", "  %root = alloca [4 x i32]"]
        declarations = "\n".join(e.declared.values())
        body = "\n".join(["entry:", *allocas, *e.head, *e.out])
        return f"{declarations}\ndefine i64 @{ENTRY}(ptr noalias %c, ptr noalias %f) {{\n{body}\n}}\n{memory_access.METADATA}"

    def _entry(self) -> None:
        """How the function begins: at the start, or behind the point the warp stopped at."""
        e = self.e
        body, e.out = e.out, []
        together = [(b, j) for b, j in self.control.points.items() if b not in self.control.apart]
        if self.control.points:
            pointer = e.let(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['resume']}")
            resume = e.let(f"load i32, ptr {pointer}")
            cases = " ".join(f"i32 {j}, label %resume{j}" for _, j in together)
            if self.control.apart:
                cases += f" i32 {len(self.control.points) + 1}, label %resume_apart"
            e.line(f"switch i32 {resume}, label %begin [ {cases} ]")
            for block, j in together:
                e.label(f"resume{j}")
                self._enter(block.succs[0], "live")
            if self.control.apart:
                e.label("resume_apart")
                self._enter_apart()
        else:
            e.line("br label %begin")
        e.label("begin")
        self._enter(e.program.entry, "run" if e.options.split else "live")
        e.head += e.out
        e.out = body

    def _enter_apart(self) -> None:
        """Lanes go on behind the points they waited at, with the answers they waited for."""
        e = self.e
        for block in self.control.apart:
            at = struct_offsets.FRAME_SAVED + 4 * (self.control.points[block] - 1)
            pointer = e.let(f"getelementptr i8, ptr %f, i64 {at}")
            mask = e.let(f"load i32, ptr {pointer}")
            e.line(f"store i32 {mask}, ptr %p{block.succs[0].id}")
            if block.term.outs:
                warp_cooperation.take_answers(e, block.term, mask)
        state = frozenset(b.succs[0].id for b in self.control.apart)
        self.control.go(state, None)

    def _enter(self, block: Block, lanes: str) -> None:
        """All lanes of a field of the frame are in ``block``."""
        e = self.e
        if block in self.control.divergence.partial:
            pointer = e.let(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME[lanes]}")
            e.line(f"store i32 {e.let(f'load i32, ptr {pointer}')}, ptr %p{block.id}")
        self.control.settle(frozenset(), "body", block.id)
        e.line(f"br label %body{block.id}")

    def _check(self, block: Block) -> None:
        e = self.e
        k = block.id
        e.label(f"check{k}")
        mask = e.let(f"load i32, ptr %p{k}")
        some = e.let(f"icmp ne i32 {mask}, 0")
        skip = e.fresh_label("skip")
        inside = e.fresh_label("into")
        e.line(f"br i1 {some}, label %{inside}, label %{skip}")
        state = self.control.pending.check[k] - {k}
        e.label(inside)
        self.control.settle(state, "body", k)
        e.line(f"br label %body{k}")
        e.label(skip)
        self.control.go(state, None)

    def _body(self, block: Block) -> None:
        """Writes a block; where only some lanes may be active, apart for those rounds in which all are, if that is worth it."""
        e = self.e
        k = block.id
        e.begin(block)
        e.some_lanes = block in self.control.divergence.partial or not e.geometry.full
        self.control.state = self.control.pending.body[k]
        e.label(f"body{k}")
        if block in self.control.divergence.partial:
            mask = e.let(f"load i32, ptr %p{k}")
            if self._is_worth_twice(block):
                whole, part = e.fresh_label("whole"), e.fresh_label("part")
                e.line(f"br i1 {e.let(f'icmp eq i32 {mask}, {all_lanes(e.lanes)}')}, label %{whole}, label %{part}")
                e.label(whole)
                e.mask = "-1"
                self._content(block)
                e.label(part)
                e.begin(block)
            e.mask = mask
        elif e.geometry.full:
            e.mask = "-1"
        else:
            key = "start_mask"
            if key not in e.context_pointers:
                pointer = e.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['start']}")
                e.context_pointers[key] = e.top(f"load i32, ptr {pointer}")
            e.mask = e.context_pointers[key]
        self._content(block)

    def _is_worth_twice(self, block: Block) -> bool:
        """Whether a block is short, accesses memory in line, and does nothing that waits for others: most such blocks stand behind the
        question whether a thread has an element at all, which all but a few warps answer with one voice."""
        options, accesses = self.e.options, sum(op.code in ("load", "store") for op in block.ops)
        return (
            options.in_line
            and not options.split
            and accesses > 0
            and len(block.ops) <= MOST_TWICE
            and block.term.code in ("jump", "branch", "return")
            and not any(op.code in HANDLERS and op.code not in ("load", "store", "atomic") for op in block.ops)
        )

    def _content(self, block: Block) -> None:
        """What a block does for the lanes of ``mask``."""
        e, k = self.e, block.id
        for point in self.control.passed.get(block, ()):
            e.line(e.helper("passed", f"ptr %c, i32 {point}, i32 {e.whole_mask()}"))
        if e.options.counters:
            self._count(k)
        if e.options.trace:
            self._trace(k)
        for op in block.ops:
            self.operation(op)
        if e.slow:
            self._slow_quotients(e.slow, self.slow_paths[k])
        ENDS[block.term.code](self.control, block, block.term)

    def _count(self, k: int) -> None:
        """One more execution of the block, and its lanes, where they are not the same in all."""
        e = self.e
        self._add(2 * k, "1")
        if e.mask != "-1":
            e.declare("llvm.ctpop.i32", "i32 (i32)")
            lanes = e.let(f"call i32 @llvm.ctpop.i32(i32 {e.mask})")
            self._add(2 * k + 1, e.let(f"zext i32 {lanes} to i64"))
        elif e.some_lanes:
            self._add(2 * k + 1, str(e.lanes))

    def _add(self, counter: int, value: str) -> None:
        """More of a counter."""
        e = self.e
        pointer = e.let(f"getelementptr i64, ptr {e.context('counts', 'ptr', 0, 8)}, i64 {counter}")
        old = e.let(f"load i64, ptr {pointer}")
        e.line(f"store i64 {e.let(f'add i64 {old}, {value}')}, ptr {pointer}")

    def _slow_quotients(self, masks: list[str], k: int) -> None:
        """Counts the divisions whose lanes take the slow path as executions of ``k``; mostly there are none."""
        e = self.e
        some = masks[0]
        for mask in masks[1:]:
            some = e.let(f"or i32 {some}, {mask}")
        tell, on = e.fresh_label("slow"), e.fresh_label("on")
        e.line(f"br i1 {e.let(f'icmp ne i32 {some}, 0')}, label %{tell}, label %{on}, !prof !0")
        e.label(tell)
        e.declare("llvm.ctpop.i32", "i32 (i32)")
        for mask in masks:
            one, past = e.fresh_label("slow"), e.fresh_label("on")
            e.line(f"br i1 {e.let(f'icmp ne i32 {mask}, 0')}, label %{one}, label %{past}")
            e.label(one)
            lanes = e.let(f"call i32 @llvm.ctpop.i32(i32 {mask})")
            self._add(2 * k, "1")
            self._add(2 * k + 1, e.let(f"zext i32 {lanes} to i64"))
            if e.options.trace:
                self._trace(k)
            e.line(f"br label %{past}")
            e.label(past)
        e.line(f"br label %{on}")
        e.label(on)

    def _trace(self, k: int) -> None:
        """Tell who watches that this warp runs the block."""
        e = self.e
        pointer = e.let(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT['watched']}")
        watched = e.let(f"icmp ne i32 {e.let(f'load i32, ptr {pointer}')}, 0")
        tell, on = e.fresh_label("tell"), e.fresh_label("on")
        e.line(f"br i1 {watched}, label %{tell}, label %{on}, !prof !0")
        e.label(tell)
        e.declare("llvm.ctpop.i32", "i32 (i32)")
        lanes = e.let(f"call i32 @llvm.ctpop.i32(i32 {e.whole_mask()})")
        e.line(e.helper("trace", f"ptr %c, i32 1, i32 {k}, i32 {lanes}"))
        e.line(f"br label %{on}")
        e.label(on)

    def operation(self, op: Op) -> None:
        """Writes one operation: by its handler in ``HANDLERS``, else as arithmetic."""
        handler = HANDLERS.get(op.code)
        if handler is not None:
            handler(self.e, op)
        else:
            arithmetic.operation(self.e, op)
        if self.e.options.counters and slow_quotients.is_rounded(op):
            slow_quotients.note(self.e, op)


def _clock(e: Lanes, op: Op) -> None:
    """A clock that moves whenever it is read: a loop that waits for it ends."""
    pointer = e.let(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT['clock']}")
    now = e.let(f"add i64 {e.let(f'load i64, ptr {pointer}')}, 1")
    e.line(f"store i64 {now}, ptr {pointer}")
    out = op.outs[0]
    if out.type != "i64":
        now = e.let(f"trunc i64 {now} to {out.type}")
    e.define(out, [now] if out.shape is not V else [e.spread(out.type, [now])])


def _shared_size(e: Lanes, op: Op) -> None:
    size = e.context("dynamic_shared" if op.detail == "dynamic_smem_size" else "block_shared", "i32")
    out = op.outs[0]
    e.define(out, [size] if out.shape is not V else [e.spread(out.type, [size])])


HANDLERS: dict[str, Callable[[Lanes, Op], None]] = {
    "load": memory_access.load,
    "store": memory_access.store,
    "atomic": memory_access.atomic,
    "copy": memory_access.copy,
    "fill": memory_access.fill,
    "print": memory_access.print_,
    "clock": _clock,
    "shared-size": _shared_size,
    "trap": lambda e, op: memory_access.stop(e, op.detail, op),
    "warp": warp_cooperation.operation,
    "barrier-result": warp_cooperation.barrier_result,
    "arrive": warp_cooperation.arrive,
    "fence": warp_cooperation.fence,
}
"""Operations that are no plain arithmetic."""
