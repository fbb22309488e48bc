"""Single edits of planted kernels, as a search draws them: what they owe, what the solver takes, and whether a test contradicts a proof.

    drawn = label_edit(prover, original, seed)
    drawn.label, drawn.seconds                  # "proven", 0.004

Planted variants are compiled from source and have no edits, so they owe nothing that a solver could be asked about; these do.
"""

from __future__ import annotations

import random
from dataclasses import replace

from kernelwright.edits import OPERATORS, Original, apply, draw, known_edits
from kernelwright.edits.edit_kind import Edit
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove import Prover
from kernelwright.prove.domain import training_facts
from kernelwright.prove.labels import LABELS, Label
from kernelwright.prove.obligations.obligation import all_hold, solver_seconds
from kernelwright.prove.obligations.owed import owed
from kernelwright.prove.proof import Proof

DRAWS = 8
"""Edits that are drawn until one is right on the training cases, as whatever a search has proven is."""


@dataclass(frozen=True)
class DrawnEdit:
    """One kernel with an edit."""

    label: Label
    """Of its proof, obligations included."""
    seconds: float | None
    """Of processor time that the solver took for all that it owes; None for a variant that its tests leave below clean, which no search
    asks the solver about."""
    contradiction: str = ""
    """What a test found against a variant all of whose obligations hold."""


def label_edit(prover: Prover, original: Original, seed: int) -> DrawnEdit | None:
    """A drawn edit, proven as a search does; None where none is right in training. Below clean it is asked what it owes as well, without
    a search for guards: it must not all hold."""
    dice = random.Random(f"{original.kernel} {seed}")
    launches = training_facts(prover.baseline).get(original.kernel, [])
    known = known_edits({original.kernel: original}, {original.kernel: launches})[original.kernel]
    for _ in range(DRAWS):
        edit = draw(original, dice, operators=OPERATORS, known=known)
        if edit is None:
            return None
        proof = _tested(prover, original, edit)
        if proof.label != "wrong":
            obligations = tuple(owed(original, [edit], launches if proof.label == "clean" else ()))
            return as_drawn(replace(proof, obligations=obligations), f"{edit} of {original.kernel}")
    return None


def as_drawn(proof: Proof, what: str) -> DrawnEdit:
    """What a proof with obligations says. Obligations that all hold beside a test that failed are a contradiction."""
    is_asked = proof.label in ("proven", "clean")
    contradicted = all_hold(proof.obligations) and LABELS.index(proof.label) > LABELS.index("as safe as the original")
    seconds = solver_seconds(proof.obligations) if is_asked else None
    return DrawnEdit(proof.label, seconds, f"{what} {proof.label}" if contradicted else "")


def _tested(prover: Prover, original: Original, edit: Edit) -> Proof:
    applied = apply(original, [edit])
    return prover.prove({original.kernel: applied.module}, guards={original.kernel: applied.guards})
