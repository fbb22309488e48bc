"""What a program of several versions prints on standard error, and how it is given thresholds.

    Compared NAME <= VALUE: true.       one line per comparison, as Futhark prints with -L: NAME is the threshold, VALUE what it
                                        is compared with, true where the version was run, never where no threshold lets it run;
                                        the word may be missing
    Took NUMBER us.                     optional: the time that counts. Several add up; without any it is that of the process
    Dispatch NUMBER us.                 optional: what deciding costs per call
    Dispatch NAME NUMBER us.            ... or what one guard costs; those of several guards add up

Thresholds lie in a file of ``name=value`` lines. Its path stands in ``KW_THRESHOLDS`` and for ``{thresholds}`` in the command.
A guard that the file does not name has the program's own threshold; one of ``INFINITE`` is never taken. Values have 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelwright.versions.program import INFINITE, Compared, Thresholds

TELL = "KW_TUNING"
"""Has guards of ``kernelwright_threshold.h`` print what they compare."""
ENVIRONMENT = "KW_THRESHOLDS"
_COMPARED = re.compile(r"^Compared (\S+) <= (-?\d+)(?:: (true|false|never))?\.?\s*$", re.M)
_TOOK = re.compile(r"^Took (\d+(?:\.\d*)?(?:[eE][-+]?\d+)?) us\.?\s*$", re.M)
_DISPATCH = re.compile(r"^Dispatch (?:(\S+) )?(\d+(?:\.\d*)?) us\.?\s*$", re.M)
_MEANT = re.compile(r"^(?:Compared\b.*<=.*|(?:Took|Dispatch)\b.*\bus\.?\s*)$", re.M)


def comparisons(said: str, thresholds: Thresholds) -> tuple[Compared, ...]:
    """The comparisons in what a program said, in order. One without an outcome has the one that ``thresholds`` give it."""
    found = ((name, int(value), word) for name, value, word in _COMPARED.findall(said))
    return tuple(_compared(name, value, word, thresholds) for name, value, word in found if abs(value) <= INFINITE)


def _compared(name: str, value: int, word: str, thresholds: Mapping[str, int]) -> Compared:
    if word:
        return Compared(name, value, word == "true", legal=word != "never")
    return Compared(name, value, value >= thresholds[name] if name in thresholds else None)


def compared_line(compared: Compared) -> str:
    """What a program prints of a comparison."""
    word = str(compared.taken).lower() if compared.legal else "never"
    return f"Compared {compared.name} <= {compared.value}: {word}."


def time_us(said: str) -> float | None:
    """The time that a program says it took, in microseconds; None where it says nothing."""
    times = [float(text) for text in _TOOK.findall(said)]
    return sum(times) if times else None


def dispatch_us(said: str) -> float | None:
    """What deciding costs per call, in microseconds; None where the program does not say. A guard that says it twice counts once."""
    found = {name: float(cost) for name, cost in reversed(_DISPATCH.findall(said))}
    return sum(found.values()) if found else None


def other_lines(said: str) -> str:
    """What a program said besides."""
    return "".join(line for line in said.splitlines(keepends=True) if not _MEANT.match(line))


def unreadable_line(said: str) -> str:
    """The first line that seems to be one of these and is none, as a name with blanks makes it; empty where there is none."""
    lines = (line.strip() for line in _MEANT.findall(said))
    return next((line for line in lines if not _is_readable(line)), "")


def _is_readable(line: str) -> bool:
    if compared := _COMPARED.match(line):
        return abs(int(compared[2])) <= INFINITE
    return any(pattern.match(line) for pattern in (_TOOK, _DISPATCH))


def threshold_lines(thresholds: Thresholds) -> str:
    """The content of a threshold file."""
    return "".join(f"{name}={min(value, INFINITE)}\n" for name, value in thresholds.items())
