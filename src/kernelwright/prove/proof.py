"""A proof: the checks a variant went through, each with its evidence, and the label they add up to. JSON both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.checks.table import CHECKS
from kernelwright.prove.evidence import Check, Evidence, Status
from kernelwright.prove.labels import LABELS, Label, of_failed, worst
from kernelwright.prove.obligations.obligation import Obligation, all_hold, obligation_from_json

SHOWN = 6
"""Pieces of evidence that a check keeps."""
FELL_SHORT = "it is less already than was asked for"
"""Why a check was not made whose answer could have changed nothing."""


@dataclass(frozen=True)
class Proof:
    """What is known of a variant. Raises ``ValueError`` for a check that there is not."""

    checks: tuple[Check, ...]
    seed: int = 0
    """What the orders, held-out cases and changed inputs were drawn from."""
    notes: tuple[str, ...] = ()
    """What is to be known of the original or its workload: races it has itself, a tolerance that doing nothing passes."""
    obligations: tuple[Obligation, ...] = ()
    """What the variant owes beyond the tests. None at all: they were not asked for."""

    def __post_init__(self) -> None:
        for check in self.checks:
            if check.name not in CHECKS or check.status not in get_args(Status):
                raise ValueError(
                    f"{check.name!r} with status {check.status!r} is no check; they are {', '.join(CHECKS)}"
                )

    @property
    def label(self) -> Label:
        """The worst label that a failed or missing check leaves; ``proven`` where all obligations hold and none failed."""
        failed = [CHECKS[check.name].label for check in self.checks if check.status == "failed"]
        not_run = {check.name: CHECKS[check.name].not_run for check in self.checks if check.status == "not run"}
        if not failed and "wrong" not in not_run.values() and self.obligations and all_hold(self.obligations):
            return "proven"
        return worst([*of_failed(failed), *not_run.values()])

    @property
    def is_whole(self) -> bool:
        """Whether every check was made that can be. One that ended where it fell short says no more than that, whatever its label."""
        return all(check.detail != FELL_SHORT for check in self.checks)

    def refuted(self, wrong: Sequence[Evidence]) -> Proof:
        """The proof with what was found wrong on inputs that refute its obligations; itself where nothing was."""
        if not wrong:
            return self
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        failed = Check("different", "failed", f"{wrong[0]}{more}", tuple(wrong[:SHOWN]))
        return replace(self, checks=tuple(failed if one.name == failed.name else one for one in self.checks))

    def check(self, name: str) -> Check:
        """The check of that name. Raises ``KeyError``."""
        return next((c for c in self.checks if c.name == name), None) or _missing(name)

    def as_json(self) -> dict[str, Any]:
        """As journals and ``kw prove --json`` have it; ``proof_from_json`` reads it."""
        return {
            "label": self.label,
            "seed": self.seed,
            "checks": [check.as_json() for check in self.checks],
            "notes": list(self.notes),
            "obligations": [one.as_json() for one in self.obligations],
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
        obligations = tuple(obligation_from_json(one) for one in given.get("obligations", ()))
        proof = Proof(checks, int(given["seed"]), tuple(str(note) for note in given["notes"]), obligations)
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
        str(given["name"]),
        given["status"],
        str(given["detail"]),
        tuple(evidence_from_json(e) for e in given["evidence"]),
    )


def evidence_from_json(given: Mapping[str, Any]) -> Evidence:
    """What ``Evidence.as_json`` wrote. Raises ``TypeError`` for anything else."""
    index = given.get("index")
    return Evidence(**{**given, "index": None if index is None else tuple(int(i) for i in index)})
