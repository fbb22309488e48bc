"""A person's Python file, run for what it defines: its mistakes are told with their line."""

from __future__ import annotations

import os
import re
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelwright.errors import KernelwrightError, Misuse, Place

AS_MODULE = "kernelwright_file"
"""``__name__`` while a file is read: what stands below ``if __name__ == "__main__"`` is not run."""
_read_now: list[str] = []
"""Files that are being read: one that explores what it defines would be read for ever."""


def file_and_name(written: str) -> tuple[str, str] | None:
    """The parts of ``my_computation.py:scale``; the name is empty where there is none. None: it is no Python file."""
    found = re.fullmatch(r"(.+\.py)(?::(\w+))?", written)
    return (found[1], found[2] or "") if found else None


def names_in(path: str, folder: str) -> dict[str, Any]:
    """What a file defines outside of functions, by name. ``folder``: where it finds its neighbours. Raises ``Misuse``."""
    if path in _read_now:
        raise Misuse(
            f"{os.path.relpath(path)} explores while it is read for what it defines",
            hint='put that below: if __name__ == "__main__":',
        )
    _read_now.append(path)
    sys.path.insert(0, folder)
    try:
        with placed(path):
            return runpy.run_path(path, run_name=AS_MODULE)
    finally:
        sys.path.remove(folder)
        _read_now.pop()


@contextmanager
def placed(path: str) -> Iterator[None]:
    """Errors that come out of a person's file are ``Misuse``, with the line. Raises it."""
    try:
        yield
    except KernelwrightError as error:
        error.place = error.place or _place_of(error, path)
        raise
    except (Exception, SystemExit) as error:
        raise Misuse(f"{type(error).__name__}: {error}", place=_place_of(error, path)) from error


def _place_of(error: BaseException, path: str) -> Place:
    """The innermost line of the file that an error came from."""
    shown = os.path.relpath(path)
    if isinstance(error, SyntaxError) and error.filename == path:
        return Place(shown, error.lineno or 0, error.offset or 0, (error.text or "").rstrip("\n"))
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return Place(shown, lines[-1].lineno or 0, 0, lines[-1].line or "") if lines else Place(shown)
