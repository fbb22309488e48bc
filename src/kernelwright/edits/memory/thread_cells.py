"""Shared arrays of which every thread uses one cell, its own.

    __shared__ float next[16][16];          every access is next[threadIdx.y][threadIdx.x]: byte 64 * y + 4 * x

Addresses are sums of a number and multiples of the thread's numbers. That two threads have two cells, within the array, is a matter of the
block's shape: each axis must end before the next one's step begins (``block.x <= 16``, ``block.y <= 16``, ``block.z <= 1``).
"""

from __future__ import annotations

import re

from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id, Node
from kernelwright.guards import Guard
from kernelwright.ir import DataLayout, Function, GlobalVariable, print_function
from kernelwright.ir.types import StructType
from kernelwright.launch import Triple
from kernelwright.launch_relations import Product, Quantity, Relation
from kernelwright.lazy_dataclasses import dataclass

MOST_THREADS = (1024, 1024, 64)
"""Of a block, by axis (CUDA C Programming Guide, technical specifications)."""
_TID = re.compile(r"llvm\.nvvm\.read\.ptx\.sreg\.tid\.([xyz])")
_BASE = re.compile(r"addrspacecast \(ptr addrspace\(3\) @(?P<name>[\w.$]+) to ptr\)")
_NAMED = re.compile(r"@(?P<name>[\w.$]+)")
_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Linear:
    """``base + steps[0] * threadIdx.x + steps[1] * threadIdx.y + steps[2] * threadIdx.z``; nothing of it negative."""

    base: int = 0
    steps: Triple = (0, 0, 0)

    @property
    def largest(self) -> int:
        """The greatest value in any block: at the largest index that CUDA allows on each axis."""
        return self.base + sum(step * (most - 1) for step, most in zip(self.steps, MOST_THREADS, strict=True))

    def plus(self, other: Linear) -> Linear:
        """The sum of the two, coefficient by coefficient."""
        x, y, z = (a + b for a, b in zip(self.steps, other.steps, strict=True))
        return Linear(self.base + other.base, (x, y, z))

    def times(self, factor: int) -> Linear:
        """All coefficients times ``factor``, which is not negative."""
        x, y, z = (factor * step for step in self.steps)
        return Linear(factor * self.base, (x, y, z))


@dataclass(frozen=True)
class Cells:
    """The accesses of a kernel to an array, all of them to the thread's own cell."""

    array: str
    type: str
    accesses: tuple[tuple[Id, int], ...]
    """Each with the number of its address among its operands."""
    guards: tuple[Guard, ...]
    """The block's shape: no two threads have the same cell, and every cell is in the array."""


def array_of(draft: Draft, access: Id) -> str | None:
    """The shared array that an access goes to, by name; None where that is not plain."""
    node = draft.node(access)
    index = _address_index(node) if node is not None else None
    found = None if index is None else _Addresses(draft).of(draft.edited_operands(access)[index])
    return found[0] if found is not None else None


def cells_of(draft: Draft, array: str) -> Cells | str:
    """The cells, or why the array has none."""
    variable = draft.original.module.globals.get(array)
    why = _unfit(draft, array, variable)
    if why is not None or not isinstance(variable, GlobalVariable):
        return why or f"there is no array {array}"
    addresses = _Addresses(draft)
    accesses: list[tuple[Id, int]] = []
    places, types = set[Linear](), set[str]()
    for id in (*draft.original.nodes, *draft.clones):
        node = draft.node(id)
        if node is None or id in draft.dead or not draft.original.reachable[draft.block_of(id)]:
            continue
        for index, operand in enumerate(draft.edited_operands(id)):
            if not addresses.leads_to(operand, array):
                continue
            if node.instruction.opcode == "getelementptr" and index == 0:
                continue
            found = addresses.of(operand) if index == _address_index(node) else None
            if found is None:
                return (
                    f"instruction {id} does something else with {array} than reading or writing the thread's own cell"
                )
            accesses.append((id, index))
            places.add(found[1])
            types.add(node.type if node.instruction.opcode == "load" else node.operand_types[0])
    if len(places) != 1 or len(types) != 1:
        return f"the accesses to {array} are not all to one cell of the thread"
    (place,), (type,) = places, types
    layout = DataLayout(draft.original.module.data_layout)
    size = layout.store_size(draft.original.types[type])
    guards = _apart(place, size, layout.size(variable.value_type))
    return Cells(array, type, tuple(accesses), guards) if guards else f"two threads may have one cell of {array}"


