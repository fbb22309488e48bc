"""Loads that are collected with one of the edit's cares left out: what a prover has to notice by itself.

    Careless(subject, "crossing")          over what may write there, and over barriers

Some of them are right all the same, in some kernels or always; which, the runs say.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from unittest.mock import patch

from kernelwright.edits.draft import Draft
from kernelwright.edits.kinds.loads.collect_loads import Below, CollectLoads, Found
from kernelwright.edits.kinds.loads.masks import Masks
from kernelwright.edits.memory.ways import Taken
from kernelwright.edits.original import Id

_with, _found, _mask, _instead_of = Below._with, Below._found, Masks.mask, Masks.instead_of


@dataclass(frozen=True)
class Careless:
    """``CollectLoads`` without one of its cares."""

    subject: Id
    without: str

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        guards = dict(draft.guards)
        with WITHOUT[self.without]():
            refused = CollectLoads(self.subject).apply(draft)
        if self.without == "guards":
            draft.guards.clear()
            draft.guards.update(guards)
        return refused


def _values_of_masked(self: Below, value: str) -> frozenset[Id] | None:
    """What a masked load reads may be used to make an address or a condition of it."""
    id = self._draft.definition(value) if value[:1] == "%" else None
    return self.loads[id].along if id in self.loads else _with(self, value)


def _lowest_first(self: Below, id: Id, taken: tuple[Taken, ...], on_way: list[Id]) -> Found | None:
    """The branch next to the load has the last word."""
    found = _found(self, id, taken, on_way)
    return replace(found, taken=found.taken[::-1]) if found is not None else None


def _other_arm(self: Masks, load: Id, taken: Taken, instead: int) -> None:
    _mask(self, load, replace(taken, outcome=not taken.outcome), instead)


def _always(self: Masks, load: Id, taken: Taken, instead: int) -> None:
    """The condition is a constant one."""
    _mask(self, load, taken, instead)
    select = self._draft.definition(self._draft.operands(load)[0])
    assert select is not None
    self._draft.set_operand((select, 0), "true")


def _last_argument(self: Masks, load: Id) -> int | None:
    """Another pointer, which may be written through, or less aligned."""
    type = self._draft.known(load).operand_types[0]
    others = [index for index, (_, each) in enumerate(self._arguments) if each == type]
    return others[-1] if _instead_of(self, load) is not None else None


def _whatever_alignment(self: Masks, load: Id) -> int | None:
    known, self._alignment = self._alignment, dict.fromkeys(range(len(self._arguments)), 256)
    try:
        return _instead_of(self, load)
    finally:
        self._alignment = known


WITHOUT: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "crossing": lambda: patch.object(Below, "_is_held", lambda self, id, on_way: False),
    "turns": lambda: patch.object(Below, "_comes_again", lambda self, block: False),
    "values": lambda: patch.object(Below, "_with", _values_of_masked),
    "order": lambda: patch.object(Below, "_found", _lowest_first),
    "mask": lambda: patch.object(Masks, "mask", lambda self, load, taken, instead: None),
    "arms": lambda: patch.object(Masks, "mask", _other_arm),
    "condition": lambda: patch.object(Masks, "mask", _always),
    "argument": lambda: patch.object(Masks, "instead_of", _last_argument),
    "alignment": lambda: patch.object(Masks, "instead_of", _whatever_alignment),
    "guards": lambda: patch.object(Masks, "_wanted", Masks._wanted),
}
"""By care, what leaves it out; guards are taken back afterwards."""
