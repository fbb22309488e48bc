"""Are the outputs right: on the workload's own cases, on further ones like them, on other data, and all the same when the variant
is faster than the same work can be?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kernelwright.device.describe_access import plural
from kernelwright.device.schedule import Schedule
from kernelwright.errors import IRError
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.ir import print_module, verify
from kernelwright.passes.llvm import binding
from kernelwright.passes.llvm import parse as llvm_parse
from kernelwright.prove.baseline import CaseSet, Reference
from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, failed, judged, not_run, passed
from kernelwright.prove.checks.compared import Compared, changed_outputs, compared
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.coverage.accepted_changes import ChangedSet
from kernelwright.prove.evidence import Evidence

NO_HELD_OUT = 'there are none: evolve the program with --held-out "ARGUMENTS"'
"""The way to further cases of a recorded program."""
NOTHING_CHANGED = "nothing is changed: every kernel is the original's"
NOTHING_COMPARED = "nothing that the original computes was compared: its outputs are ignored, or no case changes any"
DRAWN = 8
"""Cases with values drawn anew, where none were held out."""


def _training(runs: VariantRuns) -> Answer:
    refused = _refused(runs.variant)
    runs.trained = cases = runs.inside(runs.baseline.training)
    if refused:
        return failed(refused, [Evidence(refused, "fault")])
    if not runs.kernels:
        return passed(NOTHING_CHANGED)
    if not cases:
        why = "lies inside what the variant is meant for" if runs.outside else "launches a kernel that is changed"
        return failed(f"none of the training cases {why}: nothing is known of it")
    amount = _amount(runs, cases)
    wrong = [runs.evidence(one, fences=runs.fences) for one in cases]
    if not amount.output_bytes and not any(wrong):
        return not_run(NOTHING_COMPARED)
    return judged(wrong, f"right on {amount}")


def _refused(variant: Modules) -> str:
    """Why a module is not valid. LLVM would end the process for some that are not, so ours looks first."""
    for module in {id(m): m for m in variant.values()}.values():
        try:
            verify(module)
            llvm_parse(print_module(module), binding().create_context())
        except IRError as error:
            return error.message
    return ""


def _held_out(runs: VariantRuns) -> Answer:
    """On the cases that were held out. Where there are none that show anything new, on training data drawn anew."""
    baseline = runs.baseline
    if not runs.kernels:
        return passed(NOTHING_CHANGED)
    given = runs.inside(baseline.held_out.references)
    cases = [one for one in given if not baseline.is_like_training(one)]
    alike = ""
    if len(cases) < len(given):
        alike = f"; {len(given) - len(cases)} of {len(given)} differ from the training data in nothing that matters"
    if not cases:
        why = _why_none(baseline.held_out, baseline.workload, NO_HELD_OUT) if not given else alike.removeprefix("; ")
        return _drawn_anew(runs, why)
    amount = _amount(runs, cases)
    if not amount.output_bytes:
        return not_run(NOTHING_COMPARED)
    other = Schedule.random(baseline.seed)
    wrong = [runs.evidence(one) or runs.evidence(one, other, watch=False) for one in cases]
    return judged(wrong, f"right on {amount}{_left_out(baseline.held_out)}{alike}")


def _drawn_anew(runs: VariantRuns, why: str) -> Answer:
    """On the training cases with their values drawn anew: the same launches, the same sizes, other data."""
    cases = runs.inside(runs.drawn_anew())[:DRAWN]
    amount = _amount(runs, cases)
    if not amount.output_bytes:
        return not_run(f"{why}, and no values drawn anew from the training data change what the original computes")
    return judged(runs.on_different(cases), f"{why}; right on {amount} with values drawn anew from the training data")


def _different(runs: VariantRuns) -> Answer:
    changed: list[ChangedSet] = []
    for each in runs.changed_sets():
        changed.append(each)
        wrong_at_once = runs.wrong_at_once(each)
        if wrong_at_once is not None:
            return failed(str(wrong_at_once), [wrong_at_once])
    refuting = runs.refuting(runs.inputs.counterexamples)
    sets = [runs.baseline.different, *changed, *refuting]
    for each in (*changed, *refuting):
        runs.outside.update(each.outside)
    everything = CaseSet([r for s in sets for r in s.references], sum((s.dropped for s in sets), Counter()))
    cases = runs.inside(everything.references)
    amount = _amount(runs, cases)
    if not amount.output_bytes:
        why = NOTHING_COMPARED if cases else _why_none(everything, runs.baseline.workload, "no changed input was tried")
        if not cases and everything.references and runs.outside:
            why = "every further case lies outside what the variant is meant for"
        return not_run(why)
    wrong = runs.on_different(cases)
    details = f"{_left_out(everything)}{_shown(changed)}; among those it is right on: {_examples(cases)}"
    return judged(wrong, f"right on {amount}{details}")


def _too_good(runs: VariantRuns) -> Answer:
    speedup, ceiling = runs.inputs.speedup, runs.inputs.ceiling
    if speedup is None:
        return not_run("the variant's speed was not given")
    if speedup <= ceiling:
        return passed(f"{speedup:.3g} times as fast; up to {ceiling:.3g} the same work can be")
    extra = _demanded(runs)
    wrong = [one for one in runs.on_different(extra) if one]
    found = f"{speedup:.3g} times as fast is more than the same work can be ({ceiling:.3g})"
    if wrong:
        return failed(f"{found}: {wrong[0].sentence}", wrong)
    if not extra:
        way = "" if runs.baseline.workload.capture else ": give the workload a generator"
        return failed(f"{found}, and there are no further cases to look at{way}")
    return passed(f"{found}; {len(extra)} further different cases agree all the same")


def _demanded(runs: VariantRuns) -> list[Reference]:
    """Different cases beyond those there were."""
    baseline, into = runs.baseline, CaseSet()
    effort = baseline.effort
    further = baseline.generated(range(effort.draws, 3 * effort.draws), into)
    made = [r for r in map(baseline.accept, further) if isinstance(r, Reference)]
    for first, changed in zip(list(runs.changed_sets()), runs.changed_sets(more=3), strict=True):
        seen = {one.case.name for one in first.references}
        made += [one for one in changed.references if one.case.name not in seen]
    return runs.inside(made)


def _amount(runs: VariantRuns, cases: Sequence[Reference]) -> Compared:
    return compared(cases, runs.baseline.workload.rules, changed_outputs([*runs.baseline.training, *cases]))


def _left_out(of: CaseSet) -> str:
    return "; left out: " + ", ".join(f"{n} {why}" for why, n in of.dropped.items()) if of.dropped else ""


def _shown(sets: Sequence[ChangedSet]) -> str:
    """How far the conditions of the original were seen both true and false on changed inputs."""
    goals, unseen = sum(each.goals for each in sets), [words for each in sets for words in each.unseen]
    if not goals:
        return ""
    first = f" (not {unseen[0]})" if unseen else ""
    return f"; {goals - len(unseen)} of {plural(goals, 'side')} of conditions seen{first}"


def _examples(cases: Sequence[Reference]) -> str:
    step = max(1, len(cases) // 4)
    return "; ".join(one.case.name for one in cases[::step][:4])


def _why_none(found: CaseSet, workload: Workload, of_recordings: str) -> str:
    """``of_recordings``: what can be done where there is a recorded program."""
    if found.dropped:
        return "no case is left: " + ", ".join(f"{n} {why}" for why, n in found.dropped.items())
    if not found.references and workload.capture is not None:
        return of_recordings
    if not found.references and workload.generator is None:
        return "there are none: give the workload a generator, Workload(..., generator=function)"
    return "none of its cases is one for the changed kernels"


TRAINING = CheckKind(
    "training", "wrong", "Are the outputs right on the workload's own cases?", Turn.TRAINING, _training, not_run="wrong"
)
HELD_OUT = CheckKind(
    "held-out",
    "data-specific",
    "... on further cases of the same kind?",
    Turn.HELD_OUT,
    _held_out,
    not_run="data-specific",
)
DIFFERENT = CheckKind(
    "different",
    "data-specific",
    "... on other sizes, shapes, extreme and degenerate values?",
    Turn.DIFFERENT,
    _different,
)
TOO_GOOD = CheckKind(
    "too good", "data-specific", "Is the speed-up one that the same work can have?", Turn.DIFFERENT, _too_good
)
