"""A program that does not end in time is made smaller: the whole numbers among its arguments, then constants of its source.

./main 8192 100            -> ./main 1024 12              arguments / 8
./main 8192 100            -> ./main 1024 1               where the source has repeat = atoi(argv[2])
#define N 1048576          -> #define N 16384             constants / 64
#define DATAXSIZE 400      -> #define DATAXSIZE 64        with a name of a size, from 256 on
int repeat = 100;          -> int repeat = 1;             how often something is done again becomes 1
n_reps = 1000;             -> n_reps = 1;                 a default, where the name says that it is a size or how often
for (n = 64; n <= 8192;    -> for (n = 64; n <= 128;      the end of a loop, not below where it begins
double interval = 1e-7;    -> double interval = 6.4e-06;  a distance of points
numRepeats 100             -> numRepeats 1                in a file that is an argument

A number up to ``KEPT`` is left alone: a mode, a width of a tile, a count of layers; as an argument it becomes ``FEW`` in the last try.
A program that is built smaller may be another program; therefore the row says what was changed. What is still late, or fails at that
size, is made smaller by a second degree, in which smaller numbers are sizes, too, and odd ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from kernelwright.bench.programs.steps import folder_of, in_folder
from kernelwright.cuda.host import LANGUAGES
from kernelwright.lazy_dataclasses import dataclass

KEPT = 16
LAST = 512
"""The divisor of the last try."""
FEW = 8
"""What an argument up to ``KEPT`` becomes in it."""


@dataclass(frozen=True)
class Degree:
    """How constants are made smaller: by a divisor, those from ``large`` on, to no less than ``least``: below it is rather the shape of
    a block or a table. ``by_name``: the same two where the name says that it is a size. ``odd``: odd numbers, too, which are rather of
    a generator of random ones."""

    divisor: int
    large: int
    least: int
    by_name: tuple[int, int]
    odd: bool = False


DEGREES = (Degree(64, 1024, 128, (256, 64)), Degree(8, 256, 32, (64, 16), odd=True))
"""One after the other, each upon what the one before left."""

_HEADERS = (".h", ".hpp", ".cuh", ".hh", ".inc")
_TYPE = r"(?:unsigned|signed|long|int|short|size_t|u?int\d+_t|uint|ulong)"
_VALUE = r"(?P<value>\de\d|\(?\s*\d[\dxXa-fA-F]*[uUlL]*(?:\s*(?:\*|<<)\s*\d+[uUlL]*)*\s*\)?)"
_DEFINE = re.compile(
    rf"^(?P<before>[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+){_VALUE}(?P<after>[ \t]*(?://.*|/\*.*)?)$", re.M
)
_VARIABLE = re.compile(rf"(?P<before>\b(?:{_TYPE}\s+)+(?:const\s+)?(?P<name>\w+)\s*=\s*){_VALUE}(?P<after>\s*[;,])")
_DEFAULT = re.compile(
    rf"^(?P<before>[ \t]*(?:\w+(?:\.|->))*(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*){_VALUE}(?P<after>[ \t]*;)", re.M
)
_ARGUMENT = re.compile(r"^(?P<before>(?:--?[\w-]+=)?)(?P<number>\d+)$")
_FROM_ARGUMENT = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?:std\s*::\s*)?(?:ato(?:i|l|ll)|sto(?:i|l|ul)|strtou?l)\s*\(\s*argv\s*\[\s*(?P<at>\d+)\s*\]"
)
_BEGIN = _VALUE.replace("value", "from")
_LOOP = re.compile(
    rf"(?P<before>\bfor\s*\(\s*(?:{_TYPE}\s+)*(?P<name>\w+)\s*=\s*{_BEGIN}\s*;\s*(?P=name)\s*<=?\s*){_VALUE}(?P<after>\s*;)"
)
_DISTANCE = re.compile(
    r"(?P<before>\b(?:double|float)\s+(?:const\s+)?(?P<name>\w*(?:interval|spacing|resolution|step_?size)\w*)\s*=\s*)"
    r"(?P<value>\d*\.?\d+(?:[eE]-\d+)?)(?P<after>[fF]?\s*[;,])"
)
_SETTING = re.compile(
    r"^(?P<before>[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*[=:]?[ \t]*)(?P<value>\d+)(?P<after>[ \t]*)$", re.M
)
_LOOP_BEGINS = re.compile(r"\bfor\s*\(\s*(?:\w+\s+)*$")
_SIZE = re.compile(r"size|dim|width|height|num|count|length|^n_?[xyz]?$|^[wh]$|points|particles|elements|samples", re.I)
_SHAPE = re.compile(r"block|thread|tile|warp|mask|seed|align|version|max_?len", re.I)
SETTINGS_BYTES = 1 << 16
"""A file of settings is small."""
SHORT = 1e-3
"""A longer distance is none of many points."""
_REPEATED = re.compile(
    r"it_?max|max_?it|repeat|iter|trial|epoch|time_?steps|n_?steps|n_?runs|n_?reps|loops|warm_?up|passes", re.I
)


def reduced(command: Sequence[str], divisor: int, repetitions: Collection[int] = ()) -> list[str]:
    """The command with its whole numbers above ``KEPT`` divided, to no less than 1, smaller ones ``FEW`` where the divisor is that of the
    ``LAST`` try, and those of ``repetitions`` 1, whose places are counted as ``argv`` does; the program's name stays as it is."""
    folder, command = folder_of(command)
    words = [_ARGUMENT.sub(lambda found: _divided(found, divisor), word) for word in command]
    made = [
        command[0],
        *(
            "1" if at in repetitions and word.isdecimal() and divisor > 1 else word
            for at, word in enumerate(words)
            if at
        ),
    ]
    return in_folder(folder, made) if folder else made


