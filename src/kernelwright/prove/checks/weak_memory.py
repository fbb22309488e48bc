"""Are the outputs right where memory is weak: where stores wait and loads are late, until a fence, a barrier or an atomic orders them?

Asked of kernels with fences; others have nothing but barriers and atomics to lean on, and where those are missing threads race. A
schedule under which the original itself gives other results proves nothing, and is left out: programs that read behind an atomic
without a fence, as many do, are only asked about stores that wait.
"""

from __future__ import annotations

from kernelwright.device.describe_access import plural
from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, judged, not_run, passed
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.fences import has_fences


def _weak_memory(runs: VariantRuns) -> Answer:
    baseline = runs.baseline
    fenced = frozenset(
        k for k in runs.kernels if k in baseline.original and has_fences(baseline.original[k].functions[k])
    )
    if not fenced:
        return passed("the original has no fence")
    cases = [one for one in baseline.reordered(runs.inside(baseline.training)) if one.kernels & fenced]
    tried = baseline.weak_orders
    if not cases or not tried:
        return not_run("no training case runs a kernel with fences" if not cases else "nothing was asked for")
    orders = [schedule for schedule, holds in tried.items() if holds]
    if not orders:
        return not_run("the original's own results change wherever memory is weak")
    wrong = [runs.evidence(one, schedule, watch=False) for one in cases for schedule in orders]
    left_out = len(tried) - len(orders)
    but = f"; in {left_out} more the original's own results change" if left_out else ""
    return judged(
        wrong, f"right on {plural(len(cases), 'case')} in {plural(len(orders), 'schedule')} of weak memory{but}"
    )


WEAK_MEMORY = CheckKind(
    "weak memory",
    "schedule-dependent",
    "... where stores wait and loads are late, as far as fences let them?",
    Turn.SCHEDULES,
    _weak_memory,
)
