"""Our main header, precompiled: the front end then costs a third of the time.

Most of a small program's front-end time goes into the C++ library's ``<cmath>``. clang keeps the parsed header in a file,
one per set of flags that can change it. The file belongs to the installation, not to any program: it is made at the
first compile with these flags. clang checks it against the headers' time stamps and refuses one that is out of date;
the caller then compiles without.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelwright.cache import cache_folder, content_key, file_digest
from kernelwright.cuda.clang import HEADERS, MAIN_HEADER, Clang

# A macro of the user's own changes nothing in our header; one that begins like this may configure the C++ library.
_RESERVED = re.compile(r"_|min\b|max\b")


def can_use(define: Sequence[str], undefine: Sequence[str], extra: Sequence[str]) -> bool:
    """Whether the header means the same with these flags of the user's as without."""
    return not undefine and not extra and not any(_RESERVED.match(d) for d in define)


def use_header(flags: Sequence[str], header: Path) -> list[str]:
    """``flags`` with the precompiled header in place of ``-include``."""
    found = list(flags)
    place = found.index("-include")
    found[place : place + 2] = ["-Xclang", "-include-pch", "-Xclang", str(header)]
    return found


def precompiled_header(clang: Clang, flags: Sequence[str]) -> Path | None:
    """The header precompiled for ``flags`` (a whole device pass without input, output and the user's macros and folders).

    Made on first use; None when it cannot be made or kept, or another CUDA's headers are in use. Its name holds a hash of
    its content, because clang believes what it reads there.
    """
    if "-include" not in flags:
        return None
    stamps = [f"{p.name}{p.stat().st_mtime_ns}" for p in sorted(HEADERS.rglob("*.h"))]
    folder = cache_folder() / "header"
    key = content_key([clang.fingerprint(), *flags, *stamps])
    found = _intact(folder, key)
    if found:
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as scratch:
            made = Path(scratch) / "header.pch"
            # clang looks at every input again later, so the empty source must be one that stays.
            command = [*clang.command, *flags, "-Xclang", "-emit-pch", os.devnull, "-o", str(made)]
            environment = {**os.environ, "TMPDIR": scratch}
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=environment)
            if done.returncode or not made.is_file():
                return None
            path = folder / f"{key}-{file_digest(str(made))}.pch"
            os.replace(made, path)
    except OSError:
        return None
    return path


def _intact(folder: Path, key: str) -> Path | None:
    """The file made for ``key``, if it is still what was written. A damaged one is removed."""
    for path in sorted(folder.glob(f"{key}-*.pch")):
        if path.stem == f"{key}-{file_digest(str(path))}":
            return path
        with contextlib.suppress(OSError):
            path.unlink()
    return None


def refused(stderr: str) -> bool:
    """Whether clang's messages complain about the precompiled header rather than about the program."""
    return bool(re.search(r"error:.*(precompiled|PCH|\.pch)", stderr)) or MAIN_HEADER + "' has been modified" in stderr
