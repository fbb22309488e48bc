"""The code around individuals, and many individuals as one text that still knows which line is whose.

CUDA C and PTX: individuals share kernels, and the block's y index says which of them a block runs.

    head                                    once
    kernel(parameters) {
        before                              reads a case's inputs
        switch (blockIdx.y) { case 0: { individual } break; case 1: ... }
        after                               writes its output
    }

LLVM-IR: each individual is a function ``before individual after`` of its own. For a GPU, kernels call them by the block's y
index; for the host, the code's loader calls them.

A kernel of its own costs the assembler 0.2 to 0.5 ms, which individuals had better share; but its time grows faster than a
kernel does, so that there is a best size.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Literal

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Language = Literal["cuda", "ptx", "gpu-ir", "host-ir", "tree"]

PER_KERNEL = 75
LINES_PER_KERNEL = 640
"""Measured on the paper's three problems: half or twice as many cost up to a tenth more."""
KERNEL = "population"


@dataclass(frozen=True)
class Frame:
    """What surrounds the individuals of one problem, in one language.

    ``parameters``: of each kernel, as the language writes them between parentheses; in LLVM-IR every one has a name.
    ``slot`` is what ``before`` and ``after`` call the individual's number in its kernel: ``blockIdx.y``, ``%slot``.
    """

    language: Language
    parameters: str = ""
    head: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Bundle:
    """One text of many individuals. ``places``: the kernel (or function) of each, and its number there."""

    text: str
    places: tuple[tuple[str, int], ...]
    starts: tuple[int, ...] = ()
    """The line each individual begins on, counted from 1, in their order."""
    ends: tuple[int, ...] = ()

    def owner(self, line: int) -> int | None:
        """The individual that a line belongs to."""
        found = bisect_right(self.starts, line) - 1
        return found if found >= 0 and line < self.ends[found] else None


def bundle(frame: Frame, population: Sequence[str], *, header: str = "") -> Bundle:
    """``header`` is what the back end puts first: versions, targets. Raises ``Misuse`` for a language without kernels."""
    layout = _LAYOUTS.get(frame.language)
    if layout is None:
        raise Misuse(f"individuals in the language {frame.language!r} are not compiled", hint="they are interpreted")
    text = _Text()
    text.add(header)
    text.add(frame.head)
    places = layout(text, frame, population)
    return Bundle("".join(text.parts), tuple(places), tuple(text.starts), tuple(text.ends))


@dataclass
class _Text:
    """Text that grows line by line; ``individual`` remembers where it stands."""

    parts: list[str] = field(default_factory=list)
    line: int = 1
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, text: str) -> None:
        if text:
            text = text if text.endswith("\n") else text + "\n"
            self.parts.append(text)
            self.line += text.count("\n")

    def individual(self, text: str) -> None:
        self.starts.append(self.line)
        self.add(text)
        self.ends.append(self.line)


_Places = list[tuple[str, int]]


def _kernels(population: Sequence[str]) -> list[tuple[str, range]]:
    """Kernels of about equal size, and the individuals of each."""
    lines = [each.count("\n") + 1 for each in population]
    number = max(-(-sum(lines) // LINES_PER_KERNEL), -(-len(population) // PER_KERNEL))
    share = sum(lines) / number if number else 0.0
    edges, held = [0], 0
    for each, size in enumerate(lines):
        if each > edges[-1] and (held + size / 2 > share or each - edges[-1] == PER_KERNEL):
            edges.append(each)
            held = 0
        held += size
    edges.append(len(population))
    return [(f"{KERNEL}{n}", range(a, b)) for n, (a, b) in enumerate(pairwise(edges)) if a < b]


def _cuda(text: _Text, frame: Frame, population: Sequence[str]) -> _Places:
    places = []
    for name, members in _kernels(population):
        text.add(f'extern "C" __global__ void {name}({frame.parameters})\n{{')
        text.add(frame.before)
        text.add("switch (blockIdx.y) {")
        for slot, each in enumerate(members):
            text.add(f"case {slot}: {{")
            text.individual(population[each])
            text.add("} break;")
            places.append((name, slot))
        text.add("default: return;\n}")
        text.add(frame.after)
        text.add("}")
    return places


def _ptx(text: _Text, frame: Frame, population: Sequence[str]) -> _Places:
    """A branch table instead of comparisons; each individual's registers live in a scope of their own."""
    places = []
    for name, members in _kernels(population):
        text.add(f".visible .entry {name}({frame.parameters})\n{{\n.reg .u32 %slot;\n.reg .pred %beyond;")
        text.add("mov.u32 %slot, %ctaid.y;")
        text.add(f"setp.ge.u32 %beyond, %slot, {len(members)};\n@%beyond bra EXIT;")
        text.add(frame.before)
        targets = ", ".join(f"I{slot}" for slot in range(len(members)))
        text.add(f"individuals: .branchtargets {targets};\nbrx.idx.uni %slot, individuals;")
        for slot, each in enumerate(members):
            text.add(f"I{slot}:\n{{")
            text.individual(population[each])
            text.add("}\nbra.uni DONE;")
            places.append((name, slot))
        text.add("DONE:")
        text.add(frame.after)
        text.add("EXIT:\nret;\n}")
    return places


def _gpu_ir(text: _Text, frame: Frame, population: Sequence[str]) -> _Places:
    _functions(text, frame, population, "internal ")
    if population and "@llvm.nvvm.read.ptx.sreg.ctaid.y()" not in frame.head:
        text.add("declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()")
    places = []
    for name, members in _kernels(population):
        text.add(f"define ptx_kernel void @{name}({frame.parameters}) {{\nentry:")
        text.add("  %slot = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()")
        cases = " ".join(f"i32 {slot}, label %i{slot}" for slot in range(len(members)))
        text.add(f"  switch i32 %slot, label %exit [ {cases} ]")
        for slot, each in enumerate(members):
            text.add(f"i{slot}:\n  call void @{_function(each)}({frame.parameters})\n  br label %exit")
            places.append((name, slot))
        text.add("exit:\n  ret void\n}")
    return places


def _host_ir(text: _Text, frame: Frame, population: Sequence[str]) -> _Places:
    _functions(text, frame, population, "")
    return [(_function(each), 0) for each in range(len(population))]


def _functions(text: _Text, frame: Frame, population: Sequence[str], linkage: str) -> None:
    for each, body in enumerate(population):
        text.add(f"define {linkage}void @{_function(each)}({frame.parameters}) {{\nentry:")
        text.add(frame.before)
        text.individual(body)
        text.add(frame.after or "  ret void")
        text.add("}")


def _function(each: int) -> str:
    return f"individual{each}"


_LAYOUTS: Mapping[str, Callable[[_Text, Frame, Sequence[str]], _Places]] = {
    "cuda": _cuda,
    "ptx": _ptx,
    "gpu-ir": _gpu_ir,
    "host-ir": _host_ir,
}
