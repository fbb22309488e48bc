"""Liveness against its definition: a walk from every point to a use that meets no definition."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.ir import Argument, BasicBlock, Function, Instruction, Liveness, Value, parse_module, verify
from tests.ir.graphs import Graph, function_of, graphs, random_bodies
from tests.ir.llvm import read


def live_by_walking(function: Function, value: Value, block: BasicBlock, at: int) -> bool:
    """Whether a path from before instruction ``at`` of ``block`` reaches a use of ``value`` before its definition."""
    seen = set()
    work = [(block, at)]
    while work:
        block, at = work.pop()
        if (block, at) in seen:
            continue
        seen.add((block, at))
        if at == len(block.instructions):
            for successor in block.successors:
                if any(phi.incoming_value(block) is value for phi in successor.phis):
                    return True
                if value not in successor.phis:  # a phi is defined at the top
                    work.append((successor, len(successor.phis)))
            continue
        instruction = block.instructions[at]
        if instruction.opcode != "phi" and value in instruction.operands:
            return True
        if instruction is not value:
            work.append((block, at + 1))
    return False


@given(graphs(6), st.integers(0, 2**32))
def test_live_values_are_those_of_the_definition(graph: Graph, seed: int) -> None:
    f = function_of(graph, random_bodies(graph, random.Random(seed)))
    assert f.module is not None
    verify(f.module)
    live = Liveness(f)
    values: list[Value] = [*f.arguments, *(i for i in f.instructions() if i.has_result)]
    for block in f.blocks:
        first = len(block.phis)
        assert live.live_in[block] == {v for v in values if v not in block.phis and live_by_walking(f, v, block, first)}
        assert live.live_out[block] == {v for v in values if live_by_walking(f, v, block, len(block.instructions))}
        for at in range(first, len(block.instructions)):
            expected = {v for v in values if live_by_walking(f, v, block, at)}
            assert live.live_before(block.instructions[at]) == expected


def test_constants_and_dead_results_are_never_live() -> None:
    for function in parse_module(read("reduce")).definitions:
        live = Liveness(function)
        for found in (*live.live_in.values(), *live.live_out.values()):
            assert all(isinstance(v, Argument | Instruction) and v.is_used for v in found)
