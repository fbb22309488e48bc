"""Does the variant execute the memory fences of the original? Not all that one too few changes shows in a run here, so the fences
themselves are compared."""

from __future__ import annotations

from kernelwright.cuda.names import readable
from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, failed, not_run, passed
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.evidence import Evidence
from kernelwright.prove.fences import WIDTHS, Fences, fewer, has_fences


def _fences(runs: VariantRuns) -> Answer:
    original = runs.baseline.original
    if not any(has_fences(original[k].functions[k]) for k in runs.kernels if k in original):
        return passed("the original has none")
    expected = sum((one.run.fences for one in runs.trained), Fences())
    if not expected:
        return not_run("no training case executes the original's memory fences")
    lacking = fewer(expected, runs.fences)
    if lacking is None:
        return passed("no memory fence is executed less often than in the original")
    kernel, width = lacking
    rank = WIDTHS.index(width)
    kind = f"memory fences wider than a {WIDTHS[rank - 1]}" if rank else "memory fences"
    found = (
        f"{readable(kernel)} executes {runs.fences[lacking]} {kind} on the training cases, the original "
        f"{expected[lacking]}: not every schedule shows what an absent fence changes"
    )
    return failed(found, [Evidence(found, "fence", kernel=kernel)])


FENCES = CheckKind(
    "fences",
    "schedule-dependent",
    "Does it execute all the memory fences that the original does?",
    Turn.SEEN,
    _fences,
)
