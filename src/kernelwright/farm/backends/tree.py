"""Nothing is compiled: individuals stay text, for whoever interprets them. The cheapest where cases are few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.frame import Frame, Language


@dataclass(frozen=True)
class Tree:
    """``data`` is the individuals, each behind a zero byte; ``places`` number them."""

    name: str = "interpreted"
    language: Language = "tree"
    batch: tuple[int, int] = (1, 1 << 20)

    def missing(self) -> str:
        return ""

    def fingerprint(self) -> str:
        return "1"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        data = "".join(f"\0{each}" for each in population).encode()
        return Image("text", data, tuple(("", n) for n in range(len(population))))
