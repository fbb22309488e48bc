"""Rules of the mapping to hardware threads (paper 004, section 4.5)."""

from kernelwright.space.gpu.sets import (
    GPU,
    OUTER_THREADS,
    THREAD_DIMS,
    THREADS,
    Dim,
    Statement,
    StaticDim,
    dim_kind,
    order,
    size,
    thread_mapping,
)
from kernelwright.space.lang.conditions import Condition
from kernelwright.space.lang.declaration import Count, counted, number_of, product


@GPU.rule
def only_thread_dims_are_mapped(a: StaticDim, b: StaticDim) -> Condition:
    """Only thread dims have an axis of threads."""
    return thread_mapping(a, b).NOT | dim_kind(a).THREAD


@GPU.rule
def thread_dims_are_mapped(a: StaticDim, b: StaticDim) -> Condition:
    """Every thread dim has an axis of threads."""
    return ~thread_mapping(a, b).NOT | ~dim_kind(a).THREAD | ~dim_kind(b).THREAD


@GPU.rule
def one_axis_is_not_nested(a: StaticDim, b: StaticDim) -> Condition:
    """Dims on the same axis of threads are fused or follow one another."""
    return thread_mapping(a, b).MAPPED >> order(a, b).is_in("MERGED", "BEFORE", "AFTER")


@GPU.rule
def outer_axes_are_outer_dims(a: StaticDim, b: StaticDim) -> Condition:
    """The dim on the outer axis is the outer one where both are nested."""
    return thread_mapping(a, b).OUT >> order(a, b).is_in("OUTER", "BEFORE", "AFTER")


@GPU.rule
def one_axis_has_one_size(a: StaticDim, b: StaticDim) -> Condition:
    """Dims on the same axis of threads have the same size."""
    return thread_mapping(a, b).MAPPED >> (size(a) == size(b))


@GPU.rule
def axes_are_congruent(a: StaticDim, b: StaticDim, c: StaticDim) -> Condition:
    """Dims on the same axis have the same relation to the axis of every third dim."""
    return (thread_mapping(a, b).MAPPED & ~thread_mapping(b, c).NOT) >> (thread_mapping(a, c) == thread_mapping(b, c))


@GPU.rule
def axes_are_ordered(a: StaticDim, b: StaticDim, c: StaticDim) -> Condition:
    """An axis outside an outer axis is outside the inner one."""
    return (thread_mapping(a, b).OUT & thread_mapping(b, c).OUT) >> thread_mapping(a, c).OUT


@GPU.rule
def outer_axes_are_small(a: StaticDim, b: StaticDim) -> Condition:
    """All axes of threads but the innermost have a limited size."""
    return thread_mapping(a, b).OUT >> (size(a) <= OUTER_THREADS)


@GPU.rule
def thread_dims_are_adjacent(a: StaticDim, b: Dim, c: StaticDim) -> Condition:
    """A dim between two nested thread dims is a thread dim."""
    return thread_mapping(a, c).NOT | ~order(a, b).OUTER | ~order(b, c).OUTER | dim_kind(b).THREAD


@GPU.rule
def thread_nests_are_perfect(s: Statement, a: StaticDim, b: StaticDim) -> Condition:
    """A statement inside the outer of two nested thread dims is in the inner one, too, or around it: the axes begin together."""
    nested = ~thread_mapping(a, b).NOT & order(a, b).OUTER & order(s, a).INNER
    return nested >> order(s, b).is_in("INNER", "OUTER", "MERGED")


@GPU.counter
def threads_of_a_block() -> Count:
    """A block has a limited number of threads."""
    return (
        product(
            StaticDim,
            lambda d: counted(size(d), dim_kind(d).THREAD),
            same=lambda a, b: thread_mapping(a, b).MAPPED,
        )
        <= THREADS
    )


@GPU.counter
def axes_of_threads() -> Count:
    """A block has a limited number of axes of threads."""
    return (
        number_of(StaticDim, lambda d: dim_kind(d).THREAD, same=lambda a, b: thread_mapping(a, b).MAPPED) <= THREAD_DIMS
    )
