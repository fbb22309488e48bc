"""What the processor has on which generated code runs."""

from __future__ import annotations

from functools import cache


@cache
def processor_has(feature: str) -> bool:
    """Whether it has a feature, as LLVM names it."""
    from kernelwright.passes.llvm import binding

    return bool(binding().get_host_cpu_features().get(feature))


def has_mask_registers() -> bool:
    """Whether one bit per lane is all that a choice or a store of some lanes needs, as with AVX-512."""
    return processor_has("avx512f")


def has_gather() -> bool:
    """Whether it reads scattered numbers under a mask."""
    return processor_has("avx512f") or processor_has("avx2")
