"""What a bulk copy or fill promises of its addresses: one answer for every executor.

    call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 4 %from, i64 16, i1 false)        →   (8, 4)

GPUs do such a copy in pieces as wide as the promise and the size allow, at most 16 bytes, and refuse a piece at an address
that is no multiple of its width. A size that is not known before the launch is copied in pieces no wider than the promise.
"""

from __future__ import annotations

import re

from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.module import Instruction

WIDEST = 16
_ALIGN = re.compile(r"\balign (\d+)")


def promised_alignment(call: Instruction) -> tuple[int, int]:
    """Bytes that the addresses of target and source are multiples of, for a call of ``llvm.memcpy``, ``memmove`` or
    ``memset`` (whose second is 1)."""
    size = call.arguments[2]
    most = min(WIDEST, largest_power(size.value)) if isinstance(size, ConstantInt) else WIDEST
    target, source = (_ALIGN.search(text) for text in call.argument_attributes[:2])
    return min(most, int(target[1]) if target else 1), min(most, int(source[1]) if source else 1)


def largest_power(size: int) -> int:
    """The largest power of two that is no more than ``size`` bytes; 1 for none."""
    return 1 << max(size.bit_length() - 1, 0) if size > 0 else 1
