"""Our main header, precompiled: the device's pass then costs a third of the time, the host's a fifth.

Most of a small program's front-end time goes into the C++ library's ``<cmath>``. clang keeps the parsed header in a file,
one per set of flags that can change it. The file belongs to the installation, not to any program: it is made at the
first compile with these flags. clang checks it against the time stamps of the headers, the system's too, and refuses one that
is out of date; the caller then compiles without.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from kernelwright.cache import cache_folder, content_key, file_digest, write_atomically
from kernelwright.cuda.clang import HEADERS, MAIN_HEADER, Clang

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# The C++ library's <cmath> calls templates of its own. clang would instantiate them at the end of every program that uses the
# header, which takes longer than reading it; so it does that once, when the header is made.
_MAKE = ("-fpch-instantiate-templates", "-Xclang", "-emit-pch")

# A file system stamps with the time of its last tick, and a file may be written twice within one.
_TICK_NS = 50_000_000

# A macro of the user's own changes nothing in our header; one that begins like this may configure the C++ library.
_RESERVED = re.compile(r"_|min\b|max\b")


_HARMLESS = frozenset(["-gline-tables-only"])
"""Flags that change nothing of what is read."""


def can_use(define: Sequence[str], undefine: Sequence[str], extra: Sequence[str]) -> bool:
    """Whether the header means the same with these flags of the user's as without."""
    return not undefine and not set(extra) - _HARMLESS and not any(_RESERVED.match(d) for d in define)


def use_header(flags: Sequence[str], header: Path) -> list[str]:
    """``flags`` with the precompiled header in place of ``-include``."""
    found = list(flags)
    place = found.index("-include")
    found[place : place + 2] = [
        "-Xclang",
        "-include-pch",
        "-Xclang",
        str(header),
        "-Xclang",
        "-fmodules-validate-system-headers",  # of precompiled headers, too, in spite of its name
    ]
    return found


def precompiled_header(clang: Clang, flags: Sequence[str]) -> Path | None:
    """The header precompiled for ``flags`` (a whole pass, of the device or the host, without input, output and the user's
    macros and folders).

    Made on first use; None when it cannot be made or kept, or another CUDA's headers are in use. Its name holds a hash of
    its content, because clang believes what it reads there.
    """
    if "-include" not in flags:
        return None
    folder = cache_folder() / "header"
    key = content_key([clang.fingerprint(), *_MAKE, *flags, *_header_stamps()])
    found = _intact(folder, key)
    if found:
        return found
    import subprocess
    import tempfile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as scratch:
            made = Path(scratch) / "header.pch"
            # clang looks at every input again later, so the empty source must be one that stays.
            command = [*clang.command, *flags, *_MAKE, os.devnull, "-o", str(made)]
            environment = {**os.environ, "TMPDIR": scratch}
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=environment)
            if done.returncode or not made.is_file():
                return None
            path = folder / f"{key}-{file_digest(str(made))}.pch"
            os.replace(made, path)
    except OSError:
        return None
    return path


def _header_stamps() -> list[str]:
    """Our headers with the time of their last change: each version of them has a precompiled one of its own."""
    return [
        f"{entry.path} {entry.stat().st_mtime_ns}"
        for folder, _, _ in os.walk(HEADERS)
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name)
    ]


def _intact(folder: Path, key: str) -> Path | None:
    """The file made for ``key``, if it is still what was written. A damaged one is removed.

    Reading all of it takes a tenth of a compile. So the system's stamps of a file that was found intact are kept beside it,
    and the file is read again when they differ.
    """
    for path in sorted(folder.glob(f"{key}-*.pch")):
        seen = path.with_suffix(".seen")
        stamps = _stamps(path)
        if _read(seen) == stamps:
            return path
        if path.stem == f"{key}-{file_digest(str(path))}":
            if _stamps(path) == stamps and time.time_ns() - path.stat().st_ctime_ns > _TICK_NS:
                try:
                    write_atomically(seen, stamps)
                except OSError:
                    pass  # it is read again next time
            return path
        remove(path)
    return None


def remove(header: Path) -> None:
    """Removes a header that is damaged or out of date, and what is kept beside it."""
    for path in (header, header.with_suffix(".seen")):
        try:
            path.unlink()
        except OSError:
            continue


def _stamps(path: Path) -> bytes:
    """What the system notes when a file is written. Nothing sets the last of these by hand."""
    status = path.stat()
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}".encode()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def refused(stderr: str) -> bool:
    """Whether clang's messages complain about the precompiled header rather than about the program."""
    return bool(re.search(r"error:.*(precompiled|PCH|\.pch)", stderr)) or MAIN_HEADER + "' has been modified" in stderr
