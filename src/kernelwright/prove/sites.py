"""What the checker saw in a run, by the place in the code: races, reads past a buffer's end, reads of unwritten memory.

Two sites are the same when their kind, kernel and memory are, how far apart their threads are, and both ends: what was done
there, and where in the source. Edits carry source lines along, so a variant's site can be found again in the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kernelwright.codegen.layout import shared_layout
from kernelwright.codegen.simt.results import Found
from kernelwright.device.fault import Triple
from kernelwright.device.memory import LOCAL_BASE, SHARED_BASE, WINDOW, Arena
from kernelwright.device.places import location_of
from kernelwright.device.virtual import position
from kernelwright.ir import Function, Instruction
from kernelwright.prove.proof import Evidence

SiteKind = Literal["race", "out-of-bounds", "uninitialised"]

SCOPES = {"warp": "lanes of one warp", "block": "different warps of a block", "grid": "different blocks", "": ""}


@dataclass(frozen=True, order=True)
class End:
    """One end of a site: ``verb`` is ``read``, ``write`` or ``atomic``."""

    verb: str
    file: str
    line: int
    column: int
    instruction: str = ""
    """What kind of instruction it is, where no line is known."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else f"'{self.instruction}'"


@dataclass(frozen=True)
class Site:
    """Where something undefined happens."""

    kind: SiteKind
    kernel: str
    memory: str
    """``shared memory`` or the name of a buffer."""
    ends: tuple[End, ...]
    scope: str = ""
    """Of a race: ``warp``, ``block`` or ``grid``."""
    silent: bool = False
    """Of a race: no value could depend on it: equal values were written, or nothing was changed."""


@dataclass
class Sight:
    """How often a site was seen, and the first time in words."""

    evidence: Evidence
    count: int


Sites = dict[Site, Sight]


def add(sites: Sites, site: Site, evidence: Evidence, count: int) -> None:
    known = sites.get(site)
    if known is None:
        sites[site] = Sight(evidence, count)
    else:
        known.count += count


def site_of(found: Found, kernel: Function, grid: Triple, block: Triple, arena: Arena) -> tuple[Site, Evidence]:
    """The site of what a watched launch noticed, and the sight in words."""
    memory, beyond = _memory(found.address, found.size, kernel, arena)
    here = f"block {position(found.block, grid)} thread {position(found.thread, block)}"
    if found.other is None:
        end = _end("read", found.origin)
        kind: SiteKind = "out-of-bounds" if beyond else "uninitialised"
        what = "past the end of" if beyond else "that nobody has written, of"
        sentence = f"{here} reads {found.size} bytes {what} {memory} at {end}"
        site = Site(kind, kernel.name, memory, (end,))
        return site, Evidence(sentence, kind, kernel=kernel.name, place=str(end), count=found.count)
    ends = _end(found.verbs[0], found.other), _end(found.verbs[1], found.origin)
    there = f"block {position(found.other_block, grid)} thread {position(found.other_thread, block)}"
    sentence = (
        f"{ends[0].verb} at {ends[0]} by {there} and {ends[1].verb} at {ends[1]} by {here}, {SCOPES[found.scope]}, "
        f"touch the same {found.size} bytes of {memory}, and nothing orders them"
    )
    # A race has no first end: which one is met first is the schedule's choice.
    low, high = sorted(ends)
    site = Site("race", kernel.name, memory, (low, high), found.scope, found.benign)
    return site, Evidence(sentence, "race", kernel=kernel.name, place=str(low), other=str(high), count=found.count)


def _end(verb: str, instruction: Instruction) -> End:
    at = location_of(instruction)
    return End(verb, at.file, at.line, at.column, "" if at.line else f"{instruction.opcode} {instruction.type.text}")


def _memory(address: int, size: int, kernel: Function, arena: Arena) -> tuple[str, bool]:
    """The memory concerned, and whether the access leaves it."""
    if SHARED_BASE <= address < SHARED_BASE + WINDOW:
        below = [(offset, name) for name, offset in shared_layout(kernel).offsets.items()]
        named = max((one for one in below if one[0] <= address - SHARED_BASE), default=(0, ""))[1]
        return f"shared memory '{named}'" if named else "shared memory", False
    if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
        return "local memory", False
    inside = arena.find(address)
    if inside is not None and address + size <= inside.end:
        return f"'{inside.name}'", False
    near = inside or arena.nearest(address)
    return (f"'{near.name}'" if near else "memory"), True
