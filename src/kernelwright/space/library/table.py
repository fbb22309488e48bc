"""All computations of the library by name."""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.space.computation.family import Family
from kernelwright.space.library import linear_algebra, neural

EXAMPLES = {row.name: row for row in (*linear_algebra.EXAMPLES, *neural.EXAMPLES)}


def example(name: str) -> Family:
    """Raises ``Misuse`` for a name that is not in the library."""
    if name not in EXAMPLES:
        raise Misuse(f"there is no computation {name!r} in the library", hint=f"there are {', '.join(EXAMPLES)}")
    return EXAMPLES[name]
