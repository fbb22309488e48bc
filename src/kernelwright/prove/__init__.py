"""Evidence for a variant: what its speed depends on.

proof = prove(workload, originals, {kernel: changed})
print(proof.label)          # proven, clean, as safe as the original, benign, lock-step only, data-specific, schedule-dependent, wrong

labels     what a variant is called                      checks/   each check, and the table of them
evidence   what was seen, as values                      proof     what the checks add up to; JSON both ways
prover     makes the checks in their turn                baseline  what the original does
checked_run   a run of a case, every access watched      sightings what was seen, by the place in the code
changed_inputs   other inputs made from those there are  output_difference   the first element that is wrong
coverage   both sides of every condition are looked for  fences    how many memory fences a launch executes
speedup_ceiling   whether the same work can be so fast   sanitizer NVIDIA's checker, on a real GPU
invariants what each edit relies on, counted             affected_places   the values, stores and barriers it takes away
instrumentation   the original, with counters
"""

from __future__ import annotations

from kernelwright.prove.checks.table import CHECKS
from kernelwright.prove.effort import Effort
from kernelwright.prove.evidence import Check, Evidence
from kernelwright.prove.labels import LABELS, MEANING, REJECTED, Label
from kernelwright.prove.proof import Proof, proof_from_json
from kernelwright.prove.prover import Guards, Prover, Trial, prove

__all__ = [
    "CHECKS",
    "LABELS",
    "MEANING",
    "REJECTED",
    "Check",
    "Effort",
    "Evidence",
    "Guards",
    "Label",
    "Proof",
    "Prover",
    "Trial",
    "proof_from_json",
    "prove",
]
