"""A proof: the checks a variant went through, each with its evidence, and the label they add up to. JSON both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from kernelwright.errors import Misuse
from kernelwright.prove.labels import CHECKS, LABELS, Label, label_of

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
    """One question of ``CHECKS`` and its answer. ``detail`` says what was done, found, or why it was not run."""

    name: str
    status: Status
    detail: str
    evidence: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in CHECKS or self.status not in get_args(Status):
            raise ValueError(f"{self.name!r} with status {self.status!r} is no check; they are {', '.join(CHECKS)}")

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "status": self.status,
            "detail": self.detail,
            "evidence": [one.as_json() for one in self.evidence],
        }

    def __str__(self) -> str:
        return f"{self.name}: {self.status} - {self.detail}"


@dataclass(frozen=True)
class Proof:
    """What is known of a variant."""

    checks: tuple[Check, ...]
    seed: int = 0
    """What the orders, held-out cases and changed inputs were drawn from."""
    notes: tuple[str, ...] = ()
    """What is to be known of the original or its workload: races it has itself, a tolerance that doing nothing passes."""

    @property
    def label(self) -> Label:
        return label_of(check.name for check in self.checks if check.status == "failed")

    def check(self, name: str) -> Check:
        """The check of that name. Raises ``KeyError``."""
        return next((c for c in self.checks if c.name == name), None) or _missing(name)

    def as_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "seed": self.seed,
            "checks": [check.as_json() for check in self.checks],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join([self.label, *(f"  {check}" for check in self.checks), *(f"  note: {n}" for n in self.notes)])


def _missing(name: str) -> Check:
    raise KeyError(name)


def proof_from_json(value: Mapping[str, Any] | str) -> Proof:
    """The proof that ``as_json`` wrote, as an object or as text. Raises ``Misuse`` for anything else."""
    try:
        given = json.loads(value) if isinstance(value, str) else value
        checks = tuple(_check(check) for check in given["checks"])
        proof = Proof(checks, int(given["seed"]), tuple(str(note) for note in given["notes"]))
        if given["label"] not in LABELS or proof.label != given["label"]:
            raise ValueError(f"its checks make it {proof.label!r}, it says {given['label']!r}")
        return proof
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Misuse(
            f"this is no proof ({type(error).__name__}: {error}): {str(value)[:80]}",
            hint="a newer Kernelwright may have written it: upgrade, or prove the variant again",
        ) from error


def _check(given: Mapping[str, Any]) -> Check:
    return Check(
        str(given["name"]), given["status"], str(given["detail"]), tuple(_evidence(e) for e in given["evidence"])
    )


def _evidence(given: Mapping[str, Any]) -> Evidence:
    index = given.get("index")
    return Evidence(**{**given, "index": None if index is None else tuple(int(i) for i in index)})
