"""Where something undefined happens, by the place in the code: what makes two races one and the same.

Two sites are the same when their kind, kernel and memory are, how far apart their threads are, and both ends: what was done
there, and where in the source. Edits carry source lines along, so a variant's site can be found again in the original.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal

from kernelwright.codegen.memory_layout import shared_layout
from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.cuda.names import base_name, readable
from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW
from kernelwright.device.checking.findings import SCOPES
from kernelwright.device.locations import is_header
from kernelwright.device.overread import Overread
from kernelwright.ir import Function, Instruction, source_location
from kernelwright.lazy_dataclasses import dataclass

_LOCAL = re.compile(r"E(\d+)(\w+)$")
SiteKind = Literal["race", "out-of-bounds", "uninitialised"]


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


@dataclass(frozen=True, order=True)
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

    def __str__(self) -> str:
        kernel, ends = readable(self.kernel), self.ends
        if self.kind == "race":
            both = f"{ends[0].verb} at {ends[0]} and {ends[1].verb} at {ends[1]}"
            return f"a race in {kernel} ({both}, by {SCOPES[self.scope]})"
        what = f"past {self.memory}" if self.kind == "out-of-bounds" else "of unwritten memory"
        return f"a read {what} in {kernel} (at {ends[0]})"


class Places:
    """Where the instructions and shared variables of a kernel are, looked up once: a kernel may race in thousands of ways."""

    def __init__(self, kernel: Function) -> None:
        self.kernel = kernel
        self._known: dict[Instruction, tuple[str, int, int, str]] = {}

    def end(self, verb: str, instruction: Instruction) -> End:
        """One end of a site: what is done (``verb``) at the instruction's source line; without a line its opcode and type."""
        known = self._known.get(instruction)
        if known is None:
            at = source_location(instruction, skip=is_header)
            what = "" if at and at.line else f"{instruction.opcode} {instruction.type.text}"
            known = (at.file, at.line, at.column, what) if at and at.line else ("", 0, 0, what)
            self._known[instruction] = known
        return End(verb, *known)

    @cached_property
    def shared(self) -> list[tuple[int, str]]:
        """The kernel's static shared variables as (offset in bytes, name), by rising offset."""
        return sorted((offset, name) for name, offset in shared_layout(self.kernel).offsets.items())

    def own_memory(self, address: int) -> str:
        """What an address is that lies in a block's or a thread's own memory; empty for one of the whole GPU's."""
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            named = max((one for one in self.shared if one[0] <= address - SHARED_BASE), default=(0, ""))[1]
            return f"shared memory '{_variable(named)}'" if named else "shared memory"
        return "local memory" if LOCAL_BASE <= address < LOCAL_BASE + WINDOW else ""


def site_of(found: Found, places: Places, memory: str) -> Site:
    """The site of what a watched launch noticed."""
    kernel = places.kernel.name
    if found.other is None:
        return Site("uninitialised", kernel, memory, (places.end("read", found.origin),))
    # A race has no first end: which one is met first is the schedule's choice.
    low, high = sorted((places.end(found.verbs[0], found.other), places.end(found.verbs[1], found.origin)))
    return Site("race", kernel, memory, (low, high), found.scope, found.benign)


def overread_site(one: Overread, places: Places, memory: str) -> Site:
    """The site of reads past one side of a buffer. ``memory``: the buffer's name."""
    beside = f"{memory}, before its start" if one.before else memory
    return Site("out-of-bounds", places.kernel.name, beside, (places.end("read", one.origin),))


def _variable(mangled: str) -> str:
    """``_ZZ4scanPfE4tile`` is ``tile``."""
    found = _LOCAL.search(mangled) if mangled.startswith("_ZZ") else None
    return found[2][: int(found[1])] if found else base_name(mangled)