def repetitions_of(folder: Path) -> frozenset[int]:
    """Which arguments the sources below ``folder`` read into a variable that says how often something is done again."""
    found = (match for _, text in _sources(folder) for match in _FROM_ARGUMENT.finditer(text))
    return frozenset(int(match["at"]) for match in found if _REPEATED.search(match["name"]))


def _divided(found: re.Match[str], divisor: int) -> str:
    number = int(found["number"])
    if number > KEPT:
        return f"{found['before']}{max(1, number // divisor)}"
    return f"{found['before']}{FEW if number > FEW and divisor >= LAST else found['number']}"


def settings_of(commands: Sequence[Sequence[str]], folder: Path) -> list[Path]:
    """Files below ``folder`` that are arguments and have lines of a name and a number."""
    given = [folder_of(command) for command in commands]
    named = {folder / inside / word.split("=", 1)[-1]: None for inside, words in given for word in words[1:]}
    files = (path for path in named if path.is_file() and path.resolve().is_relative_to(folder.resolve()))
    small = (path for path in files if path.stat().st_size <= SETTINGS_BYTES)
    return [path for path in small if _SETTING.search(_text_of(path))]


def shrink_sources(folder: Path, degree: Degree, settings: Collection[Path] = (), *, writes: bool = True) -> list[str]:
    """Makes constants of the sources below ``folder`` and of ``settings`` smaller, where they lie: sizes are divided, repetitions become 1.

    Returns what was changed, each once: ``["N 1048576 -> 16384"]``; without ``writes`` what would be.
    """
    changes: dict[str, None] = {}
    sources = ((path, text, (_DEFINE, _VARIABLE, _DEFAULT, _LOOP, _DISTANCE)) for path, text in _sources(folder))
    texts = ((path, _text_of(path), (_SETTING,)) for path in settings)
    for path, text, patterns in chain(sources, texts):
        changed = text
        for pattern in patterns:
            changed = pattern.sub(lambda found: _smaller(found, degree, changes), changed)
        if writes and changed != text:
            path.write_bytes(changed.encode("latin-1"))
    return list(changes)


def _sources(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in (*LANGUAGES, *_HEADERS) and not path.is_symlink() and path.is_file():
            yield path, _text_of(path)


def _text_of(path: Path) -> str:
    """Every byte is a character, and can be written back as it was."""
    return path.read_bytes().decode("latin-1")


def _smaller(found: re.Match[str], degree: Degree, changes: dict[str, None]) -> str:
    if found.re is _DISTANCE:
        return _longer(found, degree, changes)
    number, name = _number(found["value"]), found["name"]
    begin = _number(found.groupdict().get("from") or "0") or 0
    if number is None or number >= 1 << 40 or _begins_a_loop(found):
        return found[0]
    if _REPEATED.search(name):
        smaller = 1
    elif _SHAPE.search(name) or (_is_of_a_generator(number) and not degree.odd) or _is_a_state(found):
        return found[0]
    else:
        large, least = degree.by_name if _SIZE.search(name) else (degree.large, degree.least)
        smaller = max(least, number // degree.divisor, begin) if number >= large else number
    if smaller >= number:
        return found[0]
    changes[f"{name} {number} -> {smaller}"] = None
    return f"{found['before']}{smaller}{found['after']}"


def _longer(found: re.Match[str], degree: Degree, changes: dict[str, None]) -> str:
    """A distance of points times the divisor: so there are fewer of them."""
    distance, name = float(found["value"]), found["name"]
    if not 0 < distance < SHORT:
        return found[0]
    changes[f"{name} {distance:g} -> {distance * degree.divisor:g}"] = None
    return f"{found['before']}{distance * degree.divisor:g}{found['after']}"


def _begins_a_loop(found: re.Match[str]) -> bool:
    """Where its variable begins: that is no size, and the loop's end is at least as large."""
    line = found.string.rfind("\n", 0, found.start()) + 1
    return found.re is _VARIABLE and bool(_LOOP_BEGINS.search(found.string, line, found.start()))


def _is_a_state(found: re.Match[str]) -> bool:
    """What a variable is set to on its way, as far as its name does not say that it is a size."""
    return found.re is _DEFAULT and not _SIZE.search(found["name"])


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
