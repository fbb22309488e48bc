"""Source lines in PTX: ``.loc 1 12 0`` and ``.file 1 "k.cu"``. Imports next to nothing: a plain compile reads it."""

from __future__ import annotations

import re


def without_lines(ptx: str) -> str:
    """PTX without its ``.loc`` and ``.file`` directives; the instructions are the same with and without."""
    return re.sub(r"^[ \t]*\.(loc|file)[ \t].*\n", "", ptx, flags=re.M)
