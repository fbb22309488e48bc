"""A journal as one table: a structured array, which ``pandas.DataFrame`` takes as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Row, Session

REASON_CHARACTERS = 120


def history_of(rows: Sequence[Row], sessions: Sequence[Session]) -> NDArray[np.void]:
    """One record per evaluation, in order.

    ``row``, ``session``, ``seconds`` (since the first session began), ``phase``, ``generation`` (-1 where none was noted),
    ``hash``, ``key``, ``ok``, ``time_us`` and ``error`` (NaN when rejected), ``stage`` and ``reason`` (empty when accepted);
    then ``metric_NAME`` for each metric and ``NAME_seconds`` for each timing, NaN where an evaluation has none.
    """
    metrics = sorted({n for r in rows if isinstance(r.outcome, Ok) for n in r.outcome.metrics})
    steps = sorted({n for r in rows for n in r.timings})
    begin = sessions[0].at if sessions else 0.0
    records = [_record(row, begin, metrics, steps) for row in rows]
    names = ["phase", "hash", "key", "stage", "reason"]
    width = {n: max([1, *(len(r[n]) for r in records)]) for n in names}
    fields: list[tuple[str, str]] = [
        ("row", "<i8"), ("session", "<i4"), ("seconds", "<f8"), ("phase", f"<U{width['phase']}"), ("generation", "<i4"),
        ("hash", f"<U{width['hash']}"), ("key", f"<U{width['key']}"), ("ok", "?"), ("time_us", "<f8"), ("error", "<f8"),
        ("stage", f"<U{width['stage']}"), ("reason", f"<U{width['reason']}"),
    ]  # fmt: skip
    fields += [(f"metric_{n}", "<f8") for n in metrics] + [(f"{n}_seconds", "<f8") for n in steps]
    table = np.empty(len(records), dtype=fields)
    for name, _ in fields:
        table[name] = [record[name] for record in records]
    return table


def _record(row: Row, begin: float, metrics: Sequence[str], steps: Sequence[str]) -> dict[str, Any]:
    outcome = row.outcome
    ok = isinstance(outcome, Ok)
    generation = row.facts.get("generation")
    return {
        "row": row.id,
        "session": row.session,
        "seconds": row.at - begin,
        "phase": row.phase,
        "generation": generation if isinstance(generation, int) else -1,
        "hash": row.hash,
        "key": row.key,
        "ok": ok,
        "time_us": outcome.time_us if isinstance(outcome, Ok) else math.nan,
        "error": outcome.error if isinstance(outcome, Ok) else math.nan,
        "stage": "" if isinstance(outcome, Ok) else outcome.stage,
        "reason": "" if isinstance(outcome, Ok) else outcome.reason[:REASON_CHARACTERS],
        **{f"metric_{n}": outcome.metrics.get(n, math.nan) if isinstance(outcome, Ok) else math.nan for n in metrics},
        **{f"{n}_seconds": row.timings.get(n, math.nan) for n in steps},
    }
