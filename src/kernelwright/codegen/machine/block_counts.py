"""The machine code of a module, laid back onto the blocks of its IR: what one execution of each block really issues.

PTX in which every instruction has a line number of its own is assembled with line information; the cubin's line table
then says which PTX instruction each machine instruction was made from. Machine blocks are not PTX blocks: short branches
become guarded instructions of the block before, constants move into loops and out of them. What decides is where an
instruction is issued, so a machine block is charged as a whole to one PTX block, its *home*:

    @P0 EXIT                                   home of all five: the block that ends with the branch,
    ISETP P1, ...      (block "body")          because the store is issued whenever "body" is
    @P1 IMAD R2, ...   (block "then")
    @P1 STG [R4], R2   (block "then")
    IADD3 R6, ...      (block "next")
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from kernelwright.architectures import architecture
from kernelwright.codegen.cost.loop_copies import UnrolledLoop
from kernelwright.codegen.cost.ptx_counts import origins
from kernelwright.codegen.machine.assemble import Assembler, Cubin, assemble
from kernelwright.codegen.machine.control_flow import Flow
from kernelwright.codegen.machine.cubin_elf import FUNCTION, read_elf
from kernelwright.codegen.machine.line_table import LineTable, read_lines
from kernelwright.codegen.machine.sass import (
    BRANCH,
    CALL_ABSOLUTE,
    CALL_RELATIVE,
    CONVERGED,
    DIVERGED,
    EXIT,
    INDIRECT,
    INSTRUCTION_BYTES,
    MEET,
    RETURN,
    Instruction,
    read_instructions,
)
from kernelwright.codegen.machine.unrolled_loops import HOME_SHARE, Piece, find_copies, kept_rolled
from kernelwright.codegen.ptx_text import PtxFunction, PtxInstruction, read_ptx
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import OLDEST_MACHINE_CODE

SLOW = re.compile(r"slowpath|mediumpath|_full|_sm70_(shfl|vote|match|warp)")
"""Subroutines of the assembler that few executions enter: exact quotients, operations of lanes that are not in step."""

NOUNROLL = '\t.pragma "nounroll";\n'

_LOCATION = re.compile(r"^\s*\.(?:loc|file)\s.*$", re.MULTILINE)
_VERSION = re.compile(r"^\.address_size.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Placed:
    """A machine instruction, the IR block it was made from and the PTX instruction (None for what the assembler added)."""

    instruction: Instruction
    block: str
    ptx: PtxInstruction | None


@dataclass(frozen=True)
class MachineFunction:
    """``blocks``: by IR block, what one execution issues, in the order of addresses; of those in ``loops``, which the assembler has
    unrolled, by copy of the block (``cost/loop_copies.py``). An IR block that is missing costs nothing of its own: its instructions are
    issued, guarded, by the block that branches around it.

    ``cold``: what few executions enter (slow paths of divisions, operations of diverged warps).
    """

    name: str
    blocks: Mapping[str, tuple[Placed, ...]]
    cold: tuple[Placed, ...]
    loops: tuple[UnrolledLoop, ...] = ()

    @property
    def size(self) -> int:
        """Machine instructions, cold ones left out."""
        return sum(len(block) for block in self.blocks.values())


@dataclass(frozen=True)
class MachineModule:
    """Every function that has code of its own, by name, and the cubin it was read from.

    ``rolled``: whether loops were kept from being unrolled, so that the cubin is not quite the one that will run.
    """

    functions: Mapping[str, MachineFunction]
    cubin: Cubin
    rolled: bool


def machine_code(
    ptx: str,
    arch: str,
    labels: Mapping[str, Collection[str]] | None = None,
    *,
    assembler: Assembler | None = None,
    cuda_path: Path | None = None,
    isolate: bool = False,
    kept: bool = False,
) -> MachineModule:
    """The machine code of a PTX module; ``labels`` are the block labels of each function's IR, by function.

    Loops whose copies could not be told are kept rolled (``unrolled_loops.kept_rolled``). ``kept``: whether the cubin may come from the
    cache on disk, and goes there. Raises what ``assemble`` raises, and ``Misuse`` for an architecture before sm_70.
    """
    number = architecture(arch).number
    if number < OLDEST_MACHINE_CODE:
        raise Misuse(f"machine instructions are not read for {arch}", hint="choose sm_70 or newer")
    functions = read_ptx(ptx)
    given = labels or {}
    origin = {f.name: origins(f, given.get(f.name)) for f in functions}
    flows = {f.name: _ptx_flow(f) for f in functions}
    marked, markers = _marked(
        ptx, functions, {f.name: kept_rolled(f, flows[f.name], origin[f.name]) for f in functions}
    )
    cubin = assemble(marked, arch, line_info=True, assembler=assembler, cuda_path=cuda_path, isolate=isolate, kept=kept)
    rolled = marked.count(NOUNROLL) > ptx.count(NOUNROLL)  # the program asks for some itself
    return MachineModule(_Reader(cubin, number, functions, flows, markers, origin).functions(), cubin, rolled)


@dataclass(frozen=True)
class _Marker:
    """What a line number stands for: the block with this index in this PTX function, and the instruction."""

    function: str
    block: int
    ptx: PtxInstruction


def _marked(
    ptx: str, functions: tuple[PtxFunction, ...], rolled: Mapping[str, Collection[int]]
) -> tuple[str, dict[int, _Marker]]:
    """The PTX with a line number for each instruction, and what each number stands for. ``rolled``: per function the blocks that head
    loops to be kept rolled."""
    lines = [_LOCATION.sub("", line) for line in ptx.splitlines()]
    before: dict[int, str] = {}
    markers: dict[int, _Marker] = {}
    for function in functions:
        for index, block in enumerate(function.blocks):
            for first, each in zip([True] + [False] * len(block.instructions), block.instructions, strict=False):
                at = each.line - 1
                number = len(markers) + 1
                markers[number] = _Marker(function.name, index, each)
                if at in before or not _starts_statement(lines, at):
                    continue
                keep = NOUNROLL if first and index in rolled[function.name] and not _is_kept(lines, at) else ""
                before[at] = f"\t.loc 1 {number} 0\n{keep}"
    text = "\n".join(before.get(i, "") + line for i, line in enumerate(lines)) + "\n"
    return _VERSION.sub(lambda m: m[0] + '\n.file 1 "instructions"', text, count=1), markers


def _is_kept(lines: Sequence[str], at: int) -> bool:
    """Whether the program itself asks that the loop whose first instruction is in this line be kept rolled."""
    before = (line.partition("//")[0].strip() for line in reversed(lines[:at]))
    for each in before:
        if each == NOUNROLL.strip():
            return True
        if each and not each.startswith("."):
            break
    return False


def _starts_statement(lines: Sequence[str], at: int) -> bool:
    """Whether the line is no continuation of a statement that the line before left open."""
    previous = lines[at - 1].partition("//")[0].strip() if at else ""
    return not previous or previous[-1] in ";{}:"


def _ptx_flow(function: PtxFunction) -> Flow:
    number = {block.label: i for i, block in enumerate(function.blocks)}
    return Flow([[number[s] for s in block.successors if s in number] for block in function.blocks])


@dataclass
class _Piece:
    """A straight run of machine instructions that is always issued as a whole."""

    instructions: list[Instruction]
    successors: list[int]
    slow: bool = False
    """Whether it ends in a call of a subroutine that few executions enter."""


class _Reader:
    """Cuts the sections of a cubin into functions and lays them onto the PTX."""

    def __init__(
        self,
        cubin: Cubin,
        number: int,
        functions: tuple[PtxFunction, ...],
        flows: Mapping[str, Flow],
        markers: Mapping[int, _Marker],
        origin: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.elf = read_elf(cubin.data)
        self.tables = read_lines(self.elf)
        self.number = number
        self.ptx = {f.name: f for f in functions}
        self.flows = flows
        self.markers = markers
        self.origin = origin
        self.subroutines: dict[str, list[Instruction]] = {}
        self.ranges = {i: self._ranges(i, s.name, s.size) for i, s in enumerate(self.elf.sections) if _is_code(s.name)}

    def functions(self) -> dict[str, MachineFunction]:
        code = {i: [each for each in self._read(i) if each.target != each.address] for i in self.ranges}
        for section, ranges in self.ranges.items():
            for start, end, name in ranges:
                if name not in self.ptx:
                    self.subroutines.setdefault(name, [i for i in code[section] if start <= i.address < end])
        found: dict[str, MachineFunction] = {}
        for section, ranges in self.ranges.items():
            for start, end, name in ranges:
                # A function that several kernels call is copied into each; one copy is enough.
                if name in self.ptx and name not in found:
                    inner = [r for r in ranges if start < r[0] and r[1] <= end]
                    own = [i for i in code[section] if start <= i.address < end and not _inside(i.address, inner)]
                    if own:
                        found[name] = self._function(name, own, section)
        return found

    def _read(self, section: int) -> Iterator[Instruction]:
        return read_instructions(self.elf.sections[section].data, self.number)

    def _ranges(self, section: int, name: str, size: int) -> list[tuple[int, int, str]]:
        """The functions of a section as (start, end, name): the one it is named after, and those copied into it."""
        owner = name.removeprefix(".text.")
        found = [(0, size, owner)]
        for symbol in self.elf.symbols:
            if symbol.kind == FUNCTION and symbol.section == section and symbol.name != owner:
                short = symbol.name if symbol.name in self.ptx else symbol.name.rpartition("$")[2]
                found.append((symbol.value, symbol.value + symbol.size, short))
        return found

    def _function(self, name: str, code: list[Instruction], section: int) -> MachineFunction:
        called = self._calls(section)
        pieces = self._pieces(code, called)
        hot = _hot(pieces)
        flow = Flow([p.successors for p in pieces])
        table = self.tables.get(section, LineTable((), ()))
        origin, ptx = self.origin[name], self.ptx[name]
        labels = [origin[block.label] for block in ptx.blocks]
        reached = [n for n in range(len(pieces)) if flow.dominates(0, n)]  # nothing leads to the others
        marks = {n: self._marks(name, pieces[n], table) for n in reached}
        at = {n: [m.block for m in marks[n]] for n in reached}
        homes = {n: _home(self.flows[name], pieces[n], at[n], flow.depths[n]) for n in reached if n in hot}
        made = {n: Piece(pieces[n].instructions, at[n], [m.ptx for m in marks[n]], home) for n, home in homes.items()}
        copies = find_copies(ptx, self.flows[name], origin, made, flow)
        blocks: dict[str, list[Placed]] = {}
        cold: list[Placed] = []
        entered: set[str] = set()
        for index in reached:
            piece = pieces[index]
            of = copies.blocks.get(index) or [labels[b] for b in at[index]]
            placed = [Placed(i, b, m.ptx) for i, b, m in zip(piece.instructions, of, marks[index], strict=True)]
            if index not in hot:
                cold += placed
                entered |= {self._callee(called, i) for i in piece.instructions[-1:] if piece.slow}
                continue
            home = labels[homes[copies.moved.get(index, index)]]
            for each, issued in zip(placed, copies.homes.get(index) or [home] * len(placed), strict=True):
                block = blocks.setdefault(issued, [])
                block.append(each)
                block += [Placed(i, each.block, each.ptx) for i in self._body(called, each.instruction)]
        for callee in sorted(entered):
            cold += [Placed(i, "", None) for i in self.subroutines.get(callee, [])]
        return MachineFunction(name, {b: tuple(placed) for b, placed in blocks.items()}, tuple(cold), copies.loops)

    def _marks(self, name: str, piece: _Piece, table: LineTable) -> list[_Marker]:
        """What each instruction was made from; one without a line of this function takes its neighbour's."""
        found = [self.markers.get(table.line(i.address)) for i in piece.instructions]
        known = [m if m and m.function == name else None for m in found]
        default = next((m for m in known if m), None) or self._first_marker(name)
        marks = []
        for each in known:
            default = each or default
            marks.append(default)
        return marks

    def _first_marker(self, name: str) -> _Marker:
        return next(m for m in self.markers.values() if m.function == name)

    def _calls(self, section: int) -> dict[int, str]:
        """What is called, by the address of the call: from the relocations of the section, and from the ranges in it."""
        found = {}
        owner = self.elf.sections[section].name
        for form, layout in ((".rel", struct.Struct("<QQ")), (".rela", struct.Struct("<QQq"))):
            table = self.elf.section(form + owner)
            data = table.data if table else b""
            for offset, info, *_ in layout.iter_unpack(data[: len(data) // layout.size * layout.size]):
                found[offset // INSTRUCTION_BYTES * INSTRUCTION_BYTES] = self.elf.symbols[info >> 32].name
        return found

    def _callee(self, section_calls: Mapping[int, str], each: Instruction) -> str:
        if each.opcode == CALL_ABSOLUTE:
            return section_calls.get(each.address, "").rpartition("$")[2]
        starts = {start: name for ranges in self.ranges.values() for start, _, name in ranges if start}
        return starts.get(each.target, "")

    def _body(self, calls: Mapping[int, str], each: Instruction) -> list[Instruction]:
        """What a call of the assembler's own subroutine adds to the block that makes it."""
        if each.opcode not in (CALL_ABSOLUTE, CALL_RELATIVE):
            return []
        return self.subroutines.get(self._callee(calls, each), [])

    def _pieces(self, code: list[Instruction], calls: Mapping[int, str]) -> list[_Piece]:
        targets = {i.target for i in code if i.opcode == BRANCH}
        runs: list[list[Instruction]] = []
        fresh = True
        for each in code:
            if fresh or each.address in targets:
                runs.append([])
            runs[-1].append(each)
            fresh = each.opcode in (BRANCH, EXIT, RETURN, INDIRECT) or self._is_slow(calls, each)
        place = {run[0].address: n for n, run in enumerate(runs)}
        pieces = []
        for n, run in enumerate(runs):
            last = run[-1]
            following = [n + 1] if n + 1 < len(runs) else []
            if last.opcode == BRANCH:
                taken = [place[last.target]] if last.target in place else []
                following = (
                    (following if last.conditional and last.flavour != CONVERGED else [])
                    + (taken if last.flavour != DIVERGED else [])
                )  # fmt: skip
            elif last.opcode in (EXIT, RETURN):
                following = following if last.conditional else []
            elif last.opcode == INDIRECT:
                following = list(range(len(runs)))
            pieces.append(_Piece(run, following, self._is_slow(calls, last)))
        return pieces

    def _is_slow(self, calls: Mapping[int, str], each: Instruction) -> bool:
        calling = each.opcode in (CALL_ABSOLUTE, CALL_RELATIVE)
        return calling and bool(SLOW.search(self._callee(calls, each)))


def _hot(pieces: list[_Piece]) -> set[int]:
    """The pieces that are reached without passing a slow one; all of them where there is no way around."""
    around = set(Flow([[] if p.slow else p.successors for p in pieces]).order)
    if any(pieces[n].instructions[-1].opcode in (EXIT, RETURN) for n in around):
        return {n for n in around if not pieces[n].slow}
    return set(Flow([p.successors for p in pieces]).order)


def _home(flow: Flow, piece: _Piece, blocks: Sequence[int], depth: int) -> int:
    """The PTX block whose executions are those of the machine block.

    Of the blocks that issue something unconditionally, those as deep in loops as the machine block, those that a fair
    share comes from, the one that comes before the others on every path; else the one most come from.
    """
    # Where lanes meet again, the instruction that makes them wait was made from the block before.
    steady = [
        b
        for b, i in zip(blocks, piece.instructions, strict=True)
        if not i.guarded and i.opcode not in (BRANCH, EXIT, RETURN, MEET)
    ]
    counts = Counter(steady or blocks)
    level = {b: n for b, n in counts.items() if flow.depths.get(b, 0) == depth} or dict(counts)
    total = sum(level.values())
    fair = [b for b, n in level.items() if n * HOME_SHARE >= total] or list(level)
    first = [b for b in fair if all(flow.dominates(b, other) for other in fair)]
    return first[0] if first else max(fair, key=lambda b: (level[b], -b))


def _inside(address: int, ranges: Sequence[tuple[int, int, str]]) -> bool:
    return any(start <= address < end for start, end, _ in ranges)


def _is_code(name: str) -> bool:
    return name.startswith(".text.")


__all__ = ["MachineFunction", "Placed", "machine_code"]
