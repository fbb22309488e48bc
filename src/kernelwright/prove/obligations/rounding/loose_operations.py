"""Operations whose result depends on what else LLVM makes of a kernel, so that every changed variant may round them otherwise.

fadd reassoc %x, %y          sums in another order
fadd nsz %x, 0.0             is %x where the zero is known, also for %x == -0.0
call @llvm.exp2.f32(%x)      the GPU's approximation; the host's function where %x is known
"""

from __future__ import annotations

import re

from kernelwright.ir import Function, Instruction

LOOSE = ("afn", "arcp", "fast", "nsz", "reassoc")
_FOLDED_ON_THE_HOST = re.compile(
    r"llvm\.(a?(sin|cos|tan)h?|exp|exp2|exp10|log|log2|log10|pow|powi)\.(f16|bf16|f32|f64|v\d).*"
)


def why_loose(function: Function) -> str:
    """The first of them, in words; empty where there is none."""
    for i in function.instructions():
        flag = next((each for each in LOOSE if each in i.flags), None)
        if flag is not None:
            return f"'{i.opcode}' has the flag {flag}: LLVM may make it otherwise in changed code"
        name = _called(i)
        if _FOLDED_ON_THE_HOST.fullmatch(name):
            return f"LLVM computes {name} otherwise where its operand is known"
    return ""


def _called(i: Instruction) -> str:
    callee = i.callee if i.opcode == "call" else None
    return callee.name if isinstance(callee, Function) else ""
