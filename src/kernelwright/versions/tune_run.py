"""A run of tuning, in a folder of its own: ``kw-runs/app-1/journal.db``, from which it is read, shown and resumed.

Candidates in the journal are thresholds with the dataset they were first run with; what came of one is its time, or why it has none.
Facts of a row: the configuration with everything that was compared. Events: ``end``, what was found, as ``--explain`` has it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.run.journal import Journal
from kernelwright.evaluate.run.run import Run, unreadable
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.threshold_file import Identity


@dataclass(frozen=True)
class TriedThresholds:
    """The kind of candidate that tuning asks about: thresholds for a dataset, as JSON (``evaluate.candidate.Codec``)."""

    name: str = "tune"

    def to_json(self, candidate: Any) -> Any:
        return candidate

    def from_json(self, value: Any) -> Any:
        return value


TRIED_THRESHOLDS = TriedThresholds()


def tune_facts(identity: Identity, path: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is written down when a run begins. ``path``: the threshold file. ``asked``: what the command was given, to go on with."""
    return {"tuned": {**asdict(identity), "path": str(path)}, "asked": dict(asked), "folder": str(Path.cwd())}


class TuneRun(Run[Any]):
    """A run that tunes thresholds, and what it has found."""

    def __init__(
        self, folder: Path, journal: Journal, facts: Mapping[str, Any], kind: TriedThresholds, given: None = None
    ) -> None:
        super().__init__(folder, journal, facts, kind, given)
        if "tuned" not in facts:
            raise unreadable(folder)
        about = facts["tuned"]
        self.identity = Identity(about["program"], about["device"], about["digest"], about.get("calibration", ""))

    def record(self, dataset: str, configuration: Configuration) -> None:
        """A configuration that was run for the first time."""
        outcome: Outcome = configuration.failure or Ok(configuration.time_us, 0.0)
        candidate = {"dataset": dataset, "thresholds": configuration.thresholds}
        self.journal.record(candidate, outcome, facts={"configuration": configuration.as_json()})

    def measured(self) -> dict[str, list[Configuration]]:
        """The configurations that were recorded, by dataset."""
        found: dict[str, list[Configuration]] = {}
        for row in self.rows():
            known = Configuration.from_json(row.facts["configuration"])
            found.setdefault(row.candidate["dataset"], []).append(known)
        return found

    @property
    def failures(self) -> int:
        """Configurations that failed."""
        return sum(isinstance(row.outcome, Rejected) for row in self.rows())

    @property
    def speedup(self) -> float | None:
        """Untuned over tuned, the geometric mean of the datasets that run both ways; None before the end."""
        shares = [
            dataset["untuned_us"] / dataset["tuned_us"]
            for dataset in (self.ended or {}).get("datasets", ())
            if dataset["untuned_us"] and dataset["tuned_us"]
        ]
        return math.exp(sum(map(math.log, shares)) / len(shares)) if shares else None

    @property
    def served(self) -> str:
        """For how many datasets its thresholds are the best; empty before the end."""
        datasets = (self.ended or {}).get("datasets", ())
        return f"best for {sum(d['served'] for d in datasets)} of {len(datasets)} datasets" if datasets else ""
