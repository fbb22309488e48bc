"""The control flow graph of a function: predecessors, orders, dominators and post-dominators.

Everything here is a snapshot: make it anew after blocks or branches changed. Moving instructions is fine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelwright.ir.module import BasicBlock, Function, Instruction
from kernelwright.ir.values import Value


def predecessors(function: Function) -> dict[BasicBlock, list[BasicBlock]]:
    """The blocks that may come right before each block, each once, in the function's order."""
    found: dict[BasicBlock, list[BasicBlock]] = {block: [] for block in function.blocks}
    for block in function.blocks:
        for successor in dict.fromkeys(block.successors):
            found.setdefault(successor, []).append(block)
    return found


def reverse_postorder(function: Function) -> list[BasicBlock]:
    """The blocks reachable from the entry; each comes before its successors, back edges aside."""
    if not function.blocks:
        return []
    return _postorder(function.entry, lambda block: block.successors)[::-1]


def _postorder(root: BasicBlock, successors: Callable[[BasicBlock], Sequence[BasicBlock]]) -> list[BasicBlock]:
    """Depth first, successors in order, without recursion: kernels can be thousands of blocks deep."""
    done: list[BasicBlock] = []
    seen = {root}
    stack = [(root, iter(successors(root)))]
    while stack:
        block, rest = stack[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(successors(successor))))
                break
        else:
            stack.pop()
            done.append(block)
    return done


