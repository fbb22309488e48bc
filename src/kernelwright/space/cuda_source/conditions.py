"""Which iterations are there: tiles that do not divide their loop leave a last iteration that is only partly there.

a load     v = m < 1000 ? A[m] : 0.0f        nothing is read past the end
  or       v = A[min(m, m_size - 1)]         the last one instead, where sizes are given at launch: no branch; of loops that sums
                                             run over  v = m < m_size ? v : 0.0f  behind it
a store    if (m < 1000) C[m] = v
a sum      for (k ...) v += a * b            what is not there is loaded as zero, and adds nothing
others     if (k < 1000) v = fmaxf(v, a)     of the loops that are reduced; along others the result is not stored
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kernelwright.space.computation.arrays import Loop
from kernelwright.space.computation.expressions import Expression
from kernelwright.space.computation.objects import Backbone, Instruction
from kernelwright.space.computation.sizes import shown
from kernelwright.space.cuda_source.addresses import index_of
from kernelwright.space.cuda_source.fused_loops import FusedLoop, FusedLoops

Whole = Collection[FusedLoop]
"""Loops of whose current iteration everything is there."""


def asked(loops: FusedLoops, i: Instruction, whole: Whole = ()) -> list[Loop]:
    """Of which loops an access to an argument, or a term of a reduction, asks whether their iteration is there."""
    if i.is_global_access:
        found = dict.fromkeys(d.loop for d in i.dims)
    elif i.operation == "reduce":
        found = _of_term(loops, i)
    else:
        return []
    return [loop for loop in found if loops.has_partial_iteration(i, loop) and loops.rest(i, loop) not in whole]


def condition(loops: FusedLoops, i: Instruction, of: Iterable[Loop], vector: FusedLoop | None = None) -> str:
    """C text of when the iterations of these loops are there; empty for always. ``vector``: the loop that an access moves at once."""
    return " && ".join(f"{index_of(loops, i, loop).without(vector).text()} < {shown(loop.extent)}" for loop in of)


def summed(loops: FusedLoops) -> set[Loop]:
    """Loops that sums run over, to which what is not there adds nothing."""
    expressions = ((r, r.instruction.expression) for r in loops.backbone.reductions)
    return {d.loop for r, e in expressions if e is not None and e.kind == "add" for d in r.dims}


def _of_term(loops: FusedLoops, i: Instruction) -> dict[Loop, None]:
    reduction = loops.backbone.reduction(i)
    assert reduction is not None and i.expression is not None
    _, term = i.expression.arguments
    sums = i.expression.kind == "add"
    reduced = dict.fromkeys(d.loop for d in reduction.dims)
    return {loop: None for loop in reduced if not (sums and _vanishes(loops.backbone, term, loop))}


def _vanishes(backbone: Backbone, e: Expression, loop: Loop) -> bool:
    """Whether an expression is zero in iterations of a loop that are not there."""
    if e.kind == "number":
        return e.number == 0
    if e.kind == "mul":
        # Zero times what may be infinite is no number.
        return all(a.kind == "number" or _vanishes(backbone, a, loop) for a in e.arguments)
    if e.kind in ("add", "sub", "max"):
        return all(_vanishes(backbone, a, loop) for a in e.arguments)
    if e.kind != "value":
        return False
    source = backbone.instruction(e.name)
    if source.operation == "load":
        return any(d.loop == loop for d in source.dims)
    return (
        source.operation == "compute" and source.expression is not None and _vanishes(backbone, source.expression, loop)
    )
