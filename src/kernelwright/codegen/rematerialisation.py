"""Addresses computed again where they are used again, instead of kept in registers through a loop between.

LLVM computes every value once, as early as it is needed. A kernel that reads sixteen rows, works on them in a loop, and writes them
back holds sixteen addresses through the loop: 56 registers where nvcc, which computes them again, has 32.

    before   add.s64 %rd2, %rd1, %rd9;                     after   add.s64 %rd2, %rd1, %rd9;
             ld.global.b32 %r1, [%rd2];                            ld.global.b32 %r1, [%rd2];
             ... a loop that does not use %rd2 ...                 ... the loop ...
             st.global.b32 [%rd2], %r5;                            add.s64 %rd40, %rd1, %rd9;
                                                                   st.global.b32 [%rd40], %r5;

This is done on PTX, behind LLVM, which would put the two together again. A value is computed again when it is a pure function of
integers, each of which is there in any case or computed again itself. Every register in it is written by one instruction, and that
dominates the instructions that use it: then it means the same wherever it is alive. Nothing is moved into a loop, and nothing is
done for a kernel in which few registers wait.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kernelwright.codegen.ptx_text import PtxBlock, PtxFunction, PtxInstruction

ROOM = 40
"""Registers of 32 bits that may be alive at once in a block before what waits through it is looked at."""
WORTH = 24
"""Registers of 32 bits that must wait through one block: fewer are not worth the instructions, and ptxas often finds another way."""
MOST_STEPS = 12
"""Instructions that one value may cost, with what others then share."""

_ENTRY = ".entry "
_REGISTER = re.compile(r"%(?:rd|rs|rq|r|fd|f|p)\d+\b")
_WIDTHS = {"%rd": 2, "%fd": 2, "%rq": 4, "%r": 1, "%f": 1, "%rs": 1, "%p": 0}
_COMPUTED = re.compile(
    r"^\t(?:add|sub|shl|shr|and|or|xor|mul|mad|cvt|cvta|mov|ld\.param)\.[\w.]*[usb]\d\d[ \t]+(%r[ds]?\d+),",
    re.MULTILINE,
)
_ANY = re.compile(r"%r[ds]?\d+")
_BLOCK = re.compile(r"^(?:\$L__BB\d+_\d+:|// %bb\.\d+:)", re.MULTILINE)
_KIND = re.compile(r"%[a-z]+")
_PURE = re.compile(
    r"(?:add|sub|shl|shr|and|or|xor|mul\.wide|mul\.lo|mad\.wide|mad\.lo|cvt|cvta\.to\.global|mov|ld\.param)"
    r"(?:\.[usb](?:16|32|64))+$"
)
_PURE_OPERAND = re.compile(r"-?\d+|0x[0-9A-Fa-f]+|%(?:tid|ntid|ctaid|nctaid)\.[xyz]|\[\w+_param_\d+(?:\+\d+)?\]")
_OWN_REGISTERS = re.compile(r"\.reg\s+\.\w+\s+%\w+\s*[;,]")
_LOCATION = re.compile(r"^\t\.loc\t.*$", re.MULTILINE)
_DECLARED = re.compile(r"^(\s*\.reg \.\w+ \s*)(%[a-z]+)<(\d+)>;")


def rematerialised(ptx: str) -> str:
    """The PTX with values computed again in every kernel in which at least ``WORTH`` registers wait for their next use."""
    parts = ptx.split(_ENTRY)
    looked_at = [_may_wait(part) for part in parts[1:]]
    if not any(looked_at) or _OWN_REGISTERS.search(ptx):  # of inline PTX: they may bear the names of ours
        return ptx
    from kernelwright.codegen.ptx_text import read_ptx

    # The text of other kernels is left out, their lines are not: an instruction says which line it is.
    kept = [
        part if look else "\n" * (len((part + ".").splitlines()) - 1)
        for part, look in zip(parts, [True, *looked_at], strict=True)
    ]
    lines = ptx.splitlines(keepends=True)
    changed = False
    for function in read_ptx(_LOCATION.sub("", _ENTRY.join(kept))):
        if function.kernel and len(function.blocks) > 2:
            changed |= _Kernel(function, lines).rewrite()
    return "".join(lines) if changed else ptx


def _may_wait(kernel: str) -> bool:
    """Whether a quick look finds a block that ``WORTH`` registers only pass by, in the order of the text: few kernels have one,
    and reading PTX takes as long as some compiles."""
    written = Counter(_COMPUTED.findall(kernel))
    computed = {register for register, times in written.items() if times == 1}
    blocks = [computed.intersection(_ANY.findall(block)) for block in _BLOCK.split(kernel)]
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for at, registers in enumerate(blocks):
        for register in registers:
            first.setdefault(register, at)
            last[register] = at
    passing = [0] * len(blocks)
    for register, begin in first.items():
        for at in range(begin + 1, last[register]):
            if register not in blocks[at]:
                passing[at] += _width(register)
    return max(passing) >= WORTH


class _Definition:
    """The only instruction that writes a register: its block, its number in the block, and what it computes with."""

    __slots__ = ("block", "instruction", "operands", "place")

    def __init__(self, block: int, place: int, instruction: PtxInstruction) -> None:
        self.block = block
        self.place = place
        self.instruction = instruction
        self.operands = tuple(operand.strip() for operand in instruction.operands.split(",")[1:])


class _Access:
    """The registers that an instruction writes, and those that it reads, its guard's among them."""

    __slots__ = ("is_guarded", "read", "written")

    def __init__(self, instruction: PtxInstruction) -> None:
        # What it writes is its first operand, unless that is an address. Too many rather than too few.
        text = instruction.operands.lstrip()
        found = _REGISTER.findall(text)
        writes = 0
        if not text.startswith("["):
            first = text[: text.index("}")] if text.startswith("{") and "}" in text else text.partition(",")[0]
            writes = len(_REGISTER.findall(first))
        self.written = found[:writes]
        self.read = found[writes:] + (_REGISTER.findall(instruction.guard) if instruction.guard else [])
        self.is_guarded = bool(instruction.guard)


