"""A program that does not end in time is made smaller: the whole numbers among its arguments, then constants of its source.

./main 8192 100            -> ./main 1024 12              arguments / 8
#define N 1048576          -> #define N 16384             constants / 64
#define DATAXSIZE 400      -> #define DATAXSIZE 64        with a name of a size, from 256 on
int repeat = 100;          -> int repeat = 1;             how often something is done again becomes 1
for (n = 64; n <= 8192;    -> for (n = 64; n <= 128;      the end of a loop, not below where it begins

A number up to ``KEPT`` is left alone: a mode, a width of a tile, a count of layers. A program that is built smaller may be another
program; therefore the row says what was changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kernelwright.cuda.host import LANGUAGES

KEPT = 16
LARGE, LEAST = 1024, 128
"""From which on a constant is a size rather than a shape of a block or a table, and what it is not made smaller than."""
LARGE_BY_NAME, LEAST_BY_NAME = 256, 64
"""The same where the name says that it is one."""
_HEADERS = (".h", ".hpp", ".cuh", ".hh", ".inc")
_TYPE = r"(?:unsigned|signed|long|int|short|size_t|u?int\d+_t|uint|ulong)"
_VALUE = r"(?P<value>\de\d|\(?\s*\d[\dxXa-fA-F]*[uUlL]*(?:\s*(?:\*|<<)\s*\d+[uUlL]*)*\s*\)?)"
_DEFINE = re.compile(
    rf"^(?P<before>[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+){_VALUE}(?P<after>[ \t]*(?://.*|/\*.*)?)$", re.M
)
_VARIABLE = re.compile(rf"(?P<before>\b(?:{_TYPE}\s+)+(?:const\s+)?(?P<name>\w+)\s*=\s*){_VALUE}(?P<after>\s*[;,])")
_ARGUMENT = re.compile(r"^(?P<before>(?:--?[\w-]+=)?)(?P<number>\d+)$")
_LOOP = re.compile(
    rf"(?P<before>\bfor\s*\(\s*(?:{_TYPE}\s+)*(?P<name>\w+)\s*=\s*(?P<from>\d+)\s*;\s*(?P=name)\s*<=?\s*){_VALUE}(?P<after>\s*;)"
)
_SIZE = re.compile(r"size|dim|width|height|num|count|length|^n_?[xyz]?$|^[wh]$|points|particles|elements|samples", re.I)
_SHAPE = re.compile(r"block|thread|tile|warp|mask|seed|align|version|max_?len", re.I)
_REPEATED = re.compile(
    r"it_?max|max_?it|repeat|iter|trial|epoch|time_?steps|n_?steps|n_?runs|n_?reps|loops|warm_?up|passes", re.I
)


def reduced(command: Sequence[str], divisor: int) -> list[str]:
    """The command with its whole numbers above ``KEPT`` divided, to no less than 1; the program's name stays as it is."""
    return [command[0], *(_ARGUMENT.sub(lambda found: _divided(found, divisor), word) for word in command[1:])]


def _divided(found: re.Match[str], divisor: int) -> str:
    number = int(found["number"])
    return f"{found['before']}{max(1, number // divisor) if number > KEPT else found['number']}"


def shrink_sources(folder: Path, divisor: int, *, writes: bool = True) -> list[str]:
    """Makes constants of the sources below ``folder`` smaller, where they lie: sizes are divided, repetitions become 1.

    Returns what was changed, each once: ``["N 1048576 -> 16384"]``; without ``writes`` what would be.
    """
    changes: dict[str, None] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (*LANGUAGES, *_HEADERS) or path.is_symlink() or not path.is_file():
            continue
        text = path.read_bytes().decode("latin-1")  # every byte is a character, and comes back as it was
        changed = text
        for pattern in (_DEFINE, _VARIABLE, _LOOP):
            changed = pattern.sub(lambda found: _smaller(found, divisor, changes), changed)
        if writes and changed != text:
            path.write_bytes(changed.encode("latin-1"))
    return list(changes)


def _smaller(found: re.Match[str], divisor: int, changes: dict[str, None]) -> str:
    number, name = _number(found["value"]), found["name"]
    begin = int(found.groupdict().get("from") or 0)
    if number is None or number >= 1 << 40:
        return found[0]
    if _REPEATED.search(name):
        smaller = 1
    elif _SHAPE.search(name) or _is_of_a_generator(number):
        return found[0]
    else:
        large, least = (LARGE_BY_NAME, LEAST_BY_NAME) if _SIZE.search(name) else (LARGE, LEAST)
        smaller = max(least, number // divisor, begin) if number >= large else number
    if smaller >= number:
        return found[0]
    changes[f"{name} {number} -> {smaller}"] = None
    return f"{found['before']}{smaller}{found['after']}"


def _is_of_a_generator(number: int) -> bool:
    """As 16807 and 2147483647 are: a size is rarely odd."""
    return number % 2 == 1


def _number(text: str) -> int | None:
    """Of ``1 << 20``, ``(64 * 1024)``, ``1000u`` or ``1e6``; hexadecimal numbers are masks, not sizes."""
    if re.fullmatch(r"\de\d", text):
        return int(float(text))
    words = re.split(r"\s*(\*|<<)\s*", text.strip(" ()\t"))
    numbers = [word.rstrip("uUlL ") for word in words[::2]]
    if not all(word.isdecimal() for word in numbers):
        return None
    value = int(numbers[0])
    for operator, word in zip(words[1::2], numbers[1:], strict=True):
        if operator == "<<" and int(word) > 40:
            return None
        value = value * int(word) if operator == "*" else value << int(word)
    return value
