"""How far the estimates of a run are trusted, and what its best leans on, in words for terminals, pages and folders to take along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwright.device.settings import virtual_gpu
from kernelwright.device.timing_model.evidence import trust, unproven_part
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.variant_run import Found, VariantRun

TERM = "term "
"""How the figure of a term's part of the time begins: ``term l1``."""


def trust_of(run: VariantRun[Any], found: Found[Any] | None) -> tuple[str, ...]:
    """Sentences without full stops: what stands behind the estimates of the run, and which part of the gain was never compared. None
    where times are measured, or where the run is of an earlier version that recorded no terms."""
    original = run.original
    if run.settings.gpu or original is None:
        return ()
    before, after = terms_of(original), terms_of(found.outcome) if found else {}
    if not before:
        return ()
    said = [trust(virtual_gpu(run.settings.device), before).words]
    if after:
        said.append(unproven_part(before, after))
    return tuple(part for part in said if part)


def terms_of(outcome: Ok) -> Mapping[str, float]:
    """The time that each term answers for, in microseconds over all launches."""
    return {n.removeprefix(TERM): us for n, us in outcome.metrics.items() if n.startswith(TERM)}
