"""Loads that read the first element behind an argument where a branch does not go to them.

%from = select i1 %in, ptr %at, ptr %q
%y = load i32, ptr %from
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from kernelwright.edits.draft import Draft
from kernelwright.edits.kinds.loads.hoist_loads import is_plain_load
from kernelwright.edits.memory.pointers import Pointers
from kernelwright.edits.memory.ways import Taken
from kernelwright.edits.original import Id, Node, Original
from kernelwright.ir import DataLayout, Instruction, parse_module
from kernelwright.launch_relations import Product, Quantity, Relation


class Masks:
    """Of a draft as it was when ``pointers`` looked at it."""

    def __init__(self, draft: Draft, pointers: Pointers) -> None:
        self._draft, self._roots = draft, pointers.roots
        self._written = frozenset[int]().union(*(each.arguments for each in pointers.accesses() if each.writes))
        self._arguments = list(draft.original.arguments.items())
        self._layout = DataLayout(draft.original.module.data_layout)
        self._alignment = self._alignments(pointers)

    def instead_of(self, load: Id) -> int | None:
        """The argument behind which a load may read where it is not needed; None where there is none. The kernel only reads there:
        reading what others write at that time would look like a race."""
        node = self._draft.known(load)
        if not is_plain_load(node):
            return None
        roots = self._roots(self._draft.operands(load)[0])
        free = [
            index
            for index, (_, type) in enumerate(self._arguments)
            if type == node.operand_types[0]
            and index not in self._written
            and "byval" not in self._draft.original.function.arguments[index].attributes
        ]
        # What the kernel reads there besides says how the memory is aligned.
        fit = [index for index in free if self._alignment.get(index, 1) % self._wanted(node.instruction) == 0]
        own = [index for index in fit if index in roots]
        return next(iter(own or fit), None) if roots else None

    def _alignments(self, pointers: Pointers) -> dict[int, int]:
        """By argument, what the least demanding access to its memory wants."""
        found: dict[int, int] = {}
        for each in pointers.accesses():
            i = self._draft.known(each.id).instruction
            if i.opcode in ("load", "store"):
                for index in each.arguments:
                    found[index] = min(found.get(index, 256), self._wanted(i))
        return found

    def _wanted(self, access: Instruction) -> int:
        type = access.type if access.opcode == "load" else access.operands[0].type
        return access.align or self._layout.alignment(type)

    def mask(self, load: Id, taken: Taken, instead: int) -> None:
        """The address becomes one that is good whichever way the branch goes."""
        draft = self._draft
        node = draft.known(load)
        type, other = node.operand_types[0], self._arguments[instead][0]
        condition, address = draft.edited_operands(taken.branch)[0], draft.operands(load)[0]
        arms = (address, other) if taken.outcome else (other, address)
        block = draft.known(taken.branch).block
        name = "c" + hashlib.blake2b(f"masked {load} {block}".encode(), digest_size=5).hexdigest()
        made = _select(type)
        draft.insert(
            Node(name, node.origin, made, f"%{name}", type, ("i1", type, type), (condition, *arms), (), -1, (), True),
            load,
        )
        draft.set_operand((load, 0), f"%{name}")
        draft.guards[first_element(draft.original, instead, node.instruction)] = None


def first_element(original: Original, index: int, load: Instruction) -> Relation:
    """The guard that what a load reads can be read at the beginning of the memory behind an argument."""
    size = DataLayout(original.module.data_layout).store_size(load.type)
    return Relation((Product(1, (Quantity("bytes", index),)),), ">=", (Product(size),))


@lru_cache
def _select(type: str) -> Instruction:
    module = parse_module(
        f"define {type} @f(i1 %in, {type} %p, {type} %q) {{\n  %x = select i1 %in, {type} %p, {type} %q\n  ret {type} %x\n}}\n"
    )
    return next(module.functions["f"].instructions())
