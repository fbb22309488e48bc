"""Estimates of this version beside times that were measured with another: a result with its estimates made again."""

from __future__ import annotations

import copy
import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelwright.bench.gpu.calibrate import LEAST_RANK, RANK, ranks_of
from kernelwright.bench.gpu.measured_rates import NAME
from kernelwright.errors import Misuse

NOTE = "estimates made again, with a later version of the model than the one that was there when it was measured"


def again(content: Mapping[str, Any], folder: Path, model: str) -> dict[str, Any]:
    """The result as ``benchmarks/gpu.py`` writes it, with the estimates of ``folder``, which ``--prepare`` has written, for ``model``.

    Raises ``Misuse`` for a folder of other variants.
    """
    made = copy.deepcopy(dict(content))
    for part in made["parts"]:
        if part["name"] == "calibration":
            _calibration(part, folder, model)
        elif part["name"] == "rates":
            _rates(part, folder, model)
    return made


def _calibration(part: dict[str, Any], folder: Path, model: str) -> None:
    variants = json.loads((folder / "manifest.json").read_text())["variants"]
    known = {(v["case"], v["name"]): v["estimates"].get(model) for v in variants}
    rows = [row for row in part["rows"] if "variant" in row]
    for row in rows:
        us = known.get((row["kernel"], row["variant"]))
        if us is None:
            raise Misuse(
                f"{folder} has no estimate of {row['kernel']}, {row['variant']}", hint="prepare it as the result's was"
            )
        row["estimated us"] = round(us, 3)
    ranks = ranks_of(rows)
    part["rows"] = [*rows, *({"kernel": name, "rank correlation": round(rank, 3)} for name, rank in ranks.items())]
    for promise in part["promises"]:
        if promise["name"] == RANK and ranks:
            promise["value"] = statistics.median(ranks.values())
            promise["holds"] = promise["value"] >= LEAST_RANK
    _note(part)


def _rates(part: dict[str, Any], folder: Path, model: str) -> None:
    estimates = json.loads((folder / "rates" / NAME).read_text())["estimates"].get(model, {})
    for row in part["rows"]:
        estimate = estimates.get(row["rate"])
        if estimate is not None and row.get("measured"):
            row["estimated"] = float(f"{estimate:.4g}")
            row["off %"] = round(100 * (estimate / row["measured"] - 1), 1)
    _note(part)


def _note(part: dict[str, Any]) -> None:
    if NOTE not in part["notes"]:
        part["notes"].append(NOTE)
