"""The text being read: its lines, the words of the present one, and errors that point into it."""

from __future__ import annotations

import re
from typing import NoReturn

from kernelwright.errors import IRError, Place
from kernelwright.ir.text.reader import Unexpected
from kernelwright.ir.text.tokens import columns_of, tokens_of

_HINT = "correct this line; the text must be LLVM-IR as LLVM 22 prints it"
_STRING_OR_CUT = re.compile(r'"[^"]*"|, !')
_STRING_OR_COMMENT = re.compile(r'"[^"]*"|;.*')


class Source:
    """``at`` is the index of the line being read; ``tokens`` are its words that are left."""

    def __init__(self, text: str, file: str) -> None:
        self.lines = text.split("\n")
        self.file = file
        self.at = 0
        self.tokens: list[str] = []
        self._read = ""
        self._words = 0

    def split(self, text: str) -> list[str]:
        """Split (part of) the present line; errors point into it from here on."""
        self._read = text
        self.tokens = tokens_of(text)
        self._words = len(self.tokens)
        return self.tokens

    def fail(self, message: str, column: int = 1) -> NoReturn:
        """Refuse the present line. Raises ``IRError``."""
        raise IRError(message, place=Place(self.file, self.at + 1, column, self.lines[self.at]), hint=_HINT)

    def fail_at(self, at: int, word: str, message: str) -> NoReturn:
        """Refuse an earlier line for this word of it."""
        self.at = at
        self.fail(message, max(self.lines[at].find(word), 0) + 1)

    def fail_here(self, error: Unexpected | IndexError) -> NoReturn:
        """Refuse what a reader met at the word it took last; an ``IndexError`` tells that there were too few words."""
        columns = columns_of(self._read)
        if isinstance(error, Unexpected):
            at = min(max(self._words - len(self.tokens) - 1 - error.back, 0), len(columns) - 1)
            message = str(error)
        else:
            at = len(columns) - 1
            message = "the line ends before it is complete"
        line = self.lines[self.at]
        # A switch is read as one line though it is written on several.
        shown = line if line.startswith(self._read) else self._read
        raise IRError(message, place=Place(self.file, self.at + 1, columns[at], shown), hint=_HINT) from None


def without_comment(line: str) -> str:
    """The line up to its comment; semicolons in strings start none."""
    for match in _STRING_OR_COMMENT.finditer(line):
        if match.group()[0] == ";":
            return line[: match.start()]
    return line


def cut_metadata(line: str) -> tuple[str, str]:
    """The line without its metadata attachments, and the attachments without the comma in front."""
    if '"' not in line:
        head, _, tail = line.partition(", !")
        return head, "!" + tail.rstrip() if tail else ""
    for match in _STRING_OR_CUT.finditer(line):
        if match.group() == ", !":
            return line[: match.start()], line[match.start() + 2 :].rstrip()
    return line, ""
