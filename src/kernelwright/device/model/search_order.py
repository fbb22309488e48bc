"""Which of two variants a search should prefer: fewer cycles, then less machine code, then fewer edits.

A gain that the model cannot tell from none is none: else genomes fill with edits that do nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kernelwright.errors import Misuse

GRAIN = 0.005
"""Gains below this share of the reference are no gains."""
ROUNDING = 1e-9
"""Keeps the reference itself on its own side of the grain."""


class SearchKey(NamedTuple):
    """Smaller is better. ``cycles`` in grains of the reference."""

    cycles: int
    instructions: int
    edits: int


def search_key(cycles: float, instructions: int, edits: int, reference: float) -> SearchKey:
    """``reference``: the cycles of what the search started from. Raises ``Misuse`` where that is not positive."""
    if reference <= 0:
        raise Misuse(f"the cycles to compare with must be positive, not {reference}")
    return SearchKey(math.ceil(cycles / (reference * GRAIN) - ROUNDING), instructions, edits)
