"""Rows of programs as they are measured, in a file: what was interrupted goes on where it was.

Without ``--rows`` the file lies in the cache until all programs are done, and another state of Kernelwright starts anew. A file that was
named is kept, goes on whatever state its rows are of, and each row says which.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.package_state import package_state
from kernelwright.bench.result import Row
from kernelwright.cache import cache_folder, content_key
from kernelwright.errors import Misuse

STATE = "state"


class Rows:
    """``asked``: all that a row depends on beside the program. Raises ``Misuse`` for a file that cannot be written."""

    def __init__(self, named: Path | None, asked: Sequence[str]) -> None:
        self.state = package_state()
        self._is_named = named is not None
        key = content_key([*asked, self.state])[:16]
        self.path = named or cache_folder() / "bench" / f"programs-{key}.jsonl"
        self._lock = threading.Lock()
        self.before: dict[str, Row] = {}

    def __enter__(self) -> Rows:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for line in self.path.read_text().splitlines() if self.path.exists() else ():
                try:
                    row = json.loads(line)
                    self.before[row["program"]] = row
                except (ValueError, TypeError, KeyError):
                    continue  # the line that was being written
            self._file = self.path.open("a")
        except (OSError, UnicodeDecodeError) as error:
            raise Misuse(f"{self.path} cannot be used: {error}", hint="name another file with --rows") from None
        return self

    def note(self, row: Row) -> None:
        """Appends a row to the file, with the state of the package. May be called by several threads."""
        with self._lock:
            self._file.write(json.dumps(row | {STATE: self.state}) + "\n")
            self._file.flush()

    def __exit__(self, kind: object, *_: object) -> None:
        self._file.close()
        if kind is None and not self._is_named:
            self.path.unlink()
