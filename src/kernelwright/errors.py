"""Every error the project raises on purpose.

A user's mistake or a failed tool is told in one sentence, with the place and the next step; the command turns
``exit_code`` into its own exit status. Failures *inside a search* are values (``Rejected``), never these exceptions.
"""

from __future__ import annotations

import os

from kernelwright.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import ClassVar


_UNPRINTED = dict.fromkeys((*range(9), *range(10, 32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}")
"""Control characters but the tab: in a line of a file that is no text they would be the terminal's to obey."""


def _blank(letter: str) -> str:
    """What is as wide on a terminal: a tab for a tab, however wide that is drawn, two blanks for Chinese letters."""
    import unicodedata

    if letter == "\t":
        return letter
    if unicodedata.combining(letter):
        return ""
    return "  " if unicodedata.east_asian_width(letter) in "WF" else " "


@frozen
class Place:
    """Where in a text something is wrong. ``line`` and ``column`` count from 1; 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0
    text: str = ""
    """The source line itself, without its newline, when it is known."""

    def __str__(self) -> str:
        numbers = [str(n) for n in (self.line, self.column) if n]
        return ":".join([self.file, *numbers])


class KernelwrightError(Exception):
    """Base of all errors. ``exit_code`` follows the design: 1 the answer is no, 2 misuse, 3 the tool or machine failed."""

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, place: Place | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        lines = [f"{self.place}: {self.message}" if self.place else self.message]
        if self.place and self.place.text:
            lines.append(f"    {self.place.text.translate(_UNPRINTED)}")
            if self.place.column:
                lead = "".join(map(_blank, self.place.text[: self.place.column - 1]))
                lines.append(f"    {lead}^")
        if self.hint:
            lines.append(f"next: {self.hint}")
        return "\n".join(lines)


class Misuse(KernelwrightError):
    """The request itself is wrong: an unknown name, a missing file, options that exclude each other."""

    exit_code = 2


class CompileError(KernelwrightError):
    """The user's program does not compile, or uses a feature we refuse by name."""

    exit_code = 2


class ToolError(KernelwrightError):
    """A tool we rely on is missing, broken or refused our input (clang, LLVM, ptxas, nvJitLink, the linker)."""


class IRError(KernelwrightError):
    """LLVM-IR that cannot be parsed or does not verify; carries the IR line as its place."""


class DeviceError(KernelwrightError):
    """A device refused or failed a launch; the message names kernel, buffer and thread where known."""


def reason(error: BaseException) -> str:
    """What Python's own error says, for a sentence: of a ``KeyError`` what is missing, of an ``OSError`` what the system said, of what is
    no UTF-8 where it ends to be text; else the error's text, or its name where it has none."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}" if error.args else "a key is missing"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, UnicodeDecodeError):
        return f"it is no text in UTF-8, from byte {error.start} on"
    return str(error) or type(error).__name__


def check_kind(value: object, kinds: type | tuple[type, ...], what: str, hint: str) -> None:
    """Raises ``Misuse`` for a value of another type: ``what`` names it, as in *the name of a device*."""
    if not isinstance(value, kinds):
        shown = "None" if value is None else f"{str(value)[:40]!r}, of type {type(value).__name__}"
        raise Misuse(f"{what} is {shown}", hint=hint)


def check_callable(value: object, what: str) -> None:
    """Raises ``Misuse`` for what is neither None nor can be called."""
    if value is not None and not callable(value):
        raise Misuse(f"{what} is {value!r}, which cannot be called", hint=f"give a function, or leave {what} out")


def texts(value: object, what: str) -> tuple[str, ...]:
    """Several texts, or one, as a tuple. Raises ``Misuse`` for anything else; ``what`` names them, as in *include*."""
    given = (value,) if isinstance(value, str | os.PathLike) else value
    if not isinstance(given, list | tuple | set | frozenset) or not all(
        isinstance(e, str | os.PathLike) for e in given
    ):
        raise Misuse(f"{what} is {str(value)[:40]!r}, and not a text or several", hint=f"give a list: {what}=['...']")
    return tuple(os.fspath(each) for each in given)


def check_names(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raises ``Misuse`` for the first of ``given`` that is not ``known``; ``what`` has them, as in *kw.evolve*."""
    names = sorted(known)
    for name in given:
        if name not in names:
            raise Misuse(f"{what} has no setting {name!r}", hint=f"it has {', '.join(names)}")
