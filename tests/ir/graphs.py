"""Random functions: any control flow, and values that obey SSA. Dominance here is by definition, not by our code."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from kernelwright.ir import BasicBlock, Function, parse_module

Graph = list[list[int]]
"""The successors of each block; block 0 is the entry and nobody's successor."""


def graphs(most: int = 8) -> st.SearchStrategy[Graph]:
    """Up to ``most`` blocks with up to three successors each."""
    return st.integers(1, most).flatmap(
        lambda n: st.lists(st.lists(st.integers(1, max(n - 1, 1)), max_size=3 if n > 1 else 0), min_size=n, max_size=n)
    )


def terminator(successors: list[int]) -> str:
    if not successors:
        return "ret void"
    if len(successors) == 1:
        return f"br label %b{successors[0]}"
    if len(successors) == 2:
        return f"br i1 %c, label %b{successors[0]}, label %b{successors[1]}"
    cases = " ".join(f"i32 {n}, label %b{b}" for n, b in enumerate(successors[1:]))
    return f"switch i32 %a, label %b{successors[0]} [ {cases} ]"


def function_of(graph: Graph, bodies: list[list[str]] | None = None) -> Function:
    """A function of this shape; ``bodies`` gives the lines before each terminator."""
    lines = ["define void @f(i32 %a, i32 %b, i1 %c) {"]
    for n, successors in enumerate(graph):
        lines.append(f"b{n}:")
        lines += [f"  {line}" for line in (bodies[n] if bodies else [])]
        lines.append(f"  {terminator(successors)}")
    return parse_module("\n".join([*lines, "}"])).function("f")


def reachable(graph: Graph, start: int, without: int = -1) -> set[int]:
    """The blocks that paths from ``start`` lead to when one block is taken away."""
    seen: set[int] = set()
    work = [start] if start != without else []
    while work:
        n = work.pop()
        if n not in seen:
            seen.add(n)
            work += [s for s in graph[n] if s != without]
    return seen


def dominates(graph: Graph, a: int, b: int) -> bool:
    """By definition: without ``a`` no path leads to ``b``."""
    return b not in reachable(graph, 0, without=a)


def block(function: Function, n: int) -> BasicBlock:
    return function.blocks[n]


def random_bodies(graph: Graph, rng: random.Random) -> list[list[str]]:
    """Lines for each block that use only what dominates them."""
    defined: dict[int, list[str]] = {n: [f"%v{n}_{k}" for k in range(rng.randrange(4))] for n in range(len(graph))}
    phis: dict[int, list[str]] = {}
    before: dict[int, list[int]] = {
        n: [p for p, out in enumerate(graph) for s in out if s == n] for n in range(len(graph))
    }
    for n in range(1, len(graph)):
        if before[n]:
            phis[n] = [f"%p{n}_{k}" for k in range(rng.randrange(3))]

    def visible(n: int) -> list[str]:
        """What is defined when block ``n`` ends."""
        names = ["%a", "%b", "7"]
        for other in range(len(graph)):
            if dominates(graph, other, n) and (other in reachable(graph, 0) or other == n):
                names += defined[other] + phis.get(other, [])
        return names

    bodies = []
    for n in range(len(graph)):
        lines = []
        for name in phis.get(n, []):
            chosen: dict[int, str] = {p: rng.choice(visible(p)) for p in before[n]}
            lines.append(f"{name} = phi i32 " + ", ".join(f"[ {chosen[p]}, %b{p} ]" for p in before[n]))
        pool = [v for v in visible(n) if v not in defined[n]]
        for name in defined[n]:
            lines.append(f"{name} = add i32 {rng.choice(pool)}, {rng.choice(pool)}")
            pool.append(name)
        bodies.append(lines)
    return bodies
