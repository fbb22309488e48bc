"""All loads below a block at its end, masked where they may not be needed.

    head:                                        after   head:
      br i1 %in, label %then, label %next                  %at = getelementptr i32, ptr %q, i32 %i
    then:                                                  %from = select i1 %in, ptr %at, ptr %q
      %at = getelementptr i32, ptr %q, i32 %i              %y = load i32, ptr %from
      %y = load i32, ptr %at                               %z = load i32, ptr %r
      br label %next                                       br i1 %in, label %then, label %next
    next:                                                then:
      %z = load i32, ptr %r                                br label %next
                                                         next:

Of waits that go on side by side the longest counts, so loads are worth more together than one by one: those of all turns of an
unrolled loop, where an ``if`` keeps any compiler from making the next turn's load before this one's is used; those of a body behind a
check of bounds, which stores in between keep apart. It is what a GPU engineer does by hand, with registers that are filled first and
used then.

A load that may not be needed is masked as in ``hoist-masked-loads``: it reads the first element behind an argument (guard
``bytes behind q >= 4``). One that is always come to needs no mask and may come from any memory, and the addresses and conditions of
others may be made of it. Nothing goes over what may write there, over a barrier where anybody may, out of a loop or over one, or past
what orders threads otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id
from kernelwright.edits.kinds.loads.hoist_loads import is_plain_load, is_pure
from kernelwright.edits.kinds.loads.masks import Masks
from kernelwright.edits.memory.ordering import crossing, reached, signals, successors, waits
from kernelwright.edits.memory.pointers import Pointers
from kernelwright.edits.memory.ways import Taken, way
from kernelwright.edits.original import Id, Original
from kernelwright.edits.pin import pin
from kernelwright.lazy_dataclasses import dataclass

MOST = 48
"""Loads that are put together: each takes a register."""


@dataclass(frozen=True)
class CollectLoads:
    """All loads below the block that ``subject`` ends, of the same turn of every loop, stand at its end, with what they are made of."""

    subject: Id

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        node = draft.node(self.subject)
        if node is None or not node.instruction.is_terminator:
            return f"instruction {self.subject} ends no block"
        if not draft.original.reachable[node.block]:
            return f"instruction {self.subject} is never reached"
        places = Places(draft)
        below = Below(places, node.block)
        if not below.loads:
            return f"no load below the block that instruction {self.subject} ends could stand there"
        end, masks = draft.order(node.block)[-1], places.masks
        for id in below.moved():
            draft.move(id, end)
        for id, found in below.loads.items():
            for taken in found.taken:
                masks.mask(id, taken, found.instead)
        for id in below.loads:
            pin(draft, id, end)
        return None


@dataclass(frozen=True)
class Found:
    """A load that can stand above."""

    along: frozenset[Id]
    """What goes along, itself included."""
    taken: tuple[Taken, ...]
    """The branches that decide whether it is needed, the one next to it first: so the highest has the last word."""
    instead: int
    """The argument behind which it reads where it is not needed; any where it always is."""


class Places:
    """What all of a draft's blocks are asked about."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.edges = successors(draft.original)
        self.pointers = Pointers(draft)
        self.masks = Masks(draft, self.pointers)
        self.writes = {each.id: each.arguments for each in self.pointers.accesses() if each.writes}
        self.written = frozenset[int]().union(*self.writes.values())
        self.hindrances: list[list[Id]] = [
            [id for id in draft.order(block) if id not in draft.dead and self._may_hinder(id)]
            for block in range(len(draft.original.order))
        ]
        """By block, what a load may have to stay behind."""

    def _may_hinder(self, id: Id) -> bool:
        node = self.draft.known(id)
        return id in self.writes or node.instruction.opcode in WRITING or waits(node) or signals(node)


WRITING = frozenset({"store", "atomicrmw", "cmpxchg"})


