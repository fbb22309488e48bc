"""Values that stay where they are computed: LLVM would put a load back to where it is used, behind the branch it was to precede.

%x = load i32, ptr %p
call void asm sideeffect "", "r"(i32 %x)          ; makes no instruction, and waits for nothing
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from kernelwright.edits.draft import Draft
from kernelwright.edits.line_templates import WIDTHS
from kernelwright.edits.original import Id, Node
from kernelwright.ir import Instruction, parse_module

REGISTERS = {type: register for type, (_, register) in WIDTHS.items()} | {"ptr": "l", "ptr addrspace(1)": "l"}
"""The values that can be, by type: how inline assembly takes them. Others are left to LLVM."""


def pin(draft: Draft, id: Id, before: Id) -> None:
    """The value of an instruction stays before ``before``, in whose block it is; should it be kept elsewhere already, no longer."""
    node = draft.known(id)
    name = "c" + hashlib.blake2b(f"pinned {id}".encode(), digest_size=5).hexdigest()
    if draft.is_live(name):
        draft.move(name, before)
    elif node.type in REGISTERS and name not in draft.clones:
        use = _use(node.type)
        operands = (node.result, ASSEMBLY.format(register=REGISTERS[node.type]))
        types = tuple(operand.type.text for operand in use.operands)
        draft.insert(Node(name, node.origin, use, "", "void", types, operands, (0,), -1, (), True), before)


ASSEMBLY = 'asm sideeffect "", "{register}"'
"""It touches no memory that a program can reach, so that LLVM may move everything else past it."""


@lru_cache
def _use(type: str) -> Instruction:
    call = f"call void {ASSEMBLY.format(register=REGISTERS[type])}({type} %x)"
    module = parse_module(
        f"define void @f({type} %x) {{\n  {call} nounwind willreturn memory(inaccessiblemem: readwrite)\n  ret void\n}}\n"
    )
    return next(module.functions["f"].instructions())
