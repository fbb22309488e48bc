"""What edits are drawn with: a random number generator, and how much each place weighs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id, Node, Use

T = TypeVar("T")
Choice = tuple[Id, int, str]
"""For operand ``[1]`` of instruction ``[0]``, should it need another value: this one, with its type (``i32 %x``)."""


class Sites:
    """What a draft has to choose from. Found once per draft, and only what is asked for."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.live = [name for name in draft.clones if name not in draft.dead]
        self._those: dict[Callable[[Node], bool], list[Id]] = {}

    @cached_property
    def free(self) -> list[Id]:
        """What can be copied, moved and deleted."""
        original, dead, clones = self.draft.original, self.draft.dead, self.draft.clones
        found = [i for i in original.free if i not in dead] if dead else original.free
        return found + [i for i in self.live if clones[i].is_free] if self.live else found

    @cached_property
    def users(self) -> list[Id]:
        """What has an operand that may be another value."""
        original, dead, clones = self.draft.original, self.draft.dead, self.draft.clones
        found = [i for i in original.users if i not in dead] if dead else original.users
        return found + [i for i in self.live if clones[i].editable] if self.live else found

    @cached_property
    def alike(self) -> dict[str, list[Id]]:
        """The free ones by the type of their value."""
        found: dict[str, list[Id]] = {}
        for id in self.free:
            found.setdefault(self.draft.known(id).type, []).append(id)
        return found

    @cached_property
    def replaceable(self) -> list[Id]:
        """What makes a value of a type that something else makes too."""
        return [i for ids in self.alike.values() if len(ids) > 1 for i in ids]

    @cached_property
    def sources(self) -> list[Id]:
        """What a copy of can be used."""
        return [i for type, ids in self.alike.items() if type == "void" or self.slots(type) for i in ids]

    def those(self, fits: Callable[[Node], bool]) -> list[Id]:
        """The instructions that a condition holds for; it may ask for nothing that edits change."""
        found = self._those.get(fits)
        if found is None:
            original, dead, clones = self.draft.original, self.draft.dead, self.draft.clones
            found = original.those(fits)
            found = [i for i in found if i not in dead] if dead else found
            found = found + [i for i in self.live if fits(clones[i])] if self.live else found
            self._those[fits] = found
        return found

    def uses(self, fits: Callable[[str, str], bool]) -> list[Use]:
        """The operands that may be another value and that a condition on type and value holds for, as they are now."""
        draft = self.draft
        found = draft.original.uses_of(fits)
        changed, dead = draft.touched, draft.dead
        if not changed and not dead:
            return found
        found = [u for u in found if u[0] not in changed and u[0] not in dead]
        for id in changed:
            if id not in dead:
                node, operands = draft.known(id), draft.operands(id)
                found += [(id, k) for k in node.editable if fits(node.operand_types[k], operands[k])]
        return found

    def slots(self, type: str) -> list[Use]:
        """The operands of a type that may be another value."""
        dead, clones = self.draft.dead, self.draft.clones
        found = self.draft.original.slots.get(type, [])
        found = [u for u in found if u[0] not in dead] if dead else found
        more: list[Use] = [(i, k) for i in self.live for k in clones[i].editable if clones[i].operand_types[k] == type]
        return found + more if more else found


class Dice:
    """Draws places and values in a draft that is repaired. ``weights`` by instruction; an original one left out weighs
    nothing, a copy as much as what it copies (nothing given: all the same)."""

    def __init__(self, draft: Draft, random: random.Random, weights: Mapping[Id, float] | None = None) -> None:
        self.draft = draft
        self.random = random
        self._weights = weights
        self.sites: Sites = draft.sites or Sites(draft)
        draft.sites = self.sites

    def one(self, values: Sequence[T]) -> T:
        """One of the values, all equally likely; there must be one."""
        return values[int(self.random.random() * len(values))]

    def site(self, ids: Sequence[Id]) -> Id | None:
        """One of the instructions, by weight; None when there is none, or none that weighs anything."""
        if not ids or self._weights is None:
            return self.one(ids) if ids else None
        numbers = self._numbers(ids)
        return self.random.choices(ids, numbers)[0] if any(numbers) else None

    def use(self, uses: Sequence[Use]) -> Use | None:
        """One of the operands, by the weight of their instructions."""
        if not uses or self._weights is None:
            return self.one(uses) if uses else None
        numbers = self._numbers([id for id, _ in uses])
        return self.random.choices(uses, numbers)[0] if any(numbers) else None

    def _numbers(self, ids: Sequence[Id]) -> list[float]:
        assert self._weights is not None
        weight, clones = self._weights.get, self.draft.clones
        if not clones:
            return [weight(i, 0.0) for i in ids]
        return [weight(clones[i].origin if isinstance(i, str) else i, 0.0) for i in ids]

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
