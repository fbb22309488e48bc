"""Standard error without what a command says of steps that take long.

A command announces a step that goes on for two seconds, and on a busy machine, or where nothing is compiled yet, any step may. Tests that
compare all that is said are about something else; ``tests/test_long_steps.py`` is about these lines.
"""

from __future__ import annotations

import re

_ANNOUNCED = re.compile(r"^kw: .+, for \d+ s\n", re.MULTILINE)


def without_announced(said: str) -> str:
    """``said`` without lines as ``kw: compiling app.cu, for 2 s``."""
    return _ANNOUNCED.sub("", said)
