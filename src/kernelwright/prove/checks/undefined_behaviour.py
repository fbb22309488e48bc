"""What the variant does undefined, by the accesses that were watched in all runs so far: races, accesses outside of buffers, reads of
memory that nobody wrote."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.device.describe_access import plural
from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, failed, passed
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.sightings import Site


def _new(fits: Callable[[Site], bool], what: str) -> Callable[[VariantRuns], Answer]:
    """A check for sites that the original has not."""

    def make(runs: VariantRuns) -> Answer:
        found = [evidence for site, evidence in runs.new_sites(runs.sites) if fits(site)]
        return failed(f"{plural(len(found), what)}: {found[0].sentence}", found) if found else passed(f"no {what}")

    return make


def _undefined(runs: VariantRuns) -> Answer:
    new = runs.new_sites(runs.sites)
    fresh = {id(evidence) for _, evidence in new}
    rest = [sight.evidence for sight in runs.sites.values() if id(sight.evidence) not in fresh]
    if not rest:
        nothing = "no race, no access past an end, no read of unwritten memory"
        return passed("nothing but what is new" if new else nothing)
    silent = sum(site.silent and not runs.baseline.is_known(site) for site in runs.sites)
    known = f"{plural(len(rest), 'place')}: the original does the same"
    return failed(known + (f"; at {silent}, no value depends on it" if silent else ""), rest)


RACES = CheckKind(
    "races",
    "schedule-dependent",
    "Are there races between warps or blocks that the original has not?",
    Turn.SEEN,
    _new(lambda site: site.kind == "race" and site.scope != "warp", "new race"),
)
WARP_RACES = CheckKind(
    "warp races",
    "lock-step only",
    "Are there races between lanes of a warp that the original has not?",
    Turn.SEEN,
    _new(lambda site: site.kind == "race" and site.scope == "warp", "new race"),
)
BOUNDS = CheckKind(
    "bounds",
    "schedule-dependent",
    "Are there accesses past the end of a buffer that the original has not?",
    Turn.SEEN,
    _new(lambda site: site.kind == "out-of-bounds", "new place that leaves a buffer"),
)
INITIALISATION = CheckKind(
    "initialisation",
    "schedule-dependent",
    "Is memory read that nobody wrote, where the original does not?",
    Turn.SEEN,
    _new(lambda site: site.kind == "uninitialised", "new place that reads unwritten memory"),
)
UNDEFINED = CheckKind(
    "undefined",
    "benign",
    "Does nothing undefined happen, not even what the original does too?",
    Turn.SEEN,
    _undefined,
)
