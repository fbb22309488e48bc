"""Which loops of a function the assembler has unrolled, and which copy of a block each machine instruction belongs to.

    loop:  ld.global %a        piece 4  @P0 BRA            how many iterations at once? (once for each entry of the loop)
           fma               → piece 5  LDG ×4, FFMA ×4    a group of four copies, which repeats
           bra loop            piece 7  LDG ×2, FFMA ×2    a group of two, for what is left
                               piece 9  LDG, FFMA          and of one

How many copies a group has is told by its *anchors*: PTX instructions that become one machine instruction each, whatever is around them.
What else there is, the counter's additions and the tests between groups, is merged and moved, and has the lines of what it lies beside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

from kernelwright.codegen.cost.loop_copies import Group, UnrolledLoop, copy_label
from kernelwright.codegen.machine.control_flow import Flow
from kernelwright.codegen.machine.sass import IMAD, POPC, SHUFFLE, Instruction
from kernelwright.codegen.ptx_text import PtxFunction, PtxInstruction
from kernelwright.lazy_dataclasses import dataclass

_MEMORY = re.compile(r"(ld|st|atom|red)\b(?!.*\.(param|const)\b)")
_FLOATS = re.compile(r"(add|sub|mul|fma|mad)\b.*\.f(32|64)\b")
_WORDS = re.compile(r"(mad|mul)\.lo\.[su]32\b|shfl\b|popc\.b32\b")
_ASKS = {"ld": "load", "st": "store", "atom": "atomic", "red": "atomic"}
"""How the class of the machine instruction begins that does it. An atomic may have a load before it, and a loop around it."""
_OF_WORDS = (IMAD, SHUFFLE, POPC)
HOME_SHARE = 4
"""A block can be home of a machine block that at least one in so many of its instructions come from."""


@dataclass(frozen=True)
class Piece:
    """A straight run of machine instructions, each with the PTX block and instruction it was made from; ``home``: the PTX block that
    its executions are thought to be those of."""

    instructions: Sequence[Instruction]
    blocks: Sequence[int]
    made_from: Sequence[PtxInstruction]
    home: int


@dataclass(frozen=True)
class Placing:
    """``homes``: by piece and place in it, the label that an instruction is issued with; ``blocks``: the label of what it was made from.
    ``moved``: pieces that are no copy, but what each entry of a loop runs once, with the piece whose home is theirs."""

    loops: tuple[UnrolledLoop, ...]
    homes: Mapping[int, Sequence[str]]
    blocks: Mapping[int, Sequence[str]]
    moved: Mapping[int, int]


def find_copies(
    function: PtxFunction, ptx: Flow, labels: Mapping[str, str], pieces: Mapping[int, Piece], machine: Flow
) -> Placing:
    """``ptx`` and ``machine``: the flow of PTX blocks and of pieces; ``labels``: the IR block of each PTX block; ``pieces``: those that are
    not cold. A loop around others is taken as it is: no assembler has been seen to unroll one."""
    loops: list[UnrolledLoop] = []
    homes: dict[int, Sequence[str]] = {}
    blocks: dict[int, Sequence[str]] = {}
    moved: dict[int, int] = {}
    post = _Backwards(machine, pieces)
    names = [labels[block.label] for block in function.blocks]
    made = _made(pieces)
    for header, body in sorted(ptx.loops.items(), key=lambda each: len(each[1])):
        if body & (ptx.headers - {header}) or not is_ir_loop(function, labels, header):
            continue
        anchors = _anchors(function, ptx, header, body)
        if _copies(Counter({line: sum(made[line].values()) for line in anchors if line in made})) < 2:
            continue
        holds = _held(made, anchors)
        loop = _Loop(function, ptx, names, header, body, pieces, machine, post, anchors, holds)
        if loop.is_unrolled:
            loops.append(loop.said)
            loop.place(homes, blocks, moved)
    return Placing(tuple(loops), homes, blocks, moved)


def kept_rolled(function: PtxFunction, ptx: Flow, labels: Mapping[str, str]) -> set[int]:
    """Headers of loops whose copies could not be told: those inside an IR block (code generation made their blocks, and nothing counts
    their iterations), and innermost ones without anchors. (Loops around others have not been seen unrolled.)"""
    return {
        header
        for header, body in ptx.loops.items()
        if not is_ir_loop(function, labels, header)
        or (not _anchors(function, ptx, header, body) and not body & (ptx.headers - {header}))
    }


def is_ir_loop(function: PtxFunction, labels: Mapping[str, str], header: int) -> bool:
    """Whether executions of an IR block are iterations of the loop with this header."""
    block = function.blocks[header]
    return block.ir_name is not None and block.ir_name == labels[block.label]


class _Backwards:
    """Which pieces run as often as others: those that come before them on every way, and behind which they are on every way."""

    def __init__(self, machine: Flow, pieces: Collection[int]) -> None:
        self._machine, self._pieces = machine, pieces

    @cached_property
    def _flow(self) -> Flow:
        """The hot pieces backwards: piece ``n`` is node ``n + 1``, behind the end of the function."""
        found: list[list[int]] = [[] for _ in range(len(self._machine.successors) + 1)]
        for n in self._pieces:
            following = [s for s in self._machine.successors[n] if s in self._pieces]
            for s in following:
                found[s + 1].append(n + 1)
            if not following:
                found[0].append(n + 1)
        return Flow(found)

    def as_often(self, a: int, b: int) -> bool:
        """Whether every run of ``a`` is followed by one of ``b``, and every run of ``b`` comes behind one of ``a``."""
        return self._machine.dominates(a, b) and self._flow.dominates(b + 1, a + 1)


class _Loop:
    """A loop of the PTX, and the pieces that hold copies of it."""

    def __init__(
        self,
        function: PtxFunction,
        ptx: Flow,
        names: Sequence[str],
        header: int,
        body: frozenset[int],
        pieces: Mapping[int, Piece],
        machine: Flow,
        post: _Backwards,
        anchors: set[int],
        holds: Mapping[int, Counter[int]],
    ) -> None:
        """``anchors``: their lines; ``holds``: per piece how often it has each of them."""
        self._function, self._names, self._header, self._body = function, names, header, body
        self._pieces, self._machine = pieces, machine
        self._depth = ptx.depths[header]
        self._anchors = anchors
        self._groups = self._find_groups(post, holds)

    @property
    def is_unrolled(self) -> bool:
        own = [(copies, some) for copies, some in self._groups if self._is_own(some)]
        repeats = any(self._repeats(some) for _, some in own)
        return any(copies > 1 for copies, _ in own) or (len(own) > 1 and not repeats)

    @property
    def said(self) -> UnrolledLoop:
        """As executions are laid onto it."""
        groups = tuple(Group(copies, self._repeats(some), not self._is_own(some)) for copies, some in self._groups)
        inside = frozenset(self._names[n] for n in self._body)
        return UnrolledLoop(self._function.name, self._names[self._header], inside, groups)

    def _find_groups(self, post: _Backwards, holds: Mapping[int, Counter[int]]) -> list[tuple[int, list[int]]]:
        """Numbers of copies with their pieces, by address."""
        groups: list[list[int]] = []
        seen: set[int] = set()
        for n in sorted(holds):
            if n in seen:
                continue
            around = self._machine_loop(n)
            some = (
                sorted(each for each in around if each in self._pieces)
                if around is not None
                else [n, *(m for m in sorted(holds) if m > n and self._machine_loop(m) is None and post.as_often(n, m))]
            )
            seen |= set(some)
            groups.append(some)
        sized = ((_copies(sum((holds.get(n, Counter()) for n in some), Counter())), some) for some in groups)
        found = [(copies, some) for copies, some in sized if copies]
        held = {n for _, some in found for n in some}
        for n, piece in self._pieces.items():
            # What is not in every iteration belongs to the copy that it comes behind.
            if n not in held and piece.home in self._body - {self._header}:
                behind = [some for _, some in found if self._machine.dominates(some[0], n)]
                if behind:
                    behind[-1].append(n)
        return [(copies, sorted(some)) for copies, some in found]

    def _is_own(self, some: Sequence[int]) -> bool:
        """Whether a group is run when the loop's blocks are; else it is part of what comes before the loop, and runs with that."""
        piece = self._pieces[some[0]]
        if piece.home in self._body:
            return True
        return sum(b == piece.home for b in piece.blocks) * HOME_SHARE < len(piece.blocks)

    def _machine_loop(self, n: int) -> frozenset[int] | None:
        """The loop of pieces that does this loop's iterations around piece ``n``; None where it is run once."""
        around = [body for body in self._machine.loops.values() if n in body]
        if not around:
            return None
        inner = min(around, key=len)
        of_others = any(m in self._pieces and self._pieces[m].home not in self._body for m in inner)
        return inner if len(around) >= self._depth or not of_others else None

    def _repeats(self, some: Sequence[int]) -> bool:
        return self._machine_loop(some[0]) is not None

    def place(self, homes: dict[int, Sequence[str]], blocks: dict[int, Sequence[str]], moved: dict[int, int]) -> None:
        """Adds what ``Placing`` says of this loop."""
        held = set()
        for number, (copies, some) in enumerate(self._groups):
            held |= set(some)
            belongs = self._belongs(copies, some)
            for n in some:
                blocks[n] = [
                    copy_label(self._names[b], number, copy) if b in self._body else self._names[b]
                    for b, copy in zip(self._pieces[n].blocks, belongs[n], strict=True)
                ]
            if not self._is_own(some):
                continue
            for n, issued in self._issued(copies, some, belongs).items():
                home = self._pieces[n].home if self._pieces[n].home in self._body else self._header
                homes[n] = [copy_label(self._names[home], number, copy) for copy in issued]
        inside = {self._names[n] for n in self._body}
        for n, piece in self._pieces.items():
            if n not in held and self._names[piece.home] in inside:
                above = (m for m in self._machine.dominators(n) if m in self._pieces)
                outside = next((m for m in above if self._names[self._pieces[m].home] not in inside), None)
                if outside is not None:
                    moved[n] = outside

    def _belongs(self, copies: int, some: Sequence[int]) -> dict[int, list[int]]:
        """Per piece and instruction, the copy that it was made for: of those with one origin and operation, the first is the first's."""
        of = [
            (m.line, i.opcode)
            for n in some
            for i, m in zip(self._pieces[n].instructions, self._pieces[n].made_from, strict=True)
        ]
        total, seen = Counter(of), Counter[tuple[int, int]]()
        found = []
        for key in of:
            found.append(seen[key] * copies // total[key])
            seen[key] += 1
        at = 0
        cut = {}
        for n in some:
            cut[n] = found[at : at + len(self._pieces[n].instructions)]
            at += len(cut[n])
        return cut

    def _issued(self, copies: int, some: Sequence[int], belongs: Mapping[int, list[int]]) -> dict[int, list[int]]:
        """Per piece and instruction, the copy that issues it: a piece with several copies is cut into as many parts; one with one
        belongs to it as a whole; so does what comes behind without any."""
        found: dict[int, list[int]] = {}
        current = 0
        for n in some:
            anchors = [
                copy
                for made, copy in zip(self._pieces[n].made_from, belongs[n], strict=True)
                if made.line in self._anchors
            ]
            first, last = (min(anchors), max(anchors)) if anchors else (current, current)
            size = len(self._pieces[n].instructions)
            found[n] = [first + at * (last - first + 1) // size for at in range(size)]
            current = last
        return found


def _made(pieces: Mapping[int, Piece]) -> dict[int, Counter[int]]:
    """Per line of the PTX: how many instructions of each piece are what it does, not made beside it."""
    found: dict[int, Counter[int]] = {}
    for n, piece in pieces.items():
        for each, made in zip(piece.instructions, piece.made_from, strict=True):
            if _does(each.kind, each.opcode, made.opcode):
                found.setdefault(made.line, Counter())[n] += 1
    return found


def _held(made: Mapping[int, Counter[int]], anchors: Iterable[int]) -> dict[int, Counter[int]]:
    """Per piece: how often it has each anchor."""
    found: dict[int, Counter[int]] = {}
    for line in anchors:
        for n, count in made.get(line, Counter[int]()).items():
            found.setdefault(n, Counter())[line] = count
    return found


def _anchors(function: PtxFunction, ptx: Flow, header: int, body: Collection[int]) -> set[int]:
    """Lines of a loop's PTX instructions that are one machine instruction each: of blocks that every iteration runs, if there are any."""
    own = [n for n in body if ptx.depths[n] == ptx.depths[header]]  # not in a loop inside
    latches = [n for n in ptx.predecessors[header] if n in body]
    always = [n for n in own if all(ptx.dominates(n, latch) for latch in latches)]
    for some, forms in ((always, (_MEMORY, _FLOATS)), (always, (_WORDS,)), (own, (_MEMORY, _FLOATS, _WORDS))):
        inside = (each for n in some for each in function.blocks[n].instructions if not each.guard)
        if found := {each.line for each in inside if any(form.match(each.opcode) for form in forms)}:
            return found
    return set()


@lru_cache(maxsize=4096)
def _does(kind: str, opcode: int, ptx: str) -> bool:
    """Whether a machine instruction does what the PTX instruction that it was made from does: tests and additions have their neighbours'
    lines."""
    if memory := _MEMORY.match(ptx):
        return kind.startswith(_ASKS[memory[1]])
    if floats := _FLOATS.match(ptx):
        return kind == f"fp{floats[2]}"
    return bool(_WORDS.match(ptx)) and opcode in _OF_WORDS


def _copies(anchored: Counter[int]) -> int:
    """What most anchors say; fewer in doubt, since it is easier to take a neighbour's instruction for one's own than to lose one."""
    said = Counter(anchored.values())
    return max(said, key=lambda n: (said[n], -n)) if said else 0
