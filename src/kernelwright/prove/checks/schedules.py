"""Are the outputs right whatever the schedule: in other orders of blocks and warps, and when the lanes of a warp are out of step?"""

from __future__ import annotations

from dataclasses import replace

from kernelwright.device.describe_access import plural
from kernelwright.device.schedule import Schedule
from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, failed, judged, not_run
from kernelwright.prove.checks.runs_ahead import AskedRun
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.evidence import Evidence


def _orders(runs: VariantRuns) -> Answer:
    cases = runs.baseline.reordered(runs.inside(runs.baseline.training))
    orders = runs.baseline.orders
    if not orders or not cases:
        return not_run("no other order was asked for")
    # Races show in any order, nearly: one that is watched is enough.
    asked = [AskedRun(one, s, watch=number == 0) for one in cases for number, s in enumerate(orders)]
    split = [AskedRun(one, s, watch=False) for one in cases for s in runs.baseline.split]
    runs.begin([each] for each in (*asked[1:], *split))
    wrong = [runs.evidence(each.one, each.schedule, watch=each.watch) for each in asked]
    return judged(wrong, f"right on {plural(len(cases), 'case')} in {len(orders)} orders of blocks and warps")


def _sub_warps(runs: VariantRuns) -> Answer:
    baseline = runs.baseline
    cases = baseline.reordered(runs.inside(baseline.training))
    split = baseline.split
    if not split or not cases:
        return not_run("no schedule with split warps was asked for")
    found: list[Evidence | None] = []
    in_whole_warps: list[Evidence] = []
    for one in cases:
        for schedule in split:
            wrong = runs.evidence(one, schedule, watch=False)
            # The same order with whole warps: if that is wrong too, it is not the splitting.
            whole = runs.evidence(one, Schedule.random(schedule.seed), watch=False) if wrong else None
            if whole is not None:
                in_whole_warps.append(whole)
            found.append(None if whole is not None else wrong)
    if baseline.leans_on_lock_step and any(found):
        runs.leans_on_lock_step = baseline.leans_on_lock_step
        why = f"the original itself leans on warps that run in step: under {baseline.leans_on_lock_step} it fails"
        return not_run(why)
    sizes = ", ".join(str(groups) for groups in sorted({s.groups for s in split}))
    answer = judged(found, f"right on {plural(len(cases), 'case')} with warps in {sizes} groups out of step")
    if in_whole_warps:
        first = in_whole_warps[0]
        return replace(answer, also={ORDERS.name: failed(first.sentence, [first])})
    return answer


ORDERS = CheckKind("orders", "schedule-dependent", "... in other orders of blocks and warps?", Turn.SCHEDULES, _orders)
SUB_WARPS = CheckKind(
    "sub-warps", "lock-step only", "... when the lanes of a warp do not run in step?", Turn.SCHEDULES, _sub_warps
)
