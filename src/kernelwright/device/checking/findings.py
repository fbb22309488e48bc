"""What a check finds, as values: one shape for every kind, and the repair that usually helps.

``KINDS`` is the whole list of classes of findings. A finding that was met again is counted, not repeated: what makes two the same is
the kind, both places in the source and the memory concerned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, Literal

from kernelwright.cuda.names import readable
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

FindingKind = Literal[
    "out-of-bounds",
    "misaligned",
    "use-after-free",
    "uninitialised",
    "race",
    "barrier",
    "order-dependent",
    "launch",
    "async",
]
Hint = Literal[
    "out-of-bounds",
    "misaligned",
    "use-after-free",
    "uninitialised",
    "uninitialised shared",
    "uninitialised copied",
    "race warp",
    "race block",
    "race grid",
    "race atomic",
    "race update",
    "race threadIdx.y",
    "race threadIdx.z",
    "race blockIdx.y",
    "barrier",
    "barrier warp",
    "barrier mask ended",
    "barrier shuffle absent",
    "order-dependent",
    "order-dependent permuted",
    "launch",
    "launch endless",
    "launch assert",
    "launch stack",
    "async",
    "async free",
    "benign",
]

Level = Literal["error", "warning", "note"]
SCOPES = {"": "", "warp": "lanes of one warp", "block": "different warps of a block", "grid": "different blocks"}
"""How far the ends of a race are apart, the widest last; nothing for what is none."""
"""How grave a finding is, in SARIF's words. A warning fails a check, too; ``note`` is for benign findings, whatever their kind."""


@dataclass(frozen=True)
class KindOfFinding:
    """What a class of findings is about, in one sentence, and how grave one is."""

    what: str
    level: Level = "error"


KINDS: dict[FindingKind, KindOfFinding] = {
    "out-of-bounds": KindOfFinding(
        "An access outside its buffer, shared array or local array, or a store to constants."
    ),
    "misaligned": KindOfFinding("An access at an address that is no multiple of its size."),
    "use-after-free": KindOfFinding("An access to memory that was freed."),
    "uninitialised": KindOfFinding("A read of bytes that were never written."),
    "race": KindOfFinding("Two accesses to one byte, one of them a write, that nothing orders."),
    "barrier": KindOfFinding("Threads that wait at different barriers, or for threads that cannot come."),
    # A sum of floating-point numbers by atomics is one, and may be within what its author tolerates.
    "order-dependent": KindOfFinding("Results that differ in another order of blocks, warps or lanes.", "warning"),
    "launch": KindOfFinding("A call that returned an error, a failed assertion, a trap or an endless loop."),
    "async": KindOfFinding("Work that touches memory of other work that was not waited for."),
}

HINTS: dict[Hint, str] = {
    "out-of-bounds": "compare the index with the size before the access, or allocate what the largest index needs",
    "misaligned": "make the address a multiple of the size of what is accessed, or access it in smaller pieces",
    "use-after-free": "free the memory after the last kernel that uses it has been waited for",
    "uninitialised": "write the memory first (cudaMemset, cudaMemcpy or a kernel), or do not read past what was written",
    "uninitialised shared": "write every element that is read, in every block, and __syncthreads() before reading it",
    "uninitialised copied": "write the memory first, or copy what was written alone, unless the program does not use the rest",
    "race warp": "put __syncwarp() between the two accesses: lanes of a warp need not run in step",
    "race block": "put __syncthreads() between the two accesses, where every thread of the block passes it",
    "race grid": "use atomics, give each block memory of its own, or make it two launches: blocks run in any order",
    "race atomic": "make the other access atomic too, or put a barrier between them",
    "race update": "several threads update one word: use an atomic (atomicAdd, atomicMax, ...), or give each a word of its own",
    "race threadIdx.y": "the kernel does not look at threadIdx.y: launch blocks of one row, or use it in the index",
    "race threadIdx.z": "the kernel does not look at threadIdx.z: launch blocks of one layer, or use it in the index",
    "race blockIdx.y": "the kernel does not look at blockIdx.y: launch one row of blocks, or use it in the index",
    "barrier": "let every thread of the block reach the same barrier: move it out of the condition or the loop",
    "barrier warp": "name exactly the lanes that get there, with a mask made by __ballot_sync before the branch",
    "barrier mask ended": "name the lanes that are left, with a mask made by __ballot_sync before the others return",
    "barrier shuffle absent": "read from lanes that are there and in the mask, or use the value only where they are",
    "order-dependent": "find the race or the order that the code leans on: it may come out otherwise on the next run",
    "order-dependent permuted": "nothing, as long as nothing relies on the places",
    "launch": "check what the call was given; cudaGetLastError() after each launch tells the program",
    "launch endless": "look at what ends the loop; a longer launch may be allowed with --budget and --timeout",
    "launch assert": "the condition does not hold for this thread: look at the values it compares",
    "launch stack": "end the recursion earlier, write it as a loop, or give threads more stack",
    "async": "wait first: cudaStreamSynchronize, cudaDeviceSynchronize, or cudaStreamWaitEvent between streams",
    "async free": "free the memory in the stream that uses it, or wait for that stream first",
    "benign": "no result depends on it on this GPU; an atomic or a barrier would make it defined",
}


