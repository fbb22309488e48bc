"""What Kernelwright makes once for an installation, handed from one test's cache to the next.

A test has a cache of its own so that no compile of another test is found there. The precompiled header, the runtimes and the
like are the same in all of them, and half a second to three seconds each. Those who test how they are made begin with an
empty folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

OF_THE_INSTALLATION = ("clang", "cudart", "header", "model", "runtime", "runtime-managed", "simt", "space")
"""Kinds of entries that do not depend on what is compiled."""


@dataclass(frozen=True)
class WarmCache:
    """``shared``: a folder of all processes of this run of the tests."""

    shared: Path

    @contextmanager
    def at(self, folder: Path) -> Iterator[Path]:
        """A cache in ``folder`` with what earlier tests have made; what this one makes besides is kept for later ones."""
        _copy(self.shared, folder)
        yield folder
        _copy(folder, self.shared)


def _copy(source: Path, target: Path) -> None:
    """Links: who wants to damage an entry removes it first. Whole or not at all, because other processes do the same."""
    for kind in OF_THE_INSTALLATION:
        for path in (source / kind).rglob("*"):
            place = target / path.relative_to(source)
            if not path.is_file() or path.suffix in (".tmp", ".seen") or ".making-" in str(path) or place.exists():
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, place)
            except FileExistsError:  # another process was first
                continue
