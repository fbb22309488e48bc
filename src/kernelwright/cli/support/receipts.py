"""Receipts: a compile command that was run before, on files that have not changed, repeats its outputs.

A receipt is kept under the command line, working directory and the state of our own installation; it holds the record of
what was read (``cuda/inputs.py``), and every output with its place in the cache. This file imports next to nothing, because
its work is measured in milliseconds.
"""

from __future__ import annotations

import os
import sys

from kernelwright.cli.support.streams import say
from kernelwright.cuda.inputs import environment, unchanged, working_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kernelwright.cuda.inputs import Inputs

_FLAGS_THAT_PREVENT = ("--no-cache", "--help")
# Variables that change where the cache lies, and which compiler, linker and libdevice are found.
_ENVIRONMENT = ("KERNELWRIGHT_CACHE", "XDG_CACHE_HOME", "HOME", "PATH", "CUDA_HOME", "CUDA_PATH")


def receipt_key(argv: list[str]) -> str:
    """Names the receipt of a command line run here and now."""
    from kernelwright.cache import content_key, installation

    variables = [*environment(), *(f"{name}={os.environ.get(name, '')}" for name in _ENVIRONMENT)]
    return content_key([*argv[1:], "", working_folder(), *variables, installation()])


def leave_receipt(argv: list[str], inputs: Inputs, outputs: dict[str, bytes], messages: str) -> None:
    """Keeps what a finished command read and wrote (path or ``-``: bytes), and what it said on stderr."""
    from kernelwright.cache import Cache, content_key, is_special

    if any(flag in argv for flag in _FLAGS_THAT_PREVENT):
        return
    if any("\n" in path or is_special(path) for path in outputs):
        return
    lines = inputs.record()
    if lines is None:
        return
    cache = Cache()
    for path, data in outputs.items():
        key = content_key([data])
        cache.put("output", key, data)
        lines.append(f"w {key} {path}")
    text = "\n".join(lines) + "\n\n" + messages
    cache.put("receipt", receipt_key(argv), text.encode("utf-8", "surrogateescape"))


def recall(argv: list[str]) -> bool:
    """Repeats the outputs of an earlier run of ``argv``; False when there is none, or anything it read has changed."""
    from kernelwright.cache import read_entry, write_atomically

    if any(flag in argv for flag in _FLAGS_THAT_PREVENT):
        return False
    receipt = read_entry("receipt", receipt_key(argv))
    if receipt is None:
        return False
    table, _, messages = receipt.decode("utf-8", "surrogateescape").partition("\n\n")
    lines = table.split("\n")
    if not unchanged(line for line in lines if not line.startswith("w ")):
        return False
    outputs: list[tuple[str, bytes]] = []
    for line in lines:
        if line.startswith("w "):
            _, digest, path = line.split(" ", 2)
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
                # One who runs the program of an earlier command finds it executable at any moment.
                write_atomically(path, data, executable=data[:4] == b"\x7fELF" and not path.endswith(".cubin"))
    except BrokenPipeError:
        raise  # the reader has had enough
    except OSError:
        return False  # the full command runs into the same wall, and says so properly
    if messages:
        say(messages)
    return True
