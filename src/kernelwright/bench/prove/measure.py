"""Labels of planted variants: every unsafe one gets its right label, hardly a sound one is called unsafe, whatever the seed.

The seed draws the training data, the further cases, the changed inputs and the schedules. Of a family each seed proves one
unsafe and one sound member, in turn.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from kernelwright.bench.prove.families.family import Family, Member
from kernelwright.bench.prove.families.table import FAMILIES
from kernelwright.bench.prove.planted import SOUND, UNSAFE, Planted
from kernelwright.bench.result import Measured, Say
from kernelwright.prove import Prover
from kernelwright.prove.checked_run import Device
from kernelwright.prove.labels import LABELS, Label

SEEDS = 100
QUICK = 3
SECONDS = 5.0
"""What a proof of a small kernel may take."""
SOUND_SHARE = 0.95
"""Of the sound members of families, what must be clean or better."""


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
        result.rows.append(_row(planted.kernel, planted.trap or "nothing", planted.label, labels, seconds))
        say(f"{planted.kernel}: {_found(labels)}")
    result.at_most(f"unsafe variants ({len(UNSAFE)}) with a wrong label", mislabelled, 0)
    result.at_most(f"sound variants ({len(SOUND)}) called unsafe", called_unsafe, 0)
    result.at_most("seconds per proof, processor time", slowest, SECONDS)
    _measure_families(result, seeds, say)
    return result


def _measure_families(result: Measured, seeds: int, say: Say) -> None:
    above = right = proven = 0
    for family in FAMILIES:
        for members in (family.unsafe, family.sound):
            labels, wrong, seconds = label_members(family, members, seeds)
            sound = members[0].is_sound
            above += 0 if sound else len(wrong)
            right += seeds - len(wrong) if sound else 0
            # A label above clean is a proof, and nothing unsafe has one.
            proven += (
                0 if sound else sum(n for label, n in labels.items() if LABELS.index(label) < LABELS.index("clean"))
            )
            trap = "nothing" if sound else family.mistake
            name = f"{family.name}, {len(members)} {'sound' if sound else 'unsafe'}"
            result.rows.append(_row(name, trap, members[0].label, labels, seconds))
            say(f"{name}: {_found(labels)}{f'; wrong: {chr(44).join(wrong)}' if wrong else ''}")
    unsafe = sum(len(family.unsafe) for family in FAMILIES)
    sound_members = sum(len(family.sound) for family in FAMILIES)
    result.at_most(f"unsafe members of families ({unsafe}) above their label", above, 0)
    result.at_most(f"unsafe members of families ({unsafe}) better than clean", proven, 0)
    share = right / (seeds * len(FAMILIES))
    result.at_least(
        f"sound members of families ({sound_members}) clean or better, or as safe as an original that races",
        share,
        SOUND_SHARE,
    )


def label_all(planted: Planted, seeds: int) -> tuple[Counter[Label], float]:
    """The labels that a variant gets, and the processor time of all proofs in seconds."""
    original, variant = planted.original, planted.variant
    device, labels = Device(), Counter[Label]()
    begin = time.process_time()
    for seed in range(seeds):
        labels[Prover(planted.workload(seed), original, seed=seed, device=device).prove(variant).label] += 1
    return labels, time.process_time() - begin


def label_members(family: Family, members: Sequence[Member], seeds: int) -> tuple[Counter[Label], list[str], float]:
    """The labels of one member for each seed, in turn; those that got a wrong one; and the processor time of all proofs."""
    original, variants = family.original, family.variants
    device, labels, wrong = Device(), Counter[Label](), []
    begin = time.process_time()
    for seed in range(seeds):
        member = members[seed % len(members)]
        prover = Prover(family.workload(member, seed), original, seed=seed, device=device)
        changed = {member.kernel: variants[member.kernel]}
        label = prover.prove(changed, guards={member.kernel: member.guards}).label
        labels[label] += 1
        if not member.is_right(label):
            wrong.append(f"{member.kernel} with seed {seed} {label}")
    return labels, wrong, time.process_time() - begin


def _row(name: str, trap: str, label: Label, labels: Counter[Label], seconds: float) -> dict[str, object]:
    seeds = labels.total()
    return {
        "variant": name,
        "rests on": trap,
        "its label": label,
        f"labels given in {seeds} seeds": _found(labels),
        "seconds per proof": round(seconds / seeds, 3),
    }


def _found(labels: Counter[Label]) -> str:
    return ", ".join(f"{label} {count}" for label, count in labels.most_common())
