"""Orders, dominators and loop latches of functions: against their definitions on random graphs."""

from __future__ import annotations

from hypothesis import given

from kernelwright.ir import Dominators, loop_latches, parse_module, reverse_postorder
from tests.ir.graphs import Graph, dominates, function_of, graphs, reachable
from tests.ir.llvm import optimised, read


@given(graphs())
def test_predecessors_mirror_successors(graph: Graph) -> None:
    f = function_of(graph)
    for n, block in enumerate(f.blocks):
        assert block.predecessors == [b for b, out in zip(f.blocks, graph, strict=True) if n in out]
        assert block.successors == tuple(f.blocks[s] for s in graph[n])


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


@given(graphs())
def test_latches_are_those_of_the_definition(graph: Graph) -> None:
    f = function_of(graph)
    live = reachable(graph, 0)
    expected = {h: {n for n in live if h in graph[n] and dominates(graph, h, n)} for h in live}
    found = loop_latches(Dominators(f))
    assert {f.blocks.index(h): {f.blocks.index(b) for b in latches} for h, latches in found.items()} == {
        h: latches for h, latches in expected.items() if latches
    }
    assert all(len(set(latches)) == len(latches) for latches in found.values())


def test_the_loops_of_a_program() -> None:
    module = parse_module(read("control"))
    assert len(loop_latches(Dominators(module.functions["_Z6nestedPfiPi"]))) == 4
    assert loop_latches(Dominators(module.functions["_Z11two_entriesPiib"])) == {}
    heat = parse_module(optimised("stencil")).functions["_Z4heatPKfPfS0_iif"]
    assert [len(latches) for latches in loop_latches(Dominators(heat)).values()] == [1]


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
