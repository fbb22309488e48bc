"""A back end that some individuals kill."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.bundle import Frame, Language
from kernelwright.farm.backends.tree import Tree


@dataclass(frozen=True)
class Deadly:
    language: Language = "tree"
    batch: tuple[int, int] = (10, 20)

    def missing(self) -> str:
        return ""

    def fingerprint(self) -> str:
        return "1"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        if "crash" in population:
            os.abort()
        if "hang" in population:
            time.sleep(3600)
        return Tree().compile(population, frame, level)
