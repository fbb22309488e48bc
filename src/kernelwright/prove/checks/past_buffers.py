"""Does the output depend on what is read past a buffer? Where the original makes such reads, they give other bytes once more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kernelwright.device.describe_access import plural
from kernelwright.evaluate.judging.past_buffers import OTHER_BYTES
from kernelwright.prove.baseline import FORWARD, Baseline, Reference
from kernelwright.prove.checked_run import run_case
from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, judged, not_run, passed
from kernelwright.prove.checks.variant_runs import VariantRuns


def _past_buffers(runs: VariantRuns) -> Answer:
    baseline = runs.baseline
    if baseline.overread is None:
        return passed("the original reads nothing past its buffers, and where a variant does, its launch ends")
    cases = baseline.reordered(runs.inside(baseline.training))
    if not cases:
        return not_run("no training case is one for the changed kernels")
    wrong = [runs.evidence(one, watch=False, overread=byte) for one, byte in _with_other_bytes(baseline, cases)]
    told = [
        one and replace(one, sentence=f"its output depends on what lies past its buffers: {one.sentence}")
        for one in wrong
    ]
    as_original = ", as the original's own output does" if baseline.depends_on_overreads else ""
    return judged(told, f"right on {plural(len(cases), 'case')} with other bytes past its buffers{as_original}")


def _with_other_bytes(baseline: Baseline, cases: list[Reference]) -> Iterator[tuple[Reference, int]]:
    """Each case with what the original makes of it when such reads give other bytes: an original that depends on them is what
    a variant is held to. Where it does not survive them, there is nothing to compare with."""
    for one in cases:
        for byte in OTHER_BYTES:
            if not baseline.depends_on_overreads:
                yield one, byte
                continue
            run = run_case(
                baseline.device, baseline.original, one.case, baseline.workload.kernel, FORWARD,
                watch=False, overread=byte, budget=one.budget,
            )  # fmt: skip
            if run.output is not None:
                yield replace(one, run=run, output=run.output, expected=run.output.arrays), byte


PAST_BUFFERS = CheckKind(
    "past buffers",
    "schedule-dependent",
    "Is the output independent of what is read past a buffer?",
    Turn.SCHEDULES,
    _past_buffers,
)
