"""What there is to ask about an edit: which values, stores and barriers of the original it takes away or exchanges.

replace operand 1 of %s = fadd %a, %b by %c     →     was %b equal to %c?
delete store float %v, ptr %p                   →     did memory hold %v already?
copy %v = load before %u                        →     does the copied load give what the original value was?
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.instrumentation import AlreadyThere, Edge, Probe, Reached, Same, can_compare

_EFFECTS = frozenset({"store", "atomicrmw", "cmpxchg", "fence"})
_PURE_CALL = re.compile(
    r"@llvm\.(?!nvvm\.(barrier|bar\.|membar|fence|shfl|vote|match|atomic|cp\.|mbarrier)|mem|trap|prefetch)"
)
_ALIGN = re.compile(r", align (\d+)")


@dataclass(frozen=True, eq=False)
class Edited:
    """A kernel with one edit applied."""

    original: Original
    draft: Draft
    moved: frozenset[Id]
    """Original instructions that stand in another place."""

    @classmethod
    def by(cls, original: Original, draft: Draft) -> Edited:
        """The kernel as the draft's edits leave it."""
        return cls(original, draft, draft.moved)


@dataclass(frozen=True)
class Asked:
    """A question about an edit: the probes that answer it, and the sentence, in which {count} stands for the figures."""

    sentence: str
    place: str
    probes: tuple[Probe, ...] = ()


def questions(edited: Edited) -> Iterator[Asked]:
    """What to ask about each change, in the original's order."""
    original, draft = edited.original, edited.draft
    yield from _of_values(edited)
    for id in gone(edited):
        node = original.nodes[id]
        if node.instruction.opcode == "store":
            yield _already_there(
                original,
                id,
                original.lines[id],
                node.operands,
                node.operand_types,
                "deleted" if id in draft.dead else "moved",
            )
        elif node.instruction.opcode in ("atomicrmw", "cmpxchg") and id in draft.dead:
            place = place_of(original, id)
            yield Asked(f"the atomic at {place} was made in {{count}}, and its effect is gone", place, (Reached(id),))
        elif node.result and id in draft.dead and not original.uses.get(node.result):
            yield Asked(
                f"the value of '{opcode_of(original, id)}' at {place_of(original, id)} is not used",
                place_of(original, id),
            )
    for name, node in draft.clones.items():
        if node.instruction.opcode == "store" and name not in draft.dead:
            before = _next_original(edited, name)
            if before is not None:
                probe = _store_probe(before, original.lines[node.origin], draft.operands(name), node.operand_types)
                place = place_of(original, node.origin)
                if probe is not None:
                    yield Asked(
                        f"the copied store at {place} wrote what was there already in {{count}}", place, (probe,)
                    )


def _of_values(edited: Edited) -> Iterator[Asked]:
    """Operands that are another value now: was it the same one?"""
    original, draft = edited.original, edited.draft
    moved = _moved_results(edited)
    pairs: dict[tuple[str, str, str], list[tuple[Id, int]]] = {}
    for id, node in original.nodes.items():
        if id in draft.dead or id in edited.moved:
            continue
        for index, (old, new) in enumerate(zip(node.operands, draft.operands(id), strict=True)):
            new = moved.get(new, new)
            if new != old:
                pairs.setdefault((node.operand_types[index], old, new), []).append((id, index))
    for (type, old, new), uses in pairs.items():
        place = place_of(original, uses[0][0])
        users = f"operand {uses[0][1]} of '{opcode_of(original, uses[0][0])}' at {place}"
        if new in ("poison", "undef"):
            yield Asked(f"{users} has no value any more", place)
        elif not can_compare(type):
            yield Asked(f"{users} is another value of type {type}, which was not compared", place)
        else:
            places = dict.fromkeys(_probe_place(original, id, index) for id, index in uses)
            probes = tuple(Same(at, type, old, new) for at in places)
            yield Asked(_sentence_of(edited, type, old, new, users), place, probes)


def _sentence_of(edited: Edited, type: str, old: str, new: str, users: str) -> str:
    if type == "i1" and new in ("true", "false"):
        return f"the condition, {users}, was {new} in {{count}}"
    if new[0] not in "%@":
        return f"{users} was {new} in {{count}}"
    return f"{users} was equal to the value that takes its place ({_what(edited, new)}) in {{count}}"


