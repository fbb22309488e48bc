"""What a compiler of populations is: a value that turns individuals into something a device loads.

image = backend.compile(population, frame, "quick")       # all of them in one go
kernel, slot = image.places[n]                             # where individual n is
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from kernelwright.errors import CompileError
from kernelwright.farm.backends.bundle import Frame, Language
from kernelwright.lazy_dataclasses import dataclass

Level = Literal["quick", "full"]
"""``quick``: compiled as fast as can be, for individuals that run once. ``full``: fast code, for those that stay."""
Format = Literal["cubin", "ir", "object", "text"]


@dataclass(frozen=True)
class Image:
    """Many compiled individuals. ``data``: a cubin for ``arch``, optimised LLVM-IR of kernels for it, an object file of this kind
    of processor, or text to interpret.

    ``places``: of each individual the kernel (or function) and the value of the block's y index that runs it.
    """

    format: Format
    data: bytes
    places: tuple[tuple[str, int], ...]
    arch: str = ""


class Refused(CompileError):
    """Individuals that do not compile, by index, with the reason, in the order in which the compiler met them; none when it was not
    knows whose fault it is."""

    def __init__(self, message: str, individuals: Mapping[int, CompileError] | None = None) -> None:
        super().__init__(message)
        self.individuals = dict(individuals or {})


class Backend(Protocol):
    """Frozen, and equal by content. Individuals are texts in its language."""

    @property
    def language(self) -> Language:
        """What its individuals and their frame are written in."""

    @property
    def batch(self) -> tuple[int, int]:
        """The fewest and the most individuals that one call should get where there is a choice."""

    def missing(self) -> str:
        """Why it cannot be used here, with the remedy; empty when it can."""

    def fingerprint(self) -> str:
        """Whatever else decides what comes out: versions, architecture."""

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        """Raises ``Refused`` when some individuals do not compile, ``ToolError`` when a tool is missing."""