class Below:
    """What can stand at the end of block ``above`` of all that is below it, in a draft as it is."""

    def __init__(self, places: Places, above: int) -> None:
        self._places, self._draft, self._above = places, places.draft, above
        self.loads: dict[Id, Found] = {}
        """In the order in which they are reached."""
        self._along: dict[Id, frozenset[Id] | None] = {}
        """By instruction below, what has to go along for its value to be there above; None where it cannot be."""
        self._collect()

    def moved(self) -> list[Id]:
        """All that goes up, in an order in which it can: of loads that wait for no other one first, so that all of these are on their way
        before any is waited for."""
        along = frozenset[Id]().union(*(found.along for found in self.loads.values()))
        original = self._draft.original
        depth: dict[Id, int] = {}

        def place(id: Id) -> tuple[int, int]:
            block = self._draft.block_of(id)
            return len(original.above[block]), self._draft.order(block).index(id)

        in_order = sorted(along, key=place)
        for id in in_order:
            made = (self._draft.definition(operand) for operand in self._needs(id))
            depth[id] = max((depth[x] + (x in self.loads) for x in made if x is not None and x in depth), default=0)
        return sorted(in_order, key=depth.__getitem__)

    def _needs(self, id: Id) -> list[str]:
        """What an instruction is made of, the masks of a load included."""
        found = self.loads.get(id)
        conditions = [self._draft.edited_operands(taken.branch)[0] for taken in found.taken] if found else []
        return [*self._draft.edited_operands(id), *conditions]

    def _collect(self) -> None:
        original = self._draft.original
        ways: dict[int, tuple[Taken, ...] | None] = {self._above: ()}
        below = [b for b, over in enumerate(original.above) if original.reachable[b] and self._above in over[1:]]
        for block in sorted(below, key=lambda block: len(original.above[block])):
            parent = original.above[block][1]
            before = ways[parent]
            loads = [id for id in self._draft.order(block) if id not in self._draft.dead]
            last = way(original, parent, block) if before is not None else None
            ways[block] = taken = None if before is None or last is None else (*last, *before)
            loads = [id for id in loads if is_plain_load(self._draft.known(id))]
            if taken is None or not loads or self._comes_again(block):
                continue
            on_way = self._on_way(block)
            for id in loads:
                found = self._found(id, taken, on_way)
                if found is not None and len(self.loads) < MOST:
                    self.loads[id] = found

    def _comes_again(self, block: int) -> bool:
        """Whether control may come to a block once more before it comes to the one above."""
        return block in reached(self._onward, self._onward(block))

    def _onward(self, block: int) -> list[int]:
        return [each for each in self._places.edges[block] if each != self._above]

    def _on_way(self, block: int) -> list[Id]:
        """What a load may have to stay behind of all that may run between the end of the block above and the end of its own."""
        forward = reached(self._onward, self._onward(self._above))
        before: dict[int, list[int]] = {}
        for each in forward:
            for following in self._onward(each):
                before.setdefault(following, []).append(each)
        between = reached(lambda at: before.get(at, []), [block])
        return [id for each in sorted(between) for id in self._places.hindrances[each]]

    def _found(self, id: Id, taken: tuple[Taken, ...], on_way: list[Id]) -> Found | None:
        draft = self._draft
        instead = self._places.masks.instead_of(id) if taken else 0
        conditions = [draft.edited_operands(each.branch)[0] for each in taken]
        needed = [self._with(value) for value in (draft.edited_operands(id)[0], *conditions)]
        along = [each for each in needed if each is not None]
        if instead is None or len(along) < len(needed) or self._is_held(id, on_way) or crossing(draft, id, self._above):
            return None
        return Found(frozenset({id}).union(*along), taken, instead)

    def _with(self, value: str) -> frozenset[Id] | None:
        """What has to go up for a value to be there; None where it cannot."""
        draft = self._draft
        id = draft.definition(value) if value[:1] == "%" else None
        if id is None:
            return frozenset()
        if id in draft.dead:
            return None
        if draft.block_of(id) in draft.original.dominated_by[self._above]:
            return frozenset()
        if id in self.loads:
            # What a masked one reads where it is not needed may be anything, and is used nowhere.
            found = self.loads[id]
            return None if found.taken else found.along
        if id not in self._along:
            self._along[id] = None
            parts = [self._with(each) for each in draft.edited_operands(id)] if is_pure(draft.known(id)) else [None]
            if None not in parts:
                self._along[id] = frozenset({id}).union(*(each for each in parts if each is not None))
        return self._along[id]

    def _is_held(self, id: Id, on_way: list[Id]) -> bool:
        """Whether something on the way may write what a load reads."""
        draft, places = self._draft, self._places
        block, order = draft.block_of(id), draft.order(draft.block_of(id))
        address = draft.operands(id)[0]
        if self._is_constant(address):
            return False
        sources = places.pointers.roots(address)
        is_known = bool(sources) and not draft.original.finds_pointers
        for each in on_way:
            if draft.block_of(each) == block and order.index(each) > order.index(id):
                continue
            node = draft.known(each)
            if signals(node) or not is_known:
                return True
            if sources & (places.written if waits(node) else places.writes.get(each, frozenset())):
                return True
        return False

    def _is_constant(self, address: str) -> bool:
        """Whether it is an address of constant memory."""
        while address[:1] == "%":
            id = self._draft.definition(address)
            node = self._draft.node(id) if id is not None else None
            if id is None or node is None or node.instruction.opcode != "getelementptr":
                return False
            address = self._draft.operands(id)[0]
        return "addrspace(4)" in address


def collections(original: Original) -> Iterator[CollectLoads]:
    """By block, where loads can go up; none whose loads could all go higher still."""
    places = Places(unchanged(original))
    found = {
        block: frozenset(Below(places, block).loads)
        for block in range(len(original.order))
        if original.reachable[block]
    }
    for block, loads in found.items():
        if loads and not any(loads <= found[over] for over in original.above[block][1:]):
            yield CollectLoads(original.order[block][-1])


def in_words(original: Original, edit: CollectLoads) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    sentence = (
        f"all loads below the block that ends with {what} stand together there, masked where they may not be needed"
    )
    return Words("order", sentence, location)


KIND = EditKind(
    "collect-loads",
    CollectLoads,
    in_words,
    reads={"subject": read_id},
    listed=(Listing(15, collections),),
    relies_on=SAME_RESULT,
    keeps_meaning=True,
)
