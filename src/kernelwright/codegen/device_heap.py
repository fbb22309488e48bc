"""``malloc`` and ``free`` of device code, as IR over one buffer: what the virtual GPU runs in place of the functions that a GPU has.

    p = malloc(40)      the first block of 64 bytes that was freed, else the next 64 bytes of the heap; null where there are none
    free(p)             the block is the first of its size

A block is a power of two large and begins with 16 bytes of ours: the offset of the next free block, and which power. Lists change by
compare and exchange, with a count of changes beside the offset, so that no thread takes a list for unchanged that is not.
"""

from __future__ import annotations

from functools import cache

from kernelwright.ir import parse_module
from kernelwright.ir.module import Function, Module

HEAP = "__kernelwright_heap"
HEAP_BYTES = 8 << 20
"""As CUDA has it unless ``cudaDeviceSetLimit`` says otherwise."""
HEAP_ALIGN = 512
_LARGEST = 22
"""The power of two of the largest block."""

_TEXT = f"""
target triple = "nvptx64-nvidia-cuda"
@{HEAP} = external addrspace(1) global [{HEAP_BYTES} x i8], align {HEAP_ALIGN}
declare i64 @llvm.ctlz.i64(i64, i1)

define ptr @malloc(i64 %bytes) {{
entry:
  %heap = addrspacecast ptr addrspace(1) @{HEAP} to ptr
  %whole = add i64 %bytes, 16
  %less = sub i64 %whole, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %exact = sub i64 64, %zeros
  %small = icmp ult i64 %exact, 5
  %power = select i1 %small, i64 5, i64 %exact
  %large = icmp ugt i64 %power, {_LARGEST}
  br i1 %large, label %none, label %sized
sized:
  %list = getelementptr i64, ptr %heap, i64 %power
  br label %look
look:
  %head = load atomic i64, ptr %list monotonic, align 8
  %offset = and i64 %head, 4294967295
  %empty = icmp eq i64 %offset, 0
  br i1 %empty, label %fresh, label %take
take:
  %block = getelementptr i8, ptr %heap, i64 %offset
  %after = load atomic i64, ptr %block monotonic, align 8
  %changes = and i64 %head, -4294967296
  %more = add i64 %changes, 4294967296
  %new = or i64 %more, %after
  %pair = cmpxchg ptr %list, i64 %head, i64 %new monotonic monotonic
  %done = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %done, label %found, label %look
fresh:
  %size = shl i64 1, %power
  %top = atomicrmw add ptr %heap, i64 %size monotonic
  %start = add i64 %top, {HEAP_ALIGN}
  %end = add i64 %start, %size
  %over = icmp ugt i64 %end, {HEAP_BYTES}
  br i1 %over, label %none, label %first
first:
  %made = getelementptr i8, ptr %heap, i64 %start
  %its = getelementptr i8, ptr %made, i64 8
  store i64 %power, ptr %its, align 8
  br label %found
found:
  %which = phi ptr [ %block, %take ], [ %made, %first ]
  %given = getelementptr i8, ptr %which, i64 16
  ret ptr %given
none:
  ret ptr null
}}

define void @free(ptr %given) {{
entry:
  %nothing = icmp eq ptr %given, null
  br i1 %nothing, label %end, label %some
some:
  %heap = addrspacecast ptr addrspace(1) @{HEAP} to ptr
  %block = getelementptr i8, ptr %given, i64 -16
  %its = getelementptr i8, ptr %block, i64 8
  %power = load i64, ptr %its, align 8
  %list = getelementptr i64, ptr %heap, i64 %power
  %from = ptrtoint ptr %heap to i64
  %at = ptrtoint ptr %block to i64
  %offset = sub i64 %at, %from
  br label %look
look:
  %head = load atomic i64, ptr %list monotonic, align 8
  %after = and i64 %head, 4294967295
  store atomic i64 %after, ptr %block monotonic, align 8
  %changes = and i64 %head, -4294967296
  %more = add i64 %changes, 4294967296
  %new = or i64 %more, %offset
  %pair = cmpxchg ptr %list, i64 %head, i64 %new monotonic monotonic
  %done = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %done, label %end, label %look
end:
  ret void
}}
"""


@cache
def _heap() -> Module:
    return parse_module(_TEXT)


def heap_function(function: Function) -> Function | None:
    """The body of ``malloc`` or ``free``, where a module only declares it; None for other functions."""
    return _heap().functions[function.name] if function.name in ("malloc", "free") and not function.blocks else None


def needs_heap(module: Module) -> bool:
    """Whether device code calls ``malloc`` or ``free``."""
    return any(f.name in ("malloc", "free") and not f.blocks for f in module.functions.values())
