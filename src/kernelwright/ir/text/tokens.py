"""The words of an LLVM-IR line, and how names are quoted.

A line is split once, by one regular expression. Attributes that carry an argument (``range(i32 0, 8)``), ``align 4``,
``ptr addrspace(3)`` and simple array and vector types arrive as single tokens, so the grammar above sees fewer words.
Readers take tokens from the *end* of a reversed list: ``tokens.pop()`` is the next word, ``tokens[-1]`` looks ahead, and
the number of words left tells where an error is.
"""

from __future__ import annotations

import re
from itertools import pairwise

_WORDS_WITH_ARGUMENT = (
    "addrspace|alignstack|allockind|allocsize|byref|byval|captures|dead_on_return|denormal_fpenv|dereferenceable_or_null"
    "|dereferenceable|elementtype|inalloca|initializes|inrange|memory|nofpclass|preallocated|range|sret|syncscope|target"
    "|thread_local|uwtable|vscale_range"
)

_TOKEN = re.compile(
    rf"""
    [%@](?:[-\w$.]+|"[^"]*")
  | ptr(?:[ ]addrspace\(\d+\))?(?![\w$.])
  | align[ ]\d+
  | (?:{_WORDS_WITH_ARGUMENT})\((?:[^()"]|"[^"]*"|\((?:[^()]|\([^()]*\))*\))*\)
  | 0x[KLMHR]?[0-9A-Fa-f]+
  | [-+]?\d+(?:\.\d*(?:[eE][-+]?\d+)?)?(?![\w$])
  | \.\.\.
  | c?"[^"]*"
  | [A-Za-z_$.][\w$.]*
  | ,
  | ![-\w$.\\]*
  | \[\d+[ ]x[ ][\w%.]+\]
  | <\d+[ ]x[ ]\w+>
  | \#[\w]+
  | ;.*
  | \S
""",
    re.VERBOSE | re.ASCII,
)

split = _TOKEN.findall
"""``split(line)``: the tokens of a line, left to right (a trailing comment is one token that starts with ``;``)."""

_PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*", re.ASCII).fullmatch
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")


def tokens_of(line: str) -> list[str]:
    """The tokens of a line in reverse, ready to be popped; a trailing comment is left out."""
    tokens = split(line)
    if ";" in line:
        tokens = [t for t in tokens if t[0] != ";"]
    tokens.reverse()
    return tokens


def columns_of(line: str) -> list[int]:
    """The column (from 1) of each token of a line, then the column after the last one."""
    spans = [m.span() for m in _TOKEN.finditer(line) if m.group()[0] != ";"]
    return [start + 1 for start, _ in spans] + [spans[-1][1] + 1 if spans else 1]


def unescape(text: str) -> bytes:
    r"""The bytes an LLVM string spells: ``\0A`` is one byte, everything else is itself (UTF-8)."""
    raw = text.encode("utf-8", "surrogateescape")
    if b"\\" not in raw:
        return raw
    return _ESCAPE.sub(lambda m: bytes([int(m.group(1), 16)]), raw.replace(b"\\\\", b"\\5C"))


def escape(data: bytes) -> str:
    """The inside of an LLVM string literal for these bytes, spelled as LLVM's printer does."""
    return "".join(chr(b) if 0x20 <= b < 0x7F and b not in (0x22, 0x5C) else f"\\{b:02X}" for b in data)


def name_of(token: str) -> str:
    """The name behind ``%x``, ``@"odd name"`` or a label; quotes and escapes are resolved."""
    name = token[1:]
    return unquote(name) if name.startswith('"') else name


def unquote(text: str) -> str:
    """The text inside ``"..."``, escapes resolved."""
    return unescape(text[1:-1]).decode("utf-8", "surrogateescape")


def quoted(name: str) -> str:
    """A name as LLVM prints it after ``%`` or ``@``: in quotes when it is not a plain word."""
    if _PLAIN_NAME(name):
        return name
    return f'"{escape(name.encode("utf-8", "surrogateescape"))}"'


def global_reference(name: str) -> str:
    """``@name`` as LLVM prints it. A name of digits alone stands for a global that has a number and no name."""
    return f"@{name}" if name.isdigit() else f"@{quoted(name)}"


def joined(words: list[str]) -> str:
    """Tokens as LLVM spaces them: used for attributes and other words that are kept as text."""
    if len(words) < 2:
        return words[0] if words else ""
    text = words[0]
    for before, word in pairwise(words):
        tight = word in _NO_SPACE_BEFORE or before in _NO_SPACE_AFTER
        text += word if tight else " " + word
    return text


_NO_SPACE_BEFORE = frozenset([",", ")", "]", ">", "=", "(", ":", "*"])
_NO_SPACE_AFTER = frozenset(["(", "[", "<", "="])
