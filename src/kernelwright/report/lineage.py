"""How the best came about: the variants that were the fastest when they were tried, and which of the best's edits each had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Row, canonical_text
from kernelwright.evaluate.run.variant_run import Found, VariantRun
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.ties import TIE

MOST = 15


@dataclass(frozen=True)
class Ancestor:
    """``generation``: 0 is what comes before the first. ``kept``: which of the best's edits it has, by their numbers there; ``first``:
    those of them that no faster variant before it had; ``others``: how many edits it has besides."""

    name: str
    generation: int
    speedup: float
    edits: int
    kept: tuple[int, ...]
    first: tuple[int, ...]
    others: int


def lineage(run: VariantRun[Any], best: Found[Any]) -> list[Ancestor]:
    """In the order they were tried, the best last; of many the latest ``MOST``. Variants that tie with one before are left out."""
    numbers = {canonical_text(edit): number for number, edit in enumerate(best.written, 1)}
    seen: set[int] = set()
    found: list[Ancestor] = []
    for row, speedup in _records(run, best):
        texts = [canonical_text(edit) for edit in row.candidate]
        kept = tuple(sorted(numbers[text] for text in texts if text in numbers))
        first = tuple(number for number in kept if number not in seen)
        seen |= set(kept)
        name, generation = f"v{row.id}", int(row.facts.get("generation", 0))
        found.append(Ancestor(name, generation, speedup, len(texts), kept, first, len(texts) - len(kept)))
    return found[-MOST:]


def _records(run: VariantRun[Any], best: Found[Any]) -> Iterator[tuple[Row, float]]:
    fastest, base = 1.0, run.original_us or 1.0
    last: Row | None = None
    for row in run.rows():
        if f"v{row.id}" == best.name:
            last = row
            break
        if not isinstance(row.outcome, Ok) or not row.candidate or not row.outcome.time_us:
            continue
        speedup = base / row.outcome.time_us
        if speedup > fastest * (1 + TIE):
            fastest = speedup
            yield row, speedup
    if last is not None:
        yield last, best.speedup


def in_words(numbers: Sequence[int]) -> str:
    """``1, 3 to 5``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}{' to ' if len(p) > 2 else ', '}{p[-1]}" for p in parts)