def _what(edited: Edited, value: str) -> str:
    """A value in words: the instruction that makes it, and where."""
    original, draft = edited.original, edited.draft
    name = value.removeprefix("%kw.moved.")
    id = draft.definition(f"%{name}" if name != value else value)
    if id is None:
        return f"the argument {value}" if value in original.arguments else value
    node = draft.known(id)
    origin = node.origin
    kind = "copied" if isinstance(id, str) else "moved" if name != value else "made"
    return f"{kind} by '{opcode_of(original, origin)}' at {place_of(original, origin)}"


def _already_there(
    original: Original, id: Id, line: str, operands: Sequence[str], types: Sequence[str], how: str
) -> Asked:
    place = place_of(original, id)
    probe = _store_probe(id, line, operands, types)
    if probe is None:
        return Asked(f"the store at {place} is {how}; what was there before was not compared", place)
    return Asked(f"the {how} store at {place} wrote what was there already in {{count}}", place, (probe,))


def _store_probe(at: Id, line: str, operands: Sequence[str], types: Sequence[str]) -> AlreadyThere | None:
    align = _ALIGN.search(line)
    if not can_compare(types[0]) or align is None:
        return None
    return AlreadyThere(at, types[0], operands[0], f"{types[1]} {operands[1]}", int(align[1]))


def added(edited: Edited) -> dict[Id, list[str]]:
    """The copied and moved instructions without effects, as lines before the originals that they come to stand before."""
    original, draft = edited.original, edited.draft
    moved = _moved_results(edited)
    found: dict[Id, list[str]] = {}
    for block in range(len(original.order)):
        waiting: list[str] = []
        for id in draft.order(block):
            if not isinstance(id, str) and id not in edited.moved:
                if waiting:
                    found.setdefault(id, []).extend(waiting)
                    waiting = []
            elif id not in draft.dead and draft.known(id).result and not _has_effects(original, draft.known(id).origin):
                waiting.append(_renamed(draft.line(id), moved))
    return found


def _moved_results(edited: Edited) -> dict[str, str]:
    """What the values of moved instructions are called where the original ones are still there."""
    original, draft = edited.original, edited.draft
    return {
        node.result: f"%kw.moved.{node.result[1:]}"
        for id, node in original.nodes.items()
        if node.result and id not in draft.dead and id in edited.moved and not _has_effects(original, id)
    }


def _renamed(line: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        line = re.sub(re.escape(old) + r"(?![\w.$-])", new.replace("\\", "\\\\"), line)
    return line


def gone(edited: Edited) -> list[Id]:
    """The instructions that are not in their place any more."""
    original, draft = edited.original, edited.draft
    return [id for id in original.nodes if id in draft.dead or id in edited.moved]


def _next_original(edited: Edited, name: Id) -> Id | None:
    """The original instruction that a copy stands before."""
    draft = edited.draft
    order = draft.order(draft.block_of(name))
    behind = order[order.index(name) + 1 :]
    return next((id for id in behind if not isinstance(id, str) and id not in edited.moved), None)


def _has_effects(original: Original, id: Id) -> bool:
    """Whether to run an instruction once more would change anything, or depend on other threads."""
    opcode = opcode_of(original, id)
    return opcode in _EFFECTS or (opcode == "call" and not _PURE_CALL.search(original.lines[id]))


def _probe_place(original: Original, id: Id, index: int) -> Id | Edge:
    node = original.nodes[id]
    return Edge(node.blocks[index], node.block) if node.is_phi else id


# -- words -------------------------------------------------------------------------------------------------------------


def opcode_of(original: Original, id: Id) -> str:
    """The opcode of an instruction of the original, by its number."""
    return original.nodes[id].instruction.opcode


def place_of(original: Original, id: Id) -> str:
    """``nw.cu:47``, or the instruction's number where no line is known."""
    at = original.location(id)
    return f"{at.file.rsplit('/', 1)[-1]}:{at.line}" if at and at.line else f"instruction {id}"
