"""PTX without the functions and tables that nothing uses: an assembler reads, checks and translates them all the same.

before   ``.func kw_sin_f32 ... .func kw_sin_f64 ...``, where individuals call ``kw_sin_f32``
after    ``.func kw_sin_f32 ...``
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_NAME = re.compile(r"\.func\s*(?:\([^)]*\)\s*)?([\w$]+)|\.(?:global|const)\b[^;={]*?([\w$]+)\s*(?:\[[^\]]*\]\s*)*[;={]")
_WORD = re.compile(r"(?<![%.\w$])[A-Za-z_$][\w$]*")


def needed(head: str, users: Iterable[str]) -> str:
    """``head``: functions and tables, one after the other. What has no name that is understood stays."""
    if not head.strip():
        return head
    items = _items(head)
    named = {name for name, _, _ in items if name}
    wanted: set[str] = set()
    for each in users:
        wanted |= named.intersection(_WORD.findall(each))
    while more := {word for name, _, uses in items if name in wanted or not name for word in uses & named} - wanted:
        wanted |= more
    return "".join(text for name, text, _ in items if not name or name in wanted)


@lru_cache(maxsize=16)
def _items(head: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Name, text, and the words in it."""
    found = []
    for text in _split(head):
        name = _NAME.search(text)
        found.append(((name[1] or name[2]) if name else "", text, frozenset(_WORD.findall(text))))
    return tuple(found)


def _split(head: str) -> Iterator[str]:
    """At the end of each declaration and each body."""
    begin = depth = 0
    table = False
    for mark in re.finditer(r"[{};=]", head):
        kind = mark[0]
        if kind == "=" and not depth:
            table = True  # the braces of a table's numbers; it ends with a semicolon
        elif kind in "{}":
            depth += 1 if kind == "{" else -1
        if not depth and (kind == ";" or (kind == "}" and not table)):
            yield head[begin : mark.end()]
            begin, table = mark.end(), False
    if head[begin:].strip():
        yield head[begin:]
