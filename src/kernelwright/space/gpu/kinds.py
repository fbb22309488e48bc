"""Rules of how dims are implemented: unrolled, vectors, blocks (paper 004, section 4.2)."""

from collections.abc import Iterator

from kernelwright.space.gpu.sets import (
    BLOCK_DIMS,
    GPU,
    UNROLL,
    Dim,
    Instruction,
    StaticDim,
    dim_kind,
    order,
    size,
)
from kernelwright.space.gpu.structure import is_own
from kernelwright.space.lang.choices import related
from kernelwright.space.lang.conditions import Condition
from kernelwright.space.lang.declaration import Count, counted, number_of, product


@GPU.fact
def is_static(d: Dim) -> bool:
    """Whether a dim's size is known when the kernel is made."""
    return bool(d.is_static)


@GPU.fact
def is_parallel(d: Dim) -> bool:
    """Whether a dim's iterations may run at the same time."""
    return bool(d.is_parallel)


@GPU.rule
def only_tiles_have_a_known_size(d: Dim) -> Condition:
    """What the tiles leave is a loop or spread over blocks: its size is not decided, so it is not unrolled, no vector and no axis of
    threads."""
    return is_static(d) | dim_kind(d).is_in("LOOP", "BLOCK")


@GPU.rule
def unrolled_bodies_are_unrolled(a: Dim, b: Dim) -> Condition:
    """Inside an unrolled loop every loop is unrolled or a vector."""
    return (order(a, b).INNER & dim_kind(b).UNROLL) >> dim_kind(a).is_in("UNROLL", "VECTOR")


@GPU.rule
def vectors_hold_no_loop(a: Dim, b: Dim) -> Condition:
    """A vector is an innermost loop."""
    return order(a, b).INNER >> ~dim_kind(b).VECTOR


@GPU.rule
def vectors_hold_one_instruction(i: Instruction, d: Dim) -> Condition:
    """A vector is one access; nothing but its own instruction is inside."""
    return is_own(i, d) | ~order(i, d).INNER | ~dim_kind(d).VECTOR


@GPU.clause
def vectors_are_aligned(d: StaticDim) -> Iterator[Condition]:
    """An access is a vector only along elements that lie side by side, aligned, and of a width that the GPU has."""
    widths = d.vector_widths
    if set(d.universe) & set(widths):
        yield related(lambda kind, chosen: kind != "VECTOR" or chosen in widths, dim_kind(d), size(d))
    else:
        yield ~dim_kind(d).VECTOR


@GPU.rule
def fused_dims_have_one_kind(a: Dim, b: Dim) -> Condition:
    """Fused dims are implemented in one way."""
    return order(a, b).MERGED >> (dim_kind(a) == dim_kind(b))


@GPU.rule
def blocks_are_outermost(a: Dim, b: Dim) -> Condition:
    """Blocks do not share anything: every other dim is inside each block dim."""
    return (dim_kind(b).BLOCK & ~dim_kind(a).BLOCK) >> order(a, b).INNER


@GPU.rule
def blocks_nest(a: Dim, b: Dim) -> Condition:
    """Block dims are nested or one."""
    return (dim_kind(b).BLOCK & dim_kind(a).BLOCK) >> order(a, b).is_in("INNER", "OUTER", "MERGED")


@GPU.rule
def blocks_run_everything(i: Instruction, b: Dim) -> Condition:
    """Every block executes the whole kernel: all instructions are inside each block dim."""
    return dim_kind(b).BLOCK >> order(i, b).INNER


@GPU.counter
def axes_of_blocks() -> Count:
    """A grid of blocks has a limited number of axes."""
    return number_of(Dim, lambda d: dim_kind(d).BLOCK, same=lambda a, b: order(a, b).MERGED) <= BLOCK_DIMS


@GPU.counter
def copies_by_unrolling(i: Instruction) -> Count:
    """Unrolling makes a limited number of copies of an instruction."""
    return (
        product(
            StaticDim,
            lambda d: counted(size(d), dim_kind(d).UNROLL & order(i, d).INNER),
            same=lambda a, b: order(a, b).MERGED,
        )
        <= UNROLL
    )
