"""Which numbers in memory the original makes addresses of, so that the others may lead anywhere.

    if (gain[k] > 0) sum += row[members[k]];       where gain[k] is not, members[k] = 16777216 is as good as any other

A load that a variant makes before the branch that decides whether it is needed follows those, too. Nothing that was recorded tells,
for there every index is good; so where the original follows none, as it notes itself, the numbers are made to lead out of all memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kernelwright.edits.original import Id, Original
from kernelwright.errors import KernelwrightError
from kernelwright.ir import Argument, GlobalVariable, Instruction, IntType, Module
from kernelwright.ir.control_flow import Dominators
from kernelwright.prove.changed_inputs.case_survey import PLACED, BufferSeen, Change, Survey
from kernelwright.prove.coverage.condition_sources import roots_of
from kernelwright.prove.coverage.meetings import accesses_of, terms_of_pointer
from kernelwright.prove.instrumentation import COUNTERS, Memory, instrumented

MOST = 64
"""Uses of a number in an address, of a kernel, that are looked at."""
TABLE = 1 << 14
"""Places that are kept, by the end of their address."""
MOST_PLACES = 4096
"""Elements of a buffer that are changed; of more, so many at equal distances."""
FAR = 1 << 24
"""What an index is changed to; as much as there is room for in a smaller type."""


class FollowedIndexes:
    """Those of one kernel. ``module`` is the original, noting; None where no address depends on a number in memory."""

    def __init__(self, module: Module, kernel: str) -> None:
        self.module: Module | None = None
        self.function = module.functions[kernel]
        self.sources: list[Instruction] = []
        """The loads whose results addresses are made from."""
        try:
            original = Original(module, kernel)
            self.function = original.function
            uses = list(dict.fromkeys(_uses(original)))[:MOST]
            if uses:
                self.sources = list(dict.fromkeys(load for _, load in uses))
                self.module = _noting(original, uses)
        except KernelwrightError:
            self.sources = []

    def buffers(self, survey: Survey) -> Iterator[BufferSeen]:
        """The buffers of whole numbers that such loads read."""
        names: dict[str, None] = {}
        for load in self.sources:
            for root in roots_of(load.operands[0]):
                if isinstance(root, Argument):
                    names[survey.pointed.get((self.function.name, root.index), "")] = None
                elif isinstance(root, GlobalVariable):
                    names[root.name] = None
        for name in names:
            buffer = survey.buffers.get(name)
            if buffer is not None and buffer.dtype is not None and buffer.dtype.kind in "iu" and not buffer.boolean:
                yield buffer


def unfollowed(buffer: BufferSeen, counters: NDArray[np.int64], memory: Memory) -> NDArray[np.int64]:
    """The elements of a buffer that no address was made from."""
    assert buffer.dtype is not None
    size = buffer.dtype.itemsize
    begin, end = next(((begin, end) for begin, end, name in memory if name == buffer.name), (0, 0))
    places = counters[(counters >= begin) & (counters < end)] - begin
    followed = np.zeros((end - begin) // size, bool)
    followed[np.minimum(places // size, max(followed.size - 1, 0))] = True
    return np.flatnonzero(~followed)


def far_indexes(
    indexes: FollowedIndexes,
    counters: NDArray[np.int64],
    memory: Memory,
    survey: Survey,
    under: Change | None,
    tried: dict[str, set[int]],
) -> Iterator[Change]:
    """Changes under which what was not followed leads out of all memory, of one buffer each. ``under``: the change of the run that
    noted. ``tried``: by buffer, what was not followed in earlier ones, to which this is added."""
    own = {buffer.name for buffer, _ in under.buffers} if under is not None else set()
    for buffer in indexes.buffers(survey):
        free = unfollowed(buffer, counters, memory)
        new = set(free.tolist()) - tried.setdefault(buffer.name, set())
        if not new or buffer.name in own:
            continue
        tried[buffer.name] |= new
        for change in _far(buffer, free):
            yield change.on_top_of(under) if under is not None else change


def _far(buffer: BufferSeen, free: NDArray[np.int64]) -> Iterator[Change]:
    """Beyond the end of what they are indexes of, and before its begin."""
    assert buffer.dtype is not None
    places = tuple(free[:: -(-free.size // MOST_PLACES)].tolist())
    about = np.iinfo(buffer.dtype)
    for far in (min(FAR, int(about.max)), max(-FAR, int(about.min))):
        if far:
            made = replace(buffer, compared=(far,) * len(places), places=places)
            yield Change(f"'{buffer.name}' is {far} where nothing follows it, {len(places)} times", ((made, PLACED),))


def _uses(original: Original) -> Iterator[tuple[Id, Instruction]]:
    """What an address is made from by an access, which is known there; where it is not, for it is one of several, behind its load: that
    it is read counts as that it is followed."""
    dominators = Dominators(original.function)
    byval = {argument for argument in original.function.arguments if "byval" in argument.attributes}
    ids = {node.instruction: id for id, node in original.nodes.items()}
    behind = {id: after for order in original.order for id, after in pairwise(order)}
    for access, pointer, _ in accesses_of(original):
        for load in (source for source, _, _ in terms_of_pointer(pointer) if isinstance(source, Instruction)):
            if byval.isdisjoint(roots_of(load.operands[0])):
                yield (ids[access] if dominators.before(load, access) else behind[ids[load]]), load


def _noting(original: Original, uses: Sequence[tuple[Id, Instruction]]) -> Module:
    added: dict[Id, list[str]] = {}
    for number, (at, load) in enumerate(uses):
        added.setdefault(at, []).extend(_lines(original, number, load))
    return instrumented(original, (), added, words=TABLE)


def _lines(original: Original, number: int, load: Instruction) -> Iterator[str]:
    pointer, name = load.operands[0], f"%kw.f{number}"
    size = load.type.bits // 8 if isinstance(load.type, IntType) else 4
    yield f"{name}.from = ptrtoint {pointer.type.text} {original.names[pointer]} to i64"
    yield f"{name}.element = lshr i64 {name}.from, {size.bit_length() - 1}"
    yield f"{name}.row = and i64 {name}.element, {TABLE - 1}"
    yield f"{name}.at = getelementptr i64, ptr addrspace(1) @{COUNTERS}, i64 {name}.row"
    yield f"store i64 {name}.from, ptr addrspace(1) {name}.at, align 8"


__all__ = ["FollowedIndexes", "far_indexes", "unfollowed"]
