"""The arguments that pointers come from, and the accesses through them, of a kernel as a draft has it.

    %at = getelementptr float, ptr %p, i64 %i          %at comes from argument 0, the load reads through it
    %v = load float, ptr %at

Of a kernel that finds pointers in memory nothing is known: the caller looks at ``Original.finds_pointers`` first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id, Node
from kernelwright.ir import Function, InlineAsm
from kernelwright.lazy_dataclasses import dataclass

DERIVED = {"getelementptr": 1, "addrspacecast": 1, "bitcast": 1, "freeze": 1}
"""Operations whose result comes from so many of their first operands; phis and selects from all."""
_CHOOSING = ("phi", "select")
_COPIES = re.compile(r"llvm\.mem(cpy|move|set)\b")
_HARMLESS = re.compile(
    r"llvm\.(nvvm\.)?(prefetch|isspacep|lifetime|assume|dbg|invariant|ptrmask|expect)|llvm\.is\.constant"
)


@dataclass(frozen=True)
class Access:
    """An instruction that reads or writes memory."""

    id: Id
    arguments: frozenset[int]
    """Those that its address may come from."""
    writes: bool


class Pointers:
    """Of a draft as it is now."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        names = list(draft.original.arguments)
        self._roots: dict[str, frozenset[int]] = {name: frozenset({n}) for n, name in enumerate(names)}
        self._follow()

    def roots(self, value: str) -> frozenset[int]:
        """The arguments that a pointer may come from; none of one that is made otherwise."""
        return self._roots.get(value, frozenset())

    def accesses(self) -> Iterator[Access]:
        """Every access through a pointer that comes from an argument."""
        for node, operands in _live(self._draft):
            for index, writes in _touched(node):
                found = self.roots(operands[index])
                if found:
                    yield Access(node.id, found, writes)

    def _follow(self) -> None:
        """To a fixed point: a loop's phi may come from what is made of it."""
        making = [
            (node.result, operands)
            for node, operands in _live(self._draft)
            if node.result and (node.instruction.opcode in DERIVED or node.instruction.opcode in _CHOOSING)
            for operands in [
                operands[: DERIVED[node.instruction.opcode]] if node.instruction.opcode in DERIVED else operands
            ]
        ]
        grown = True
        while grown:
            grown = False
            for result, operands in making:
                before = self.roots(result)
                after = before.union(*(self.roots(operand) for operand in operands))
                if after != before:
                    self._roots[result] = after
                    grown = True


def _live(draft: Draft) -> Iterator[tuple[Node, list[str]]]:
    for id in (*draft.original.nodes, *draft.clones):
        if id not in draft.dead:
            yield draft.known(id), draft.operands(id)


def _touched(node: Node) -> Iterator[tuple[int, bool]]:
    """The operands that are addresses of an access, and whether it writes there."""
    i = node.instruction
    if i.opcode == "load":
        yield 0, False
    elif i.opcode == "store":
        yield 1, True
    elif i.opcode in ("atomicrmw", "cmpxchg"):
        yield 0, True
    elif i.opcode == "call":
        callee = i.callee
        if isinstance(callee, InlineAsm) and not callee.text:
            return  # a value that is kept where it is
        name = callee.name if isinstance(callee, Function) else ""
        if _HARMLESS.match(name):
            return
        copies = _COPIES.match(name) is not None
        for index, type in enumerate(node.operand_types[: len(i.argument_attributes)]):
            if "ptr" in type:
                # Whatever else takes a pointer may write there.
                yield index, not copies or index == 0
