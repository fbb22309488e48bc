"""Deleting a barrier: the edit that pays most often, and the least safe one.

    before   store float %a, ptr addrspace(3) %p          after   store float %a, ptr addrspace(3) %p
             call void @llvm.nvvm.barrier...(i32 0)               %b = load float, ptr addrspace(3) %q
             %b = load float, ptr addrspace(3) %q

It relies on no thread reading what another one writes on the other side. Block barriers, warp barriers (``__syncwarp``),
cluster barriers and barriers in inline assembly count; one that counts or combines predicates has a value and does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id, Node, Original
from kernelwright.ir import Function, InlineAsm, Instruction

_INTRINSIC = re.compile(r"llvm\.nvvm\.(barrier0$|barrier\d*[.]|barrier[.n]|bar\.(warp\.)?(sync|arrive)|barrier$)")
_ASSEMBLY = re.compile(r"\bbar(rier)?(\.cta|\.warp|\.cluster)?\.(sync|arrive|wait)\b")


@dataclass(frozen=True)
class DeleteBarrier:
    """Deletes the barrier ``subject``."""

    subject: Id

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject)
        if refused:
            return refused
        if not is_barrier(draft.known(self.subject).instruction):
            return f"instruction {self.subject} is no barrier"
        draft.delete(self.subject, None)
        return None


def draw(dice: Dice) -> DeleteBarrier | None:
    """Any barrier."""
    subject = dice.site(dice.sites.those(is_free_barrier))
    return None if subject is None else DeleteBarrier(subject)


def barriers(original: Original) -> Iterator[DeleteBarrier]:
    """Every barrier deleted."""
    for id in original.free:
        if is_free_barrier(original.nodes[id]):
            yield DeleteBarrier(id)


def is_free_barrier(node: Node) -> bool:
    """Whether it is a barrier that can be deleted."""
    return node.is_free and is_barrier(node.instruction)


def is_barrier(instruction: Instruction) -> bool:
    """Whether an instruction makes threads wait for each other, and does nothing else."""
    if instruction.opcode != "call" or instruction.has_result:
        return False
    callee = instruction.callee
    if isinstance(callee, InlineAsm):
        return _ASSEMBLY.search(callee.text) is not None
    return isinstance(callee, Function) and _INTRINSIC.match(callee.name) is not None
