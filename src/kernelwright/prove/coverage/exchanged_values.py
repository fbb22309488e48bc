"""Changes of what the threads of a block tell each other, so that some warps meet what others do not.

    __syncthreads_or(in[i] > limit)        'in' all the smallest but for a few, which are the largest

Data that are alike in this let what a warp finds stand for what its block finds, or what a block finds for the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from kernelwright.codegen.memory_layout import SHARED
from kernelwright.ir import Function, GlobalVariable, Instruction
from kernelwright.prove.changed_inputs.case_survey import BufferSeen, Change, Survey
from kernelwright.prove.coverage.aimed_changes import is_read
from kernelwright.prove.coverage.condition_sources import Sources, roots_of, shared_stores, sources_of

MOST = 64
"""Instructions of a kernel that are followed back: unrolled ones store to shared memory at a thousand places."""

TELLING_CALLS = (
    "llvm.nvvm.vote.", "llvm.nvvm.barrier.cta.red.", "llvm.nvvm.barrier0.", "llvm.nvvm.shfl.", "llvm.nvvm.redux.", "llvm.nvvm.match.",
)  # fmt: skip
"""Intrinsics whose result depends on what other threads give."""


def exchange_changes(functions: Sequence[Function], survey: Survey, seed: int) -> Iterator[Change]:
    """The changes of what the kernels' threads tell each other; none where they tell nothing."""
    told = [(function, sources) for function in functions for sources in told_by(function)]
    buffers = [b for b in survey.buffers.values() if any(is_read(b, f, survey, sources) for f, sources in told)]
    reals = [b for b in buffers if b.dtype is not None and b.dtype.kind == "f"]
    sorts = [_together(reals)] if len(reals) > 1 else []
    sorts += [_of(buffer) for buffer in buffers]
    for number, change in enumerate(c for row in zip_longest(*sorts) for c in row if c is not None):
        yield replace(change, seed=seed * 1000 + number)


def _together(buffers: Sequence[BufferSeen]) -> Iterator[Change]:
    for way in buffers[0].few_ways:
        yield Change(f"memory of exchanged numbers {way}", tuple((buffer, way) for buffer in buffers))


def _of(buffer: BufferSeen) -> Iterator[Change]:
    for way in buffer.few_ways:
        yield Change(f"'{buffer.name}' {way}", ((buffer, way),))


def told_by(function: Function) -> list[Sources]:
    """What decides each value that a thread gives to others: to a vote, a shuffle, an atomic operation, in shared memory."""
    stores = shared_stores(function)
    telling = sorted(filter(_tells, function.instructions()), key=lambda i: i.opcode == "store")
    return [sources_of(function, i, stores=stores) for i in telling[:MOST]]


def _tells(instruction: Instruction) -> bool:
    if instruction.opcode == "call":
        return getattr(instruction.callee, "name", "").startswith(TELLING_CALLS)
    if instruction.opcode == "store":
        roots = roots_of(instruction.operands[1])
        return any(isinstance(root, GlobalVariable) and root.address_space == SHARED for root in roots)
    return instruction.opcode in ("atomicrmw", "cmpxchg")
