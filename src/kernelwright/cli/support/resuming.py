"""What is said when a search is interrupted: how to go on with it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelwright.evaluate.run.run import Run


@contextmanager
def saying_how_to_resume(run: Run[Any]) -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        print(f"kw: go on with: {run.resuming} {shlex.quote(str(run.folder))}", file=sys.stderr)
        raise
