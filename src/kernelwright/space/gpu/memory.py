"""Rules of where temporaries lie and how memory is accessed (paper 004, section 4.3)."""

from collections.abc import Iterator

from kernelwright.space.gpu.sets import (
    GPU,
    SHARED_BYTES,
    Access,
    PutDim,
    Temporary,
    cache,
    dim_kind,
    layout,
    mem_space,
    order,
    size,
)
from kernelwright.space.lang.conditions import Condition
from kernelwright.space.lang.declaration import Amount, Count, counted, product, total

ELEMENT_BYTES = 4


@GPU.fact
def is_store(a: Access) -> bool:
    """Whether an access writes."""
    return bool(a.operation == "store")


@GPU.fact
def may_be_global(t: Temporary) -> bool:
    """Whether a temporary may lie in global memory."""
    return bool(t.may_be_global)


@GPU.rule
def loads_are_staged_in_shared_memory(t: Temporary) -> Condition:
    """What is loaded lies in global memory already: a temporary of it is in shared memory."""
    return may_be_global(t) | mem_space(t).SHARED


@GPU.rule
def stores_write_through(a: Access) -> Condition:
    """A store goes to the second cache or past it; the others are for loads."""
    return ~is_store(a) | cache(a).is_in("L2", "NONE")


@GPU.rule
def layouts_are_transitive(a: PutDim, b: PutDim, c: PutDim) -> Condition:
    """The axes of an array have an order."""
    return (layout(a, b).OUT & layout(b, c).OUT) >> layout(a, c).OUT


@GPU.rule
def written_vectors_are_innermost(a: PutDim, b: PutDim) -> Condition:
    """A vector is written along the innermost axis."""
    return dim_kind(a).VECTOR >> layout(a, b).IN


@GPU.clause
def read_vectors_are_innermost(t: Temporary) -> Iterator[Condition]:
    """A vector is read along the innermost axis."""
    for put, get in t.axes:
        for other, _ in t.axes:
            if other != put:
                yield dim_kind(get).VECTOR >> layout(put, other).IN


@GPU.counter
def shared_memory_of_a_block() -> Count:
    """The temporaries of a block fit into its shared memory. An axis that is written and read by the same loop has one element."""
    return total(Temporary, _bytes_of) <= SHARED_BYTES


def _bytes_of(t: Temporary) -> Amount:
    return product(
        t.axes,
        lambda axis: counted(size(axis[0]), order(axis[0], axis[1]).BEFORE),
        when=mem_space(t).SHARED,
        times=ELEMENT_BYTES,
    )
