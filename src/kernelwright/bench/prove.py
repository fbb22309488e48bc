"""Labels of the planted set: every unsafe win gets its right one, no sound win is called unsafe, whatever the seed.

The seed draws the training data, the further cases, the changed inputs and the schedules.
"""

from __future__ import annotations

import time
from collections import Counter

from kernelwright.bench.planted import SOUND, UNSAFE, Planted
from kernelwright.bench.result import Measured, Say
from kernelwright.prove import Prover
from kernelwright.prove.checked_run import Device

SEEDS = 100
QUICK = 3
SECONDS = 5.0
"""What a proof of a small kernel may take."""


def measure(quick: bool, say: Say) -> Measured:
    """``quick``: three seeds."""
    result = Measured("prove")
    seeds = QUICK if quick else SEEDS
    mislabelled = called_unsafe = 0
    slowest = 0.0
    for planted in (*UNSAFE, *SOUND):
        labels, seconds = label_all(planted, seeds)
        wrong = seeds - labels[planted.label]
        mislabelled += wrong if planted in UNSAFE else 0
        called_unsafe += wrong if planted in SOUND else 0
        slowest = max(slowest, seconds / seeds)
        found = ", ".join(f"{label} {count}" for label, count in labels.most_common())
        result.rows.append(
            {
                "variant": planted.kernel,
                "rests on": planted.trap or "nothing",
                "its label": planted.label,
                f"labels given in {seeds} seeds": found,
                "seconds per proof": round(seconds / seeds, 3),
            }
        )
        say(f"{planted.kernel}: {found}")
    result.at_most(f"unsafe variants ({len(UNSAFE)}) with a wrong label", mislabelled, 0)
    result.at_most(f"sound variants ({len(SOUND)}) called unsafe", called_unsafe, 0)
    result.at_most("seconds per proof, processor time", slowest, SECONDS)
    return result


def label_all(planted: Planted, seeds: int) -> tuple[Counter[str], float]:
    """The labels that a variant gets, and the processor time of all proofs in seconds."""
    original, variant = planted.original, planted.variant
    device, labels = Device(), Counter[str]()
    begin = time.process_time()
    for seed in range(seeds):
        labels[Prover(planted.workload(seed), original, seed=seed, device=device).prove(variant).label] += 1
    return labels, time.process_time() - begin
