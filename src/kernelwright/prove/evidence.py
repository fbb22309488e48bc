"""What was seen of a variant, and what came of a check, as values. JSON one way; ``proof.py`` reads it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal

from kernelwright.lazy_dataclasses import dataclass

Status = Literal["passed", "failed", "not run"]


@dataclass(frozen=True)
class Evidence:
    """One thing that was seen. Empty fields do not apply."""

    sentence: str
    kind: str = ""
    """``value``, ``fault``, ``race``, ``out-of-bounds``, ``uninitialised``."""
    case: str = ""
    schedule: str = ""
    kernel: str = ""
    """Its mangled name."""
    place: str = ""
    """``blur.cu:19``, or the instruction where no line is known."""
    other: str = ""
    """The other end of a race."""
    output: str = ""
    index: tuple[int, ...] | None = None
    """The first element of ``output`` that lies outside the tolerance."""
    found: str = ""
    expected: str = ""
    count: int = 0
    """How many elements lie outside, or how often it was seen."""

    def as_json(self) -> dict[str, Any]:
        """Only what applies."""
        known = {f.name: getattr(self, f.name) for f in fields(self)}
        return {n: list(v) if isinstance(v, tuple) else v for n, v in known.items() if v not in ("", 0, None)}

    def __str__(self) -> str:
        where = ", ".join(w for w in (self.case, f"schedule {self.schedule}" if self.schedule else "") if w)
        return f"{self.sentence}{f' ({where})' if where else ''}"


@dataclass(frozen=True)
class Check:
    """One question (``prove/checks/table.py``) and its answer. ``detail`` says what was done, found, or why it was not run."""

    name: str
    status: Status
    detail: str
    evidence: tuple[Evidence, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As journals and ``kw prove --json`` have it; ``proof_from_json`` reads it."""
        return {
            "name": self.name,
            "status": self.status,
            "detail": self.detail,
            "evidence": [one.as_json() for one in self.evidence],
        }

    def __str__(self) -> str:
        return f"{self.name}: {self.status} - {self.detail}"
