"""What the variant does undefined, by the accesses that were watched in all runs so far: races, accesses outside of buffers, reads of
unwritten memory."""

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


def _inherited(runs: VariantRuns) -> Answer:
    """What the original does undefined too, by place."""
    known = [sight.evidence for site, sight in runs.sites.items() if runs.baseline.is_known(site)]
    said = [f"{plural(len(known), 'place')}, the first: {known[0].sentence}"] if known else []
    if runs.leans_on_lock_step:
        said.append(f"results that change under {runs.leans_on_lock_step}, where warps do not run in step")
    if not said:
        return passed("no race, no access past an end, no read of unwritten memory that is the original's too")
    return failed(f"as the original: {'; '.join(said)}", known)


def _undefined(runs: VariantRuns) -> Answer:
    """What is new, but no value depends on it."""
    own = [s.evidence for site, s in runs.sites.items() if site.silent and not runs.baseline.is_known(site)]
    if not own:
        return passed("nothing that the original does not do")
    return failed(f"{plural(len(own), 'new race')} that changed no value: {own[0].sentence}", own)


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
    "Are there reads past a buffer that the original has not?",
    Turn.SEEN,
    _new(lambda site: site.kind == "out-of-bounds", "new place that leaves a buffer"),
)
INITIALISATION = CheckKind(
    "initialisation",
    "schedule-dependent",
    "Is unwritten memory read, where the original does not?",
    Turn.SEEN,
    _new(lambda site: site.kind == "uninitialised", "new place that reads unwritten memory"),
)
INHERITED = CheckKind(
    "inherited",
    "as safe as the original",
    "Does nothing undefined happen that the original does too?",
    Turn.SEEN,
    _inherited,
)
UNDEFINED = CheckKind(
    "undefined",
    "benign",
    "Are there no new races either in which no value differed?",
    Turn.SEEN,
    _undefined,
)
