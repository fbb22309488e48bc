"""Differences of LLVM-IR as patches: one to read, which shows what the edits did, and one to apply, which gives the variant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from kernelwright.cuda.names import readable
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.gene import by_kernel
from kernelwright.edits.genome import apply
from kernelwright.edits.original import Original
from kernelwright.evolution.genomes import Genes, GenomeBuilder

CONTEXT = 2
"""Unchanged lines shown around changed ones, in the patch to read."""
_DEBUG = re.compile(r",? !(?:dbg|tbaa|llvm\.loop) !\d+")


def to_read(original: Original, edits: Iterable[Edit]) -> str:
    """What the edits did to the kernel's IR, before any pass went over it; debug information is left out.

    before   ``%sum = fadd float %a, %b, !dbg !12``
    after    ``-  %sum = fadd float %a, %b``
    """
    before, after = (_DEBUG.sub("", apply(original, genome).text) for genome in ((), tuple(edits)))
    name = readable(original.kernel)
    return _unified(before, after, f"{name}, original", f"{name}, variant", CONTEXT)


def to_apply(before: str, after: str, stem: str) -> str:
    """From ``STEM.original.ll`` to ``STEM.ll``; ``patch -p1`` and ``git apply`` read it."""
    return _unified(before, after, f"a/{stem}.ll", f"b/{stem}.ll", 3)


def by_name(builder: GenomeBuilder, candidate: Genes) -> dict[str, str]:
    """The patches to read, by the name of the kernel as a person says it."""
    edited = by_kernel(candidate).items()
    return {readable(kernel): to_read(builder.originals[kernel], edits) for kernel, edits in edited}


def _unified(before: str, after: str, old: str, new: str, context: int) -> str:
    lines = difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), old, new, n=context)
    return "".join(lines)
