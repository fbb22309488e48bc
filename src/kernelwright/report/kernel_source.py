"""The source of a whole kernel: from its first line to the brace that closes it, found in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence

_KERNEL = re.compile(r"\b__global__\b")
_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
"""Comments, strings and characters, in which a brace is none."""


def kernel_lines(text: str, name: str) -> range:
    """Its lines, numbered from 1; empty where the text has no kernel of this name.

    ``name``: as a person writes it, with or without namespace and template arguments (``ns::scale<float>``).
    """
    plain = _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    word = re.escape(re.sub(r"<.*", "", name).rpartition("::")[2])
    for begin in (found.start() for found in _KERNEL.finditer(plain)):
        head = re.compile(rf"[^;{{}}]*?\b{word}\s*\([^;{{}}]*\{{").match(plain, begin)
        if head is None:
            continue
        end = _closed(plain, head.end())
        first = plain.count("\n", 0, _with_template(plain, begin)) + 1
        return range(first, plain.count("\n", 0, end) + 2)
    return range(0)


def _with_template(plain: str, begin: int) -> int:
    """Where ``template <...>`` before the kernel begins, if there is one."""
    found = re.search(r"template\s*<[^;{}]*>\s*(?:static\s+|inline\s+|extern\s+)*$", plain[:begin])
    return found.start() if found else begin


def _closed(plain: str, begin: int) -> int:
    """Where the brace that stands before ``begin`` is closed; the end of the text where it never is."""
    depth = 1
    for at in range(begin, len(plain)):
        depth += {"{": 1, "}": -1}.get(plain[at], 0)
        if depth == 0:
            return at
    return len(plain) - 1


def numbered(lines: Sequence[str], which: range) -> list[tuple[int, str]]:
    """Number and text of each."""
    return [(number, lines[number - 1].rstrip()) for number in which if 0 < number <= len(lines)]
