"""Findings that were reviewed and may stand: ``kw check --suppressions FILE``.

    [[suppress]]
    kind = "race"
    file = "src/scan.cu"            # or the end of its path: "scan.cu"
    line = 41                       # or a range: [40, 45]; of a race either end
    reason = "every thread stores the same flag"

    [[suppress]]
    kind = "launch"                 # about host code, where no line is known: what the message says instead
    says = "cudaDeviceEnablePeerAccess"
    reason = "the program asks whether there is a second GPU"

Every entry gives its reason. ``says`` narrows an entry with a line, too.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path, PurePath
from typing import Any

from kernelwright.device.checking.findings import KINDS, CheckFinding, FindingKind
from kernelwright.errors import Misuse, Place, reason
from kernelwright.lazy_dataclasses import dataclass

_TABLE = "suppress"
_EXAMPLE = 'an entry is [[suppress]] with kind = "race", file = "app.cu", line = 12 (or [10, 14]) and reason = "..."'
_HEADER = re.compile(rf"\s*\[\[\s*{_TABLE}\s*\]\]")


@dataclass(frozen=True)
class Suppression:
    """One entry. ``first`` and ``last`` count lines from 1; they are 0 where ``says`` alone tells the finding."""

    kind: FindingKind
    reason: str
    file: str = ""
    first: int = 0
    last: int = 0
    says: str = ""

    def matches(self, one: CheckFinding) -> bool:
        """Whether it is about this finding: its class, one of its ends, and its message as far as the entry asks."""
        if one.kind != self.kind or self.says not in one.message:
            return False
        ends = [(one.file, one.line), *([(one.also.file, one.also.line)] if one.also else [])]
        return not self.file or any(
            self.first <= line <= self.last and _ends_with(file, self.file) for file, line in ends
        )

    def __str__(self) -> str:
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        place = f"{self.file}:{lines}: " if self.file else ""
        return f"{place}{self.kind}" + (f" that says {self.says!r}" if self.says else "")

    def as_json(self) -> dict[str, Any]:
        """As ``kw check --json`` shows an entry that matched no finding; ``lines`` is null for one without a file."""
        lines = [self.first, self.last] if self.file else None
        return {"kind": self.kind, "file": self.file, "lines": lines, "says": self.says, "reason": self.reason}


def read_suppressions(path: Path) -> tuple[Suppression, ...]:
    """The entries of a file, in its order. Raises ``Misuse`` for what is none, with the line of the entry where it is known."""
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except OSError as error:
        raise Misuse(
            f"{path} cannot be read: {error.strerror or error}", hint="--suppressions wants a TOML file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misuse(f"{path} is not TOML: {reason(error)}", hint=_EXAMPLE) from None
    rows = found.get(_TABLE, [])
    unknown = [key for key in found if key != _TABLE]
    if unknown or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Misuse(f"{path}: {unknown[0] if unknown else _TABLE!r} is no list of suppressions", hint=_EXAMPLE)
    headers = [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    # Entries may be written in other ways than with headers; then nothing says where one begins.
    lines = headers if len(headers) == len(rows) else [0] * len(rows)
    return tuple(_entry(row, Place(str(path), line)) for row, line in zip(rows, lines, strict=True))


def _entry(row: Mapping[str, Any], place: Place) -> Suppression:
    known = ("line", *(f.name for f in fields(Suppression) if f.name not in ("first", "last")))
    unknown = [key for key in row if key not in known]
    if unknown:
        raise Misuse(f"unknown key {unknown[0]!r}", place=place, hint=f"there are {', '.join(sorted(known))}")
    for key in ("kind", "file", "reason", "says"):
        if not isinstance(row.get(key, ""), str):
            raise Misuse(f"{key} = {row[key]!r} is no text", place=place, hint=_EXAMPLE)
    if row.get("kind") not in KINDS:
        raise Misuse(
            f"kind = {row.get('kind', '')!r} is no class of findings", place=place, hint=f"there are {', '.join(KINDS)}"
        )
    if not row.get("reason", "").strip():
        raise Misuse(
            "a suppression without a reason", place=place, hint='say why the finding may stand: reason = "..."'
        )
    file, says = row.get("file", ""), row.get("says", "")
    if bool(file) != ("line" in row) or not (file or says):
        raise Misuse(
            "a suppression names a file and a line in it, or what the message says", place=place, hint=_EXAMPLE
        )
    first, last = _lines(row["line"], place) if file else (0, 0)
    return Suppression(row["kind"], row["reason"].strip(), file, first, last, says)


def _lines(given: object, place: Place) -> tuple[int, int]:
    ends = given if isinstance(given, list) and len(given) == 2 else [given, given]
    first, last = ends
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        raise Misuse(
            f"line = {given!r} is no line and no range of lines", place=place, hint="as line = 12, or line = [10, 14]"
        )
    return first, last


def _ends_with(path: str, end: str) -> bool:
    """By whole parts: ``/work/src/scan.cu`` ends with ``src/scan.cu``, and not with ``can.cu``."""
    if not path:
        return False
    whole, part = PurePath(os.path.abspath(path)).parts, PurePath(os.path.normpath(end)).parts
    return whole[-len(part) :] == part
