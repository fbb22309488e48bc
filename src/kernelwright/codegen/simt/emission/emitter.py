"""``Program`` → the text of one host function that runs a warp.

The function starts, or goes on where the warp stopped; runs the pending block with the smallest number until none is left;
returns 0, or the suspension point at which its lanes wait. What lanes wait where is a mask per block; where control is
shared by all lanes there is no mask at all.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.simt.analyses.divergence import Divergence
from kernelwright.codegen.simt.analyses.pending_lanes import Ids, Pending
from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission import arithmetic, memory_access, struct_offsets, warp_cooperation
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import Rep, splat
from kernelwright.codegen.simt.emission.spill_slots import plan
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.program.control_flow import dominators
from kernelwright.codegen.simt.program.program import Block, Op, Program, Var

ENTRY = "kernelwright_warp"
"""The name of every generated function; each lives in a module of its own."""


class Emitter(Lanes):
    """Writes the function: control, and the operations by way of ``HANDLERS``."""

    def __init__(self, program: Program, control: Divergence, options: SimtOptions) -> None:
        super().__init__(program, options)
        self.control = control
        self.points = {
            b: i + 1 for i, b in enumerate(b for b in program.blocks if b.term.code in ("barrier", "gather"))
        }
        """Suspension points by the block they end, numbered from 1."""
        self.apart = [b for b in self.points if options.split or b.term.code == "gather"]
        """The points that lanes go on from as masks say, not all together."""
        self.frame_end = struct_offsets.FRAME_SAVED + (4 * len(self.points) + 63) // 64 * 64
        self.state: Ids = frozenset()
        """The blocks that may be pending at this point."""
        self.needs_parts = False

    def function(self) -> str:
        """The whole text."""
        program = self.program
        plan(self)
        self.idom = dominators(program.blocks) if self.mirrors else {}
        starts = [frozenset([0])]
        starts += [frozenset([b.succs[0].id]) for b in self.points if b not in self.apart]
        starts += [frozenset(b.succs[0].id for b in self.apart)] if self.apart else []
        self.pending = Pending(program, self.control, starts)
        self.masked = [b for b in program.blocks if b in self.control.partial]
        for b in self.masked:
            self.head.append(f"  %p{b.id} = alloca i32")
        for block in program.blocks:
            if block.id in self.pending.check:
                self._check(block)
            if block.id in self.pending.body:
                self._body(block)
        if any("label %done" in x for x in self.out):
            self.label("done")
            self.line("ret i64 0")
        self.label("abort")
        self.line("ret i64 -1")
        self._entry()
        lanes = self.lanes
        allocas = [
            f"  %scratch{i} = alloca [{lanes if lanes > 32 else 32} x i128], align 64" for i in range(self.scratches)
        ]
        if self.needs_parts:
            allocas += ["  %rem = alloca [4 x i64]", "  %root = alloca [4 x i32]"]
        declarations = "\n".join(self.declared.values())
        body = "\n".join(["entry:", *allocas, *self.head, *self.out])
        return f"{declarations}\ndefine i64 @{ENTRY}(ptr noalias %c, ptr noalias %f) {{\n{body}\n}}\n{memory_access.METADATA}"

    def _entry(self) -> None:
        """How the function begins: at the start, or behind the point the warp stopped at."""
        body, self.out = self.out, []
        together = [(b, j) for b, j in self.points.items() if b not in self.apart]
        if self.points:
            pointer = self.let(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['resume']}")
            resume = self.let(f"load i32, ptr {pointer}")
            cases = " ".join(f"i32 {j}, label %resume{j}" for _, j in together)
            if self.apart:
                cases += f" i32 {len(self.points) + 1}, label %resume_apart"
            self.line(f"switch i32 {resume}, label %begin [ {cases} ]")
            for block, j in together:
                self.label(f"resume{j}")
                self._enter(block.succs[0], "live")
            if self.apart:
                self.label("resume_apart")
                self._enter_apart()
        else:
            self.line("br label %begin")
        self.label("begin")
        self._enter(self.program.entry, "run" if self.options.split else "live")
        self.head += self.out
        self.out = body

    def _enter_apart(self) -> None:
        """Lanes go on behind the points they waited at, with the answers they waited for."""
        for block in self.apart:
            at = struct_offsets.FRAME_SAVED + 4 * (self.points[block] - 1)
            pointer = self.let(f"getelementptr i8, ptr %f, i64 {at}")
            mask = self.let(f"load i32, ptr {pointer}")
            self.line(f"store i32 {mask}, ptr %p{block.succs[0].id}")
            if block.term.outs:
                warp_cooperation.take_answers(self, block.term, mask)
        state = frozenset(b.succs[0].id for b in self.apart)
        self.go(state, None)

    def _enter(self, block: Block, lanes: str) -> None:
        """All lanes of a field of the frame are in ``block``."""
        if block in self.control.partial:
            pointer = self.let(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME[lanes]}")
            self.line(f"store i32 {self.let(f'load i32, ptr {pointer}')}, ptr %p{block.id}")
        self._settle(frozenset(), "body", block.id)
        self.line(f"br label %body{block.id}")

    def _settle(self, state: Ids, kind: str, k: int) -> None:
        """The place control goes to looks at masks that were never set on this way: they are empty."""
        expected = self.pending.body[k] if kind == "body" else self.pending.check[k]
        for other in sorted(expected - state - ({k} if kind == "body" else frozenset())):
            if self.program.blocks[other] in self.control.partial:
                self.line(f"store i32 0, ptr %p{other}")

    def go(self, state: Ids, targets: list[int] | None) -> None:
        kind, k = self.pending.next(state, targets)
        if kind == "done":
            self.line("br label %done")
            return
        self._settle(state - {k} if kind == "body" else state, kind, k)
        self.line(f"br label %{kind}{k}")

    def _check(self, block: Block) -> None:
        k = block.id
        self.label(f"check{k}")
        mask = self.let(f"load i32, ptr %p{k}")
        some = self.let(f"icmp ne i32 {mask}, 0")
        skip = self.fresh_label("skip")
        inside = self.fresh_label("into")
        self.line(f"br i1 {some}, label %{inside}, label %{skip}")
        state = self.pending.check[k] - {k}
        self.label(inside)
        self._settle(state, "body", k)
        self.line(f"br label %body{k}")
        self.label(skip)
        self.go(state, None)

    def _body(self, block: Block) -> None:
        k = block.id
        self.begin(block)
        self.state = self.pending.body[k]
        self.label(f"body{k}")
        if block in self.control.partial:
            self.mask = self.let(f"load i32, ptr %p{k}")
        elif self.geometry.full:
            self.mask = "-1"
        else:
            key = "start_mask"
            if key not in self.context_pointers:
                pointer = self.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['start']}")
                self.context_pointers[key] = self.top(f"load i32, ptr {pointer}")
            self.mask = self.context_pointers[key]
        if self.options.counters:
            self._count(k)
        if self.options.trace:
            self._trace(k)
        for op in block.ops:
            self.operation(op)
        ENDS[block.term.code](self, block, block.term)

    def _count(self, k: int) -> None:
        """One more execution of the block, and its lanes."""
        counts = self.context("counts", "ptr", 0, 8)
        for offset, amount in ((0, None), (1, self.mask)):
            pointer = self.let(f"getelementptr i64, ptr {counts}, i64 {2 * k + offset}")
            value = "1"
            if amount == "-1":
                continue
            if amount is not None:
                self.declare("llvm.ctpop.i32", "i32 (i32)")
                value = self.let(f"zext i32 {self.let(f'call i32 @llvm.ctpop.i32(i32 {amount})')} to i64")
            old = self.let(f"load i64, ptr {pointer}")
            self.line(f"store i64 {self.let(f'add i64 {old}, {value}')}, ptr {pointer}")

    def _trace(self, k: int) -> None:
        """Tell who watches that this warp runs the block."""
        pointer = self.let(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT['watched']}")
        watched = self.let(f"icmp ne i32 {self.let(f'load i32, ptr {pointer}')}, 0")
        tell, on = self.fresh_label("tell"), self.fresh_label("on")
        self.line(f"br i1 {watched}, label %{tell}, label %{on}, !prof !0")
        self.label(tell)
        self.declare("llvm.ctpop.i32", "i32 (i32)")
        lanes = self.let(f"call i32 @llvm.ctpop.i32(i32 {self.whole_mask()})")
        self.line(self.helper("trace", f"ptr %c, i32 1, i32 {k}, i32 {lanes}"))
        self.line(f"br label %{on}")
        self.label(on)

    def operation(self, op: Op) -> None:
        handler = HANDLERS.get(op.code)
        if handler is not None:
            handler(self, op)
        else:
            arithmetic.operation(self, op)

    # -- the ends of blocks

    def edge(self, target: Block, mask: str, bits: str | None = None, pending: bool = True) -> None:
        """Lanes of ``mask`` go to ``target``: its phis take their values, and it is pending for them."""
        self.edges([(target, mask, bits)], pending)

    def edges(self, ways: list[tuple[Block, str, str | None]], pending: bool = True) -> None:
        """The ways that lanes part into. What every way takes along is read before any way writes: the phis of one may be
        what another takes."""
        taken = [self._taken(target) for target, _, _ in ways]
        for target, mask, bits in ways:
            self._leave_loops(target, mask, bits)
        for (target, mask, bits), writes in zip(ways, taken, strict=True):
            self._arrive(target, mask, bits, writes, pending)

    def _taken(self, target: Block) -> list[tuple[Var, Rep]]:
        """The phis of a block that have a place in memory, and the values they get on the way from here."""
        writes = []
        for phi in target.phis:
            out = phi.outs[0]
            if out.slots is None:
                continue
            rep = self.get(phi.from_block(self.block))
            if out.shape is V:
                self.vector_of(rep)
            writes.append((out, rep))
        return writes

    def _arrive(self, target: Block, mask: str, bits: str | None, writes: list[tuple[Var, Rep]], pending: bool) -> None:
        waiting = target.id in self.state
        for out, rep in writes:
            self.write(out, rep, mask if waiting or out.blend else None, bits)
        if target in self.control.partial and pending:
            mask = self.whole_mask() if mask == "-1" else mask
            if waiting:
                old = self.let(f"load i32, ptr %p{target.id}")
                mask = self.let(f"or i32 {old}, {mask}")
            self.line(f"store i32 {mask}, ptr %p{target.id}")

    def _leave_loops(self, target: Block, mask: str, bits: str | None) -> None:
        """Lanes that leave a loop before others take the values along that change with each round."""
        loop = self.block.loop
        while loop is not None and target not in loop.blocks:
            for var in self.mirrors.get(loop, ()):
                if not self._is_made(var):
                    continue
                type = self.vector_type(var.type)
                value = self.vector_of(self.get(var))
                if mask != "-1":
                    old = self.let(f"load {type}, ptr {self.mirror_slots[var]}")
                    chosen = bits or self.as_vector(mask)
                    value = self.let(f"select <{self.lanes} x i1> {chosen}, {type} {value}, {type} {old}")
                self.line(f"store {type} {value}, ptr {self.mirror_slots[var]}")
            loop = loop.parent

    def _is_made(self, var: Var) -> bool:
        """Whether the block being written is only reached through the one that makes the value."""
        block = self.block
        while block is not var.block:
            up = self.idom[block]
            if up is block:
                return False
            block = up
        return True

    def spend(self, targets: tuple[Block, ...]) -> None:
        """Going back costs one of the budget; who has none left stops."""
        if all(t.id > self.block.id for t in targets):
            return
        left = self.let("load i64, ptr %c")
        less = self.let(f"sub i64 {left}, 1")
        self.line(f"store i64 {less}, ptr %c")
        over = self.let(f"icmp slt i64 {less}, 0")
        on = self.fresh_label("on")
        self.line(f"br i1 {over}, label %abort, label %{on}, !prof !0")
        self.label(on)

    def end_jump(self, block: Block, term: Op) -> None:
        self.spend(term.targets)
        self.edge(term.targets[0], self.mask, None)
        targets = [term.targets[0].id]
        self.go(self.state | {targets[0]}, targets)

    def end_branch(self, block: Block, term: Op) -> None:
        self.spend(term.targets)
        condition = self.get(term.args[0])
        if block not in self.control.divergent:
            self._uniform_ways([(f"br i1 {condition.parts[0]}, label %{{0}}, label %{{1}}", list(term.targets))])
            return
        bits = self.vector_of(condition)
        if self.mask != "-1":
            bits = self.let(f"and <{self.lanes} x i1> {bits}, {self.as_vector(self.mask)}")
        yes = self.as_mask(bits)
        no = self.let(f"xor i32 {yes}, {self.whole_mask()}")
        no_bits = self.as_vector(no)
        self.edges([(term.targets[0], yes, bits), (term.targets[1], no, no_bits)])
        ids = [t.id for t in term.targets]
        self.go(self.state | frozenset(ids), ids)

    def _uniform_ways(self, ways: list[tuple[str, list[Block]]]) -> None:
        """A branch that all lanes take together."""
        text, targets = ways[0]
        labels = [self.fresh_label("way") for _ in targets]
        self.line(text.format(*labels))
        kept = [self.snapshot() for _ in targets]
        for target, label, known in zip(targets, labels, kept, strict=True):
            self.label(label)
            self.restore(known)
            self.edge(target, self.mask, None)
            self.go(self.state | {target.id}, [target.id])

    def end_switch(self, block: Block, term: Op) -> None:
        self.spend(term.targets)
        rep = self.get(term.args[0])
        type = term.args[0].type
        if block not in self.control.divergent:
            targets = list(dict.fromkeys(term.targets))
            place = {t: i for i, t in enumerate(targets)}
            cases = " ".join(
                f"{type} {c}, label %{{{place[t]}}}" for c, t in zip(term.detail, term.targets[1:], strict=True)
            )
            self._uniform_ways(
                [(f"switch {type} {rep.parts[0]}, label %{{{place[term.targets[0]]}}} [ {cases} ]", targets)]
            )
            return
        value = self.vector_of(rep)
        by_target: dict[Block, str] = {}
        taken = None
        for case, target in zip(term.detail, term.targets[1:], strict=True):
            hit = self.let(f"icmp eq {self.vector_type(type)} {value}, {splat(type, str(case))}")
            mask = self.active_bits(hit)
            taken = mask if taken is None else self.let(f"or i32 {taken}, {mask}")
            by_target[target] = mask if target not in by_target else self.let(f"or i32 {by_target[target]}, {mask}")
        default = self.whole_mask() if taken is None else self.let(f"xor i32 {taken}, {self.whole_mask()}")
        first = term.targets[0]
        by_target[first] = default if first not in by_target else self.let(f"or i32 {by_target[first]}, {default}")
        self.edges([(target, by_target[target], None) for target in sorted(by_target, key=lambda t: t.id)])
        ids = [t.id for t in by_target]
        self.go(self.state | frozenset(ids), ids)

    def end_return(self, block: Block, term: Op) -> None:
        if block in self.control.partial and self.points:
            # Barriers and gathers do not wait for those who have left.
            pointer = self.frame_pointer("live")
            live = self.let(f"load i32, ptr {pointer}")
            gone = self.let(f"xor i32 {self.mask}, -1")
            self.line(f"store i32 {self.let(f'and i32 {live}, {gone}')}, ptr {pointer}")
        if not self.state and block not in self.control.partial:
            self.line("ret i64 0")
        else:
            self.go(self.state, None)

    def end_stop(self, block: Block, term: Op) -> None:
        memory_access.stop(self, "trap", term)
        self.line("br label %abort")

    # -- waiting

    def stop_at(self, point: int) -> None:
        """The active lanes wait at a barrier; others may still run."""
        if self.options.split:
            self.wait_apart(point)
            return
        if self.block not in self.control.partial:
            self.line(f"ret i64 {point}")
            return
        pointer = self.frame_pointer("arrived")
        here = self.let(f"or i32 {self.let(f'load i32, ptr {pointer}')}, {self.mask}")
        self.line(f"store i32 {here}, ptr {pointer}")
        pointer = self.frame_pointer("barrier_point")
        old = self.let(f"load i32, ptr {pointer}")
        other = self.let(f"icmp ne i32 {old}, {point}")
        clash = self.let(f"and i1 {other}, {self.let(f'icmp ne i32 {old}, 0')}")
        conflict = self.frame_pointer("conflict")
        known = self.let(f"load i32, ptr {conflict}")
        self.line(f"store i32 {self.let(f'select i1 {clash}, i32 {old}, i32 {known}')}, ptr {conflict}")
        self.line(f"store i32 {point}, ptr {pointer}")
        self.go(self.state, None)

    def spins(self, block: Block) -> str:
        """A counter of the rounds a waiting loop has made since the warp was last resumed."""
        name = f"%spin{block.id}"
        if f"  {name} = alloca i32" not in self.head:
            self.head += [f"  {name} = alloca i32", f"  store i32 0, ptr {name}"]
        return name

    def wait_apart(self, point: int) -> None:
        """The active lanes wait at a point, each for itself."""
        self.store_lanes("site", "i32", self.spread("i32", [str(point)]))
        pointer = self.frame_pointer("waiting")
        here = self.let(f"or i32 {self.let(f'load i32, ptr {pointer}')}, {self.mask}")
        self.line(f"store i32 {here}, ptr {pointer}")
        self.go(self.state, None)


def _clock(e: Emitter, op: Op) -> None:
    """A clock that moves whenever somebody looks: a loop that waits for it ends."""
    pointer = e.let(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT['clock']}")
    now = e.let(f"add i64 {e.let(f'load i64, ptr {pointer}')}, 1")
    e.line(f"store i64 {now}, ptr {pointer}")
    out = op.outs[0]
    if out.type != "i64":
        now = e.let(f"trunc i64 {now} to {out.type}")
    e.define(out, [now] if out.shape is not V else [e.spread(out.type, [now])])


def _shared_size(e: Emitter, op: Op) -> None:
    size = e.context("dynamic_shared" if op.detail == "dynamic_smem_size" else "block_shared", "i32")
    out = op.outs[0]
    e.define(out, [size] if out.shape is not V else [e.spread(out.type, [size])])


ENDS: dict[str, Callable[[Emitter, Block, Op], None]] = {
    "jump": Emitter.end_jump,
    "branch": Emitter.end_branch,
    "switch": Emitter.end_switch,
    "return": Emitter.end_return,
    "stop": Emitter.end_stop,
    "barrier": warp_cooperation.barrier,
    "gather": warp_cooperation.gather,
}
"""How blocks end."""

HANDLERS: dict[str, Callable[[Emitter, Op], None]] = {
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
}
"""Operations that are no plain arithmetic."""
