"""One content-addressed cache on disk, shared by every process of a user.

An entry is named by a hash of what it was made *from* and carries a hash of what it *is*: a torn, truncated or
edited entry is noticed when it is read, dropped, and made again. Writers put a complete temporary file in place by
rename, so two processes that make the same entry at once disturb neither each other nor a reader.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

MAGIC = b"kwcache1"
DEFAULT_LIMIT_BYTES = 2 << 30


def cache_folder() -> Path:
    """``$KERNELWRIGHT_CACHE``, else ``$XDG_CACHE_HOME/kernelwright``, else ``~/.cache/kernelwright``."""
    own = os.environ.get("KERNELWRIGHT_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kernelwright"


def content_key(parts: Iterable[str | bytes]) -> str:
    """A hash of the parts that also fixes where one ends and the next begins: 40 hexadecimal digits."""
    h = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Writes ``path`` whole or not at all. Raises ``OSError`` and leaves nothing behind when it cannot."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
        # mkstemp makes private files; an output should carry the permissions any program would give it.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


class Cache:
    """``get`` and ``put`` bytes by key, in kinds (``ir``, ``ptx``, ...).

    A cache that cannot be used is a slow one, never an error: on a read-only or full disk ``put`` does nothing and ``get``
    finds nothing.
    """

    def __init__(self, folder: Path | None = None, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.folder = folder or cache_folder()
        self.limit_bytes = limit_bytes
        self.corrupt = 0
        """Entries found damaged, and dropped, since this object was made."""

    def path(self, kind: str, key: str) -> Path:
        return self.folder / kind / key[:2] / key[2:]

    def get(self, kind: str, key: str) -> bytes | None:
        path = self.path(kind, key)
        try:
            raw = path.read_bytes()
        except OSError:
            return None
        head = len(MAGIC) + 16
        payload = raw[head:]
        if raw[: len(MAGIC)] != MAGIC or raw[len(MAGIC) : head] != hashlib.blake2b(payload, digest_size=16).digest():
            self.corrupt += 1
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return payload

    def put(self, kind: str, key: str, payload: bytes) -> None:
        path = self.path(kind, key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, MAGIC + hashlib.blake2b(payload, digest_size=16).digest() + payload)
        except OSError:
            return
        # One entry in 256, chosen by its own name, pays for the tidying.
        if key.startswith("00"):
            self.trim()

    def trim(self) -> None:
        """Drops the entries unused for longest until the cache is within nine tenths of its limit."""
        entries = []
        for path in self.folder.rglob("*"):
            with contextlib.suppress(OSError):
                if path.is_file():
                    status = path.stat()
                    entries.append((max(status.st_atime, status.st_mtime), status.st_size, path))
        total = sum(size for _, size, _ in entries)
        if total <= self.limit_bytes:
            return
        for _, size, path in sorted(entries):
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size
            if total <= self.limit_bytes * 0.9:
                return

    def clear(self) -> int:
        """Removes every entry; returns the bytes freed."""
        freed = 0
        for path in sorted(self.folder.rglob("*"), reverse=True):
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    freed += path.lstat().st_size
                    path.unlink()
        return freed
