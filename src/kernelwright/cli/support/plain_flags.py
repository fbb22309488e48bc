"""One flag of the command line, and the reader of plain command lines.

typer reads a table of flags for help, checks and messages. ``quick`` reads the same table in half a millisecond, because a
compile takes about as long as importing typer does; whatever it does not take for granted it leaves to typer.
"""

from __future__ import annotations

from kernelwright.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any, Literal

    Kind = Literal["text", "texts", "level", "switch"]


@frozen
class Flag:
    """One flag: the parameter it fills, how it is spelled, and what it takes. One without help is not listed.

    ``group``: the heading it stands under in the command's help; none: under the command's own flags, which come first.
    """

    name: str
    spellings: tuple[str, ...]
    kind: Kind
    help: str = ""
    default: Any = None
    group: str = ""


def quick(arguments: Sequence[str], flags: Sequence[Flag]) -> tuple[list[str], dict[str, Any]] | None:
    """Positional arguments and flag values of a plain command line; None for anything that typer had better look at."""
    by_spelling = {spelling: flag for flag in flags for spelling in flag.spellings}
    values: dict[str, Any] = {flag.name: flag.default for flag in flags}
    positional: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            positional.append(argument)
            continue
        flag, value = _split(argument, by_spelling)
        if flag is None or (flag.kind == "switch" and value is not None):
            return None
        if flag.kind == "switch":
            values[flag.name] = True
            continue
        if value is None:
            value = next(rest, None)
        if not value or (flag.kind == "level" and value not in ("0", "1", "2", "3")):
            return None
        if flag.kind == "texts":
            values[flag.name] = [*(values[flag.name] or ()), value]
        else:
            values[flag.name] = int(value) if flag.kind == "level" else value
    return positional, values


def _split(argument: str, by_spelling: dict[str, Flag]) -> tuple[Flag | None, str | None]:
    """The flag that ``argument`` names and the value attached to it: ``--arch=sm_90``, ``-Ifolder``, ``-O2``."""
    if argument in by_spelling:
        return by_spelling[argument], None
    spelling, equals, attached = argument.partition("=")
    if equals and len(spelling) > 2 and spelling in by_spelling:
        return by_spelling[spelling], attached
    return by_spelling.get(argument[:2]), argument[2:]


# -- behind -- -----------------------------------------------------------------------------------------------------------

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
    from kernelwright.cli.support.error_exit import tell

    text = b"".join(map(_text, paths))
    for word in found:
        if word.encode() not in text:
            tell(f"{word} behind -- goes to the program; as a flag of kw {command}, {meant[word]} stands before --")


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""
