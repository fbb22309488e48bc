"""A guard alone: the variant is for launches that meet it, and changes nothing by that.

    before   whatever the other edits rely on          after   the same, checked at each launch: argument 3 >= 1

What a proof finds to be needed becomes part of the genome this way, so that it is asked for wherever the variant is run.
"""

from __future__ import annotations

import json
from typing import Any

from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind
from kernelwright.edits.instruction_words import Words
from kernelwright.edits.original import Original
from kernelwright.guards import Apart, AtStart, Guard
from kernelwright.launch_relations import LaunchRelation, relation_as_json, relation_from_json
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class RequireLaunch:
    """Launches must meet ``guard``, written as JSON (``guard_json``)."""

    guard: str

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        try:
            guard = guard_of(self.guard)
        except (ValueError, KeyError, TypeError):
            return f"{self.guard} is no guard"
        if guard in draft.guards:
            return f"{guard} is asked of launches already"
        draft.guards[guard] = None
        return None


def guard_json(guard: LaunchRelation | Apart | AtStart) -> str:
    """A guard as a line of JSON."""
    if isinstance(guard, Apart | AtStart):
        value: dict[str, Any] = {"apart" if isinstance(guard, Apart) else "at start": guard.index}
    else:
        value = relation_as_json(guard)
    return json.dumps(value, separators=(",", ":"))


def guard_of(text: str) -> Guard:
    """The guard again. Raises ``ValueError``, ``KeyError`` or ``TypeError`` for what is none."""
    value = json.loads(text)
    if "at start" in value:
        return AtStart(int(value["at start"]))
    return Apart(int(value["apart"])) if "apart" in value else relation_from_json(value)


def _read(value: Any) -> str:
    guard_of(value)
    return str(value)


def in_words(original: Original, edit: RequireLaunch) -> Words:
    """Kind, sentence and place of the edit, for people."""
    try:
        return Words("promise", f"at each launch: {guard_of(edit.guard)}")
    except (ValueError, KeyError, TypeError):
        return Words("promise", "at each launch: nothing that can be read")


# It is neither drawn nor listed: proofs add it.
KIND = EditKind(
    "require-launch", RequireLaunch, in_words, reads={"guard": _read}, relies_on=SAME_RESULT, keeps_meaning=True
)
