"""The bytes of a capture file: a magic line, a version, then records one after another. Nothing is ever rewritten.

    file    MAGIC | version (4 bytes) | record ...
    record  kind (4) | encoding (4) | stored bytes (8) | plain bytes (8) | hash of the plain bytes (16) | stored

Every record says what it must hash to, so that a damaged one is noticed when it is read. Records of content are named by
that hash and written once; the others are JSON, in the order things happened. A record comes after all it speaks of, so
that whatever was written before a crash can be read.

    HEAD    JSON    where the recording comes from: program, versions, the arena's addresses        first
    PAGE    content up to PAGE_BYTES of memory
    LIST    content the hashes of the pages of a longer content, one after the other
    TEXT    content a module's IR or PTX
    MODL    JSON    a module and where its variables lie
    OPER    JSON    what the host did to the device's memory
    LNCH    JSON    a kernel launch
    DONE    JSON    how the program ended                                                           last
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import struct
import weakref
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kernelwright.errors import Misuse, ToolError

MAGIC = b"\x93kernelwright capture\n"
VERSION = 1
PAGE_BYTES = 64 << 10
HASH_BYTES = 16

HEAD, PAGE, LIST, TEXT, MODULE, OPERATION, LAUNCH, DONE = (
    b"HEAD", b"PAGE", b"LIST", b"TEXT", b"MODL", b"OPER", b"LNCH", b"DONE",
)  # fmt: skip
CONTENT = frozenset({PAGE, LIST, TEXT})
STORY = frozenset({HEAD, MODULE, OPERATION, LAUNCH, DONE})

_VERSION = struct.Struct("<I")
_HEADER = struct.Struct("<4sIQQ16s")
_START = len(MAGIC) + _VERSION.size
_PLAIN, _ZLIB = 0, 1
_MOST = 1100
"""zlib makes data at most 1,032 times smaller; a header that promises more is damaged."""


def hash_of(kind: bytes, plain: bytes | memoryview) -> bytes:
    """The name of a content; kinds do not meet."""
    return blake2b(plain, digest_size=HASH_BYTES, person=kind).digest()


class RecordWriter:
    """Appends records to a new file. One process at a time writes to a path.

    Raises ``Misuse`` when the file cannot be made or another process is writing it. When the disk is full it raises
    ``ToolError``, and the file keeps every record written before.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: set[bytes] = set()
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise Misuse(
                f"{path} cannot be written: {error.strerror}", hint="name another file to record to"
            ) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            raise Misuse(
                f"another process is recording to {path}", hint="wait until it is done, or name another file"
            ) from error
        os.ftruncate(self._fd, 0)
        self._end = 0
        self._append(MAGIC + _VERSION.pack(VERSION))

    @classmethod
    def reopen(cls, path: Path) -> RecordWriter:
        """To add records behind those of a whole file that nothing writes any more. Raises ``Misuse`` when it is not there."""
        writer = cls.__new__(cls)
        writer.path, writer._known = path, set()
        try:
            writer._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise Misuse(
                f"{path} cannot be written: {error.strerror}", hint="name another file to record to"
            ) from error
        writer._end = os.lseek(writer._fd, 0, os.SEEK_END)
        return writer

    def write_content(self, kind: bytes, plain: bytes | memoryview) -> bytes:
        """Writes a content unless it is there already; returns its hash."""
        name = hash_of(kind, plain)
        if kind + name not in self._known:
            self._write(kind, plain, name)
            self._known.add(kind + name)
        return name

    def write_story(self, kind: bytes, value: dict[str, Any]) -> None:
        """Appends ``value`` as JSON. Raises ``ToolError`` when the disk is full or the recording has ended."""
        plain = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
        self._write(kind, plain, hash_of(kind, plain))

    def _write(self, kind: bytes, plain: bytes | memoryview, name: bytes) -> None:
        packed = zlib.compress(plain, 1)
        smaller = len(packed) < len(plain)
        stored = packed if smaller else bytes(plain)
        header = _HEADER.pack(kind, _ZLIB if smaller else _PLAIN, len(stored), len(plain), name)
        self._append(header + stored)

    def _append(self, data: bytes) -> None:
        if self._fd < 0:
            raise ToolError(f"the recording to {self.path} has ended", hint="start a new one")
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            # What is there of the record goes, so that the file ends where a record does.
            os.ftruncate(self._fd, self._end)
            self.close()
            full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
            raise ToolError(
                f"the recording to {self.path} stopped after {self._end} bytes: "
                + ("there is no room left" if full else str(error.strerror)),
                hint="free space and record again; what was recorded until here can be replayed with --partial",
            ) from error
        self._end += len(data)

    def sync(self) -> None:
        """Returns when the bytes are on the disk; of a recording that has ended, they are."""
        if self._fd >= 0:
            os.fsync(self._fd)

    @property
    def is_open(self) -> bool:
        """Whether records can still be added: not after ``close``."""
        return self._fd >= 0

    def close(self) -> None:
        """Ends the recording, for another process to go on with; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class RecordReader:
    """A capture file open for reading: the story at once, content when it is asked for.

    Raises ``Misuse`` for a file that is none, ``ToolError`` for one that is damaged. One that ends early is read up to
    there; ``ends_early`` says so.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ends_early = True
        self._at: dict[bytes, int] = {}
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise Misuse(
                f"{path} cannot be read: {error.strerror}", hint="kw capture app.cu -o FILE makes one"
            ) from error
        self._closing = weakref.finalize(self, os.close, self._fd)
        try:
            self._size = os.fstat(self._fd).st_size
            self._check_start()
            self.story = list(self._scan())
        except OSError as error:
            self.close()
            raise Misuse(f"{path} cannot be read: {error.strerror}", hint="name a capture file") from error
        except BaseException:
            self.close()
            raise

    def _check_start(self) -> None:
        start = self._read(0, _START)
        if not MAGIC.startswith(start[: len(MAGIC)]) or not start:
            raise Misuse(f"{self.path} is no capture file", hint="kw capture app.cu -o FILE makes one")
        if len(start) < _START:
            raise ToolError(f"{self.path} ends before its first record", hint="record the program again")
        (version,) = _VERSION.unpack_from(start, len(MAGIC))
        if version == 0:
            raise self.damaged(len(MAGIC))
        if version > VERSION:
            raise Misuse(
                f"{self.path} has format {version}, this Kernelwright reads up to {VERSION}",
                hint="upgrade: pip install -U kernelwright",
            )

    def _scan(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """The records of the story; notes on its way where every content lies."""
        at, previous = _START, b""
        while at < self._size:
            raw = self._read(at, _HEADER.size)
            if len(raw) < _HEADER.size:
                return
            kind, encoding, stored, _, name = _HEADER.unpack(raw)
            if (
                kind not in CONTENT | STORY
                or encoding not in (_PLAIN, _ZLIB)
                or previous == DONE
                or (kind == HEAD) != (at == _START)
            ):
                raise self.damaged(at)
            if at + _HEADER.size + stored > self._size:
                return
            if kind in CONTENT:
                self._at[kind + name] = at
            else:
                yield kind, self._json(at)
            at += _HEADER.size + stored
            previous = kind
        self.ends_early = previous != DONE

    def content(self, kind: bytes, name: bytes) -> bytes:
        """A content by its hash. Raises ``ToolError`` when it is missing or damaged."""
        at = self._at.get(kind + name)
        if at is None:
            raise ToolError(
                f"{self.path} lacks a content that it speaks of ({name.hex()})", hint="record the program again"
            )
        return self._plain(at)

    def _json(self, at: int) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._plain(at))
            return found
        except ValueError:
            raise self.damaged(at) from None

    def _plain(self, at: int) -> bytes:
        kind, encoding, stored, size, name = _HEADER.unpack(self._read(at, _HEADER.size))
        if size > _MOST * (stored + 1):
            raise self.damaged(at)
        data = self._read(at + _HEADER.size, stored)
        if encoding == _ZLIB:
            try:
                data = zlib.decompressobj().decompress(data, size + 1)
            except zlib.error:
                raise self.damaged(at) from None
        if len(data) != size or hash_of(kind, data) != name:
            raise self.damaged(at)
        return data

    def _read(self, at: int, size: int) -> bytes:
        parts = []
        while size:
            part = os.pread(self._fd, min(size, 1 << 30), at)
            if not part:
                break
            parts.append(part)
            at, size = at + len(part), size - len(part)
        return b"".join(parts)

    def damaged(self, at: int) -> ToolError:
        """The error to raise for a record at byte ``at`` that cannot be right."""
        return ToolError(
            f"{self.path} is damaged at byte {at}", hint="record the program again, or fetch an undamaged copy"
        )

    def close(self) -> None:
        """Closes the file; ``story`` stays, content can no longer be read."""
        self._closing()
