"""What edits are drawn with: a random number generator, and how much each place weighs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id, Use

T = TypeVar("T")
Choice = tuple[Id, int, str]
"""For operand ``[1]`` of instruction ``[0]``, should it need another value: this one, with its type (``i32 %x``)."""


class Sites:
    """What a draft has to choose from. Found once per draft."""

    def __init__(self, draft: Draft) -> None:
        original, dead, clones = draft.original, draft.dead, draft.clones
        live = [name for name in clones if name not in dead]
        self.free: list[Id] = original.free
        """What can be copied, moved and deleted."""
        self.users: list[Id] = original.users
        """What has an operand that may be another value."""
        if dead or clones:
            self.free = [i for i in original.free if i not in dead] + [i for i in live if clones[i].is_free]
            self.users = [i for i in original.users if i not in dead] + [i for i in live if clones[i].editable]
        self.alike: dict[str, list[Id]] = {}
        """The free ones by the type of their value."""
        for id in self.free:
            self.alike.setdefault(draft.known(id).type, []).append(id)
        self.slots: dict[str, list[Use]] = {}
        """By type: the operands that may be another value."""
        for type in original.slots.keys() & (self.alike.keys() - {"void"}):
            uses = [u for u in original.slots[type] if u[0] not in dead] if dead else original.slots[type]
            more = [(i, k) for i in live for k in clones[i].editable if clones[i].operand_types[k] == type]
            self.slots[type] = [*uses, *more] if more else uses
        self.sources = [i for i in self.free if (t := draft.known(i).type) == "void" or self.slots.get(t)]
        """What a copy of can be used."""
        self.replaceable = [i for i in self.free if len(self.alike[draft.known(i).type]) > 1]


class Dice:
    """Draws places and values in a draft that is repaired. ``weights`` by instruction; an original one left out weighs
    nothing, a copy as much as what it copies (nothing given: all the same)."""

    def __init__(self, draft: Draft, random: random.Random, weights: Mapping[Id, float] | None = None) -> None:
        self.draft = draft
        self.random = random
        self._weights = weights
        self.sites = draft.sites = draft.sites or Sites(draft)
        self.free = self.sites.free

    def one(self, values: Sequence[T]) -> T:
        return values[int(self.random.random() * len(values))]

    def site(self, ids: Sequence[Id]) -> Id | None:
        """One of the instructions, by weight; None when there is none, or none that weighs anything."""
        if not ids or self._weights is None:
            return self.one(ids) if ids else None
        weigh = self._weights
        clones = self.draft.clones
        numbers = [weigh.get(clones[i].origin if isinstance(i, str) else i, 0.0) for i in ids]
        return self.random.choices(ids, numbers)[0] if any(numbers) else None

    def name(self) -> str:
        """A name for a copy. Forty bits: two draws of one search do not meet."""
        return f"c{self.random.getrandbits(40):010x}"

    def values(self, type: str, place: tuple[int, int], without: Iterable[str] = ()) -> list[str]:
        """What an operand of this type can be at a place: values that are there, then constants."""
        found = [*self.draft.visible(type, place), *self.draft.original.constants.get(type, ())]
        left_out = set(without)
        return [v for v in found if v not in left_out]

    def choices(self, source: Id, id: Id, place: tuple[int, int]) -> tuple[Choice, ...]:
        """Values for those operands of ``source`` that are not there at a place, to be recorded for ``id``."""
        draft = self.draft
        node = draft.known(source)
        found: list[Choice] = []
        for index, value in enumerate(draft.operands(source)):
            type = node.operand_types[index]
            if value[0] == "%" and not draft.reaches(value, type, place):
                fitting = self.values(type, place, (value, node.result))
                if fitting:
                    found.append((id, index, f"{type} {self.one(fitting)}"))
        return tuple(found)
