"""Barriers of a block that is a single warp, as barriers of that warp.

    before   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)          after   call void @llvm.nvvm.bar.warp.sync(i32 -1)
             bar.sync 0;                                                               bar.warp.sync -1;

A warp's own barrier orders its lanes and their memory just as well and costs next to nothing, for no other warp has to be waited for. The
meaning stays as long as the guard holds: blocks of at most 32 threads. It is what makes removing such barriers look so good
(paper 000, section 6): without any, the kernel leans on lanes that run in step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelwright.edits.barriers import is_free_barrier
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words
from kernelwright.edits.line_templates import OF_WARP
from kernelwright.edits.original import Id, Node, Original
from kernelwright.guards import WARP, BlockIsWarp, LaunchFacts
from kernelwright.ir import Function
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class WarpBarriers:
    """All barriers of the block that there are."""

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        ids: list[Id] = [
            *draft.original.those(is_block_barrier),
            *(c for c, n in draft.clones.items() if is_block_barrier(n)),
        ]
        barriers = [id for id in ids if id not in draft.dead]
        if not barriers:
            return "there is no barrier of the block"
        if all(OF_WARP in draft.extras.get(id, ()) for id in barriers):
            return "the barriers are those of a warp already"
        for id in barriers:
            draft.extras[id] = (OF_WARP,)
        draft.guards[BlockIsWarp()] = None
        return None


def is_block_barrier(node: Node) -> bool:
    """Whether all threads of the block wait there for each other, and do nothing else."""
    callee = node.instruction.callee if node.instruction.opcode == "call" else None
    return isinstance(callee, Function) and callee.name in BLOCK_BARRIERS and is_free_barrier(node)


BLOCK_BARRIERS = frozenset(
    {"llvm.nvvm.barrier0", "llvm.nvvm.barrier.cta.sync.aligned.all", "llvm.nvvm.barrier.cta.sync.all"}
)
"""Those that count every thread of the block."""


def of_one_warp(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[WarpBarriers]:
    """The edit, for a kernel whose blocks were one warp in all these launches. Nothing for no launches."""
    if launches and all(BlockIsWarp().holds(facts) for facts in launches) and original.those(is_block_barrier):
        yield WarpBarriers()


def in_words(original: Original, edit: WarpBarriers) -> Words:
    """Kind, sentence and place of the edit, for people."""
    return Words("specialised input", f"blocks have at most {WARP} threads, so that the warp's own barriers do")


KIND = EditKind("warp-barriers", WarpBarriers, in_words, known=of_one_warp, keeps_meaning=True)
