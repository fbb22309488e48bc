"""A variant in the making: the original, and what the edits so far have changed of it.

Edits change places, operands and who is deleted; a deleted instruction stays in its place as a tombstone, so that other
edits can still say "before this one". ``repair`` then puts right what is no longer SSA, and ``text`` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kernelwright.edits.line_templates import AS_STORE, OF_WARP, WARP_BARRIER, filled
from kernelwright.edits.original import CLONE, Id, Node, Original, Use
from kernelwright.edits.setting import PLAIN, CompileRecipe, entry_lines, register_line
from kernelwright.guards import Guard
from kernelwright.lazy_dataclasses import dataclass

END = 1 << 30
"""A position behind everything in a block: where a phi of the next block uses its operand."""


@dataclass(frozen=True)
class PrivateSlot:
    """A variable of each thread: what makes it and what clears it, by name, and the uses of its address."""

    variable: str
    cleared: str
    accesses: tuple[Use, ...]
    guards: tuple[Guard, ...]


class Draft:
    """``change`` methods return nothing when they are done, or the reason why they cannot be."""

    def __init__(self, original: Original) -> None:
        self.original = original
        self.clones: dict[str, Node] = {}
        self.dead: dict[Id, str | None] = {}
        """The tombstones, each with the value that takes the place of its own (as in ``Node.operands``)."""
        self.preferred: dict[Use, str] = {}
        """What edits recorded for operands that may need another value."""
        self.repaired: dict[Use, str] = {}
        """The operands that needed another value, and which they got."""
        self.broken: dict[Use, str] = {}
        """Of these, what the edits had left there."""
        self._order: dict[int, list[Id]] = {}
        self._block: dict[Id, int] = {}
        self._operands: dict[Id, list[str]] = {}
        self._position: dict[Id, int] = {}
        self._defined: dict[str, Id] = {}
        self.sites: Any = None
        """What ``draw`` has found to choose from."""
        self._holes: set[int] = set()
        """Blocks that an instruction was deleted in."""
        self.touched: dict[Id, None] = {}
        """Instructions that are not as in the original: in another place, with other operands, or copied."""
        self.extras: dict[Id, tuple[str, ...]] = {}
        """Fast-math flags and cache policies that instructions got, that exchanges are stores, that barriers are those of a warp."""
        self.unrolled: dict[Id, int] = {}
        """By branch back to a loop's header: how often the loop is to be unrolled."""
        self.collected: dict[Id, int] = {}
        """By branch back to a loop's header: of how many turns the loads are to stand together. It is done when all edits are made
        (``edits/turn_copies.py``): nothing here shows it."""
        self.setting = PLAIN
        self.applied: set[object] = set()
        """The edits that were made."""
        self.recipe: CompileRecipe | None = None
        """How LLVM is to compile the variant."""
        self.guards: dict[Guard, None] = {}
        """What must hold at a launch."""
        self.private_cells: dict[str, PrivateSlot] = {}
        """By shared array, the variable of each thread that takes its place."""
        self.conditions: dict[Any, Callable[[Draft], str | None]] = {}
        """By edit, what is asked once all edits are made and repaired: why it does not hold any longer, and is taken back; None
        where it does."""

    # -- asking

    def node(self, id: Id) -> Node | None:
        """An instruction that is or was there."""
        return self.clones.get(id) if isinstance(id, str) else self.original.nodes.get(id)

    def is_live(self, id: Id) -> bool:
        """Whether the instruction is known and not deleted."""
        return id not in self.dead and self.node(id) is not None

    def operands(self, id: Id) -> list[str]:
        """The operands an instruction has now."""
        found = self._operands.get(id)
        return found if found is not None else list(self.known(id).operands)

    def edited_operands(self, id: Id) -> list[str]:
        """The operands as the edits left them: what a further edit meets, because repair comes after all of them."""
        return [self.broken.get((id, n), value) for n, value in enumerate(self.operands(id))]

    def known(self, id: Id) -> Node:
        """The instruction, deleted or not. There must be one."""
        node = self.node(id)
        assert node is not None
        return node

    def block_of(self, id: Id) -> int:
        """The number of the block that it stands in now."""
        found = self._block.get(id)
        return self.known(id).block if found is None else found

    @property
    def moved(self) -> frozenset[Id]:
        """The original instructions that were put elsewhere."""
        return frozenset(id for id in self._block if isinstance(id, int))

    def order(self, block: int) -> list[Id]:
        """A block's instructions and tombstones. Not to be changed."""
        return self._order.get(block) or self.original.order[block]

    def position(self, id: Id) -> int:
        """The position in its block, after ``settle``."""
        found = self._position.get(id)
        return self.original.position[id] if found is None else found

    def definition(self, value: str) -> Id | None:
        """The instruction, dead or alive, that makes ``%x``."""
        found = self._defined.get(value)
        return self.original.defined.get(value) if found is None else found

    def place_of(self, use: Use) -> tuple[int, int]:
        """Block and position where an operand is used: of a phi, behind all of the block it comes from."""
        node = self.known(use[0])
        if node.is_phi:
            return node.blocks[use[1]], END
        return self.block_of(use[0]), self.position(use[0])

    def place_before(self, id: Id) -> tuple[int, int]:
        """Block and position of what is put before an instruction: before a phi nothing can be, so it comes after them."""
        block = self.block_of(id)
        return block, max(self.position(id), self.original.phis[block])

    def reaches(self, value: str, type: str, place: tuple[int, int]) -> bool:
        """Whether a value of this type is there at a place."""
        if value[0] != "%":
            return True
        id = self.definition(value)
        if id is None:
            return self.original.arguments.get(value) == type
        if id in self.dead or self.known(id).type != type:
            return False
        home, (block, position) = self.block_of(id), place
        if home == block:
            return self.position(id) < position or not self.original.reachable[block]
        return home in self.original.dominated_by[block] or not self.original.reachable[block]

    def visible(self, type: str, place: tuple[int, int]) -> Iterator[str]:
        """The values of a type that are there at a place, nearest first, arguments last."""
        original = self.original
        here, limit = place
        for block in original.above[here]:
            if block in self._order or block in self._holes:
                ids = self._order.get(block) or original.order[block]
                for at in range(min(limit, len(ids)) - 1, -1, -1):
                    node = self.known(ids[at])
                    if node.type == type and node.result and node.id not in self.dead:
                        yield node.result
            else:
                for at, result in original.made[block].get(type, ()):
                    if at < limit:
                        yield result
            limit = END
        for argument, of in original.arguments.items():
            if of == type:
                yield argument

    # -- changing

    def refuse(self, id: Id) -> str | None:
        """Why an instruction cannot be copied, moved or deleted; None when it can."""
        node = self.node(id)
        if node is None:
            return f"there is no instruction {id}"
        if id in self.dead:
            return f"instruction {id} is gone"
        if not node.is_free:
            return f"instruction {id} is a '{node.instruction.opcode}', which stays where it is"
        return None

    def refuse_place(self, id: Id) -> str | None:
        """Why nothing can be put before an instruction; None when it can."""
        node = self.node(id)
        if node is None:
            return f"there is no instruction {id}"
        return None if self.original.reachable[self.block_of(id)] else f"instruction {id} is never reached"

    def refuse_use(self, use: Use) -> str | None:
        """Why an operand cannot be another value; None when it can."""
        node = self.node(use[0])
        if node is None:
            return f"there is no instruction {use[0]}"
        if use[0] in self.dead:
            return f"instruction {use[0]} is gone"
        return None if use[1] in node.editable else f"operand {use[1]} of instruction {use[0]} must stay as it is"

    def delete(self, id: Id, value: str | None) -> None:
        """``value`` takes the place of its value."""
        self.dead[id] = value
        self._holes.add(self.block_of(id))

    def clone(self, source: Id, name: str, before: Id) -> None:
        """A copy of an instruction as it is now, put before another one."""
        node = self.known(source)
        result = "%" + name if node.result else ""
        if source in self.extras:
            self.extras[name] = self.extras[source]
        self.insert(replace(node, id=name, result=result, block=-1), before, self.operands(source))

    def insert(self, node: Node, before: Id, operands: Sequence[str] | None = None) -> None:
        """A new instruction, named as copies are; ``operands``: should they be others than its own."""
        assert isinstance(node.id, str)
        self.clones[node.id] = node
        self._operands[node.id] = list(node.operands if operands is None else operands)
        if node.result:
            self._defined[node.result] = node.id
        self._put(node.id, before)
        self.touched[node.id] = None

    def move(self, id: Id, before: Id) -> None:
        """Puts the instruction in front of ``before``, in that one's block, and behind its phis."""
        block = self.block_of(id)
        self._own(block).remove(id)
        self._put(id, before)
        self.touched[id] = None

    def swap(self, first: Id, second: Id) -> None:
        """Two instructions change places, within a block or between two."""
        a, b = self.block_of(first), self.block_of(second)
        one, other = self._own(a), self._own(b)
        at, to = one.index(first), other.index(second)
        one[at], other[to] = second, first
        self._block[first], self._block[second] = b, a
        self.touched[first] = self.touched[second] = None

    def set_operand(self, use: Use, value: str) -> None:
        """The operand becomes ``value``; a phi's operands from the same block stay equal."""
        id, index = use
        node = self.known(id)
        operands = self._operands.get(id)
        if operands is None:
            operands = self._operands[id] = list(node.operands)
        operands[index] = value
        for twin, block in enumerate(node.blocks):
            if block == node.blocks[index]:
                operands[twin] = value
        self.touched[id] = None

    def untyped(self, value: str, type: str) -> str | None:
        """``i32 %x`` as ``%x``; None for a value of another type, or what is no value."""
        text = value.removeprefix(type + " ")
        if text == value:
            return None
        return text if text[:1] == "%" or self.original.is_constant(type, text) else None

    def prefer(self, use: Use, value: str) -> None:
        """Records a value for an operand, for the case that it needs another one."""
        node = self.node(use[0])
        if node is not None and use[1] < len(node.operand_types):
            text = self.untyped(value, node.operand_types[use[1]])
            if text is not None:
                self.preferred[use] = text

    def _own(self, block: int) -> list[Id]:
        found = self._order.get(block)
        if found is None:
            found = self._order[block] = list(self.original.order[block])
        return found

    def _put(self, id: Id, before: Id) -> None:
        block = self.block_of(before)
        ids = self._own(block)
        ids.insert(max(ids.index(before), self.original.phis[block]), id)
        self._block[id] = block

    # -- finishing

    def settle(self) -> None:
        """Positions are right again."""
        for ids in self._order.values():
            self._position.update(zip(ids, range(len(ids)), strict=True))

    def suspects(self) -> Iterator[Use]:
        """The operands that the edits may have broken."""
        for id in list(self.touched):
            if id not in self.dead:
                yield from ((id, index) for index in range(len(self.known(id).operand_types)))
        for id in dict.fromkeys([*self.dead, *self._block]):
            node = self.known(id)
            if node.result:
                for use in self.original.uses.get(node.result, ()):
                    if use[0] not in self.touched and use[0] not in self.dead:
                        yield use

    def text(self) -> str:
        """The whole module with this variant of the kernel."""
        original, setting = self.original, self.setting
        changed = set(self._order)
        changed.update(self.block_of(id) for ids in (self.touched, self.dead, self.extras, self.unrolled) for id in ids)
        if setting is not PLAIN:
            changed.update([0] if setting.fixed else [])
            changed.update(self.block_of(id) for id in original.registers)
        other_memory = any(
            id not in self.dead and self.known(id).reaches_memory for id in [*self.touched, *self.extras]
        )
        blocks = {block: self._block_text(block) for block in changed}
        return original.text(blocks, other_memory, setting, self._declarations() + self._loop_nodes())

    def _block_text(self, block: int) -> str:
        lines = [self.original.labels[block][1:] + ":"]
        if block == 0:
            lines += entry_lines(self.original.function, self.setting)
        for id in self.order(block):
            if id not in self.dead:
                lines.append("  " + self.line(id))
        return "\n".join(lines)

    def line(self, id: Id) -> str:
        """The line of an instruction as it is now."""
        original, extras, touched = self.original, self.extras.get(id, ()), id in self.touched
        if id in self.unrolled:
            extras = (*extras, f"!{original.latches[id][0]}")
        if not touched and not extras:
            line = original.lines[id]
        else:
            node = self.known(id)
            line = filled(original.template(node.instruction, extras, touched), node.result, self.operands(id))
            if AS_STORE in extras and any(node.result in operands for operands in self._operands.values()):
                line += f"\n  {node.result} = freeze {node.type} {self.operands(id)[1]}"
        if self.setting is not PLAIN and original.registers:
            node = self.known(id)
            asked = original.registers.get(node.origin)
            if asked:
                return register_line(node.result, node.type, asked, line, self.setting)
        return line

    def _declarations(self) -> str:
        """Of what the original never calls."""
        calls = any(OF_WARP in extras for extras in self.extras.values())
        return (
            f"declare void @{WARP_BARRIER}(i32)\n"
            if calls and WARP_BARRIER not in self.original.module.functions
            else ""
        )

    def _loop_nodes(self) -> str:
        """What is asked of loops: for each a node, which names itself, and what it holds."""
        lines = []
        for id in sorted(self.unrolled, key=str):
            loop, asked = self.original.latches[id]
            lines += [f"!{loop} = distinct !{{!{loop}, !{asked}}}", f"!{asked} = !{{{unroll_wish(self.unrolled[id])}}}"]
        return "".join(f"{line}\n" for line in lines)


def unchanged(original: Original) -> Draft:
    """The draft without edits; one for all who only look at it."""
    found = original.unchanged
    if found is None:
        found = original.unchanged = Draft(original)
    assert isinstance(found, Draft)
    return found


def unroll_wish(count: int) -> str:
    """How a loop's metadata asks to be unrolled: wholly (0), not at all (1), or so often."""
    if count > 1:
        return f'!"llvm.loop.unroll.count", i32 {count}'
    return f'!"llvm.loop.unroll.{"disable" if count else "full"}"'


def is_clone_name(text: object) -> bool:
    """Whether a text is the name of a copy that an edit made."""
    return isinstance(text, str) and CLONE.fullmatch(text) is not None
