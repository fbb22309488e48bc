"""What a benchmark returns: rows of figures, and promises that hold or do not."""

from __future__ import annotations

import datetime
import os
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from kernelwright.evaluate.run.machine_facts import machine, tool_versions
from kernelwright.lazy_dataclasses import dataclass

Row = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Promise:
    """``value`` must stay on the right side of ``bound``. ``holds`` is None when it could not be measured here."""

    name: str
    value: float | None
    bound: str
    holds: bool | None


@dataclass
class Measured:
    """One benchmark's result; ``as_json`` is the object ``kw bench --json`` prints."""

    name: str
    rows: list[Row] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def at_most(self, name: str, value: float | None, bound: float) -> None:
        """Adds a promise that ``value`` is at most ``bound``; None: it could not be measured here."""
        self.promises.append(Promise(name, _rounded(value), f"<= {bound:g}", None if value is None else value <= bound))

    def at_least(self, name: str, value: float | None, bound: float) -> None:
        """Adds a promise that ``value`` is at least ``bound``; None: it could not be measured here."""
        self.promises.append(Promise(name, _rounded(value), f">= {bound:g}", None if value is None else value >= bound))

    def as_json(self) -> dict[str, Any]:
        """Rows, promises and notes, with today's date, the machine, and the versions of what was used."""
        return {
            "name": self.name,
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "versions": {**tool_versions(), **toolkit_versions()},
            "rows": self.rows,
            "promises": [asdict(p) for p in self.promises],
            "notes": self.notes,
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def toolkit_versions() -> dict[str, str]:
    """NVIDIA's compiler and assembler, as far as they are on the path: {"nvcc": "13.0.88", "ptxas": "13.0.88"}."""
    found = {}
    for tool in ("nvcc", "ptxas"):
        try:
            said = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=60).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        version = re.search(r"release [\d.]+, V([\d.]+)", said)
        if version:
            found[tool] = version[1]
    return found


def seconds(command: Sequence[str], *, cwd: Path | None = None, environment: dict[str, str] | None = None) -> float:
    """Wall time of one process. Raises ``RuntimeError`` with its last line when it fails."""
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, capture_output=True, text=True)
    taken = time.perf_counter() - begin
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(f"{' '.join(command)} failed: {last[-1] if last else done.returncode}")
    return taken


def interleaved(runs: dict[str, Callable[[], float]], repeat: int) -> dict[str, float]:
    """The median of each run over ``repeat`` rounds, one of each per round, so that noise hits all alike."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            taken[name].append(run())
    return {name: statistics.median(values) for name, values in taken.items()}
