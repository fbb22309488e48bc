"""Which iterations are there: tiles that do not divide their loop leave a last iteration that is only partly there.

a load     v = m < 1000 ? A[m] : 0.0f        nothing is read past the end
a store    if (m < 1000) C[m] = v
a sum      for (k ...) v += a * b            what is not there is loaded as zero, and adds nothing
others     if (k < 1000) v = fmaxf(v, a)     of the loops that are reduced; along others the result is not stored
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelwright.space.computation.arrays import Loop
from kernelwright.space.computation.expressions import Expression
from kernelwright.space.computation.objects import Backbone, Instruction
from kernelwright.space.computation.sizes import shown
from kernelwright.space.cuda_source.addresses import index_of
from kernelwright.space.cuda_source.fused_loops import FusedLoop, FusedLoops


def access_condition(loops: FusedLoops, i: Instruction, vector: FusedLoop | None = None) -> str:
    """C text of when a load or store of an argument is there; empty for always. ``vector``: the loop that it moves at once."""
    return _text(loops, i, dict.fromkeys(d.loop for d in i.dims), vector)


def reduction_condition(loops: FusedLoops, i: Instruction) -> str:
    """The same of a term of a reduction."""
    reduction = loops.backbone.reduction(i)
    assert reduction is not None and i.expression is not None
    _, term = i.expression.arguments
    reduced = dict.fromkeys(d.loop for d in reduction.dims)
    sums = i.expression.kind == "add"
    return _text(loops, i, [loop for loop in reduced if not (sums and _vanishes(loops.backbone, term, loop))])


def _text(loops: FusedLoops, i: Instruction, asked: Iterable[Loop], vector: FusedLoop | None = None) -> str:
    partial = [loop for loop in asked if loops.has_partial_iteration(i, loop)]
    return " && ".join(f"{index_of(loops, i, loop).without(vector).text()} < {shown(loop.extent)}" for loop in partial)


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
