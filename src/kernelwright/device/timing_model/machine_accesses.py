"""Accesses as the code on the GPU makes them: the executor counts the loads and stores of the IR, code generation makes fewer.

    %a = load p; %b = load p + 4        LDS.64 R2, [R0]          joined: one request
    %c = load q; ... %d = load q        LDS R4, [R1]             the same address, found only behind address arithmetic
    %w = load @filter                   FFMA R5, R4, c[3][0]     a constant at a fixed address is an operand: no request

Each machine instruction knows the IR block and the source line it was made from. What a block's instructions of a class
(loads or stores; global, shared, local or constant memory) request is divided among its accesses of that class and line,
then of that class, then of the class in other blocks. Instructions that bring more bytes than the accesses of their line ask for are
another line's: what was moved or merged has the line of its neighbour. So an access that has all its bytes gets no more while others
have not. Sectors, wavefronts and turns go down as requests do: accesses that are
joined touch the same sectors, and the same banks in turn. But shared memory serves half the lanes of an 8-byte access at a time, a
quarter of a 16-byte one, and twice as many where neighbouring lanes ask for the same words, whatever banks are left idle: measured on
an H100 (``benchmarks/results/2026-11-27-nvidia-h100-80gb-hbm3.json``).

A short branch becomes a guard: such an instruction is issued more often, but hardware counts no request where no lane is left.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from kernelwright.codegen.cost.block_weights import Weights
from kernelwright.codegen.cost.loop_copies import original
from kernelwright.device.timing_model.counters import SECTOR, AccessCount, Kind, Observed
from kernelwright.device.timing_model.unrolled_paths import laid_on_copies
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import WARP

WORD, MOST_WORDS = 4, 4
SPIN_TURNS = 43
"""Turns of one that compares and swaps until it has won, for each lane that meets others: cycles measured on an H200, where 32 lanes that
add floats to one word of shared memory take 1,395, and four to each of eight words 175."""
GENERIC = "generic"
SPACES = {"global": "global", "shared": "shared", "local": "local", "const": "constant", GENERIC: GENERIC}
"""The memory that an instruction's class names, as accesses call it."""


