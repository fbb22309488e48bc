"""The kernels of ``kernels/*.cu``: what the comment above each says is found in it, and how it is launched.

    // finds KIND at HERE, with OTHER; <BLOCKS, THREADS>, n 100, shared 256, advice WORD: why
    // sound; <BLOCKS, THREADS>: why
    // note KIND at HERE; <BLOCKS, THREADS>: why

``at``: a finding of that kind has one end on a line that ends with this mark, within the kernel or in a function above it. ``with``:
its other end is on a line with that mark. A ``note`` is no finding, and one with ``strict``. All take ``(int *a, int *b, int n)``: 4,096
rising numbers, as many zeros, and 1,000 where nothing else is said; ``advice``: a word of what helps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from kernelwright.device.checking.checked_launches import CheckedLaunches, CheckFailed, checked
from kernelwright.device.checking.findings import HINTS, CheckFinding
from kernelwright.device.from_python.device import Device
from kernelwright.pipeline import Program
from kernelwright.pipeline import compile as compile_program

FOLDER = Path(__file__).parent / "kernels"
FILES = sorted(FOLDER.glob("*.cu"))
ORDERS = 6
_HEAD = re.compile(
    r"// (finds|sound|note)(?: ([a-z-]+))?(?: at ([A-Z]+))?(?:, with ([A-Z]+))?; <(\d+), (\d+|\([\d, ]+\))>([^:]*)(?:: .+)?"
)
_NAME = re.compile(r"KERNEL (\w+)\(int \*a, int \*b, int n\)")


@dataclass(frozen=True)
class PlantedKernel:
    """One kernel and what is to be found in it."""

    path: Path
    name: str
    verdict: str
    """``finds``, ``sound`` or ``note``."""
    kind: str
    at: frozenset[int]
    other: frozenset[int]
    grid: int
    block: tuple[int, ...]
    n: int
    shared: int
    advice: str

    @property
    def schedules(self) -> int:
        """How many schedules it is checked under besides the usual order: ``ORDERS`` for the kernels of ``orders.cu``, else 0."""
        return ORDERS if self.path.stem == "orders" else 0

    def launch(self, *, strict: bool = False) -> CheckedLaunches:
        """What comes of it, with arrays of its own."""
        a, b = np.arange(4096, dtype=np.int32), np.zeros(4096, np.int32)
        found = None
        with Device("h200") as device:
            try:
                with checked(schedules=self.schedules, strict=strict) as found:
                    device.launch(
                        compiled(self.path).kernel(self.name),
                        self.grid,
                        self.block,
                        (a, b, self.n),
                        shared_bytes=self.shared,
                    )
            except CheckFailed:
                pass
        assert found is not None
        return found

    def is_met_by(self, one: CheckFinding) -> bool:
        """Whether a finding, or a note, is the one that the comment speaks of."""
        first, second = one.line, one.also.line if one.also else 0
        for here, there in ((first, second), (second, first)):
            if (not self.at or here in self.at) and (not self.other or there in self.other):
                return one.kind == self.kind and self.advice in HINTS[one.hint]
        return False


@cache
def compiled(path: Path) -> Program:
    """The kernels of one file, compiled for the default architecture. Raises ``CompileError``."""
    return compile_program(path)


def read(path: Path) -> list[PlantedKernel]:
    """The kernels of a file, each with what its comment says is found in it."""
    lines = path.read_text().splitlines()
    found = []
    for number, line in enumerate(lines):
        if not line.startswith(("// finds", "// sound", "// note")):
            continue
        head, name = _HEAD.fullmatch(line), _NAME.fullmatch(lines[number + 1])
        assert head and name, f"{path.name}:{number + 1}: {line}"
        verdict, kind, at, other, grid, block, rest = head.groups()
        end = lines.index("}", number)

        def marked(mark: str | None, first: int = number, last: int = end) -> frozenset[int]:
            where = {n for n in range(first, last) if mark and mark in lines[n].partition("// ")[2].split()}
            assert where or not mark, f"{path.name}: no line of {name} is marked {mark}"  # noqa: B023
            return frozenset(n + 1 for n in where)

        options = dict(re.findall(r"(n|shared|advice) (\S+)", rest))
        threads = tuple(int(each) for each in block.strip("()").split(","))
        found.append(
            PlantedKernel(
                path, name[1], verdict, kind or "", marked(at), marked(other), int(grid), threads,
                int(options.get("n", 1000)), int(options.get("shared", 0)), options.get("advice", ""),
            )
        )  # fmt: skip
    return found


ALL = [each for path in FILES for each in read(path)]
