"""Fitness that was computed before, on disk: one file for each problem, set of cases and back end, shared by processes.

A record is 32 bytes: 16 of the individual's hash, 8 of its fitness, 8 that check both. Writers append whole records behind a
lock; one that was torn by a full disk or a kill is cut off by the next writer and passed over by every reader. The file lies
in the cache (kind ``fitness``), which forgets the files unused for longest; one file stays below ``LIMIT_BYTES``.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

from kernelwright.cache import Cache, content_key

KIND = "fitness"
LIMIT_BYTES = 64 << 20

_RECORD = struct.Struct("<16sd8s")


class FitnessCache:
    """``get`` and ``put`` fitness by the text of an individual.

    ``made_of``: everything else that decides a fitness: the problem, the cases, the back end, versions. A cache that cannot be
    written is a slow one, never an error; ``trouble`` says why it cannot.
    """

    def __init__(
        self, made_of: Iterable[str | bytes], cache: Cache | None = None, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        self.path: Path = (cache or Cache()).path(KIND, content_key(["fitness 1", *made_of]))
        self._limit_bytes = limit_bytes
        self._known: dict[bytes, float] = {}
        self._read_bytes = 0
        self._file = (0, 0)
        self.trouble = ""
        self.refresh()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, text: str) -> float | None:
        """The fitness of an individual with this text; None when it was not computed."""
        return self._known.get(_digest(text))

    def put(self, found: Mapping[str, float]) -> None:
        """Remembers many at once: one write for a generation."""
        new = {_digest(text): float(fitness) for text, fitness in found.items()}
        new = {digest: fitness for digest, fitness in new.items() if digest not in self._known}
        self._known.update(new)
        if new:
            try:
                self._append(b"".join(map(_packed, new.keys(), new.values())))
            except OSError as error:
                self.trouble = f"{self.path}: {error.strerror or error}"

    def refresh(self) -> None:
        """Learns what other processes have added since."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_dev, status.st_ino) != self._file or status.st_size < self._read_bytes:
                    self._file, self._read_bytes = (status.st_dev, status.st_ino), 0  # another file by now
                file.seek(self._read_bytes)
                data = file.read()
        except OSError:
            return
        whole = len(data) // _RECORD.size * _RECORD.size
        for digest, fitness, check in _RECORD.iter_unpack(data[:whole]):
            if check == _check(digest, fitness):
                self._known[digest] = fitness
        self._read_bytes += whole

    def _append(self, data: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file.fileno()).st_size
            if size + len(data) > self._limit_bytes:
                size = 0  # the old ones are the least likely to come back
                file.truncate(0)
            if size % _RECORD.size:
                file.truncate(size - size % _RECORD.size)
            if file.write(data) != len(data):
                raise OSError("the disk is full")


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _packed(digest: bytes, fitness: float) -> bytes:
    return _RECORD.pack(digest, fitness, _check(digest, fitness))


def _check(digest: bytes, fitness: float) -> bytes:
    return blake2b(digest + struct.pack("<d", fitness), digest_size=8).digest()
