"""Receipts: a compile command that was run before, on files that have not changed, repeats its outputs.

A receipt is kept under the command line, working directory and the state of our own installation; it lists every file
that was read, with a hash of its content, and every output, with its place in the cache. This file imports next to
nothing, because its work is measured in milliseconds.
"""

from __future__ import annotations

import os
import sys

_FLAGS_THAT_PREVENT = ("--no-cache", "--help", "--print-command")
# Variables that change what clang finds or where the cache lies.
_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "KERNELWRIGHT_CACHE", "XDG_CACHE_HOME", "HOME", "PATH")


def receipt_key(argv: list[str]) -> str:
    """Names the receipt of a command line run here and now."""
    from kernelwright.cache import content_key

    environment = [f"{name}={os.environ.get(name, '')}" for name in _ENVIRONMENT]
    return content_key([*argv[1:], "", os.getcwd(), *environment, _installation()])


def _installation() -> str:
    """Stamps of what produces results: our package and the two libraries beside it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    stamps = [sys.version.split()[0]]
    for folder in (
        package,
        *(os.path.join(package, room) for room in ("cuda", "passes", "codegen", "ir", "cli", "cuda/include")),
    ):
        latest = count = 0
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file():
                    count += 1
                    latest = max(latest, entry.stat().st_mtime_ns)
        stamps.append(f"{count}-{latest}")
    for path in sys.path:
        for file in ("ziglang/zig", "llvmlite/binding/libllvmlite.so"):
            try:
                status = os.stat(os.path.join(path, file))
            except OSError:
                continue
            stamps.append(f"{status.st_size}-{status.st_mtime_ns}")
    return " ".join(stamps)


def leave_receipt(argv: list[str], read: list[str], outputs: dict[str, bytes], messages: str) -> None:
    """Keeps what a finished command read (paths) and wrote (path or ``-``: bytes), and what it said on stderr."""
    from kernelwright.cache import Cache, content_key

    if any(flag in argv for flag in _FLAGS_THAT_PREVENT):
        return
    cache = Cache()
    lines = [str(len(messages.encode("utf-8", "surrogateescape")))]
    for path in read:
        state = _state(path)
        if "\n" in path or state is None:
            return
        lines.append(f"r {state} {path}")
    for path, data in outputs.items():
        key = content_key([data])
        cache.put("output", key, data)
        lines.append(f"w {key} {path}")
    cache.put(
        "receipt", receipt_key(argv), "\n".join(lines).encode("utf-8", "surrogateescape") + b"\n\n" + messages.encode()
    )


def _state(path: str) -> str | None:
    """What must not have changed about a file that was read: its content; of an installed header, size and time.

    A compile reads some 180 headers of the system and of wheels. Package managers change those, and their times; hashing
    all of them would be half the work here.
    """
    if path.startswith("/usr/") or "/site-packages/" in path:
        try:
            status = os.stat(path)
        except OSError:
            return None
        return f"{status.st_size}-{status.st_mtime_ns}"
    from kernelwright.cache import file_digest

    return file_digest(path)


def recall(argv: list[str]) -> bool:
    """Repeats the outputs of an earlier run of ``argv``; False when there is none, or anything it read has changed."""
    from kernelwright.cache import read_entry, write_atomically

    if any(flag in argv for flag in _FLAGS_THAT_PREVENT):
        return False
    receipt = read_entry("receipt", receipt_key(argv))
    if receipt is None:
        return False
    table, _, messages = receipt.decode("utf-8", "surrogateescape").partition("\n\n")
    outputs: list[tuple[str, bytes]] = []
    for line in table.split("\n")[1:]:
        kind, digest, path = line.split(" ", 2)
        if kind == "r":
            if _state(path) != digest:
                return False
        else:
            data = read_entry("output", digest)
            if data is None:
                return False
            outputs.append((path, data))
    try:
        for path, data in outputs:
            if path == "-":
                sys.stdout.buffer.write(data)
                sys.stdout.flush()
            else:
                write_atomically(path, data)
                if data[:4] == b"\x7fELF" and not path.endswith(".cubin"):
                    os.chmod(path, os.stat(path).st_mode | 0o111)
    except OSError:
        return False  # the full command runs into the same wall, and says so properly
    if messages:
        sys.stderr.write(messages)
    return True
