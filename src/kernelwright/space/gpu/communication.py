"""Rules of how a value passes from the dims of its producer to those of its consumer (paper 004, section 4.4).

``dim_mapping`` is REGISTER where both dims are one loop, or both are unrolled or vectors, each iteration with a register of its own;
THREAD where both are the same axis of threads; NONE where neither holds, and then a temporary array passes the value.
"""

from kernelwright.space.gpu.kinds import is_static
from kernelwright.space.gpu.sets import (
    GPU,
    Pair,
    Staging,
    StaticDim,
    Temporary,
    dim_kind,
    dim_mapping,
    exists,
    mem_space,
    order,
    size,
    thread_mapping,
)
from kernelwright.space.lang.conditions import Condition, any_of


@GPU.fact
def can_be_lowered(p: Pair) -> bool:
    """Whether a value may pass through memory."""
    return p.lowers_to is not None


@GPU.rule
def paired_tiles_have_one_size(p: Pair) -> Condition:
    """Iterations correspond one to one: both tiles have the same size."""
    return size(p.lhs) == size(p.rhs)


@GPU.rule
def producers_precede(p: Pair) -> Condition:
    """The producer's dim precedes the consumer's, or both are one."""
    return order(p.lhs, p.rhs).is_in("BEFORE", "MERGED")


@GPU.rule
def rests_are_fused(p: Pair) -> Condition:
    """What the tiles leave is too large for registers: the producer's rest and the consumer's are one loop, or a temporary passes the
    value."""
    return is_static(p.lhs) | can_be_lowered(p) | (order(p.lhs, p.rhs).MERGED & dim_mapping(p).REGISTER)


@GPU.rule
def rests_are_no_axes_of_threads(p: Pair) -> Condition:
    """What the tiles leave is no axis of threads, so that no value passes within threads along it."""
    return is_static(p.lhs) | ~dim_mapping(p).THREAD


@GPU.rule
def rests_apart_need_global_memory(p: Pair) -> Condition:
    """What the tiles leave is too large for shared memory: a temporary along it lies in global memory, unless both are one loop."""
    return is_static(p.lhs) | order(p.lhs, p.rhs).MERGED | mem_space(p.lowers_to).GLOBAL


@GPU.rule
def fused_dims_pass_in_registers(p: Pair) -> Condition:
    """Where both dims are one loop a value stays in a register."""
    return order(p.lhs, p.rhs).MERGED >> dim_mapping(p).REGISTER


@GPU.rule
def unrolled_dims_pass_in_registers(p: Pair) -> Condition:
    """Where both dims are unrolled each iteration has a register."""
    unrolled = dim_kind(p.lhs).is_in("UNROLL", "VECTOR") & dim_kind(p.rhs).is_in("UNROLL", "VECTOR")
    return unrolled >> dim_mapping(p).REGISTER


@GPU.rule
def registers_need_an_unrolled_producer(p: Pair) -> Condition:
    """Registers cannot be indexed by a loop: the producer's dim is unrolled, a vector, or the consumer's."""
    kept_apart = dim_mapping(p).REGISTER & ~order(p.lhs, p.rhs).MERGED
    return kept_apart >> dim_kind(p.lhs).is_in("UNROLL", "VECTOR")


@GPU.rule
def registers_need_an_unrolled_consumer(p: Pair) -> Condition:
    """Registers cannot be indexed by a loop: the consumer's dim is unrolled, a vector, or the producer's."""
    kept_apart = dim_mapping(p).REGISTER & ~order(p.lhs, p.rhs).MERGED
    return kept_apart >> dim_kind(p.rhs).is_in("UNROLL", "VECTOR")


@GPU.rule
def one_axis_passes_within_threads(p: Pair) -> Condition:
    """Where both dims are the same axis of threads each thread keeps its value."""
    return (thread_mapping(p.lhs, p.rhs).MAPPED & ~order(p.lhs, p.rhs).MERGED) >> dim_mapping(p).THREAD


@GPU.rule
def threads_keep_only_their_own(p: Pair) -> Condition:
    """A thread keeps a value only for the same axis of threads."""
    return dim_mapping(p).THREAD >> thread_mapping(p.lhs, p.rhs).MAPPED


@GPU.rule
def threads_pass_between_nests(p: Pair) -> Condition:
    """A value passes within threads from one nest of thread dims to another; in one nest it is in a register anyway."""
    return dim_mapping(p).THREAD >> order(p.lhs, p.rhs).BEFORE


@GPU.rule
def values_pass_somehow(p: Pair) -> Condition:
    """Without a temporary, a value passes in registers or within threads."""
    return can_be_lowered(p) | ~dim_mapping(p).NONE


@GPU.rule
def memory_needs_a_temporary(p: Pair) -> Condition:
    """A value that passes neither in registers nor within threads goes through a temporary."""
    return can_be_lowered(p) >> (dim_mapping(p).NONE >> exists(p.lowers_to).YES)


@GPU.clause
def temporaries_have_a_reason(s: Staging) -> Condition:
    """A temporary exists only where a value passes neither in registers nor within threads."""
    return exists(s.temporary).NO | any_of(dim_mapping(p).NONE for p in s.pairs)


@GPU.clause
def temporaries_join_threads(t: Temporary, d: StaticDim) -> Condition:
    """What one thread writes others read: no thread dim is around both the write and the read, and a barrier stands between."""
    outside = order(t.put, d).is_in("BEFORE", "AFTER") | order(t.get, d).is_in("BEFORE", "AFTER")
    return outside | ~dim_kind(d).THREAD


@GPU.clause
def axes_are_written_first(t: Temporary) -> list[Condition]:
    """An axis is written before it is read, or by the same iteration."""
    return [order(put, get).is_in("BEFORE", "MERGED") for put, get in t.axes]


@GPU.clause
def axes_have_one_size(t: Temporary) -> list[Condition]:
    """An axis is written and read in full."""
    return [size(put) == size(get) for put, get in t.axes]
