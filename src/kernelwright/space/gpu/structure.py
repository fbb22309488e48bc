"""Rules of the control structure: sequence, nesting, fusion, dependences (paper 004, section 4.1)."""

from collections.abc import Iterator

from kernelwright.space.computation.strip_mining import can_cut
from kernelwright.space.gpu.sets import GPU, Cut, Dim, Instruction, Reduction, Statement, StaticDim, order, size
from kernelwright.space.lang.choices import related
from kernelwright.space.lang.conditions import Condition, any_of

depends = GPU.given("depends", Statement, Statement)
"""The first statement is finished before the second begins."""


@GPU.fact
def is_own(i: Instruction, d: Dim) -> bool:
    """Whether a dim is one of the instruction's."""
    return bool(d.instruction == i.name)


@GPU.fact
def are_siblings(a: Dim, b: Dim) -> bool:
    """Dims of one instruction."""
    return bool(a.instruction == b.instruction)


@GPU.fact
def can_be_one(a: Dim, b: Dim) -> bool:
    """Two tiles, or what the tiles of one loop leave."""
    return bool(a.is_static and b.is_static) or bool(not a.is_static and not b.is_static and a.loop == b.loop)


@GPU.rule
def before_is_transitive(a: Statement, b: Statement, c: Statement) -> Condition:
    """What precedes the predecessor of a statement precedes the statement."""
    return (order(a, b).BEFORE & order(b, c).BEFORE) >> order(a, c).BEFORE


@GPU.rule
def inner_is_transitive(a: Statement, b: Statement, c: Statement) -> Condition:
    """What is inside a loop is inside all loops around it."""
    return (order(a, b).INNER & order(b, c).INNER) >> order(a, c).INNER


@GPU.rule
def bodies_follow_their_loop(a: Statement, b: Statement, c: Statement) -> Condition:
    """What precedes a loop precedes its body."""
    return (order(a, b).BEFORE & order(b, c).OUTER) >> order(a, c).BEFORE


@GPU.rule
def bodies_precede_what_follows(a: Statement, b: Statement, c: Statement) -> Condition:
    """What follows a loop follows its body."""
    return (order(a, b).AFTER & order(b, c).OUTER) >> order(a, c).AFTER


@GPU.rule
def common_body_means_nested(a: Dim, b: Dim, c: Statement) -> Condition:
    """Two loops around one statement are nested or one."""
    return (order(a, c).OUTER & order(b, c).OUTER) >> order(a, b).is_in("INNER", "OUTER", "MERGED")


@GPU.rule
def merged_is_congruent(a: Statement, b: Statement, c: Statement) -> Condition:
    """Loops that are one have the same order to every other statement."""
    return order(a, b).MERGED >> (order(a, c) == order(b, c))


@GPU.rule
def instructions_are_leaves(i: Instruction, s: Statement) -> Condition:
    """Nothing is inside an instruction, and it is no loop."""
    return order(i, s).is_in("BEFORE", "AFTER", "INNER")


@GPU.rule
def own_dims_are_around(i: Instruction, d: Dim) -> Condition:
    """An instruction is inside its own dims."""
    return is_own(i, d) >> order(i, d).INNER


@GPU.rule
def own_dims_nest(a: Dim, b: Dim) -> Condition:
    """The dims of one instruction are nested: it runs once for each combination of their iterations."""
    return are_siblings(a, b) >> order(a, b).is_in("INNER", "OUTER")


@GPU.rule
def dependences_are_kept(a: Statement, b: Statement) -> Condition:
    """A value is computed before it is used."""
    return depends(a, b) >> order(a, b).BEFORE


@GPU.rule
def fused_dims_are_alike(a: Dim, b: Dim) -> Condition:
    """A tile is fused with a tile; what the tiles of a loop leave, with what is left of the same loop."""
    return can_be_one(a, b) | ~order(a, b).MERGED


@GPU.rule
def fused_tiles_have_one_size(a: StaticDim, b: StaticDim) -> Condition:
    """Fused tiles have the same size."""
    return order(a, b).MERGED >> (size(a) == size(b))


@GPU.clause
def fused_rests_have_one_size(a: Cut, b: Cut) -> Iterator[Condition]:
    """What the tiles of a loop leave is fused only where the tiles of both have the same sizes."""
    if a.loop == b.loop:
        for x, y in zip(a.tiles, b.tiles, strict=True):
            yield order(a.rest, b.rest).MERGED >> (size(x) == size(y))


@GPU.clause
def tiles_fit_their_loop(c: Cut) -> Iterator[Condition]:
    """The sizes of the tiles of a loop divide its extent, or they are powers of two whose product is no more than it."""
    extent = c.loop.extent
    if c.tiles:
        yield related(lambda *sizes: can_cut(extent, sizes), *(size(t) for t in c.tiles))


@GPU.clause
def stores_run_once(i: Instruction, d: Dim) -> Iterator[Condition]:
    """An instruction with a side effect runs once for each iteration of its own dims: every loop around it is one of them."""
    if i.has_side_effect and d.instruction != i.name:
        yield order(i, d).is_in("BEFORE", "AFTER") | any_of(order(d, own).MERGED for own in i.dims)


@GPU.clause
def reductions_begin_anew(r: Reduction, d: Dim) -> Iterator[Condition]:
    """A loop around a reduction that is none of its own repeats it; its initial value is set in each iteration."""
    if d.instruction != r.instruction.name:
        own = any_of(order(d, o).MERGED for o in r.instruction.dims)
        yield order(r.instruction, d).is_in("BEFORE", "AFTER") | order(r.init, d).INNER | own
