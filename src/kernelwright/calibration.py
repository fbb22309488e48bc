"""The constants of the model that a measurement may change, as a value with a JSON file. Nothing measured: all are 1."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

UNCALIBRATED = "uncalibrated"
FORMAT = 1
NORMS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Calibration:
    """Factors on the figures of a GPU's table: 1.1 makes that part of the estimate a tenth slower.

    ``norm`` says how well parts of the work overlap: 1 not at all (they add up), 16 almost perfectly (the largest
    decides). ``gpu`` is the one it was fitted on, ``rows`` the number of measurements, ``error`` their mean relative
    error afterwards.
    """

    name: str = UNCALIBRATED
    gpu: str = ""
    rows: int = 0
    error: float | None = None
    norm: int = 4
    launch: float = 1.0
    issue: float = 1.0
    pipes: float = 1.0
    l1: float = 1.0
    l2: float = 1.0
    dram: float = 1.0
    latency: float = 1.0
    """On the latencies of caches and memory."""
    barrier: float = 1.0
    atomic: float = 1.0
    """Cycles between two atomics on one line."""

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise Misuse(f"a calibration's norm is one of {', '.join(map(str, NORMS))}, not {self.norm!r}")
        for name in FACTORS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise Misuse(f"a calibration's {name!r} is a positive number, not {value!r}")

    @property
    def is_measured(self) -> bool:
        return self.rows > 0

    def __str__(self) -> str:
        return f"{self.name} ({self.rows} measurements on {self.gpu})" if self.is_measured else self.name

    def changed(self, name: str, value: float) -> Calibration:
        """The same with one constant changed."""
        return Calibration(**{**asdict(self), name: value})

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.as_json(), indent=2) + "\n")


FACTORS = ("launch", "issue", "pipes", "l1", "l2", "dram", "latency", "barrier", "atomic")

DEFAULT = Calibration()


def load(path: Path) -> Calibration:
    """Raises ``Misuse`` for a file that is not there or holds no calibration."""
    try:
        found = json.loads(path.read_text())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Misuse(f"{path} holds no calibration: {error}", hint="make one with `make gpu`") from error
    known = {f.name for f in fields(Calibration)}
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Misuse(f"{path} holds no calibration of format {FORMAT}", hint="make one with `make gpu`")
    extra = sorted(set(found) - known - {"format"})
    if extra:
        raise Misuse(f"{path} has constants that the model does not know: {', '.join(extra)}")
    return Calibration(**{name: value for name, value in found.items() if name in known})
