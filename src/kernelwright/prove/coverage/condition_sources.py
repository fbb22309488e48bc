"""What a condition depends on: the arguments, fields, variables and buffers that decide it, followed back through the kernel."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from kernelwright.codegen.memory_layout import SHARED, alloc_size, parameter_layout
from kernelwright.ir import (
    Argument,
    ConstantInt,
    Function,
    GlobalVariable,
    Instruction,
    PointerType,
    Value,
)
from kernelwright.ir.constants import ConstantExpr
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.changed_inputs.comparison_constants import constants_of

MOST = 600
"""Values that are followed."""
LIMITS = (
    "llvm.smin",
    "llvm.smax",
    "llvm.umin",
    "llvm.umax",
    "llvm.minnum",
    "llvm.maxnum",
    "llvm.minimum",
    "llvm.maximum",
)
SharedStores = Mapping[Value, Sequence[Value]]
"""By shared variable, all that is stored there."""
_SAME_MEMORY = frozenset({"getelementptr", "addrspacecast", "bitcast", "phi", "select", "inttoptr", "add"})


@dataclass
class Sources:
    """By argument, variable and constant."""

    arguments: set[tuple[int, int | None]] = field(default_factory=set)
    """Numbers among the arguments, and fields of structures, with the offset of the field; None: any field."""
    pointers: set[int] = field(default_factory=set)
    """Arguments whose memory is read."""
    variables: set[str] = field(default_factory=set)
    unknown: bool = False
    """Whether memory is read that has no name: behind pointers in memory, texels."""
    constants: dict[int | float, None] = field(default_factory=dict)


def sources_of(
    function: Function, condition: Value, *, reached: bool = True, stores: SharedStores | None = None
) -> Sources:
    """Everything that can decide ``condition``. ``reached``: or whether it is reached at all. ``stores``: ``shared_stores`` of the
    function, for those who ask about many of its values."""
    found = Sources()
    waiting: deque[Value] = deque([condition])
    if reached and isinstance(condition, Instruction):
        waiting += _reached_by(condition)
    seen: set[Value] = set()
    shared: set[Value] = set()
    byval = {index for index, p in enumerate(parameter_layout(function).parameters) if p.byval}
    while waiting and len(seen) < MOST:
        value = waiting.popleft()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, Argument):
            if not isinstance(value.type, PointerType) or value.index in byval:
                found.arguments.add((value.index, None))
        elif isinstance(value, Instruction):
            if value.opcode in ("load", "atomicrmw", "cmpxchg") or (value.opcode == "call" and is_cached_load(value)):
                for variable in _read(value.operands[0], found, byval):
                    if variable not in shared:  # else what is stored there waits already
                        shared.add(variable)
                        stores = shared_stores(function) if stores is None else stores
                        waiting += stores.get(variable, ())
            if value.opcode in ("icmp", "fcmp", "switch") or is_limit(value):
                found.constants.update((constant, None) for constant in constants_of(value))
            waiting += value.operands
        elif isinstance(value, ConstantExpr):
            waiting += value.operands
    return found


def shared_stores(function: Function) -> SharedStores:
    """Read off in one pass: unrolled kernels store to shared memory at a thousand places, and load from it at as many."""
    found: dict[Value, list[Value]] = {}
    for instruction in function.instructions():
        if instruction.opcode == "store":
            for root in set(roots_of(instruction.operands[1])):
                if isinstance(root, GlobalVariable) and root.address_space == SHARED:
                    found.setdefault(root, []).append(instruction.operands[0])
    return found


def _reached_by(instruction: Instruction) -> Iterator[Value]:
    """The conditions of the branches before it, the nearest first: they decide whether it is reached."""
    blocks = [instruction.parent] if instruction.parent is not None else []
    seen = set()
    for _ in range(12):
        following = []
        for block in blocks:
            for before in block.predecessors:
                if before not in seen:
                    seen.add(before)
                    following.append(before)
                    last = before.terminator
                    if last is not None and last.opcode in ("br", "switch") and last.operands:
                        yield last.operands[0]
        blocks = following


def is_cached_load(call: Instruction) -> bool:
    """Whether it reads memory through the read-only cache."""
    return getattr(call.callee, "name", "").startswith(("llvm.nvvm.ldg.", "llvm.nvvm.ldu."))


def _read(pointer: Value, found: Sources, byval: set[int]) -> Iterator[GlobalVariable]:
    """Notes whose memory is read; of shared memory, the variable, as what is stored there is followed further."""
    for root in roots_of(pointer):
        if isinstance(root, Argument):
            if root.index in byval:
                found.arguments.add((root.index, offset_in(pointer)))
            else:
                found.pointers.add(root.index)
        elif isinstance(root, GlobalVariable) and root.address_space == SHARED:
            yield root
        elif isinstance(root, GlobalVariable):
            found.variables.add(root.name)
        else:
            found.unknown = True


def offset_in(pointer: Value) -> int | None:
    """Bytes from the begin of the structure or variable, where that can be seen."""
    if isinstance(pointer, Argument | GlobalVariable):
        return 0
    if not isinstance(pointer, Instruction | ConstantExpr):
        return None
    if pointer.opcode == "addrspacecast":
        return offset_in(pointer.operands[0])
    if pointer.opcode == "getelementptr" and len(pointer.operands) == 2:
        index, before = pointer.operands[1], offset_in(pointer.operands[0])
        if isinstance(index, ConstantInt) and before is not None:
            return before + index.value * alloc_size(pointer.source_type)
    return None


def is_limit(instruction: Instruction) -> bool:
    """Whether it is the smaller or the larger of two numbers."""
    name = getattr(instruction.callee, "name", "") if instruction.opcode == "call" else ""
    return name.startswith(LIMITS)


def roots_of(pointer: Value) -> Iterator[Value]:
    """What an address is made from: arguments, variables, and values that are not looked into."""
    waiting, seen = [pointer], set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, Instruction | ConstantExpr) and value.opcode in _SAME_MEMORY:
            given = value.operands
            waiting += given if value.opcode == "phi" else given[1:3] if value.opcode == "select" else given[:1]
        else:
            yield value
