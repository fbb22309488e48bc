"""What the checker saw in a run, by the place in the code: races, reads past a buffer's end, reads of unwritten memory.

Two sites are the same when their kind, kernel and memory are, how far apart their threads are, and both ends: what was done
there, and where in the source. Edits carry source lines along, so a variant's site can be found again in the original.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kernelwright.codegen.layout import shared_layout
from kernelwright.codegen.simt.results import Found
from kernelwright.cuda.names import base_name
from kernelwright.device.fault import Triple
from kernelwright.device.memory import LOCAL_BASE, SHARED_BASE, WINDOW, Arena
from kernelwright.device.places import is_header
from kernelwright.device.virtual import position
from kernelwright.ir import Function, Instruction, source_location
from kernelwright.prove.proof import Evidence

_LOCAL = re.compile(r"E(\d+)(\w+)$")
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
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}" if self.line else f"'{self.instruction}'"


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


class Places:
    """Where the instructions and shared variables of a kernel are, looked up once: a kernel may race in thousands of ways."""

    def __init__(self, kernel: Function) -> None:
        self.kernel = kernel
        self._known: dict[Instruction, tuple[str, int, int, str]] = {}

    def end(self, verb: str, instruction: Instruction) -> End:
        known = self._known.get(instruction)
        if known is None:
            at = source_location(instruction, skip=is_header)
            what = "" if at and at.line else f"{instruction.opcode} {instruction.type.text}"
            known = (at.file, at.line, at.column, what) if at and at.line else ("", 0, 0, what)
            self._known[instruction] = known
        return End(verb, *known)

    @cached_property
    def shared(self) -> list[tuple[int, str]]:
        return sorted((offset, name) for name, offset in shared_layout(self.kernel).offsets.items())

    def memory(self, address: int, size: int, arena: Arena) -> tuple[str, bool]:
        """The memory at an address, and whether the access leaves it."""
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            named = max((one for one in self.shared if one[0] <= address - SHARED_BASE), default=(0, ""))[1]
            return f"shared memory '{_variable(named)}'" if named else "shared memory", False
        if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
            return "local memory", False
        inside = arena.find(address)
        if inside is not None and address + size <= inside.end:
            return f"'{inside.name}'", False
        near = inside or arena.nearest(address)
        return (f"'{near.name}'" if near else "memory"), True


def note(sites: Sites, found: Found, places: Places, grid: Triple, block: Triple, arena: Arena) -> None:
    """Puts what a watched launch noticed among ``sites``."""
    kernel = places.kernel.name
    memory, beyond = places.memory(found.address, found.size, arena)
    if found.other is None:
        kind: SiteKind = "out-of-bounds" if beyond else "uninitialised"
        site = Site(kind, kernel, memory, (places.end("read", found.origin),))
    else:
        ends = places.end(found.verbs[0], found.other), places.end(found.verbs[1], found.origin)
        # A race has no first end: which one is met first is the schedule's choice.
        low, high = sorted(ends)
        site = Site("race", kernel, memory, (low, high), found.scope, found.benign)
    if site in sites:
        sites[site].count += found.count
    else:
        sites[site] = Sight(_evidence(site, found, places, grid, block), found.count)


def _evidence(site: Site, found: Found, places: Places, grid: Triple, block: Triple) -> Evidence:
    here = f"block {position(found.block, grid)} thread {position(found.thread, block)}"
    if found.other is None:
        end = site.ends[0]
        what = "past the end of" if site.kind == "out-of-bounds" else "that nobody has written, of"
        sentence = f"{here} reads {found.size} bytes {what} {site.memory} at {end}"
        return Evidence(sentence, site.kind, kernel=site.kernel, place=str(end), count=found.count)
    first, second = places.end(found.verbs[0], found.other), places.end(found.verbs[1], found.origin)
    there = f"block {position(found.other_block, grid)} thread {position(found.other_thread, block)}"
    sentence = (
        f"{first.verb} at {first} by {there} and {second.verb} at {second} by {here}, {SCOPES[found.scope]}, "
        f"touch the same {found.size} bytes of {site.memory}, and nothing orders them"
    )
    return Evidence(sentence, "race", kernel=site.kernel, place=str(first), other=str(second), count=found.count)


def _variable(mangled: str) -> str:
    """``_ZZ4scanPfE4tile`` is ``tile``."""
    found = _LOCAL.search(mangled) if mangled.startswith("_ZZ") else None
    return found[2][: int(found[1])] if found else base_name(mangled)
