"""Labels of planted variants: every unsafe one gets its right label, hardly a sound one is called unsafe, whatever the seed.

The seed draws the training data, the further cases, the changed inputs and the schedules. Of a family each seed proves one
unsafe and one sound member, in turn; for the first seeds a drawn edit of the member's original besides, with what it owes
(``drawn_edits.py``). All cores take part; the labels do not depend on how many there are.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from kernelwright.bench.prove.drawn_edits import DrawnEdit
from kernelwright.bench.prove.families.family import Family
from kernelwright.bench.prove.family_table import FAMILIES
from kernelwright.bench.prove.labelling import Labelled, Part, labelled_parts, parts_of
from kernelwright.bench.prove.planted import SOUND, UNSAFE
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.farm import available_cores
from kernelwright.prove.labels import LABELS, Label

SEEDS = 100
QUICK = 3
SECONDS = 5.0
"""What a proof of a small kernel may take."""
SOLVER_SECONDS = 10.0
"""Of the solver's processor time: what the median variant may take that is asked what it owes."""
SOUND_SHARE = 0.95
"""Of the sound members of families, what must be clean or better."""

Name = tuple[str, bool]
"""Of a planted kernel or a family, and whether its sound members are meant."""


def measure(quick: bool, say: Say) -> Measured:
    """``quick``: three seeds."""
    seeds = QUICK if quick else SEEDS
    begin = time.monotonic()
    found = _labelled(parts_of(seeds), say)
    result = Measured("prove")
    result.rows += [_row(name, found[name], seeds) for name in found]
    labels: Counter[Label] = sum((one.labels for one in found.values()), Counter())
    drawn = [each for one in found.values() for each in one.drawn]
    result.rows += label_rows(labels, drawn)
    _promise_planted(result, found)
    _promise_families(result, found)
    promise_drawn(result, drawn)
    slowest = max(one.seconds / one.proofs for one in found.values())
    result.at_most("seconds per proof, processor time", slowest, SECONDS)
    proofs, seconds = sum(one.proofs for one in found.values()), time.monotonic() - begin
    cores = available_cores()
    result.notes.append(f"{proofs} proofs in {seconds:.0f} s on {cores} cores, {proofs / seconds:.2f} per second")
    return result


def _labelled(parts: list[Part], say: Say) -> dict[Name, Labelled]:
    """By name, in the order of the parts; said as soon as all that belongs together has finished."""
    found = {(part.name, part.sound): Labelled() for part in parts}
    families = {family.name: family for family in FAMILIES}
    left = {part.name: sum(other.name == part.name for other in parts) for part in parts}
    for part, labelled in labelled_parts(parts, available_cores()):
        found[part.name, part.sound].add(labelled)
        left[part.name] -= 1
        if not left[part.name]:
            family = families.get(part.name)
            say(_of_family(family, found) if family else f"{part.name}: {_given(found[part.name, part.sound])}")
    return found


def _promise_planted(result: Measured, found: Mapping[Name, Labelled]) -> None:
    mislabelled = sum(len(found[one.kernel, False].wrong) for one in UNSAFE)
    called_unsafe = sum(len(found[one.kernel, True].wrong) for one in SOUND)
    result.at_most(f"unsafe variants ({len(UNSAFE)}) with a wrong label", mislabelled, 0)
    result.at_most(f"sound variants ({len(SOUND)}) called unsafe", called_unsafe, 0)


def _promise_families(result: Measured, found: Mapping[Name, Labelled]) -> None:
    unsafe = [found[family.name, False] for family in FAMILIES]
    sound = [found[family.name, True] for family in FAMILIES]
    members = sum(len(family.unsafe) for family in FAMILIES)
    result.at_most(f"unsafe members of families ({members}) above their label", sum(len(u.wrong) for u in unsafe), 0)
    result.at_most(f"unsafe members of families ({members}) better than clean", sum(u.proven for u in unsafe), 0)
    members = sum(len(family.sound) for family in FAMILIES)
    result.at_least(
        f"sound members of families ({members}) clean or better, or as safe as an original that races",
        1 - sum(len(s.wrong) for s in sound) / sum(s.proofs for s in sound),
        SOUND_SHARE,
    )


