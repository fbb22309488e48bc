"""Whether a program has a guard of some name, told without running it: by its source, or by its file.

``None`` where that cannot be told. A threshold of no guard is refused before the first run, where it can be.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from pathlib import Path

HasGuard = Callable[[str], bool | None]

LITERAL_GUARD = re.compile(r'\bKW_THRESHOLD(?:_IF)?\s*\(\s*"([^"]*)"')
"""A guard in C whose name stands in the source."""
_GUARD = re.compile(r"\b(?:KW_THRESHOLD(?:_IF)?|kw_threshold_reached)\s*\(")
_WHOLE_NAME = re.compile(r'\s*"[^"]*"\s*,')
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_TELLS = b"Compared"
"""What a program that says what it compares has among its texts."""
LIST_TIMEOUT_S = 60.0


def guards_of_source(path: Path, more: Collection[str] = ()) -> HasGuard:
    """Of a CUDA program: those in its file and in what it includes by ``"..."``, and ``more``. ``None`` for others where a name is made
    by macros or at run time."""
    text = _with_includes(path, set())
    names = {*LITERAL_GUARD.findall(text), *more}
    is_whole = all(_WHOLE_NAME.match(text, found.end()) for found in _GUARD.finditer(text))
    return lambda name: True if name in names else False if is_whole else None


def source_guards(path: Path) -> tuple[str, ...]:
    """The names of guards in a CUDA program's file and in what it includes by ``"..."``, comments left out."""
    return tuple(dict.fromkeys(LITERAL_GUARD.findall(_COMMENT.sub(" ", _with_includes(path, set())))))


def _with_includes(path: Path, seen: set[Path]) -> str:
    """The text of a file, after that of those it includes; without what is not there, which the compiler tells."""
    path = path.resolve()
    if path in seen or not path.is_file():
        return ""
    seen.add(path)
    text = path.read_text(errors="replace")
    return "\n".join([*(_with_includes(path.parent / name, seen) for name in _INCLUDE.findall(text)), text])


def guards_of_listing(command: str) -> HasGuard:
    """Those that a shell command prints, one a line; it is run when a name is first asked for. ``None`` for all where it fails."""

    @lru_cache(maxsize=1)
    def names() -> frozenset[str] | None:
        try:
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=LIST_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None
        return frozenset(done.stdout.splitlines()) if done.returncode == 0 else None

    return lambda name: None if (found := names()) is None else name in found


def guards_of_command(words: Sequence[str]) -> HasGuard:
    """Of a shell command: a name that stands in one of the files among its words. ``None`` where none of them says what it compares."""
    files = [path for word in words if (path := Path(word)).is_file()]

    @lru_cache(maxsize=1)
    def texts() -> tuple[bytes, ...]:
        return tuple(text for path in files if _TELLS in (text := path.read_bytes()))

    def has_guard(name: str) -> bool | None:
        whole = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
        return any(whole.search(text) for text in texts()) if texts() else None

    return has_guard
