"""Problems, each one file such as you would write: its grammar, its cases, the code around programs. Three are those of paper 001,
the others are often compared on in the literature."""

from __future__ import annotations

import difflib
from pathlib import Path

from kernelwright.errors import Misuse

PAPER: tuple[str, ...] = ("keijzer6", "search", "multiplier5")
"""Those of paper 001."""
NAMES: tuple[str, ...] = (*PAPER, "pagie1", "vladislavleva4", "multiplexer6", "string_match")


def path_of(name: str) -> Path:
    """The file of the problem called ``name``. Raises ``Misuse``, with the nearest names, when there is none."""
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        hint = (
            f"did you mean {near[0]}?" if near else f"there are {', '.join(NAMES)}; or give a Python file of your own"
        )
        raise Misuse(f"there is no problem {name!r}", hint=hint)
    return Path(__file__).with_name(f"{name}.py")
