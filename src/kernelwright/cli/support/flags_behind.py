"""Flags of a command that stand behind ``--``, where they go to the program without a word: said, not refused.

kw evolve app.cu -- 64 --seed 5      kw: --seed behind -- goes to the program; as a flag of kw evolve it stands before --
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernelwright.cli.support.error_exit import tell
from kernelwright.cli.support.plain_flags import Flag

ANYWHERE = ("--quiet", "--verbose", "--help")
"""What every command has besides."""
MEANT = {"--candidates": "--evaluations"}
"""Flags by names that they do not have, but that people give them."""


def tell_flags_behind(command: str, flags: Sequence[Flag], paths: Sequence[Path], arguments: Sequence[str]) -> None:
    """Tells of each of the program's ``arguments`` that is exactly a long flag of the command, and that the program does not seem
    to know: its text stands in none of the files (``paths``) that it is made of."""
    known = {spelling for flag in flags for spelling in flag.spellings if spelling.startswith("--")} | {*ANYWHERE}
    words = dict.fromkeys(word.partition("=")[0] for word in arguments)
    meant = {word: MEANT.get(word, word) for word in words}
    found = [word for word in words if meant[word] in known]
    if not found:
        return
    text = b"".join(map(_text, paths))
    for word in found:
        if word.encode() not in text:
            tell(f"{word} behind -- goes to the program; as a flag of kw {command}, {meant[word]} stands before --")


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""
