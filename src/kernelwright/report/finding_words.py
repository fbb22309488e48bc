"""How findings about a variant are worded, on the page and on the terminal alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kernelwright.cuda.names import readable
from kernelwright.prove.checks.table import CHECKS

RELATIONS: Mapping[str, str] = {
    "only together": "gain something only together",
    "more together": "gain more together than apart",
    "less together": "gain less together than apart: they save the same",
    "exclude each other": "exclude each other: with both, the result is rejected",
}
"""By ``search.Pair.relation``."""

SAME_CODE: Mapping[bool | None, str] = {
    True: "the assembler makes the same machine code without it",
    False: "",
    None: "",
}
"""Whether the assembler would have done it anyway; nothing where it would not, or where no assembler is installed."""

MOST_EVIDENCE = 3
"""Pieces of evidence of one check that are shown; the JSON has all."""

_MANGLED = re.compile(r"\b_Z\w+")


def alone(share: float | None) -> str:
    """What an edit gains by itself."""
    return "rejected" if share is None else gain(share)


def within(share: float | None) -> str:
    """What the variant loses without it."""
    return "needed" if share is None else gain(share)


def gain(share: float | None) -> str:
    """A share of the original's time that is saved."""
    if share is None:
        return "rejected"
    return "nothing" if abs(share) < 0.0005 else f"{100 * share:+.1f} %"


def for_people(text: str, names: Mapping[str, str] | None = None) -> str:
    """Mangled names as they stand in the source, without their arguments; ``names``: what else is called otherwise."""
    for name, words in (names or {}).items():
        text = text.replace(name, words)
    return _MANGLED.sub(lambda found: readable(found[0]), text)


def domain(proof: Mapping[str, Any] | None) -> str:
    """For which data a variant is right, as far as that is known to be fewer than the original's; else nothing."""
    if proof is None or proof["label"] != "data-specific":
        return ""
    failed = [c for c in proof["checks"] if c["status"] == "failed" and CHECKS[c["name"]].label == "data-specific"]
    why = "".join(f" {check['name']}: {check['detail'].rstrip('.')}." for check in failed)
    return f"It is right for launches like those of the training data, not for all that the original takes.{why}"


def evidence(check: Mapping[str, Any]) -> list[str]:
    """The first few sentences of a check, given as JSON, that its ``detail`` does not say; and how many more there are."""
    told = [each for each in check["evidence"] if each["sentence"] not in check["detail"]]
    fresh = list(dict.fromkeys(_sentence(each) for each in told))
    more = len(fresh) - MOST_EVIDENCE
    return [for_people(text) for text in fresh[:MOST_EVIDENCE]] + ([f"and {more} more"] if more > 0 else [])


def _sentence(evidence: Mapping[str, Any]) -> str:
    schedule = evidence.get("schedule")
    where = [evidence.get("case"), f"schedule {schedule}" if schedule else ""]
    said = ", ".join(text for text in where if text)
    return f"{evidence['sentence']}{f' ({said})' if said else ''}"


def summary(checks: Sequence[Mapping[str, Any]]) -> str:
    """``11 checks passed; not run: different, compute-sanitizer``"""
    by_status = {status: [c["name"] for c in checks if c["status"] == status] for status in ("failed", "not run")}
    passed = sum(check["status"] == "passed" for check in checks)
    said = [
        f"{passed} checks passed",
        *(f"{status}: {', '.join(names)}" for status, names in by_status.items() if names),
    ]
    return "; ".join(said)
