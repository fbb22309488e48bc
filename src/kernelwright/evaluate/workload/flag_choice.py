"""The compile flags that edits start from, and what they gain by themselves: that is no gain of the edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class FlagChoice:
    """What came of a search over the flags of ``kw compile``."""

    flags: str
    """As ``PassOptions`` prints them; those that the program was given where nothing is faster."""
    spelled: str
    """What to add to the command line of ``kw compile``; empty where nothing is faster than the flags that were given."""
    speedup: float
    """Over the program as it was compiled, without any edit, as the timing model says."""
    tried: int
    """Different programs that other flags came to."""
    texts: tuple[tuple[str, str], ...] = ()
    """By kernel (mangled): the file with its module under these flags; none where they are those that were given."""

    def __str__(self) -> str:
        tried = f"{self.tried} other program{'s' * (self.tried != 1)} tried"
        if not self.spelled:
            return f"no compile flags make it faster than those given ({tried})"
        return f"compiled with {self.spelled} it is {self.speedup:.3f}x as fast, without any edit ({tried})"

    def modules(self) -> dict[str, str]:
        """By kernel, the text of its module. Raises ``OSError`` for a file that is gone."""
        files = {path: Path(path).read_text(encoding="utf-8") for path in {path for _, path in self.texts}}
        return {kernel: files[path] for kernel, path in self.texts}

    def below(self, folder: Path) -> FlagChoice:
        """The same with files that are looked for in ``folder``."""
        return replace(self, texts=tuple((kernel, str(folder / path)) for kernel, path in self.texts))

    def as_json(self) -> dict[str, Any]:
        """By field name, ``texts`` as pairs; ``from_json`` reads it."""
        return asdict(self) | {"texts": [list(pair) for pair in self.texts]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FlagChoice:
        """What ``as_json`` wrote. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
        texts = tuple((str(kernel), str(path)) for kernel, path in value["texts"])
        return cls(str(value["flags"]), str(value["spelled"]), float(value["speedup"]), int(value["tried"]), texts)
