"""A computation carried out as it is declared, in double precision: what its kernels have to come to, whatever was decided.

Statements are done in their order, each for a block of its iterations at a time; reductions are kept, everything else is computed
again where it is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.space.computation.arrays import Access, Loop

if TYPE_CHECKING:
    from kernelwright.space.computation.declaration import Computation, DeclaredStatement

Doubles = npt.NDArray[np.float64]
Span = tuple[int, int]
"""The first iteration of a loop, and the one after the last."""

BLOCK = 1 << 18
"""Iterations done at once: their values stay in a processor's cache."""
MOST_ITERATIONS = 1 << 33
"""Of all statements together: half a minute."""
REDUCED: Mapping[str, tuple[np.ufunc, float]] = {"sum": (np.add, 0.0), "max": (np.maximum, -np.inf)}


def interpreted(
    computation: Computation, memory: Mapping[str, npt.NDArray[Any]], scalars: Mapping[str, float]
) -> dict[str, Doubles]:
    """The memory of each output; NaN where nothing is written. ``memory``: of the inputs, one-dimensional.

    Raises ``Misuse`` for a computation that would take minutes.
    """
    iterations = sum(prod(loop.extent for loop in s.loops) for s in computation.statements)
    if iterations > MOST_ITERATIONS:
        raise Misuse(
            f"{computation.name} has {iterations:.1e} iterations: too many to carry out one by one",
            hint="give it an oracle that NumPy computes fast: @kw.computation(oracle=...)",
        )
    return _Interpretation(computation, memory, scalars).done()


class _Interpretation:
    def __init__(
        self, computation: Computation, memory: Mapping[str, npt.NDArray[Any]], scalars: Mapping[str, float]
    ) -> None:
        self.statements = {s.name: s for s in computation.statements}
        self.axes = {loop: axis for axis, loop in enumerate(computation.loops.values())}
        self.scalars = scalars
        arrays = computation.arrays.values()
        self.inputs = {a.name: memory[a.name].astype(np.float64) for a in arrays if not a.is_output}
        self.outputs = {a.name: np.full(a.elements, np.nan) for a in arrays if a.is_output}
        self.reductions: dict[str, Doubles] = {}

    def done(self) -> dict[str, Doubles]:
        for statement in self.statements.values():
            if statement.reduced:
                self._reduce(statement)
            elif statement.operation == "store":
                for spans in _blocks(statement.loops):
                    assert statement.access is not None and statement.expression is not None
                    target = self._view(self.outputs[statement.access.array.name], statement.access, spans)
                    target[...] = self._values(statement.expression, spans)
        return self.outputs

    def _reduce(self, statement: DeclaredStatement) -> None:
        joined, begin = REDUCED[statement.operation]
        shape = [1] * len(self.axes)
        for loop in statement.value_loops:
            shape[self.axes[loop]] = loop.extent
        total = np.full(shape, begin)
        reduced = tuple(self.axes[loop] for loop in statement.reduced)
        assert statement.expression is not None
        for spans in _blocks(statement.loops):
            part = joined.reduce(self._values(statement.expression, spans), axis=reduced, keepdims=True)
            at = self._part(statement, spans)
            total[at] = joined(total[at], part)
        self.reductions[statement.name] = total

    def _part(self, statement: DeclaredStatement, spans: Mapping[Loop, Span]) -> tuple[slice, ...]:
        """Where the values of a reduction stand for a block."""
        at = [slice(None)] * len(self.axes)
        for loop in statement.value_loops:
            at[self.axes[loop]] = slice(*spans[loop])
        return tuple(at)

    def _values(self, expression: Any, spans: Mapping[Loop, Span]) -> Doubles:
        """Of a block: an axis for each loop of the computation, of one element where it does not vary."""
        operands = {name: self._value(self.statements[name], spans) for name in expression.operands}
        found: Doubles = expression.evaluate({**self.scalars, **operands})
        return found

    def _value(self, statement: DeclaredStatement, spans: Mapping[Loop, Span]) -> Doubles:
        if statement.reduced:
            return self.reductions[statement.name][self._part(statement, spans)]
        if statement.access is not None:
            return self._view(self.inputs[statement.access.array.name], statement.access, spans)
        return self._values(statement.expression, spans)

    def _view(self, memory: Doubles, access: Access, spans: Mapping[Loop, Span]) -> Doubles:
        """The elements that an access touches in a block."""
        first, shape, strides = access.offset, [1] * len(self.axes), [0] * len(self.axes)
        for loop, stride in access.strides:
            begin, end = spans[loop]
            first += stride * begin
            shape[self.axes[loop]], strides[self.axes[loop]] = end - begin, stride * memory.itemsize
        return np.lib.stride_tricks.as_strided(memory[first:], shape, strides)


def _blocks(loops: Sequence[Loop]) -> Iterator[dict[Loop, Span]]:
    """Iterations in blocks: whole inner loops, as far as they are few enough."""
    steps, room = [], BLOCK
    for loop in reversed(loops):
        steps.append(max(1, min(loop.extent, room)))
        room //= steps[-1]
    spans = [
        [(begin, min(begin + step, loop.extent)) for begin in range(0, loop.extent, step)]
        for loop, step in zip(loops, reversed(steps), strict=True)
    ]
    for chosen in itertools.product(*spans):
        yield dict(zip(loops, chosen, strict=True))