def _unfit(draft: Draft, array: str, variable: object) -> str | None:
    """Why an array cannot be the threads' own, whatever the kernel does with it."""
    if not isinstance(variable, GlobalVariable) or variable.address_space != 3 or variable.linkage != "internal":
        return f"{array} is no array of the kernel's own"
    mention = re.compile(rf"@{re.escape(array)}(?![\w.$])")
    for function in draft.original.module.functions.values():
        # What other kernels have under this name is another launch's.
        is_other = function is not draft.original.function and not function.is_kernel
        if is_other and function.blocks and mention.search(print_function(function)):
            return f"function {function.name} uses {array}, too"
    return None


def _address_index(node: Node) -> int | None:
    """Which operand of a plain load or store is its address, a generic pointer."""
    i = node.instruction
    if i.opcode not in ("load", "store") or i.volatile or i.ordering or not node.is_free:
        return None
    index = 0 if i.opcode == "load" else 1
    return index if node.operand_types[index] == "ptr" else None


def _apart(place: Linear, size: int, bytes: int) -> tuple[Guard, ...]:
    """For which blocks all threads have different cells of ``size`` bytes within the array: none, where nothing says so."""
    used = sorted((step, axis) for axis, step in enumerate(place.steps) if step)
    most = [1, 1, 1]
    if not used or used[0][0] < size:
        return ()
    ends = [step for step, _ in used[1:]] + [bytes - place.base]
    for (step, axis), end in zip(used, ends, strict=True):
        most[axis] = end // step
    if min(most) < 1 or place.base + size > bytes:
        return ()
    return tuple(
        Relation((Product(1, (Quantity("block", axis),)),), "<=", (Product(limit),))
        for axis, limit in enumerate(most)
        if limit < MOST_THREADS[axis]
    )


class _Addresses:
    """Of a draft as it is now."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._layout = DataLayout(draft.original.module.data_layout)

    def leads_to(self, operand: str, array: str) -> bool:
        """Whether an operand is the array, names it, or is an address made of it."""
        if operand[:1] != "%":
            return any(found["name"] == array for found in _NAMED.finditer(operand))
        id = self._draft.definition(operand)
        node = self._draft.node(id) if id is not None else None
        if node is None or node.instruction.opcode != "getelementptr":
            return False
        assert id is not None
        return self.leads_to(self._draft.edited_operands(id)[0], array)

    def of(self, operand: str) -> tuple[str, Linear] | None:
        """The array an address is in, and at which byte of it."""
        base = _BASE.fullmatch(operand)
        if base is not None:
            return base["name"], Linear()
        id = self._draft.definition(operand) if operand[:1] == "%" else None
        node = self._draft.node(id) if id is not None else None
        if id is None or node is None or node.instruction.opcode != "getelementptr" or id in self._draft.dead:
            return None
        pointer, *indices = self._draft.edited_operands(id)
        start, type = self.of(pointer), node.instruction.source_type
        if start is None or type is None:
            return None
        array, place = start
        for number, index in enumerate(indices):
            if number:
                if isinstance(type, StructType) or not hasattr(type, "element"):
                    return None
                type = type.element
            found = self.linear(index)
            if found is None:
                return None
            place = place.plus(found.times(self._layout.size(type)))
        return (array, place) if place.largest <= _LARGEST else None

    def linear(self, value: str) -> Linear | None:
        """A number as a sum of the thread's numbers; None for any other, and where it could wrap around in 32 bits."""
        found = self._linear(value)
        return found if found is not None and found.base >= 0 and found.largest <= _LARGEST else None

    def _linear(self, value: str) -> Linear | None:
        if value[:1] != "%":
            return Linear(int(value)) if value.isdecimal() else None
        id = self._draft.definition(value)
        node = self._draft.node(id) if id is not None else None
        if id is None or node is None or id in self._draft.dead:
            return None
        i, operands = node.instruction, self._draft.edited_operands(id)
        if i.opcode == "call":
            asked = _TID.fullmatch(i.callee.name) if isinstance(i.callee, Function) else None
            if asked is None:
                return None
            x, y, z = (int(axis == asked[1]) for axis in "xyz")
            return Linear(0, (x, y, z))
        if i.opcode in ("zext", "sext"):
            return self.linear(operands[0]) if node.operand_types[0] == "i32" else None
        if i.opcode == "add" or (i.opcode == "or" and "disjoint" in i.flags):
            one, other = self.linear(operands[0]), self.linear(operands[1])
            return one.plus(other) if one is not None and other is not None else None
        if i.opcode in ("mul", "shl") and operands[1].isdecimal() and node.type in ("i32", "i64"):
            factor = int(operands[1]) if i.opcode == "mul" else 1 << min(int(operands[1]), 31)
            found = self.linear(operands[0])
            return found.times(factor) if found is not None else None
        return None
