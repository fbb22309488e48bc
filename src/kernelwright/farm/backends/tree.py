"""Nothing is compiled: individuals stay text, for an interpreter. The cheapest where cases are few."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kernelwright.errors import ToolError
from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.bundle import Frame, Language
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Tree:
    """``data`` is the individuals as a JSON list; ``places`` number them."""

    language: Language = "tree"
    batch: tuple[int, int] = (20, 100)

    def missing(self) -> str:
        return ""

    def fingerprint(self) -> str:
        return "1"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        return Image("text", json.dumps(list(population)).encode(), tuple(("", n) for n in range(len(population))))


def texts(image: Image) -> list[str]:
    """The individuals of an image. Raises ``ToolError`` for one that was compiled."""
    if image.format != "text":
        raise ToolError(f"a {image.format} is not interpreted", hint="compile with the interpreted back end")
    found: list[str] = json.loads(image.data)
    return found
