"""Rules of reductions whose terms are shared between threads of a block: a row of a matrix added up by a warp.

Each thread begins with the initial value and takes its share of the terms; behind the outermost loop of the reduction the parts of all
threads along the axis are joined, and every one of them has the whole (``cuda_source/joined_threads.py``).
"""

from collections.abc import Iterator

from kernelwright.space.computation.strip_mining import is_power_of_two
from kernelwright.space.gpu.kinds import is_parallel
from kernelwright.space.gpu.sets import GPU, Dim, StaticDim, dim_kind, size, thread_mapping
from kernelwright.space.lang.choices import related
from kernelwright.space.lang.conditions import Condition


@GPU.rule
def reductions_stay_in_a_block(d: Dim) -> Condition:
    """A dim that a reduction runs over is executed in sequence or by the threads of a block: blocks cannot join their parts, and a
    vector is an access."""
    return is_parallel(d) | dim_kind(d).is_in("LOOP", "UNROLL", "THREAD")


@GPU.fact
def is_shareable(d: Dim) -> bool:
    """Whether threads may share a reduction's terms along this dim."""
    return bool(d.is_shareable)


@GPU.rule
def results_that_share_operands_are_enough(d: Dim) -> Condition:
    """Threads share a reduction where each term is loaded for one result alone, or where results are few: else what is loaded is used
    again, and there are results for all threads."""
    return is_parallel(d) | is_shareable(d) | ~dim_kind(d).THREAD


@GPU.clause
def parts_are_joined_by_halves(d: StaticDim) -> Iterator[Condition]:
    """Threads that share a reduction are a power of two: half of them give their parts to the other half, and so on."""
    if not d.is_parallel and not all(is_power_of_two(s) for s in d.universe):
        yield related(lambda kind, chosen: kind != "THREAD" or is_power_of_two(chosen), dim_kind(d), size(d))


@GPU.rule
def parts_are_of_neighbours(a: StaticDim, b: StaticDim) -> Condition:
    """Threads that share a reduction are neighbours: their axis is the innermost."""
    return is_parallel(a) | ~thread_mapping(a, b).OUT
