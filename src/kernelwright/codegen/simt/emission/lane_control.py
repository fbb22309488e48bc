"""Where lanes go: which blocks are pending for which of them, what they take along, and how they wait.

What lanes wait where is a mask per block; where control is shared by all lanes there is no mask at all.
"""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.divergence import Divergence
from kernelwright.codegen.simt.analyses.passing_by import passing_by
from kernelwright.codegen.simt.analyses.pending_lanes import Ids, Pending
from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import Rep
from kernelwright.codegen.simt.program.control_flow import dominators
from kernelwright.codegen.simt.program.program import Block, Var


class LaneControl:
    """The control of one host function; ``e`` is the code it is written into."""

    pending: Pending

    def __init__(self, e: Lanes, divergence: Divergence) -> None:
        self.e = e
        self.divergence = divergence
        blocks = e.program.blocks
        self.points = {b: i + 1 for i, b in enumerate(b for b in blocks if b.term.code in ("barrier", "gather"))}
        """Suspension points by the block they end, numbered from 1."""
        passing = passing_by(e.program) if e.options.checked else {}
        self.passing = {block: place for block, (_, place) in passing.items()}
        """By a point's block: an instruction that a thread comes to only when it has passed the point by."""
        self.passed: dict[Block, list[int]] = {}
        """By the block of such an instruction: the points."""
        for block, (behind, _) in passing.items():
            self.passed.setdefault(behind, []).append(self.points[block])
        self.apart = [b for b in self.points if e.options.split or b.term.code == "gather"]
        """The points that lanes go on from as masks say, not all together."""
        self.frame_end = struct_offsets.FRAME_SAVED + (4 * len(self.points) + 63) // 64 * 64
        self.state: Ids = frozenset()
        """The blocks that may be pending at this point."""

    def plan(self) -> None:
        """Finds out, once every value has its place, which blocks may be pending where."""
        self.idom = dominators(self.e.program.blocks) if self.e.mirrors else {}
        starts = [frozenset([0])]
        starts += [frozenset([b.succs[0].id]) for b in self.points if b not in self.apart]
        starts += [frozenset(b.succs[0].id for b in self.apart)] if self.apart else []
        self.pending = Pending(self.e.program, self.divergence, starts)

    def settle(self, state: Ids, kind: str, k: int) -> None:
        """The place control goes to looks at masks that were never set on this way: they are empty."""
        e = self.e
        expected = self.pending.body[k] if kind == "body" else self.pending.check[k]
        for other in sorted(expected - state - ({k} if kind == "body" else frozenset())):
            if e.program.blocks[other] in self.divergence.partial:
                e.line(f"store i32 0, ptr %p{other}")

    def go(self, state: Ids, targets: list[int] | None) -> None:
        """Writes the branch to the block that runs next. ``state``: the blocks that may be pending; ``targets``: those that lanes have just
        been sent to, None when that is unknown."""
        e = self.e
        kind, k = self.pending.next(state, targets)
        if kind == "done":
            e.line("br label %done")
            return
        self.settle(state - {k} if kind == "body" else state, kind, k)
        e.line(f"br label %{kind}{k}")

    def edge(self, target: Block, mask: str, pending: bool = True) -> None:
        """Lanes of ``mask`` go to ``target``: its phis take their values, and it is pending for them."""
        self.edges([(target, mask)], pending)

    def edges(self, ways: list[tuple[Block, str]], pending: bool = True) -> None:
        """The ways that lanes part into. What every way takes along is read before any way writes: the phis of one may be
        what another takes."""
        taken = [self._taken(target) for target, _ in ways]
        for target, mask in ways:
            self._leave_loops(target, mask)
        for (target, mask), writes in zip(ways, taken, strict=True):
            self._arrive(target, mask, writes, pending)

    def _taken(self, target: Block) -> list[tuple[Var, Rep]]:
        """The phis of a block that have a place in memory, and the values they get on the way from here."""
        e = self.e
        writes = []
        for phi in target.phis:
            out = phi.outs[0]
            if out.slots is None:
                continue
            rep = e.get(phi.from_block(e.block))
            if out.shape is V:
                e.vector_of(rep)
            writes.append((out, rep))
        return writes

    def _arrive(self, target: Block, mask: str, writes: list[tuple[Var, Rep]], pending: bool) -> None:
        e = self.e
        waiting = target.id in self.state
        for out, rep in writes:
            e.write(out, rep, mask if waiting or out.blend else None)
        if target in self.divergence.partial and pending:
            mask = e.whole_mask() if mask == "-1" else mask
            if waiting:
                old = e.let(f"load i32, ptr %p{target.id}")
                mask = e.let(f"or i32 {old}, {mask}")
            e.line(f"store i32 {mask}, ptr %p{target.id}")

    def _leave_loops(self, target: Block, mask: str) -> None:
        """Lanes that leave a loop before others take the values along that change with each round."""
        e = self.e
        loop = e.block.loop
        while loop is not None and target not in loop.blocks:
            for var in e.mirrors.get(loop, ()):
                if not self._is_made(var):
                    continue
                e.keep(var.type, e.vector_of(e.get(var)), e.mirror_slots[var], mask)
            loop = loop.parent

    def _is_made(self, var: Var) -> bool:
        """Whether the block being written is only reached through the one that makes the value."""
        e = self.e
        block = e.block
        while block is not var.block:
            up = self.idom[block]
            if up is block:
                return False
            block = up
        return True

    def spend(self, targets: tuple[Block, ...]) -> None:
        """Going back costs one of the budget; who has none left stops."""
        e = self.e
        if all(t.id > e.block.id for t in targets):
            return
        left = e.let("load i64, ptr %c")
        less = e.let(f"sub i64 {left}, 1")
        e.line(f"store i64 {less}, ptr %c")
        over = e.let(f"icmp slt i64 {less}, 0")
        on = e.fresh_label("on")
        e.line(f"br i1 {over}, label %abort, label %{on}, !prof !0")
        e.label(on)

    def stop_at(self, point: int) -> None:
        """The active lanes wait at a barrier; others may still run."""
        e = self.e
        if e.options.split:
            self.wait_apart(point)
            return
        if e.block not in self.divergence.partial:
            e.line(f"ret i64 {point}")
            return
        pointer = e.frame_pointer("arrived")
        here = e.let(f"or i32 {e.let(f'load i32, ptr {pointer}')}, {e.mask}")
        e.line(f"store i32 {here}, ptr {pointer}")
        pointer = e.frame_pointer("barrier_point")
        old = e.let(f"load i32, ptr {pointer}")
        other = e.let(f"icmp ne i32 {old}, {point}")
        clash = e.let(f"and i1 {other}, {e.let(f'icmp ne i32 {old}, 0')}")
        conflict = e.frame_pointer("conflict")
        known = e.let(f"load i32, ptr {conflict}")
        e.line(f"store i32 {e.let(f'select i1 {clash}, i32 {old}, i32 {known}')}, ptr {conflict}")
        e.line(f"store i32 {point}, ptr {pointer}")
        self.go(self.state, None)

    def spins(self, block: Block) -> str:
        """A counter of the rounds a waiting loop has made since the warp was last resumed."""
        e = self.e
        name = f"%spin{block.id}"
        if f"  {name} = alloca i32" not in e.head:
            e.head += [f"  {name} = alloca i32", f"  store i32 0, ptr {name}"]
        return name

    def wait_apart(self, point: int) -> None:
        """The active lanes wait at a point, each for itself."""
        e = self.e
        e.store_lanes("site", "i32", e.spread("i32", [str(point)]))
        pointer = e.frame_pointer("waiting")
        here = e.let(f"or i32 {e.let(f'load i32, ptr {pointer}')}, {e.mask}")
        e.line(f"store i32 {here}, ptr {pointer}")
        self.go(self.state, None)
