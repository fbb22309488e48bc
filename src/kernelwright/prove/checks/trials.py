"""Trials outside of the cases: the whole program with the kernels exchanged, and NVIDIA's checker on it."""

from __future__ import annotations

from kernelwright.device.describe_access import plural
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.judging.program_outputs import COMPARED, FILES_LEFT_OUT, LINES_LEFT_OUT
from kernelwright.evaluate.outcome import Rejected
from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, failed, not_run, passed
from kernelwright.prove.checks.variant_runs import Trial, VariantRuns
from kernelwright.prove.evidence import Evidence


def _whole_program(runs: VariantRuns) -> Answer:
    return _tried(runs, runs.inputs.whole_program, "there is no program to run, only its launches")


def _larger_data(runs: VariantRuns) -> Answer:
    return _tried(runs, runs.inputs.larger_data, "there is no larger set of data")


def _sanitizer(runs: VariantRuns) -> Answer:
    return _tried(runs, runs.inputs.sanitizer, runs.inputs.why_no_sanitizer)


def _tried(runs: VariantRuns, trial: Trial | None, why_not: str) -> Answer:
    if trial is None:
        return not_run(why_not)
    try:
        outcome = trial(runs.modules)
    except KernelwrightError as error:
        return not_run(error.message)
    if isinstance(outcome, Rejected):
        evidence = Evidence(outcome.reason, "fault" if outcome.stage != "compare" else "value", place=outcome.where)
        return failed(outcome.reason, [evidence])
    amount = outcome.metrics
    if COMPARED not in amount:
        return passed(f"right, error {outcome.error:g}")
    if not amount[COMPARED]:
        return not_run(
            "nothing that the program leaves is the same in two runs of the original, so nothing was compared"
        )
    left_out = [
        f"{plural(int(amount[name]), what)} that differ{'s' if amount[name] == 1 else ''} between two runs of the original"
        for name, what in ((LINES_LEFT_OUT, "line"), (FILES_LEFT_OUT, "file"))
        if amount[name]
    ]
    rest = f"; left out: {', '.join(left_out)}" if left_out else ""
    return passed(f"right, error {outcome.error:g}, {int(amount[COMPARED]):,} bytes of output compared{rest}")


WHOLE_PROGRAM = CheckKind(
    "whole program", "wrong", "Does the whole program still give its results?", Turn.WHOLE, _whole_program
)
LARGER_DATA = CheckKind(
    "larger data",
    "data-specific",
    "Does the whole program give its results on more data than it was evolved on?",
    Turn.LARGER,
    _larger_data,
)
SANITIZER = CheckKind(
    "compute-sanitizer",
    "schedule-dependent",
    "Does NVIDIA's checker find nothing on a real GPU?",
    Turn.WHOLE,
    _sanitizer,
)