class _Kernel:
    def __init__(self, function: PtxFunction, lines: list[str]) -> None:
        self.blocks = function.blocks
        self.lines = lines
        accesses = [[_Access(instruction) for instruction in block.instructions] for block in function.blocks]
        self.definitions = _definitions(function, accesses)
        self.uses = _uses(accesses)
        self.live_in, self.live_out, self.peaks = _liveness(function, accesses)
        self.full = [at for at, peak in enumerate(self.peaks) if peak > ROOM]
        self.depths = _depths(function)
        self.index = {block.label: at for at, block in enumerate(function.blocks)}
        self.dominators: list[set[int]] = []

    def rewrite(self) -> bool:
        """Changes the lines of this kernel; whether it did."""
        waiting = [r for r, definition in self.definitions.items() if self._waits(r, definition)]
        if self._most(waiting) < WORTH:
            return False
        self.dominators = _dominators(self.blocks, self.index)
        chosen = self._chosen(waiting)
        if self._most(chosen) < WORTH:
            return False
        self._write(chosen)
        return True

    def _most(self, registers: Collection[str]) -> int:
        """Registers of 32 bits of these that wait in the block in which most do."""
        return max((sum(_width(r) for r in registers if self._passes(r, at)) for at in self.full), default=0)

    def _passes(self, register: str, at: int) -> bool:
        return register in self.live_in[at] and register in self.live_out[at] and at not in self.uses[register]

    def _chosen(self, waiting: Iterable[str]) -> set[str]:
        """Those that can be computed again in a few steps, taken in the order of the text."""
        chosen: set[str] = set()
        computed: dict[int, set[str]] = {}
        relied: dict[str, set[int]] = {}
        for register in waiting:
            plans = {}
            own = self.definitions[register].block
            for at in (self.uses[register] - {own}) | relied.get(register, set()):
                if own not in self.dominators[at]:
                    break
                steps, leaves = self._plan(register, at, chosen, computed.get(at, set()))
                if len(steps) > MOST_STEPS:
                    break
                plans[at] = steps, leaves
            else:
                chosen.add(register)
                for at, (steps, leaves) in plans.items():
                    computed.setdefault(at, set()).update(steps)
                    for leaf in leaves:
                        relied.setdefault(leaf, set()).add(at)
        return chosen

    def _waits(self, register: str, definition: _Definition) -> bool:
        if not _is_pure(definition) or not _width(register):
            return False
        used = self.uses.get(register, set()) - {definition.block}
        if not used or any(self.depths[at] > self.depths[definition.block] for at in used):
            return False
        return any(self._passes(register, at) for at in self.full)

    def _plan(self, register: str, at: int, chosen: set[str], computed: set[str]) -> tuple[list[str], list[str]]:
        """What must be computed in a block to have a register there, and what is used as it is: too many steps where it cannot be."""
        steps: list[str] = []
        leaves: list[str] = []
        ahead = [register]
        while ahead and len(steps) <= MOST_STEPS:
            wanted = ahead.pop()
            if wanted in computed or wanted in steps:
                continue
            definition = self.definitions[wanted]
            if wanted != register and wanted in self.live_in[at] and wanted not in chosen:
                leaves.append(wanted)
                continue
            operands = [operand for operand in definition.operands if _REGISTER.fullmatch(operand)]
            if not _is_pure(definition) or not all(self._comes_before(each, definition) for each in operands):
                return [wanted] * (MOST_STEPS + 1), []
            steps.append(wanted)
            ahead += operands
        return steps, leaves

    def _comes_before(self, register: str, user: _Definition) -> bool:
        """Whether a register is written by one instruction, which dominates the one that uses it."""
        definition = self.definitions.get(register)
        if definition is None:
            return False
        if definition.block == user.block:
            return definition.place < user.place
        return definition.block in self.dominators[user.block]

    def _write(self, chosen: set[str]) -> None:
        fresh = _Fresh(self.lines, self.blocks)
        for at, block in enumerate(self.blocks):
            again: dict[str, str] = {}
            for instruction in block.instructions:
                line = instruction.line - 1
                wanted = [
                    register
                    for register in dict.fromkeys(_REGISTER.findall(instruction.operands))
                    if register in chosen and self.definitions[register].block != at
                ]
                made: list[str] = []
                for register in wanted:
                    self._compute(register, at, chosen, again, fresh, made)
                self.lines[line] = "".join(made) + _renamed(self.lines[line], {each: again[each] for each in wanted})
        fresh.declare()

    def _compute(
        self, register: str, at: int, chosen: set[str], again: dict[str, str], fresh: _Fresh, made: list[str]
    ) -> None:
        if register in again:
            return
        definition = self.definitions[register]
        for operand in definition.operands:
            known = not _REGISTER.fullmatch(operand) or (operand not in chosen and operand in self.live_in[at])
            if not known:
                self._compute(operand, at, chosen, again, fresh, made)
        again[register] = fresh.name(register)
        operands = ", ".join(again.get(operand, operand) for operand in definition.operands)
        made.append(f"\t{definition.instruction.opcode} \t{again[register]}, {operands};\n")


