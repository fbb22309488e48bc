"""Two variants side by side: what each gains on every data set, which edits both have, which one alone, and their labels.

    compared = compare("smooth-1", "smooth-2:v17")

Data sets are matched by the program's arguments where both runs know them, else by their numbers. Edits are the same when they are
recorded the same; they are named in the words of the run they come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, field
from typing import Any

from kernelwright.breeding.run import PROGRAMS, BreedRun
from kernelwright.cache import content_key
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.journal import canonical_text
from kernelwright.evaluate.run.run import found_folder, kind_of
from kernelwright.evaluate.run.variant_run import Found, SetGain
from kernelwright.evolution.genomes import EvolveRun, Genes
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.report.selected_variant import label_of
from kernelwright.stories.candidate_words import edits_in_words, valid_for
from kernelwright.stories.winners import opened

KINDS = ("evolve", "breed", "explore", "tune")


@dataclass(frozen=True)
class Side:
    """One of the two. Times in microseconds in kernels."""

    run: str
    variant: str
    speedup: float
    us: float
    original_us: float
    label: str
    edits: int
    device: str
    valid_for: str
    """For which launches it is, in a sentence."""


@dataclass(frozen=True)
class SetPair:
    """A data set: the speed-up of each, None where a side has not been timed on it or is not right there."""

    arguments: str
    held_out: bool
    a: float | None
    b: float | None


@dataclass(frozen=True)
class Compared:
    """``common``, ``only_a``, ``only_b``: edits in words."""

    a: Side
    b: Side
    sets: tuple[SetPair, ...]
    common: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """By field name, as ``kw compare --json`` prints it."""
        return asdict(self)


@dataclass(frozen=True)
class ComparedBred:
    """Two runs of breeding: ``fitness`` is None for one without a program."""

    a: dict[str, Any]
    b: dict[str, Any]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """By field name, as ``kw compare --json`` prints it."""
        return asdict(self)


def compare(a: str, b: str) -> Compared | ComparedBred:
    """``a``, ``b``: RUN or RUN:VARIANT. Raises ``Misuse`` for what is no run, runs that found nothing, or runs of different kinds."""
    kinds = [_kind(each) for each in (a, b)]
    if kinds == ["breed", "breed"]:
        return _bred(a, b)
    if kinds != ["evolve", "evolve"]:
        what = (
            f"a run of kw {kinds[0]} and one of kw {kinds[1]}" if kinds[0] != kinds[1] else f"two runs of kw {kinds[0]}"
        )
        raise Misuse(
            f"{what} cannot be compared",
            hint="two runs of kw evolve, or two of kw breed; kw show prints each of the others",
        )
    with ExitStack() as stack:
        (one, first), (other, second) = (opened(each) for each in (a, b))
        stack.enter_context(one)
        stack.enter_context(other)
        found, further = one.variant(first), other.variant(second)
        common, only_a, only_b = _edits(one, found, other, further)
        return Compared(
            _side(one, found), _side(other, further), _sets(one.gains(found), other.gains(further)),
            common, only_a, only_b, _notes(one, other),
        )  # fmt: skip


def _kind(text: str) -> str:
    """Of the run that ``RUN`` or ``RUN:VARIANT`` names."""
    run = text
    try:
        found_folder(text)
    except Misuse:
        run = text.rpartition(":")[0] or text
    return kind_of(run, KINDS)


def _side(run: EvolveRun, found: Found[Genes]) -> Side:
    label = label_of(run, found.name) if found.candidate else "the original"
    device = run.settings.gpu or run.settings.virtual
    return Side(
        str(run.folder), found.name, round(found.speedup, 4), found.outcome.time_us, run.original_us or 0.0, label,
        len(found.candidate), device, valid_for(run, found),
    )  # fmt: skip


def _sets(a: Sequence[SetGain], b: Sequence[SetGain]) -> tuple[SetPair, ...]:
    by_key: dict[tuple[bool, str], dict[str, SetGain]] = {}
    for side, gains in (("a", a), ("b", b)):
        for each in gains:
            by_key.setdefault((each.held_out, each.arguments or f"number {each.number}"), {})[side] = each

    def speedup(sides: dict[str, SetGain], side: str) -> float | None:
        found = sides[side].speedup if side in sides else None
        return None if found is None else round(found, 4)

    return tuple(
        SetPair(name, held_out, speedup(sides, "a"), speedup(sides, "b")) for (held_out, name), sides in by_key.items()
    )


def _edits(
    one: EvolveRun, found: Found[Genes], other: EvolveRun, further: Found[Genes]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """In words: those of both, of the first alone, of the second alone. An edit that one has twice counts twice."""
    mine = list(zip(map(canonical_text, found.written), edits_in_words(one, found.candidate), strict=True))
    theirs = list(zip(map(canonical_text, further.written), edits_in_words(other, further.candidate), strict=True))
    shared = Counter(key for key, _ in mine) & Counter(key for key, _ in theirs)
    common, only_a = _divided(mine, shared)
    _, only_b = _divided(theirs, shared)
    return common, only_a, only_b


def _divided(edits: Sequence[tuple[str, str]], shared: Counter[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    left, inside, outside = Counter(shared), [], []
    for key, words in edits:
        if left[key]:
            left[key] -= 1
            inside.append(words)
        else:
            outside.append(words)
    return tuple(inside), tuple(outside)


def _notes(one: EvolveRun, other: EvolveRun) -> tuple[str, ...]:
    """What makes the figures of two runs less comparable."""
    notes = []
    devices = [run.settings.gpu or run.settings.virtual for run in (one, other)]
    if devices[0] != devices[1]:
        notes.append(f"their times are of different GPUs: {devices[0]} and {devices[1]}")
    if one.original_us and other.original_us and abs(one.original_us / other.original_us - 1) > 0.001:
        notes.append(
            "their originals take different times: other data, flags or programs; speed-ups are from each one's own"
        )
    if bool(one.settings.gpu) != bool(other.settings.gpu):
        notes.append("one was measured, the other estimated")
    return tuple(notes)


def _bred(a: str, b: str) -> ComparedBred:
    sides, digests = [], []
    for each in (a, b):
        with BreedRun.open(each, PROGRAMS) as run:
            best = run.best
            digests.append(content_key([canonical_text(run.facts["problem"].get("digest", ""))]))
            sides.append(
                {
                    "run": str(run.folder),
                    "best": best.name if best else None,
                    "fitness": best.fitness if best else None,
                    "target": run.target,
                    "evaluations": len(run.journal),
                    "generations": len(run.generations),
                    "seed": run.settings.seed,
                    "program": best.text if best else None,
                }
            )
    different = digests[0] != digests[1]
    notes = ("their problems differ, and so may what fitness means",) if different else ()
    return ComparedBred(sides[0], sides[1], notes)