@dataclass(frozen=True)
class End:
    """The other end of a race, a divergent barrier, or of work that was not waited for."""

    file: str = ""
    line: int = 0
    thread: Triple | None = None
    block: Triple | None = None

    def described(self) -> str:
        """``app.cu:12, block (0, 0, 0), thread (3, 0, 0)``."""
        return f"{self.file}:{self.line}" + (f", block {self.block}, thread {self.thread}" if self.thread else "")


@dataclass(frozen=True)
class CheckFinding:
    """One defect. ``kernel`` is its name as people write it; ``line`` from 1, 0 where none is known; ``address`` generic."""

    kind: FindingKind
    message: str
    hint: Hint
    kernel: str = ""
    file: str = ""
    line: int = 0
    also: End | None = None
    thread: Triple | None = None
    block: Triple | None = None
    address: int = 0
    buffer: str = ""
    benign: bool = False
    count: int = 1
    permuted: bool = False
    """Another order leaves the same elements in other places."""
    scope: str = ""
    """Of a race: how far its ends are apart, one of ``SCOPES``."""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two findings the same."""
        ends = [(self.file, self.line), (self.also.file, self.also.line) if self.also else ("", 0)]
        what = self.message if self.kind == "launch" else ""
        return (self.kind, self.benign, self.kernel, *sorted(ends), self.buffer, what)

    def excused(self) -> CheckFinding:
        """A permutation that does not show in what the program gives: a note."""
        message = f"{self.message}; the same elements in other places, and the program gives the same in other orders"
        return replace(self, benign=True, message=message, hint="order-dependent permuted")

    @property
    def level(self) -> Level:
        """How serious it is: ``note`` for a benign one, else as the table of kinds says."""
        return "note" if self.benign else KINDS[self.kind].level

    @property
    def place(self) -> str:
        """``app.cu:12``; empty where no line is known."""
        return f"{self.file}:{self.line}" if self.line else ""

    def described(self) -> str:
        """A few lines: where and what, who, the other end, the source lines, what helps."""
        where = f"{self.place}: " if self.place else ""
        lines = [f"{where}{self.kind}: {self.message}" + (f" ({self.count} times)" if self.count > 1 else "")]
        who = [f"kernel {readable(self.kernel)}"] if self.kernel else []
        if self.block is not None and self.thread is not None:
            who += [f"block {self.block}", f"thread {self.thread}"]
        if self.buffer:
            who.append(f"memory {self.buffer}" + (f" at {self.address:#x}" if self.address else ""))
        lines += [", ".join(who), source_line(self.file, self.line)]
        if self.also is not None:
            lines += [f"the other end: {self.also.described()}", source_line(self.also.file, self.also.line)]
        lines.append(f"what helps: {HINTS[self.hint]}")
        return "\n    ".join(line for line in lines if line)

    def as_json(self) -> dict[str, Any]:
        """A row of ``kw check --json``."""
        often = f" ({self.count} times)" if self.count > 1 else ""
        return {
            "kind": self.kind,
            "kernel": self.kernel,
            "file": self.file,
            "line": self.line,
            "also": asdict(self.also) if self.also else None,
            "thread": self.thread,
            "block": self.block,
            "address": self.address,
            "buffer": self.buffer,
            "message": f"{self.message}{often}; {HINTS[self.hint]}",
        }

    def pack(self) -> dict[str, Any]:
        """All of it, for another process; ``unpack`` is the way back."""
        return asdict(self)


def unpack(row: dict[str, Any]) -> CheckFinding:
    """A finding from what ``CheckFinding.pack`` made, JSON between them or not."""
    also = row["also"] and End(**{**row["also"], **_triples(row["also"])})
    return CheckFinding(**{**row, **_triples(row), "also": also})


def source_line(file: str, line: int) -> str:
    """``12 | p[i] = q[i + 1];`` with room before it; empty where the file or the line is not to be had."""
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            text = next((text.strip() for number, text in enumerate(source, 1) if number == line), "")
    except OSError:
        return ""
    return f"  {line} | {text}" if text else ""


def _triples(row: dict[str, Any]) -> dict[str, Triple | None]:
    return {name: (row[name][0], row[name][1], row[name][2]) if row[name] else None for name in ("thread", "block")}


class Findings:
    """Findings in the order they were first met, each once."""

    def __init__(self, found: Iterable[CheckFinding] = ()) -> None:
        self._by_key: dict[tuple[object, ...], CheckFinding] = {}
        for one in found:
            self.add(one)

    def add(self, one: CheckFinding) -> None:
        """Adds a finding; of one with an equal key the count grows, and what is said of it is of the widest race: a launch of one warp
        needs less than one of several."""
        known = self._by_key.get(one.key)
        if known is None:
            self._by_key[one.key] = one
            return
        told = max(known, one, key=lambda each: list(SCOPES).index(each.scope))
        self._by_key[one.key] = replace(told, count=known.count + one.count)

    def __iter__(self) -> Any:
        return iter(self._by_key.values())

    @property
    def defects(self) -> list[CheckFinding]:
        """Those that say the program is wrong."""
        return [one for one in self if not one.benign]

    @property
    def notes(self) -> list[CheckFinding]:
        """Those on which no result depends. Where a defect is known too, equal values came from it and prove nothing."""
        known = {(one.file, one.line, one.buffer) for one in self.defects}
        return [one for one in self if one.benign and (one.file, one.line, one.buffer) not in known]
