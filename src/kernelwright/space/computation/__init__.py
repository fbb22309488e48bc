"""A computation: loops and scalar statements, and the objects that decisions about them are made on."""

from kernelwright.space.computation.arrays import Access, Array, Loop
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import Expression, exp, maximum, tanh
from kernelwright.space.computation.family import Family, computation
from kernelwright.space.computation.objects import (
    Backbone,
    Dependence,
    Dim,
    DimPair,
    Instruction,
    Leaf,
    Reduction,
    Statement,
    Temporary,
)

__all__ = [
    "Access", "Array", "Backbone", "Computation", "Dependence", "Dim", "DimPair", "Expression", "Family", "Instruction", "Leaf",
    "Loop", "Reduction", "Statement", "Temporary", "computation", "exp", "maximum", "tanh",
]  # fmt: skip
