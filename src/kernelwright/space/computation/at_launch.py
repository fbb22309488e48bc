"""Whether a declaration means at every launch what it says at the sizes it is tuned at: declared again at others, and compared.

matmul at m, n, k = 1024, given at launch     →   A: 1024 rows of 1024, and "m rows of k"
matmul at m, n, k = 7, 5, 3                   →   A: 7 rows of 3: the same
half, a loop of n // 2 iterations             →   512, without a formula; at n = 4 it is 2: refused
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import Expression
from kernelwright.space.computation.sizes import LaunchSize, value_at


def other_sizes(tuned: Mapping[str, int], dynamic: tuple[LaunchSize, ...]) -> Iterator[dict[str, int]]:
    """Launches to look at: the smallest, each size alone at another value, all of them larger and different."""
    least = {**tuned, **{size.name: size.multiple for size in dynamic}}
    yield least
    for size in dynamic:
        yield {**tuned, size.name: tuned[size.name] + size.multiple}
        yield {**least, size.name: 3 * size.multiple}
    yield {**tuned, **{size.name: (n + 2) * size.multiple for n, size in enumerate(dynamic)}}
    yield {**tuned, **{size.name: (n + 1000) * tuned[size.name] for n, size in enumerate(dynamic)}}


def difference(tuned: Computation, other: Computation, sizes: Mapping[str, int]) -> str:
    """What ``other``, declared with these sizes, has that the formulas of ``tuned`` do not say; empty where they agree."""
    for loop, there in zip_longest(tuned.loops.values(), other.loops.values()):
        if loop is None or there is None or loop.name != there.name:
            return f"loop {there or loop}"
        if value_at(loop.extent, sizes) != there.extent:
            return f"the extent of loop {loop}"
    for array, held in zip_longest(tuned.arrays.values(), other.arrays.values()):
        if array is None or held is None or (array.name, array.is_output) != (held.name, held.is_output):
            return f"array {held or array}"
        if tuple(value_at(n, sizes) for n in array.shape) != held.shape:
            return f"the shape of array {array}"
        if tuple(value_at(n, sizes) for n in array.strides) != held.strides:
            return f"the strides of array {array}"
    if tuned.scalars != other.scalars:
        return "the scalars"
    for statement, again in zip_longest(tuned.statements, other.statements):
        if statement is None or again is None or statement.name != again.name:
            return f"statement {(again or statement).name}"
        if (statement.operation, statement.loops, statement.reduced) != (again.operation, again.loops, again.reduced):
            return f"statement {statement.name}"
        if statement.expression != again.expression:
            return f"what {statement.name} computes{_numbers(statement.expression, again.expression)}"
        if (a := statement.access) is not None and (b := again.access) is not None:
            strides = tuple((loop, value_at(n, sizes)) for loop, n in a.strides)
            if (a.array, strides, value_at(a.offset, sizes)) != (b.array, b.strides, b.offset):
                return f"the index of {statement.name}"
    return ""


def _numbers(a: Expression | None, b: Expression | None) -> str:
    """The first number that differs, in words."""
    if a is None or b is None:
        return ""
    for x, y in zip(a.walk(), b.walk(), strict=False):
        if x.kind == y.kind == "number" and x.number != y.number:
            return f": {x.number:g} is {y.number:g}"
    return ""
