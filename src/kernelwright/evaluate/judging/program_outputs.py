"""What a program leaves that two runs of it agree on, and another run held against it.

    first run     sum 42              second run    sum 42             compared    sum 42
                  took 12.3 ms                      took 11.9 ms                   (a line that is left out)

A file that differs from run to run is compared line by line when it is text: the lines that differ are left out, the rest is
compared. One that differs and is no text is left out as a whole. Two runs may agree by chance (both drew their random numbers from the same
second, or took as long to the hundredth): a further run narrows what is known.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.workload.comparison import judge
from kernelwright.evaluate.workload.program_case import reader_of
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.lazy_dataclasses import dataclass

Outputs = Mapping[str, bytes]
COMPARED, LINES_LEFT_OUT, FILES_LEFT_OUT = "compared_bytes", "lines_left_out", "files_left_out"
"""Metrics of a run that was compared."""
MOST_LINES = 5000
"""Lines of a text whose lines are put beside each other."""


@dataclass(frozen=True)
class StableText:
    """The lines that all runs agree on. ``places``: where they stand; None when the runs have different numbers of lines."""

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

    def narrowed(self, data: bytes) -> StableText | None:
        """The lines that a further run has, too; None when it has none of them."""
        found = data.splitlines()
        if self.places is not None and len(found) == self.of:
            kept = [(line, place) for line, place in zip(self.lines, self.places, strict=True) if found[place] == line]
            text = StableText(tuple(line for line, _ in kept), tuple(place for _, place in kept), self.of)
        elif max(len(found), self.of) <= MOST_LINES:
            text = StableText(_in_both(self.lines, found), None, self.of)
        else:
            return None
        return text if any(text.lines) else None


@dataclass(frozen=True)
class StableOutputs:
    """By name: the bytes, or the lines, that all runs agree on."""

    known: Mapping[str, bytes | StableText]
    left_out: int
    """Files of which nothing is compared."""

    @classmethod
    def of(cls, first: Outputs, second: Outputs) -> StableOutputs:
        """What two runs of the program agree on; a file that only one of them wrote counts as left out."""
        return cls(dict(first), len(second.keys() - first.keys())).narrowed(second)

    def narrowed(self, further: Outputs) -> StableOutputs:
        """What a further run agrees on, too."""
        known: dict[str, bytes | StableText] = {}
        for name, expected in self.known.items():
            data = further.get(name)
            if data is None or data == expected:
                kept: bytes | StableText | None = data
            elif isinstance(expected, bytes):
                kept = _stable_text(expected, data)
            else:
                kept = expected.narrowed(data)
            if kept is not None:
                known[name] = kept
        return StableOutputs(known, self.left_out + len(self.known) - len(known))

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it ever differed."""
        return not self.left_out and all(isinstance(each, bytes) for each in self.known.values())

    @property
    def compared_bytes(self) -> int:
        """Bytes that ``judge`` compares; of text those of the lines that agree."""
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
    lines = first.splitlines()
    return StableText(tuple(lines), tuple(range(len(lines))), len(lines)).narrowed(second)


def _in_both(one: Sequence[bytes], other: Sequence[bytes]) -> tuple[bytes, ...]:
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return tuple(line for block in blocks for line in one[block.a : block.a + block.size])


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
