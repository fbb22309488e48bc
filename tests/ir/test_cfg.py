"""Orders, dominators, post-dominators, loops: against their definitions on random graphs."""

from __future__ import annotations

from hypothesis import given

from kernelwright.ir import (
    Dominators,
    PostDominators,
    is_reducible,
    loop_depths,
    natural_loops,
    parse_module,
    predecessors,
    reverse_postorder,
)
from tests.ir.graphs import Graph, dominates, function_of, graphs, reachable
from tests.ir.llvm import optimised, read


@given(graphs())
def test_predecessors_mirror_successors(graph: Graph) -> None:
    f = function_of(graph)
    before = predecessors(f)
    for n, block in enumerate(f.blocks):
        expected = [b for b, out in zip(f.blocks, graph, strict=True) if n in out]
        assert before[block] == expected == block.predecessors


@given(graphs())
def test_reverse_postorder_has_each_reachable_block_after_a_predecessor(graph: Graph) -> None:
    f = function_of(graph)
    order = reverse_postorder(f)
    assert {f.blocks.index(b) for b in order} == reachable(graph, 0)
    assert order[0] is f.entry
    for at, block in enumerate(order[1:], 1):
        assert any(p in order[:at] for p in block.predecessors)


@given(graphs())
def test_dominators_are_those_of_the_definition(graph: Graph) -> None:
    f = function_of(graph)
    tree = Dominators(f)
    live = reachable(graph, 0)
    for a, one in enumerate(f.blocks):
        for b, other in enumerate(f.blocks):
            if b in live:
                assert tree.dominates(one, other) == (a in live and dominates(graph, a, b)), (a, b)
            else:
                assert tree.dominates(one, other)
    for b in live:
        above = [a for a in live if a != b and dominates(graph, a, b)]
        closest = [a for a in above if all(dominates(graph, other, a) for other in above)]
        expected = f.blocks[closest[0]] if closest else None
        assert tree.immediate(f.blocks[b]) is expected
        assert tree.depth(f.blocks[b]) == len(above)


@given(graphs())
def test_frontiers_are_those_of_the_definition(graph: Graph) -> None:
    f = function_of(graph)
    found = Dominators(f).frontiers()
    live = reachable(graph, 0)
    for a in live:
        expected = {
            s for b in live if dominates(graph, a, b) for s in graph[b] if not (dominates(graph, a, s) and a != s)
        }
        assert {f.blocks.index(b) for b in found[f.blocks[a]]} == expected


@given(graphs())
def test_post_dominators_are_those_of_the_definition(graph: Graph) -> None:
    f = function_of(graph)
    tree = PostDominators(f)
    ends = {n for n, out in enumerate(graph) if not out}
    finite = {n for n in range(len(graph)) if reachable(graph, n) & ends}
    if not all(reachable(graph, n) <= finite for n in finite):
        return  # a way into an endless loop has a made-up end: checked below
    for a in range(len(graph)):
        for b in finite:
            expected = not reachable(graph, b, without=a) & ends
            assert tree.dominates(f.blocks[a], f.blocks[b]) == expected, (a, b)


def test_endless_loops_have_post_dominators_too() -> None:
    f = function_of([[1, 3], [2], [1], []])
    tree = PostDominators(f)
    entry, head, latch, end = f.blocks
    assert tree.immediate(entry) is None and tree.immediate(end) is None
    assert tree.immediate(head) is latch


@given(graphs())
def test_natural_loops_are_those_of_the_definition(graph: Graph) -> None:
    f = function_of(graph)
    live = reachable(graph, 0)
    expected = {}
    for h in live:
        below = [n for n in live if dominates(graph, h, n)]
        inner = [[s for s in out if s in below] if n in below else [] for n, out in enumerate(graph)]
        body = {n for n in below if any(h in inner[m] for m in reachable(inner, n))}
        if any(h in inner[n] for n in below):
            expected[h] = body | {h}
    loops = natural_loops(f)
    assert {f.blocks.index(lp.header): {f.blocks.index(b) for b in lp.blocks} for lp in loops} == expected
    for loop in loops:
        assert {f.blocks.index(b) for b in loop.latches} == {
            n for n in expected[f.blocks.index(loop.header)] if f.blocks.index(loop.header) in graph[n]
        }
        outer = [o for o in loops if o is not loop and loop.header in o and o.header not in loop.blocks]
        outer += [o for o in loops if o is not loop and set(loop.blocks) < set(o.blocks) and o not in outer]
        assert loop.depth == 1 + len(outer)
        assert all(a in loop and b not in loop for a, b in loop.exits)
    depths = loop_depths(f)
    assert all(depths[b] == sum(b in lp for lp in loops) for b in f.blocks)


def reducible_by_collapsing(graph: Graph) -> bool:
    """The classic definition: dropping self loops and merging single-predecessor blocks leaves one block."""
    live = reachable(graph, 0)
    after = {n: set(graph[n]) - {n} for n in live}
    while True:
        for n in list(after):
            before = [p for p in after if n in after[p]]
            if n != 0 and len(before) == 1:
                p = before[0]
                after[p] = (after[p] | after[n]) - {n, p}
                del after[n]
                break
        else:
            return len(after) == 1


@given(graphs())
def test_reducibility_by_collapsing(graph: Graph) -> None:
    assert is_reducible(function_of(graph)) == reducible_by_collapsing(graph)


def test_the_loops_of_a_program() -> None:
    module = parse_module(read("control"))
    nested = natural_loops(module.functions["_Z6nestedPfiPi"])
    assert sorted(loop.depth for loop in nested) == [1, 1, 2, 2]
    assert not is_reducible(module.functions["_Z11two_entriesPiib"])
    assert natural_loops(module.functions["_Z11two_entriesPiib"]) == []
    heat = parse_module(optimised("stencil")).functions["_Z4heatPKfPfS0_iif"]
    (loop,) = natural_loops(heat)
    assert loop.preheader is not None and loop.preheader not in loop


def test_dominance_between_instructions() -> None:
    f = parse_module(
        "define i32 @f(i1 %c) {\nentry:\n  %x = add i32 1, 2\n  br i1 %c, label %a, label %end\n"
        "a:\n  %y = add i32 %x, 1\n  br label %end\n"
        "end:\n  %p = phi i32 [ %x, %entry ], [ %y, %a ]\n  ret i32 %p\n}"
    ).function("f")
    entry, a, end = f.blocks
    x, branch = entry.instructions
    y = a.instructions[0]
    phi, ret = end.instructions
    tree = Dominators(f)
    assert tree.before(x, branch) and tree.before(x, y) and not tree.before(branch, x) and not tree.before(x, x)
    assert not tree.before(y, phi)
    assert not tree.before(x.clone(), ret) and not tree.before(x, ret.clone())
    assert tree.reaches_operand(y, phi, 1) and not tree.reaches_operand(y, phi, 0)
    assert not tree.reaches_operand(y, ret, 0) and tree.reaches_operand(f.arguments[0], ret, 0)
