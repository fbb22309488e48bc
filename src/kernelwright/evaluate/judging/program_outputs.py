"""What a program leaves that two runs of it agree on, and another run held against it.

    first run     sum 42              second run    sum 42             compared    sum 42
                  took 12.3 ms                      took 11.9 ms                   (a line that is left out)

A file that differs from run to run is compared line by line when it is text: the lines that differ are left out, the rest is
compared. One that differs and is no text is left out as a whole.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.workload.comparison import judge
from kernelwright.evaluate.workload.program_case import reader_of
from kernelwright.evaluate.workload.rule_text import Rules

Outputs = Mapping[str, bytes]
COMPARED, LINES_LEFT_OUT, FILES_LEFT_OUT = "compared_bytes", "lines_left_out", "files_left_out"
"""Metrics of a run that was compared."""
MOST_LINES = 5000
"""Lines of a text whose lines are put beside each other."""


@dataclass(frozen=True)
class StableText:
    """The lines that two runs agree on. ``places``: where they stand; None when the runs have different numbers of lines."""

    lines: tuple[bytes, ...]
    places: tuple[int, ...] | None
    of: int
    """Lines of the whole."""

    def of_run(self, data: bytes) -> tuple[bytes, ...] | str:
        """The same lines of another run, or why they cannot be told."""
        found = data.splitlines()
        if self.places is not None:
            if len(found) != self.of:
                return f"has {len(found)} lines, expected {self.of}"
            return tuple(found[place] for place in self.places)
        rest = iter(found)
        missing = next((line for line in self.lines if line not in rest), None)
        return (
            self.lines
            if missing is None
            else f"lacks the line {missing.decode(errors='replace')[:80]!r}, or has it elsewhere"
        )


@dataclass(frozen=True)
class StableOutputs:
    """By name: the bytes, or the lines, that two runs agree on."""

    known: Mapping[str, bytes | StableText]
    left_out: int
    """Files of which nothing is compared."""

    @classmethod
    def of(cls, first: Outputs, second: Outputs) -> StableOutputs:
        known: dict[str, bytes | StableText] = {}
        for name, data in first.items():
            other = second.get(name)
            if other == data:
                known[name] = data
            elif other is not None:
                text = _stable_text(data, other)
                if text is not None:
                    known[name] = text
        return cls(known, len(first.keys() | second.keys()) - len(known))

    @property
    def compared_bytes(self) -> int:
        return sum(len(k) if isinstance(k, bytes) else sum(map(len, k.lines)) for k in self.known.values())

    def judge(self, found: Outputs, rules: Rules) -> Outcome:
        """Whether another run left the same, by the rules; how much was compared is in the metrics."""
        worst = 0.0
        for name, expected in self.known.items():
            if name not in found:
                return Rejected("program", f"it wrote no {name}")
            data = found[name]
            if isinstance(expected, StableText):
                lines = expected.of_run(data)
                if isinstance(lines, str):
                    return Rejected("compare", f"'{name}' {lines}")
                expected, data = b"\n".join(expected.lines), b"\n".join(lines)
            verdict = _judge(name, data, expected, rules)
            if isinstance(verdict, str):
                return Rejected("compare", verdict)
            worst = max(worst, verdict)
        lines_left_out = sum(k.of - len(k.lines) for k in self.known.values() if isinstance(k, StableText))
        amounts = {COMPARED: self.compared_bytes, LINES_LEFT_OUT: lines_left_out, FILES_LEFT_OUT: self.left_out}
        return Ok(0.0, worst, Metrics(amounts))


def _stable_text(first: bytes, second: bytes) -> StableText | None:
    """The lines that two texts have in common; None when they are no texts or have nothing in common."""
    if not (first.isascii() and second.isascii()):
        return None
    one, other = first.splitlines(), second.splitlines()
    if len(one) == len(other):
        places = tuple(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a == b)
        return StableText(tuple(one[n] for n in places), places, len(one)) if any(one[n] for n in places) else None
    if max(len(one), len(other)) > MOST_LINES:
        return None
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    lines = tuple(line for block in blocks for line in one[block.a : block.a + block.size])
    return StableText(lines, None, len(one)) if any(lines) else None


def _judge(name: str, found: bytes, expected: bytes, rules: Rules) -> float | str:
    """How far it is off, or why it is not accepted."""
    if found == expected:
        return 0.0
    worst, others = 0.0, _arrays(name, found)
    for part, values in _arrays(name, expected).items():
        got = others.get(part)
        if got is None:
            return f"'{name}' is of another form"
        verdict = judge(rules.of(part), got, values)
        if not verdict.accepted:
            return f"'{part}' {verdict.sentence}"
        worst = max(worst, verdict.figure)
    return worst


def _arrays(name: str, data: bytes) -> Mapping[str, NDArray[Any]]:
    """A file's numbers as far as they can be told: of a text its numbers and its words, else single-precision numbers."""
    if not data.isascii():
        kind = "<f4" if len(data) % 4 == 0 else "u1"
        return {name: np.frombuffer(data, dtype=kind)}
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return reader_of("text")(name, Path(file.name))
