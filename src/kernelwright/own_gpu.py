"""A GPU of the table made into a person's own: other figures, or a calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kernelwright.calibration import DEFAULT, Calibration
from kernelwright.errors import Misuse
from kernelwright.gpu_figures import Gpu
from kernelwright.gpu_text import GpuInWords, Value

OWN_FILE = "the file that describes this GPU"


def with_calibration(found: Gpu, calibration: Calibration) -> Gpu:
    """Raises ``Misuse`` for one that was fitted on another GPU, and where there is one already."""
    if calibration == DEFAULT:
        return found
    if found.calibration != DEFAULT:
        raise Misuse(f"{found.called} has a calibration already: {found.calibration}", hint="give one of the two")
    if calibration.gpu not in ("", found.called, found.like):
        raise Misuse(
            f"calibration {calibration} is of another GPU than {found.called}",
            hint=f"--device {calibration.gpu}, or fit one for {found.called}: kw model fit",
        )
    return replace(found, name=f"{found.name}@{calibration.text}", calibration=calibration)


def with_figures(found: Gpu, words: GpuInWords) -> Gpu:
    """``found`` but for the figures of ``words``, whose source is the file they are from."""
    if not words.like:
        return found
    own, sm, rates = _changes(found, words)
    made = replace(
        found.sm,
        **sm,
        rates={**found.sm.rates, **rates},
        sources={**found.sm.sources, **_said(sm), **_said(rates, "rates.")},
    )
    text = replace(words, calibration=DEFAULT).text
    title = f"{words.name}, like the {found.title}"
    return replace(
        found, name=text, title=title, like=found.name, sm=made, sources={**found.sources, **_said(own)}, **own
    )


def _changes(found: Gpu, words: GpuInWords) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """By figure, of the GPU, its multiprocessor, and its pipes. Raises ``Misuse`` for names and values that make no sense."""
    of_gpu: dict[str, Any] = {}
    of_sm: dict[str, Any] = {}
    rates: dict[str, Any] = {}
    for name, value in words.figures:
        part, short = (
            (rates, name[9:])
            if name.startswith("sm.rates.")
            else (of_sm, name[3:])
            if name.startswith("sm.")
            else (of_gpu, name)
        )
        had: Mapping[str, Any] = found.sm.rates if part is rates else vars(found.sm) if part is of_sm else vars(found)
        if not isinstance(had.get(short), int | float | tuple):
            raise Misuse(f"{words.place}: there is no figure {name!r}", hint="docs/timing-model.md has their names")
        if not _fits(value, had[short]):
            raise Misuse(f"{words.place}: {name} is {value!r}", hint=f"as {found.name} has {had[short]!r}")
        part[short] = value
    return of_gpu, of_sm, rates


def _fits(value: Value, had: object) -> bool:
    """Of the same kind, and more than nothing where that was."""
    if isinstance(value, tuple) or isinstance(had, tuple):
        return isinstance(value, tuple) and isinstance(had, tuple) and min(value, default=0) >= 0
    whole = not isinstance(had, int) or isinstance(value, int)
    return whole and math.isfinite(value) and (value > 0 or (value == 0 and had == 0))


def _said(changes: Mapping[str, object], before: str = "") -> dict[str, str]:
    return {before + name: OWN_FILE for name in changes}