class _Fresh:
    """New registers of one kernel, and their declaration."""

    def __init__(self, lines: list[str], blocks: tuple[PtxBlock, ...]) -> None:
        self.lines = lines
        first = min(instruction.line for block in blocks for instruction in block.instructions)
        self.declarations: dict[str, int] = {}
        self.numbers: dict[str, Iterator[int]] = {}
        for at in range(first - 1, -1, -1):
            found = _DECLARED.match(lines[at])
            if found:
                self.declarations[found[2]] = at
                self.numbers[found[2]] = count(int(found[3]))
            elif lines[at].startswith("{"):
                break

    def name(self, like: str) -> str:
        kind = _KIND.match(like)
        assert kind
        return f"{kind[0]}{next(self.numbers[kind[0]])}"

    def declare(self) -> None:
        for kind, at in self.declarations.items():
            self.lines[at] = _DECLARED.sub(rf"\g<1>{kind}<{next(self.numbers[kind])}>;", self.lines[at])


def _renamed(line: str, names: Mapping[str, str]) -> str:
    return _REGISTER.sub(lambda found: names.get(found[0], found[0]), line) if names else line


def _width(register: str) -> int:
    return _WIDTHS[register.rstrip("0123456789")]


def _is_pure(definition: _Definition) -> bool:
    return (
        not definition.instruction.guard
        and bool(_PURE.fullmatch(definition.instruction.opcode))
        and all(_REGISTER.fullmatch(o) or _PURE_OPERAND.fullmatch(o) for o in definition.operands)
    )


