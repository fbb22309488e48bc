"""A run for those who look at it in Python: a line, a table for a notebook, rows for pandas."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Row

Facts = Sequence[tuple[str, str]]
"""What is to be said of a run, each with its name."""


def as_line(name: str, where: str, facts: Facts) -> str:
    """``<EvolveRun kw-runs/smooth-1: finished, 203 candidates, best v123, 1.668x>``"""
    said = ", ".join(text if what in ("state", "candidates") else f"{what} {text}" for what, text in facts)
    return f"<{name} {where}: {said}>"


def as_html(name: str, where: str, facts: Facts) -> str:
    """A small table."""
    rows = "".join(f"<tr><th style='text-align:left'>{escape(what)}<td>{escape(text)}</tr>" for what, text in facts)
    return f"<table><caption>{escape(name)} <code>{escape(where)}</code></caption>{rows}</table>"


def as_records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """One for each evaluation: ``name``, ``phase``, ``ok``, ``time_us``, ``error``, the figures measured besides, ``stage`` and
    ``reason`` of one that was rejected, ``candidate`` as JSON, and ``seconds`` that it took."""
    return [_record(row) for row in rows]


def _record(row: Row) -> dict[str, Any]:
    outcome = row.outcome
    found: dict[str, Any] = {"name": f"v{row.id}", "phase": row.phase, "ok": isinstance(outcome, Ok)}
    if isinstance(outcome, Ok):
        found |= {"time_us": outcome.time_us, "error": outcome.error, **outcome.metrics}
    else:
        found |= {"stage": outcome.stage, "reason": outcome.reason}
    return found | {"candidate": row.candidate, "seconds": sum(row.timings.values())}


def as_frame(rows: Iterable[Row]) -> Any:
    """A pandas ``DataFrame`` of ``as_records``, by name. Raises ``Misuse`` where pandas is missing."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise Misuse("pandas is not installed here", hint="pip install pandas; run.history is a NumPy table") from error
    records = as_records(rows)
    return pandas.DataFrame(records, index=pandas.Index([each.pop("name") for each in records], name="name"))