def label_rows(labels: Mapping[Label, int], drawn: Sequence[DrawnEdit]) -> list[Row]:
    """A row for each label that was given: how often to a planted variant, how often to a drawn edit, and the solver's time for those
    edits that are asked what they owe."""
    rows: list[Row] = []
    for label in LABELS:
        own = [each for each in drawn if each.label == label]
        took = _seconds(own)
        if labels.get(label) or own:
            rows.append({
                "label": label,
                "planted variants": labels.get(label, 0),
                "drawn edits": len(own),
                "median solver s": round(statistics.median(took), 3) if took else None,
                "maximal solver s": round(max(took), 3) if took else None,
            })  # fmt: skip
    return rows


def promise_drawn(result: Measured, drawn: Sequence[DrawnEdit]) -> None:
    """No proof that a test contradicts, and the solver's time, where it had a question; which edits were contradicted is a note each."""
    against = [each.contradiction for each in drawn if each.contradiction]
    took = _seconds(drawn)
    asking = [seconds for seconds in took if seconds]
    result.at_most(f"drawn edits ({len(drawn)}) that are proven and wrong", len(against), 0)
    result.at_most("median solver time per variant, s", statistics.median(asking) if asking else None, SOLVER_SECONDS)
    result.notes += [f"proven and wrong: {one}" for one in against]
    if took:
        result.notes.append(
            f"{len(took)} of {len(drawn)} drawn edits were asked what they owe, {len(asking)} with a question for the solver, "
            f"which took {max(took):.1f} s at most"
        )


def _seconds(drawn: Sequence[DrawnEdit]) -> list[float]:
    return [each.seconds for each in drawn if each.seconds is not None]


def _of_family(family: Family, found: Mapping[Name, Labelled]) -> str:
    unsafe, sound = found[family.name, False], found[family.name, True]
    both = unsafe.seconds + sound.seconds
    return (
        f"{family.name}: {len(family.unsafe)} unsafe x {unsafe.proofs} seeds, {len(unsafe.wrong)} wrong; {len(family.sound)} sound x "
        f"{sound.proofs} seeds, {_right(sound):.0%} right; {(unsafe.proofs + sound.proofs) / both:.2f} proofs/s of a core"
        f"{_which(unsafe)}{_which(sound)}"
    )


def _row(name: Name, labelled: Labelled, seeds: int) -> Row:
    kernel, sound = name
    family = next((family for family in FAMILIES if family.name == kernel), None)
    if family is not None:
        members = family.sound if sound else family.unsafe
        kernel, trap, label = f"{kernel}, {len(members)} {_kind(sound)}", family.mistake, members[0].label
    else:
        planted = next(one for one in (*UNSAFE, *SOUND) if one.kernel == kernel)
        trap, label = planted.trap, planted.label
    return {
        "variant": kernel,
        "depends on": "nothing" if sound else trap,
        "its label": label,
        f"labels given in {seeds} seeds": _given(labelled),
        "wrong": ", ".join(labelled.wrong) or "0",
        "right": f"{_right(labelled):.0%}",
        "proofs/s of a core": round(labelled.proofs / labelled.seconds, 2),
    }


def _kind(sound: bool) -> str:
    return "sound" if sound else "unsafe"


def _right(labelled: Labelled) -> float:
    return 1 - len(labelled.wrong) / labelled.proofs


def _which(labelled: Labelled) -> str:
    return f"; wrong: {', '.join(labelled.wrong)}" if labelled.wrong else ""


def _given(labelled: Labelled) -> str:
    order = sorted(labelled.labels.items(), key=lambda each: (-each[1], LABELS.index(each[0])))
    return ", ".join(f"{label} {count}" for label, count in order)