def _definitions(function: PtxFunction, accesses: list[list[_Access]]) -> dict[str, _Definition]:
    """By register, for those that one instruction alone writes."""
    found: dict[str, _Definition | None] = {}
    for at, block in enumerate(function.blocks):
        for place, (instruction, access) in enumerate(zip(block.instructions, accesses[at], strict=True)):
            for register in access.written:
                found[register] = None if register in found else _Definition(at, place, instruction)
    return {register: definition for register, definition in found.items() if definition}


def _uses(accesses: list[list[_Access]]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for at, block in enumerate(accesses):
        for access in block:
            for register in access.read:
                found.setdefault(register, set()).add(at)
    return found


def _liveness(function: PtxFunction, accesses: list[list[_Access]]) -> tuple[list[set[str]], list[set[str]], list[int]]:
    """What is alive where each block begins and ends, and the most registers of 32 bits that are alive in it."""
    index = {block.label: at for at, block in enumerate(function.blocks)}
    read_first: list[set[str]] = []
    written: list[set[str]] = []
    for block in accesses:
        reads: set[str] = set()
        writes: set[str] = set()
        for access in block:
            reads.update(register for register in access.read if register not in writes)
            if not access.is_guarded:
                writes.update(access.written)
        read_first.append(reads)
        written.append(writes)
    live_in = [set(reads) for reads in read_first]
    changed = True
    while changed:
        changed = False
        for at in range(len(function.blocks) - 1, -1, -1):
            out = _alive_behind(function.blocks[at], live_in, index)
            new = read_first[at] | (out - written[at])
            if new != live_in[at]:
                live_in[at], changed = new, True
    live_out = [_alive_behind(block, live_in, index) for block in function.blocks]
    return live_in, live_out, [_peak(block, out) for block, out in zip(accesses, live_out, strict=True)]


def _alive_behind(block: PtxBlock, live_in: list[set[str]], index: Mapping[str, int]) -> set[str]:
    return set().union(*(live_in[index[label]] for label in block.successors))


def _peak(block: list[_Access], alive: set[str]) -> int:
    alive = set(alive)
    held = most = sum(map(_width, alive))
    for access in reversed(block):
        if not access.is_guarded:
            for register in access.written:
                if register in alive:
                    alive.discard(register)
                    held -= _width(register)
        for register in access.read:
            if register not in alive:
                alive.add(register)
                held += _width(register)
        most = max(most, held)
    return most


def _depths(function: PtxFunction) -> list[int]:
    """How many branches back span a block: the loops it is in, as LLVM lays them out."""
    index = {block.label: at for at, block in enumerate(function.blocks)}
    depths = [0] * len(function.blocks)
    for at, block in enumerate(function.blocks):
        for label in block.successors:
            for inside in range(index[label], at + 1):
                depths[inside] += 1
    return depths


def _dominators(blocks: tuple[PtxBlock, ...], index: Mapping[str, int]) -> list[set[int]]:
    """The blocks that every way to a block passes, itself included. One that nothing leads to has all."""
    before: list[list[int]] = [[] for _ in blocks]
    for at, block in enumerate(blocks):
        for label in block.successors:
            before[index[label]].append(at)
    everything = set(range(len(blocks)))
    found = [{0}, *(set(everything) for _ in blocks[1:])]
    changed = True
    while changed:
        changed = False
        for at in range(1, len(blocks)):
            new = set.intersection(*(found[each] for each in before[at])) | {at} if before[at] else everything
            if new != found[at]:
                found[at], changed = new, True
    return found
