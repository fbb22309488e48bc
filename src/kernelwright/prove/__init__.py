"""Evidence for a variant: what its speed rests on.

proof = prove(workload, originals, {kernel: changed})
print(proof.label)          # clean, benign, lock-step only, data-specific, schedule-dependent, wrong

labels     what a variant is called, and which failed check makes it that
proof      a check, its evidence, and a proof, as values; JSON both ways
watched    a run of a case with every access watched        sites     what was seen, by the place in the code
changes    other inputs made from those there are           outputs   the first element that is wrong
baseline   what the original does                           prover    the checks
too_good   whether the same work can be so fast             sanitizer NVIDIA's checker, on a real GPU
invariants what each edit relies on, counted                observe   the original, instrumented
fences     how many memory fences a launch executes      compared  the constants a kernel compares with
"""

from __future__ import annotations

from kernelwright.prove.effort import Effort
from kernelwright.prove.labels import CHECKS, LABELS, MEANING, REJECTED, Label, label_of
from kernelwright.prove.proof import Check, Evidence, Proof, proof_from_json
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
    "label_of",
    "proof_from_json",
    "prove",
]
