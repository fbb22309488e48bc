"""Which variant the page of a run is about."""

from __future__ import annotations

from typing import Any

from kernelwright.evaluate.run.variant_run import Found, VariantRun
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.labels import LABELS

UNPROVEN = "unproven"


@dataclass(frozen=True)
class Spoken:
    """A variant and its label. ``accepted``: whether it is the best; else its proof said less than was demanded."""

    found: Found[Any]
    label: str
    accepted: bool


def spoken_of(run: VariantRun[Any]) -> Spoken | None:
    """The best variant, else the one that would have been but for its proof; None when nothing beat the original."""
    best = run.best
    if best is not None:
        return Spoken(best, label_of(run, best.name), True)
    for event in reversed(run.journal.events("fallen")):
        found = run.variant(event.data["variant"])
        return Spoken(found, label_of(run, found.name), False)
    return None


def label_of(run: VariantRun[Any], name: str) -> str:
    """What the proof of a variant calls it, or ``unproven``."""
    proof = run.proof(name)
    return str(proof["label"]) if proof and proof["label"] in LABELS else UNPROVEN
