"""An outcome: how a candidate did. Failure is a value with a cause, never an exception out of a search.

Outcomes are equal, hashable and picklable by content, and JSON both ways: the journal, the workers and the report pass
the same values around.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from kernelwright.cuda.names import readable
from kernelwright.device.fault import Fault
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

STAGES: dict[str, str] = {
    "verify": "the changed IR is not valid",
    "compile": "the compiler or the assembler refused it",
    "launch": "the device refused the launch: its geometry, arguments or resources",
    "fault": "the kernel did what no kernel may: it left its buffers, raced, met a divergent barrier, trapped",
    "timeout": "it did not end within its budget or its time",
    "memory": "it needed more memory than it may have",
    "crash": "the process that ran it died",
    "compare": "its output lies outside the tolerance",
    "order": "its output depends on the order in which blocks, warps or lanes run",
    "program": "the whole program failed: its exit code, or an output that is missing or unreadable",
}
"""Where a candidate can be rejected, in the order it gets there, and what that means. The table is closed: reports
and statistics count by these names."""


class Metrics(Mapping[str, float]):
    """Named figures beside time and error. Immutable; equal and hashable by content."""

    __slots__ = ("_figures",)

    def __init__(self, figures: Mapping[str, float] | None = None) -> None:
        self._figures = {name: float(figure) for name, figure in sorted((figures or {}).items())}

    def __getitem__(self, name: str) -> float:
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __hash__(self) -> int:
        return hash(tuple(self._figures.items()))

    def __repr__(self) -> str:
        return f"Metrics({self._figures})"


@dataclass(frozen=True)
class Ok:
    """The candidate computed what it should, within tolerance.

    Raises ``ValueError`` for figures that are negative, infinite or no numbers: a candidate that makes such is rejected.
    """

    time_us: float
    """Time in microseconds, as the device measures or estimates it: of all launches of a data set together, the geometric mean over
    the data sets (``timing/data_sets.py``)."""
    error: float
    """The largest error over all outputs, as their rules of comparison measure it; 0 is exact."""
    metrics: Metrics = field(default_factory=Metrics)
    """Further figures: counters, intervals, an application's own objective."""

    def __post_init__(self) -> None:
        if not isinstance(self.metrics, Metrics):
            object.__setattr__(self, "metrics", Metrics(self.metrics))
        for name, figure in (("time_us", self.time_us), ("error", self.error)):
            if not (math.isfinite(figure) and figure >= 0):
                raise ValueError(f"{name} is {figure}; an accepted candidate has a finite one that is not negative")
        for name, figure in self.metrics.items():
            if not math.isfinite(figure):
                raise ValueError(f"metric {name!r} is {figure}; metrics are finite numbers")

    @property
    def cost(self) -> float:
        """``time_us``: what is minimised when there is one objective."""
        return self.time_us

    def objectives(self, names: Sequence[str] = ("time", "error")) -> tuple[float, ...]:
        """The figures to minimise: ``time``, ``error``, or the name of a metric. Raises ``Misuse`` for an unknown one."""
        known = {**self.metrics, "time": self.time_us, "error": self.error}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise Misuse(f"there is no objective {unknown[0]!r}", hint=f"this workload has {', '.join(sorted(known))}")
        return tuple(known[name] for name in names)

    def as_json(self) -> dict[str, Any]:
        """As journals keep it; time in microseconds. ``outcome_from_json`` reads it."""
        return {"ok": True, "time_us": self.time_us, "error": self.error, "metrics": dict(self.metrics)}

    def __str__(self) -> str:
        return f"{self.time_us:.6g} us, error {self.error:g}"


@dataclass(frozen=True)
class Rejected:
    """The candidate was rejected at ``stage``, one of ``STAGES``, for ``reason``, one sentence."""

    stage: str
    reason: str
    where: str = ""
    """The place in source or IR, where one is known: ``blur.cu:19``."""

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise ValueError(f"{self.stage!r} is no stage; the stages are {', '.join(STAGES)}")

    def as_json(self) -> dict[str, Any]:
        """As journals keep it; ``outcome_from_json`` reads it."""
        return {"ok": False, "stage": self.stage, "reason": self.reason, "where": self.where}

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason}" + (f" ({self.where})" if self.where else "")


Outcome = Ok | Rejected


def rejected_by(fault: Fault) -> Rejected:
    """The rejection of a candidate whose kernel stopped with ``fault``."""
    stage = "timeout" if fault.kind == "endless" else "fault"
    who = f" (kernel {readable(fault.kernel)}, block {fault.block}, thread {fault.thread})" if fault.thread else ""
    return Rejected(stage, f"{fault.kind}: {fault.message}{who}", str(fault.where) if fault.where else "")


def outcome_to_text(outcome: Outcome) -> str:
    """One line of JSON; numbers keep every bit."""
    return json.dumps(outcome.as_json(), sort_keys=True, ensure_ascii=False, allow_nan=False)


def outcome_from_json(value: Mapping[str, Any] | str) -> Outcome:
    """The outcome that ``as_json`` or ``outcome_to_text`` wrote. Raises ``Misuse`` for anything else."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
        if found["ok"] is True:
            return Ok(float(found["time_us"]), float(found["error"]), Metrics(found["metrics"]))
        if found["ok"] is False:
            return Rejected(str(found["stage"]), str(found["reason"]), str(found["where"]))
        raise ValueError("'ok' is neither true nor false")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Misuse(
            f"this is no outcome ({type(error).__name__}: {error}): {str(value)[:80]}",
            hint="a newer Kernelwright may have written it: upgrade",
        ) from error
