"""Instructions that order memory accesses between threads without waiting for them: fences, and atomics that acquire or release.

call void @llvm.nvvm.membar.gl()      fence syncscope("device") seq_cst      asm "membar.gl;"      atomicrmw ... release
"""

from __future__ import annotations

import re

from kernelwright.ir.constants import InlineAsm
from kernelwright.ir.module import Function, Instruction

WIDTHS = ("block", "cluster", "device", "system")
"""For whom a fence keeps the order, from the narrowest."""

_INTRINSIC = re.compile(r"llvm\.nvvm\.(?:membar|fence)\.(.*)")
_ASSEMBLY = re.compile(r"(?<![\w.])(?:membar|fence)\.([\w.:]*)")
_CALLED = {"cta": "block", "block": "block", "cluster": "cluster", "gl": "device", "gpu": "device", "device": "device"}
_ACQUIRE_RELEASE = re.compile(r"\.(acquire|release|acq_rel|sc)\b")
_ACCESSES = ("load", "store", "atomicrmw", "cmpxchg")
_RELAXED = ("", "unordered", "monotonic")


def fences_in(instruction: Instruction) -> tuple[str, ...]:
    """The widths of the fences that an instruction is: none, one, or several in inline assembly. An access that acquires or
    releases is one too."""
    if instruction.opcode == "fence" or (
        instruction.opcode in _ACCESSES and (instruction.ordering or "") not in _RELAXED
    ):
        scope = instruction.syncscope or ""
        return () if scope == "singlethread" else (_CALLED.get(scope, "system"),)
    if instruction.opcode != "call":
        return ()
    callee = instruction.callee
    if isinstance(callee, InlineAsm):
        return tuple(map(_width, _ASSEMBLY.findall(callee.text)))
    found = _INTRINSIC.match(callee.name) if isinstance(callee, Function) else None
    return (_width(found[1]),) if found else ()


def orders_memory(instruction: Instruction) -> bool:
    """Whether it is a fence, or an access that acquires or releases."""
    callee = instruction.callee if instruction.opcode == "call" else None
    if isinstance(callee, InlineAsm) and _ACQUIRE_RELEASE.search(callee.text):
        return True
    return bool(fences_in(instruction))


def is_fence(instruction: Instruction) -> bool:
    """Whether it is a fence and no access."""
    return instruction.opcode not in _ACCESSES and bool(fences_in(instruction))


def _width(words: str) -> str:
    return next((_CALLED[word] for word in words.split(".") if word in _CALLED), "system")
