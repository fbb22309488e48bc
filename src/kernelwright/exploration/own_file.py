"""A Python file in which a person defines computations, as a run knows it: where it is, and what it said when the run began.

    my_computation.py            the only computation of the file
    my_computation.py:scale      one of several

A run keeps a copy, from which it is read again; it does not go on once the file itself says something else.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

from kernelwright.cache import file_digest, write_atomically
from kernelwright.errors import Misuse
from kernelwright.exploration.python_file import names_in
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.family import Family

COPY = "computation.py"
"""In a run's folder."""


@dataclass(frozen=True)
class OwnFile:
    """``path`` is read; ``original`` is the person's, of which it may be a copy; ``digest``: of what it says."""

    path: str
    digest: str
    original: str

    @classmethod
    def at(cls, path: Path) -> OwnFile:
        """Raises ``Misuse`` when it cannot be read."""
        whole = str(path.resolve())
        digest = file_digest(whole)
        if digest is None:
            raise Misuse(f"{path} cannot be read", hint="give a Python file that defines a computation")
        return cls(whole, digest, whole)

    def family(self, name: str = "") -> Family:
        """The computation of this name; without one the only one. Raises ``Misuse``."""
        found = _families(self.path, self._checked(), os.path.dirname(self.original))
        shown = os.path.relpath(self.original)
        if not found:
            raise Misuse(f"{shown} defines no computation", hint="write @kw.computation above a function of it")
        if name and name not in found:
            raise Misuse(f"{shown} has no computation {name} outside of functions", hint=f"it has {', '.join(found)}")
        if not name and len(found) > 1:
            raise Misuse(
                f"{shown} defines {len(found)} computations, {', '.join(found)}", hint=f"{shown}:{next(iter(found))}"
            )
        return found[name or next(iter(found))]

    def copied(self, folder: Path) -> OwnFile:
        """The same, read from a copy in a run's folder. Raises ``Misuse`` when the file has changed since it was first read."""
        copy = folder.resolve() / COPY
        self._checked()
        write_atomically(copy, Path(self.path).read_bytes())
        return OwnFile(str(copy), self.digest, self.original)

    def check_original(self) -> None:
        """Raises ``Misuse`` when the person's file says something else by now; one that is gone is not missed."""
        if file_digest(self.original) not in (None, self.digest):
            raise Misuse(
                f"{os.path.relpath(self.original)} has changed since this run began",
                hint=f"start a new run, or put back what it was: {os.path.relpath(self.path)}",
            )

    def _checked(self) -> str:
        now, shown = file_digest(self.path), os.path.relpath(self.path)
        if now is None:
            raise Misuse(
                f"{shown} cannot be read: the computation is defined there", hint="put it back, or start a new run"
            )
        if now != self.digest:
            raise Misuse(f"{shown} is not what it was when it was first read", hint="start a new run")
        return self.digest


@functools.lru_cache(maxsize=8)
def _families(path: str, digest: str, folder: str) -> dict[str, Family]:
    """Those that a file with this digest defines outside of functions, by name. ``folder``: where it finds its neighbours."""
    found = names_in(path, folder).values()
    return {each.name: each for each in found if isinstance(each, Family) and each.file == path}
