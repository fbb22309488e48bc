"""``kw bench check``: planted defects that are found, and alarms in sound kernels, by class of findings."""

from __future__ import annotations

from collections import Counter

from kernelwright.bench.check.planted_kernels import FILES, PlantedKernel, read
from kernelwright.bench.result import Measured, Say

QUICK = 5
"""A quick run takes every fifth kernel."""


def measure(quick: bool, say: Say) -> Measured:
    """Launches every kernel once, in this process."""
    result = Measured("check")
    planted, found, sound, alarms = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for path in FILES:
        say(path.stem)
        kernels = read(path)
        kinds = {each.kind for each in kernels if each.verdict == "finds"}
        for each in kernels[:: QUICK if quick else 1]:
            missed, false = judge(each)
            if each.verdict == "finds":
                planted[each.kind] += 1
                found[each.kind] += not missed
            else:
                sound.update(kinds)
                alarms.update(false)
            if missed or (each.verdict != "finds" and false):
                result.notes.append(f"{path.name}: {each.name}: {'missed' if missed else ', '.join(sorted(false))}")
    result.rows += [
        {
            "class": kind,
            "planted": planted[kind],
            "found": found[kind],
            "sound look-alikes": sound[kind],
            "alarms": alarms[kind],
        }
        for kind in sorted(planted | alarms)
    ]
    result.rows.append({"class": "all", "planted": planted.total(), "found": found.total(), "alarms": alarms.total()})
    result.at_least("check: planted defects found", found.total(), planted.total())
    result.at_most("check: false alarms", alarms.total(), 0)
    return result


def judge(kernel: PlantedKernel) -> tuple[bool, set[str]]:
    """Whether what is planted was missed, and the classes of all findings."""
    report = kernel.launch().report
    missed = kernel.verdict == "finds" and not any(kernel.is_met_by(one) for one in report.defects)
    return missed, {one.kind for one in report.defects}
