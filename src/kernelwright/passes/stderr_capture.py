"""What LLVM writes to standard error, which it does past Python."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stderr_captured() -> Iterator[list[str]]:
    """What the process writes to standard error, C++ included; filled in when the block ends."""
    text: list[str] = []
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield text
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            log.seek(0)
            text.append(log.read().decode(errors="replace"))