@dataclass
class _Access:
    """A load or store of the IR, and those of its requests that no instruction makes."""

    counted: AccessCount
    left: int
    bytes: int = 0
    """Of the instructions that make its requests, of each request; summed."""

    @property
    def missing_bytes(self) -> int:
        """Of all its requests, those that no instruction brings; what a share loses by being a whole number is not missing."""
        rounding = WORD * MOST_WORDS if self.bytes else 0
        return max(0, self.counted.requests * self.counted.bytes - self.bytes - rounding)

    @property
    def open(self) -> int:
        """Requests that no instruction makes and whose bytes none brings."""
        return min(self.left, -(-self.missing_bytes // self.counted.bytes)) if self.counted.bytes else self.left


@dataclass
class _Instruction:
    """A load or store of the code, and those of its requests that no access has."""

    function: str
    label: str
    place: tuple[str, int]
    kind: str
    space: str
    bytes: int
    left: int


def machine_accesses(observed: Observed, weights: Weights) -> Observed:
    """The launch with its accesses as ``weights`` makes them, and executions as those of copies of unrolled blocks; as it is where that is
    done already, and accesses where ``weights`` tells of none.

    Atomics stay as they are, but for those of shared memory that count the lanes that meet, which take no further turns, and those
    that spin, which take more. Local memory that only the code uses (spilled registers) is added, behind the others.
    """
    if observed.counted_in != "IR":
        return observed
    observed = laid_on_copies(observed, weights.loops)
    instructions = _instructions(observed, weights)
    if not instructions:
        return observed
    accesses = [_Access(a, a.requests if a.kind != "atomic" else 0) for a in observed.accesses]
    _match([a for a in accesses if a.left], instructions)
    groups: dict[Hashable, int] = {}
    turns = _turns_of_meeting(weights)
    made = tuple(_as_made(each, groups, turns) for each in accesses)
    return replace(
        observed,
        accesses=(*made, *_spilled(instructions)),
        counted_in=weights.source,
        executed=observed.accesses,
    )


def _instructions(observed: Observed, weights: Weights) -> list[_Instruction]:
    """Those that ask memory for something. A guarded one has lanes when its own block runs, any other whenever it is issued."""
    runs: dict[tuple[str, str], int] = {}
    for block in observed.blocks:
        if block.starts and not block.barriers:
            key = (block.function, block.label)
            runs[key] = runs.get(key, 0) + block.executions
    found = []
    for (function, home), segments in weights.blocks.items():
        issued = runs.get((function, home), 0)
        for step in (s for segment in segments for s in segment if s.bytes):
            kind, _, space = step.kind.partition("_")
            times = min(issued, runs.get((function, step.block), 0)) if step.guarded else issued
            place = (step.position.file, step.position.line) if step.position else ("", 0)
            found.append(_Instruction(function, original(step.block), place, kind, SPACES[space], step.bytes, times))
    return found


def _match(accesses: Sequence[_Access], instructions: Sequence[_Instruction]) -> None:
    """Divides what instructions request among accesses, from the nearest to the farthest: first among those that lack bytes."""
    # Of constants, what no access of the block has taken is a parameter, or a copy of one.
    elsewhere = [a for a in accesses if a.counted.space != "constant"]
    for by_bytes in (True, False):
        _divide(
            accesses,
            instructions,
            lambda a: (a.function, a.label, a.file, a.line),
            lambda i: (i.function, i.label, *i.place),
            by_bytes,
        )
        _divide(accesses, instructions, lambda a: (a.function, a.label), lambda i: (i.function, i.label), by_bytes)
        _divide(elsewhere, instructions, lambda a: (), lambda i: (), by_bytes)


def _divide(
    accesses: Sequence[_Access],
    instructions: Sequence[_Instruction],
    of_access: Callable[[AccessCount], tuple[Hashable, ...]],
    of_instruction: Callable[[_Instruction], tuple[Hashable, ...]],
    by_bytes: bool,
) -> None:
    """Among those with the same key, kind and memory; then instructions that can ask any memory serve what is left. ``by_bytes``: no
    access gets more than it asks for."""
    instructions = [each for each in instructions if each.left]
    accesses = [each for each in accesses if each.left or (by_bytes and each.missing_bytes)]
    if not (instructions and accesses):
        return
    offered: dict[Hashable, list[_Instruction]] = {}
    for each in instructions:
        offered.setdefault((*of_instruction(each), each.kind, each.space), []).append(each)
    for generic in (False, True):
        asked: dict[Hashable, list[_Access]] = {}
        for access in accesses:
            counted = access.counted
            if not (generic and counted.space == "constant"):
                key = (*of_access(counted), counted.kind, GENERIC if generic else counted.space)
                asked.setdefault(key, []).append(access)
        for wanted, some in asked.items():
            _hand_out(some, offered.get(wanted, []), by_bytes)


def _hand_out(accesses: Sequence[_Access], instructions: Sequence[_Instruction], by_bytes: bool) -> None:
    wanted = [a.open if by_bytes else a.left for a in accesses]
    there = [i.left for i in instructions]
    if by_bytes:
        there = _within(sum(a.missing_bytes for a in accesses), instructions)
    given = min(sum(wanted), sum(there))
    if not given:
        return
    of_instructions = _proportional(there, given)
    bytes_each = sum(share * i.bytes for i, share in zip(instructions, of_instructions, strict=True)) / given
    for access, share in zip(accesses, _proportional(wanted, given), strict=True):
        access.left -= share
        access.bytes += round(share * bytes_each)
    for instruction, share in zip(instructions, of_instructions, strict=True):
        instruction.left -= share


def _within(most_bytes: int, instructions: Sequence[_Instruction]) -> list[int]:
    """Requests of each that together bring at most so many bytes, those of the widest first: a narrow one is the likelier stranger."""
    found = [0] * len(instructions)
    for number in sorted(range(len(instructions)), key=lambda n: -instructions[n].bytes):
        each = instructions[number]
        found[number] = min(each.left, most_bytes // each.bytes)
        most_bytes -= found[number] * each.bytes
    return found


def _proportional(weights: Sequence[int], total: int) -> list[int]:
    """``total`` in whole parts, each within one of its exact part, and none above its weight where the total is not."""
    whole, before, given = sum(weights), 0, 0
    parts = []
    for weight in weights:
        before += weight
        until = before * total // whole
        parts.append(until - given)
        given = until
    return parts


Place = tuple[str, str, str, int]
"""Function, block and source line."""


def _turns_of_meeting(weights: Weights) -> dict[Place, int]:
    """For each place with atomics: turns that a further lane at a word of shared memory takes; the most of them decides."""
    found: dict[Place, int] = {}
    for (function, _), segments in weights.blocks.items():
        for step in (s for segment in segments for s in segment if s.kind == "atomic"):
            file, line = (step.position.file, step.position.line) if step.position else ("", 0)
            place = (function, original(step.block), file, line)
            found[place] = max(found.get(place, 0), 0 if step.counts_lanes else SPIN_TURNS if step.spins else 1)
    return found


def _as_made(access: _Access, groups: dict[Hashable, int], turns: dict[Place, int]) -> AccessCount:
    it = access.counted
    if it.kind == "atomic" and it.space == "shared":
        return replace(it, serial=it.serial * turns.get((it.function, it.label, it.file, it.line), 1))
    if it.kind == "atomic" or not it.requests:
        return it
    kept = it.requests - access.left

    def part(count: int) -> int:
        return (2 * count * kept + it.requests) // (2 * it.requests)

    return replace(
        it,
        requests=kept,
        shared_requests=part(it.shared_requests),
        sectors=part(it.sectors),
        wavefronts=_wavefronts(access, kept, part(it.wavefronts)),
        passes=_passes(access, kept),
        serial=part(it.serial),
        group=groups.setdefault((it.function, it.label, it.kind, it.space), len(groups)),
    )


def _passes(access: _Access, kept: int) -> int:
    """Of requests to global and local memory. The L1 cache is the same store as shared memory, and is taken to serve lanes likewise:
    each part by its banks, in which lanes meet."""
    if not kept or access.counted.space not in ("global", "local"):
        return 0
    parts = _parts(access, kept)
    in_parts = float(np.interp(parts, (1.0, 2.0, 4.0), access.counted.turns))
    return round(kept * max(in_parts * ((1 + access.counted.apart) / 2 if parts > 1 else 1.0), 1.0))


def _parts(access: _Access, kept: int) -> float:
    """In how many parts the lanes of a request are served whose neighbours differ: by what its instructions ask for."""
    return min(max(access.bytes / kept / WORD, 1.0), MOST_WORDS)


def _wavefronts(access: _Access, kept: int, counted: int) -> int:
    """``counted``: of the banks that lanes meet in, by parts of 128 bytes where the IR's access is as wide already. ``kept``: requests."""
    it = access.counted
    if not counted or not kept:
        return counted
    halved = (1 + it.apart) / 2
    in_parts = counted * halved if it.bytes > WORD else counted
    return max(round(in_parts), round(kept * max(_parts(access, kept) * halved, 1.0)))


def _spilled(instructions: Sequence[_Instruction]) -> list[AccessCount]:
    """Requests to local memory that no access of the IR makes: every lane has its words, four sectors for each."""
    found = []
    for i in instructions:
        if i.space == "local" and i.left:
            sectors = i.left * -(-i.bytes // 4) * (WARP * 4 // SECTOR)
            file, line = i.place
            found.append(
                AccessCount(
                    i.function, i.label, cast(Kind, i.kind), "local", i.bytes, i.left, 0, sectors, file=file, line=line
                )
            )
    return found
