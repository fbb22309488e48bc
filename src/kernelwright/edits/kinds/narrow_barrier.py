"""A barrier of the block as one of each warp.

    before   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)          after   call void @llvm.nvvm.bar.warp.sync(i32 -1)
             bar.sync 0;                                                               bar.warp.sync -1;

The last steps of a reduction in shared memory concern 32 threads and fewer, and their barriers make all the block wait. A warp's own
barrier orders these threads just as well, and no other thread has anything to wait for. Blocks have one row of threads (guards
``block.y <= 1``, ``block.z <= 1``). It relies on no thread reading or writing what a thread of another warp writes on the other side,
before the next barrier of the block that is left; the solver is asked (``prove/obligations/barriers.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id
from kernelwright.edits.kinds.warp_barriers import is_block_barrier
from kernelwright.edits.line_templates import OF_WARP
from kernelwright.edits.memory.ordering import successors
from kernelwright.edits.memory.ways import way
from kernelwright.edits.original import Id, Node, Original
from kernelwright.guards import WARP, LaunchFacts
from kernelwright.ir import ConstantInt, Function
from kernelwright.launch_relations import Product, Quantity, Relation
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class NarrowBarrier:
    """The barrier ``subject`` is one of each warp."""

    subject: Id

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject)
        if refused:
            return refused
        if not is_block_barrier(draft.known(self.subject)):
            return f"instruction {self.subject} is no barrier of the block"
        if OF_WARP in draft.extras.get(self.subject, ()):
            return f"instruction {self.subject} is a barrier of the warp already"
        draft.extras[self.subject] = (OF_WARP,)
        for guard in ONE_ROW:
            draft.guards[guard] = None
        return None


ONE_ROW = tuple(Relation((Product(1, (Quantity("block", axis),)),), "<=", (Product(1),)) for axis in (1, 2))
"""Threads of a block are numbered along one axis, so that the first 32 are a warp."""


def barriers_of_few(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[NarrowBarrier]:
    """Every barrier such that what is stored to shared memory just before it, and read just behind it, is so by the first threads alone;
    of a kernel whose blocks were one row in all these launches. Nothing for no launches."""
    if not launches or not all(guard.holds(facts) for guard in ONE_ROW for facts in launches):
        return
    few = blocks_of_few(original)
    for id in original.those(is_block_barrier):
        if original.reachable[original.nodes[id].block] and _concerns_few(original, id, few):
            yield NarrowBarrier(id)


def blocks_of_few(original: Original) -> set[int]:
    """The blocks that only threads with numbers below 32 come to: in blocks of one row, those of the first warp."""
    return {block for block in range(len(original.order)) if original.reachable[block] and _is_for_few(original, block)}


def _is_for_few(original: Original, block: int) -> bool:
    """Whether only threads with numbers below 32 come to a block, by one of the branches on the way."""
    above = original.above[block]
    for here, over in pairwise(above):
        for taken in way(original, over, here) or ():
            condition = original.nodes[taken.branch].instruction.operands[0]
            if _holds_for_few(original, condition, taken.outcome):
                return True
    return False


_BELOW = {("ult", True): 0, ("slt", True): 0, ("ule", True): 1, ("sle", True): 1, ("eq", True): 1,
          ("ugt", False): 1, ("sgt", False): 1, ("uge", False): 0, ("sge", False): 0, ("ne", False): 1}  # fmt: skip
"""By predicate and outcome: how much the constant is below the number of threads."""


def _holds_for_few(original: Original, condition: object, outcome: bool) -> bool:
    opcode, predicate = getattr(condition, "opcode", ""), getattr(condition, "predicate", "")
    more = _BELOW.get((predicate, outcome))
    if opcode != "icmp" or more is None:
        return False
    number, limit = condition.operands  # type: ignore[attr-defined]
    callee = getattr(number, "callee", None)
    is_thread = isinstance(callee, Function) and callee.name == "llvm.nvvm.read.ptx.sreg.tid.x"
    return is_thread and isinstance(limit, ConstantInt) and 0 <= limit.value + more <= WARP


def _concerns_few(original: Original, barrier: Id, few: set[int]) -> bool:
    """Whether the accesses to shared memory next to a barrier, on either side, are in blocks for few threads; where there are some."""
    edges = successors(original)
    before: list[list[int]] = [[] for _ in edges]
    for block, following in enumerate(edges):
        for each in following:
            before[each].append(block)
    back = list(_next_to(original, barrier, before, forward=False))
    return bool(back) and all(block in few for block in [*back, *_next_to(original, barrier, edges, forward=True)])


def _next_to(original: Original, barrier: Id, edges: list[list[int]], *, forward: bool) -> Iterator[int]:
    """The blocks with accesses to shared memory on the way from a barrier to the next one."""
    home = original.nodes[barrier].block
    order = original.order[home]
    at = order.index(barrier)
    waiting = [(home, order[at + 1 :] if forward else order[:at][::-1])]
    seen: set[int] = set()
    while waiting:
        block, ids = waiting.pop()
        for id in ids:
            if is_block_barrier(original.nodes[id]):
                break
            if _is_shared(original.nodes[id]):
                yield block
        else:
            for other in edges[block]:
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, original.order[other] if forward else original.order[other][::-1]))


def _is_shared(node: Node) -> bool:
    i = node.instruction
    if i.opcode not in ("load", "store"):
        return False
    return _leads_to_shared(i.operands[-1 if i.opcode == "store" else 0])


def _leads_to_shared(pointer: object) -> bool:
    while getattr(pointer, "opcode", "") in ("getelementptr", "addrspacecast"):
        pointer = pointer.operands[0]  # type: ignore[attr-defined]
    return getattr(pointer, "address_space", 0) == 3


def in_words(original: Original, edit: NarrowBarrier) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    return Words("order", f"{what} is one of each warp", location)


KIND = EditKind(
    "narrow-barrier",
    NarrowBarrier,
    in_words,
    reads={"subject": read_id},
    known=barriers_of_few,
    keeps_meaning=True,
)
