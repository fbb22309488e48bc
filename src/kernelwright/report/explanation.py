"""A variant explained, as values: what the journal of its run keeps and pages show. JSON both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class ExplainedEdit:
    """One edit of a variant. Gains are shares of the original's time; None: rejected, alone or without it."""

    number: int
    """From 1, in the order of the genome."""
    kernel: str
    kind: str
    """One of ``edits.instruction_words.CHANGES``."""
    sentence: str
    place: str
    source: str
    """The line of source, as it stands in the file."""
    alone: float | None
    within: float | None
    counters: Mapping[str, tuple[float, float]]
    """Figures that change by more than 1 % when only this edit is left out: without it, with it."""
    same_code: bool | None
    """Whether the assembler makes the same machine code without it; None where no assembler is installed."""
    invariants: tuple[str, ...]


@dataclass(frozen=True)
class ExplainedPair:
    """Two edits, by number, that do not just add up. Gains as above."""

    a: int
    b: int
    relation: str
    together: float | None
    alone: tuple[float | None, float | None]


@dataclass(frozen=True)
class Explanation:
    """A variant explained."""

    variant: str
    speedup: float
    original_us: float
    variant_us: float
    edits: tuple[ExplainedEdit, ...]
    pairs: tuple[ExplainedPair, ...]
    counters: Mapping[str, tuple[float, float]]
    """Every figure, of the original and of the variant."""
    source: tuple[tuple[str, int, str, tuple[int, ...]], ...]
    """Lines of source around the edits: file, line, text, numbers of the edits there."""
    guards: tuple[str, ...]
    """What must hold at a launch for the variant to be used; else the original runs."""
    guard_names: Mapping[str, str] = field(default_factory=dict)
    """By what a proof calls a guard, the same in words."""
    patches: Mapping[str, str] = field(default_factory=dict)
    """By kernel, what the edits did to its IR, to be read (``stories/patch.py``)."""
    notes: tuple[str, ...] = ()
    """What could not be found out, and why."""

    def as_json(self) -> dict[str, Any]:
        """As ``kw explain --json`` prints it; times in microseconds. ``explanation_from_json`` reads it."""
        value: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return value


def explanation_from_json(value: Mapping[str, Any]) -> Explanation | None:
    """What ``as_json`` wrote; None for what another version did."""
    try:
        edits = tuple(
            ExplainedEdit(**{**edit, "counters": _tuples(edit["counters"]), "invariants": tuple(edit["invariants"])})
            for edit in value["edits"]
        )
        pairs = tuple(ExplainedPair(**{**pair, "alone": tuple(pair["alone"])}) for pair in value["pairs"])
        source = tuple((file, line, text, tuple(marks)) for file, line, text, marks in value["source"])
        more = {
            "guards": tuple(value["guards"]),
            "notes": tuple(value["notes"]),
            "counters": _tuples(value["counters"]),
        }
        return Explanation(**{**value, **more, "edits": edits, "pairs": pairs, "source": source})
    except (KeyError, TypeError, ValueError):
        return None


def _tuples(figures: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    return {name: (before, after) for name, (before, after) in figures.items()}
