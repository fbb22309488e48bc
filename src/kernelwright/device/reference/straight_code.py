"""The blocks of a function as runs: those that follow each other without a choice become one piece of Python."""

from __future__ import annotations

from kernelwright.ir.module import BasicBlock, Function
from kernelwright.lazy_dataclasses import dataclass


@dataclass
class Run:
    """Blocks that follow each other without a choice."""

    number: int
    blocks: list[BasicBlock]
    loops: bool = False
    """Whether the last one goes back to the first, so that the run is a loop of its own."""


class Runs:
    """The reachable blocks of a function in reverse postorder, grouped into runs."""

    def __init__(self, function: Function) -> None:
        self.order = reverse_postorder(function)
        predecessors: dict[BasicBlock, set[BasicBlock]] = {}
        for block in self.order:
            for target in block.successors:
                predecessors.setdefault(target, set()).add(block)
        self.runs: list[Run] = []
        self.of: dict[BasicBlock, int] = {}
        for block in self.order:
            if block in self.of:
                continue
            run = Run(len(self.runs), [block])
            self.runs.append(run)
            self.of[block] = run.number
            while True:
                targets = set(run.blocks[-1].successors)
                (following,) = targets if len(targets) == 1 else (None,)
                if following is None or following in self.of or len(predecessors[following]) != 1:
                    break
                run.blocks.append(following)
                self.of[following] = run.number
            run.loops = block in run.blocks[-1].successors


def reverse_postorder(function: Function) -> list[BasicBlock]:
    """The blocks that can be reached, each before those it leads to where there is no way back."""
    order: list[BasicBlock] = []
    seen = {function.entry}
    stack = [(function.entry, iter(function.entry.successors))]
    while stack:
        block, targets = stack[-1]
        following = next((t for t in targets if t not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(following.successors)))
    return order[::-1]


def search(bodies: list[list[str]], low: int, high: int, indent: str) -> list[str]:
    """A binary search over ``k`` with the bodies as leaves."""
    if high - low == 1:
        return [indent + line for line in bodies[low]]
    middle = (low + high) // 2
    return [
        f"{indent}if k < {middle}:",
        *search(bodies, low, middle, indent + "    "),
        f"{indent}else:",
        *search(bodies, middle, high, indent + "    "),
    ]
