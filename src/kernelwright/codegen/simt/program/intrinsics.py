"""What pure intrinsics mean: LLVM's own on vectors, a few operations, or a function of the runtime.

One table by name, types stripped: ``llvm.smax.v2i32`` is looked up as ``llvm.smax``. Each entry writes the result for one
lane value; vectors of the IR are taken apart before.
"""

from __future__ import annotations

import re

from kernelwright.codegen.simt.program import intrinsics_llvm, intrinsics_nvvm
from kernelwright.codegen.simt.program.flattening_context import FlatteningContext, Row
from kernelwright.codegen.simt.program.intrinsic_meanings import Meaning, Several
from kernelwright.codegen.simt.program.intrinsics_llvm import reduction
from kernelwright.codegen.simt.program.intrinsics_nvvm import lane_mask
from kernelwright.codegen.simt.program.lane_scalars import scalars
from kernelwright.codegen.simt.program.operation_builder import Make
from kernelwright.ir.module import Instruction

_SUFFIX = re.compile(r"(\.(v\d+)?(i\d+|f\d+|bf16|p\d+))+$")


def base_name(name: str) -> str:
    """``llvm.smax.v2i32`` → ``llvm.smax``."""
    return _SUFFIX.sub("", name)


def meaning(flat: FlatteningContext, instruction: Instruction, name: str) -> Row | None:
    """The scalars of a call of an intrinsic; ``None`` when the name means nothing here."""
    base = base_name(name)
    m = Make(flat)
    rows = [flat.row(a) for a in instruction.arguments]
    types = tuple(s.type for s in scalars(instruction.type))
    if base in SEVERAL:
        return SEVERAL[base](m, [o for r in rows for o in r], types)
    if base.startswith("llvm.vector.reduce."):
        return [reduction(m, base.removeprefix("llvm.vector.reduce."), rows, types[0])]
    one = TABLE.get(name) or TABLE.get(base)
    if one is None:
        return None
    count = len(types)
    made = []
    for i, type in enumerate(types):
        made.append(one(m, [r[i] if len(r) == count else r[0] for r in rows], type))
    return made


TABLE: dict[str, Meaning] = {
    **{f"llvm.{name}": meaning_ for name, meaning_ in intrinsics_llvm.TABLE.items()},
    **{f"llvm.nvvm.{name}": meaning_ for name, meaning_ in intrinsics_nvvm.TABLE.items()},
    **{f"lanemask.{kind}": lane_mask(kind) for kind in ("eq", "lt", "le", "gt", "ge")},
}

SEVERAL: dict[str, Several] = {
    **{f"llvm.{name}": meaning_ for name, meaning_ in intrinsics_llvm.SEVERAL.items()},
    **{f"llvm.nvvm.{name}": meaning_ for name, meaning_ in intrinsics_nvvm.SEVERAL.items()},
}
