"""Which instructions are barriers.

Block barriers, warp barriers (``__syncwarp``), cluster barriers and barriers in inline assembly count; one that counts or combines
predicates has a value and does not.
"""

from __future__ import annotations

import re

from kernelwright.edits.original import Node
from kernelwright.ir import Function, InlineAsm, Instruction

_INTRINSIC = re.compile(r"llvm\.nvvm\.(barrier0$|barrier\d*[.]|barrier[.n]|bar\.(warp\.)?(sync|arrive)|barrier$)")
_ASSEMBLY = re.compile(r"\bbar(rier)?(\.cta|\.warp|\.cluster)?\.(sync|arrive|wait)\b")


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