def immediate_dominators(order: Sequence[int], before: Sequence[Sequence[int]]) -> dict[int, int]:
    """Immediate dominators of a graph given as numbers: ``order`` is a reverse postorder, its first node the root.

    ``before[n]`` lists the predecessors of node ``n``. The root is its own. Cooper, Harvey and Kennedy, "A Simple, Fast
    Dominance Algorithm".
    """
    rank = {node: i for i, node in enumerate(order)}
    root = order[0]
    parent = {root: root}

    def common(a: int, b: int) -> int:
        while a != b:
            while rank[a] > rank[b]:
                a = parent[a]
            while rank[b] > rank[a]:
                b = parent[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            new = None
            for previous in before[node]:
                if previous in parent:
                    new = previous if new is None else common(new, previous)
            assert new is not None, "a node in the order has a predecessor in the order"
            if parent.get(node) != new:
                parent[node] = new
                changed = True
    return parent


class _Tree:
    """A dominator tree over blocks: intervals of a walk through it answer ``dominates`` at once."""

    def __init__(self, parent: dict[BasicBlock, BasicBlock | None]) -> None:
        """``parent`` in an order where parents come first; a root has none."""
        self.parent = parent
        self.children: dict[BasicBlock, list[BasicBlock]] = {block: [] for block in parent}
        self.depth: dict[BasicBlock, int] = {}
        roots: list[BasicBlock] = []
        for block, above in parent.items():
            self.depth[block] = 0 if above is None else self.depth[above] + 1
            (roots if above is None else self.children[above]).append(block)
        self.first: dict[BasicBlock, int] = {}
        self.last: dict[BasicBlock, int] = {}
        clock = 0
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            block, leaving = stack.pop()
            if leaving:
                self.last[block] = clock
                continue
            self.first[block] = clock
            clock += 1
            stack.append((block, True))
            stack.extend((child, False) for child in reversed(self.children[block]))

    def dominates(self, a: BasicBlock, b: BasicBlock) -> bool:
        return self.first[a] <= self.first[b] < self.last[a]


class Dominators:
    """``a`` dominates ``b`` when every path from the entry to ``b`` passes ``a``; a block dominates itself.

    Blocks that cannot be reached follow LLVM: everything dominates them, they dominate nothing reachable.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.order = reverse_postorder(function)
        """The reachable blocks in reverse postorder."""
        number = {block: i for i, block in enumerate(self.order)}
        before: list[list[int]] = [[] for _ in self.order]
        for i, block in enumerate(self.order):
            for successor in block.successors:
                before[number[successor]].append(i)
        parents = immediate_dominators(range(len(self.order)), before) if self.order else {}
        self._tree = _Tree({block: self.order[parents[i]] if i else None for i, block in enumerate(self.order)})

    def is_reachable(self, block: BasicBlock) -> bool:
        """Whether a path leads from the entry to ``block``."""
        return block in self._tree.first

    def immediate(self, block: BasicBlock) -> BasicBlock | None:
        """The closest block that strictly dominates ``block``; ``None`` for the entry and unreachable blocks."""
        return self._tree.parent.get(block)

    def children(self, block: BasicBlock) -> list[BasicBlock]:
        """The blocks whose immediate dominator is ``block``."""
        return self._tree.children.get(block, [])

    def depth(self, block: BasicBlock) -> int:
        """The number of strict dominators of a reachable block."""
        return self._tree.depth[block]

    def dominates(self, a: BasicBlock, b: BasicBlock) -> bool:
        """Whether every path to ``b`` passes ``a``."""
        if not self.is_reachable(b):
            return True
        return self.is_reachable(a) and self._tree.dominates(a, b)

    def before(self, a: Instruction, b: Instruction) -> bool:
        """Whether ``a`` has always run when ``b`` runs: strictly earlier in the same block, or in a dominating block."""
        block, other = a.parent, b.parent
        if block is None or other is None:
            return False
        if block is other:
            return a is not b and block.instructions.index(a) < block.instructions.index(b)
        return self.dominates(block, other)

    def reaches_operand(self, value: Value, user: Instruction, index: int) -> bool:
        """Whether ``value`` may be operand ``index`` of ``user`` by the rule of SSA.

        Constants and arguments of the function always may. A phi uses its operand at the end of the block it comes from.
        """
        if not isinstance(value, Instruction):
            return True
        if user.opcode != "phi":
            if user.parent is not None and not self.is_reachable(user.parent):
                return value.parent is not None
            return self.before(value, user)
        return value.parent is not None and self.dominates(value.parent, user.blocks[index])

    def frontiers(self) -> dict[BasicBlock, set[BasicBlock]]:
        """For each reachable block the blocks where its dominance ends: where a phi for a value set in it would stand."""
        found: dict[BasicBlock, set[BasicBlock]] = {block: set() for block in self.order}
        before = predecessors(self.function)
        for block in self.order:
            reachable = [b for b in before[block] if self.is_reachable(b)]
            for runner in reachable:
                step: BasicBlock | None = runner
                while step is not None and step is not self.immediate(block):
                    found[step].add(block)
                    step = self.immediate(step)
        return found


class PostDominators:
    """``a`` post-dominates ``b`` when every path from ``b`` to an end of the function passes ``a``.

    All ends (``ret``, ``unreachable``) meet in a virtual exit. A loop that never ends is given an edge to that exit from
    one of its blocks, so that every block has an answer.
    """

    def __init__(self, function: Function) -> None:
        blocks = function.blocks
        before = predecessors(function)
        number = {block: i + 1 for i, block in enumerate(blocks)}
        ends = [block for block in blocks if not block.successors]
        reached: set[BasicBlock] = set()
        for end in ends:
            reached.update(_postorder(end, before.__getitem__))
        for block in reversed(all_blocks_postorder(blocks)):
            # What is left reaches no end. The last block of a walk through it stands for one.
            if block not in reached:
                last = _postorder(block, lambda b: b.successors)[0]
                ends.append(last)
                reached.update(_postorder(last, before.__getitem__))
        after: list[list[int]] = [[], *([number[s] for s in b.successors] for b in blocks)]
        for end in ends:
            after[number[end]].append(0)
        order = _number_order([number[b] for b in ends], [[], *([number[p] for p in before[b]] for b in blocks)])
        parents = immediate_dominators(order, after)
        block_of: list[BasicBlock | None] = [None, *blocks]
        made: dict[BasicBlock, BasicBlock | None] = {}
        for i in order[1:]:
            made[blocks[i - 1]] = block_of[parents[i]]
        self._tree = _Tree(made)

    def immediate(self, block: BasicBlock) -> BasicBlock | None:
        """The closest block that strictly post-dominates ``block``; ``None``: only the virtual exit does."""
        return self._tree.parent[block]

    def dominates(self, a: BasicBlock, b: BasicBlock) -> bool:
        """Whether every path from ``b`` to the end passes ``a``; a block post-dominates itself."""
        return self._tree.dominates(a, b)


def all_blocks_postorder(blocks: list[BasicBlock]) -> list[BasicBlock]:
    """A postorder over all blocks, unreachable ones included."""
    seen: dict[BasicBlock, None] = {}
    for block in blocks:
        if block not in seen:
            seen.update(dict.fromkeys(b for b in _postorder(block, lambda b: b.successors) if b not in seen))
    return list(seen)


def _number_order(ends: list[int], before: list[list[int]]) -> list[int]:
    """Reverse postorder of the reversed graph from the virtual exit 0."""
    done: list[int] = []
    seen = {0}
    stack = [(0, iter(ends))]
    while stack:
        node, rest = stack[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(before[following])))
                break
        else:
            stack.pop()
            done.append(node)
    return done[::-1]
