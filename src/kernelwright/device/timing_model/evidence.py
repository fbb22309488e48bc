"""How far an estimate is trusted: which parts of the model were held against measured times, on which GPUs, and with what rank.

    trust(gpu("a100"), {"l1": 3.0, "issue": 0.2}).words
    "rank 0.61 to 0.96 on 4 kernels of this GPU; bound by l1: compared, rank 0.67 to 0.98 on 5 kernels"

One row per set of measured variants, with its source; docs/timing-model.md prints the table, and the command of each row. A term is
compared where it bounds enough of a set's variants. What no row says was never compared.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu

HUB = "AutoTuningAssociation/benchmark_hub 8eeb99e, MIT"
OURS = "make gpu, 2026-11-27, benchmarks/results; the model was corrected by the same result"
H100 = "make gpu, 2026-11-27, benchmarks/results; of this GPU launch cost, latency of memory and L2 are its own"
PAPER = "fjwillemsen/kernel_tuner_paper 5ea2c22, MIT"


@dataclass(frozen=True)
class ComparedSet:
    """Variants of a kernel that were measured on a GPU, beside their estimates.

    ``rank``: Spearman's correlation; ``error``: the median relative error after one scale; ``regret_of_ten``: how much slower
    than the best the best of the model's ten favourites is. ``bound``: how many of the sample each term bounds.
    """

    kernel: str
    gpu: str
    sampled: int
    rank: float
    error: float
    regret_of_ten: float
    bound: Mapping[str, int]
    source: str


COMPARED: tuple[ComparedSet, ...] = (
    # Half of the file: some of the other half was measured at another clock (docs/decisions/0048).
    ComparedSet("convolution", "a100", 40, 0.942, 0.0885, 0.0, {"l1": 24, "fma": 11, "latency": 5}, HUB),
    ComparedSet("convolution", "a4000", 40, 0.965, 0.0391, 0.0, {"l1": 39, "latency": 1}, HUB),
    ComparedSet("convolution", "a6000", 40, 0.948, 0.0482, 0.0, {"l1": 39, "latency": 1}, HUB),
    ComparedSet("convolution of 15", "rtx2080ti", 40, 0.951, 0.0497, 0.0, {"l1": 37, "latency": 2, "memory": 1}, HUB),
    ComparedSet("convolution of 15", "rtx3090", 40, 0.979, 0.0453, 0.0, {"l1": 37, "memory": 2, "latency": 1}, HUB),
    ComparedSet("convolution of 15", "titan-rtx", 39, 0.922, 0.0598, 0.0, {"l1": 34, "latency": 3, "memory": 2}, HUB),
    ComparedSet("dedispersion", "a100", 40, 0.608, 0.0263, 0.0027, {"xu": 40}, HUB),
    ComparedSet("dedispersion", "a4000", 40, 0.667, 0.0448, 0.00089, {"l1": 40}, HUB),
    ComparedSet("dedispersion", "a6000", 40, 0.820, 0.0259, 0.00039, {"l1": 39, "latency": 1}, HUB),
    ComparedSet("matrix product", "a100", 40, 0.923, 0.125, 0.0, {"fma": 24, "l1": 16}, PAPER),
    ComparedSet("matrix product", "rtx2080ti", 40, 0.911, 0.104, 0.0, {"l1": 31, "fma": 8, "memory": 1}, HUB),
    ComparedSet(
        "matrix product",
        "rtx3090",
        40,
        0.855,
        0.104,
        0.018,
        {"l1": 27, "issue": 11, "l2": 1, "memory": 1},
        HUB,
    ),
    ComparedSet("matrix product", "titan-rtx", 40, 0.923, 0.15, 0.0, {"l1": 35, "fma": 5}, HUB),
    ComparedSet("hotspot", "a4000", 40, 0.983, 0.0158, 0.0, {"fp64": 38, "latency": 2}, PAPER),
    ComparedSet("hotspot", "a100", 40, 0.959, 0.379, 0.0, {"latency": 33, "memory": 3, "l1": 3, "issue": 1}, PAPER),
    ComparedSet("point in polygon", "rtx2080ti", 39, 0.903, 0.0834, 0.0, {"issue": 16, "latency": 12, "alu": 11}, HUB),
    ComparedSet("point in polygon", "rtx3090", 38, 0.878, 0.11, 0.0, {"issue": 18, "latency": 13, "alu": 7}, HUB),
    ComparedSet("saxpy", "h200", 20, 0.826, 0.046, 0.0, {"memory": 13, "blocks": 4, "latency": 3}, OURS),
    ComparedSet("polynomial", "h200", 19, 0.833, 0.098, 0.0, {"issue": 15, "latency": 3, "blocks": 1}, OURS),
    ComparedSet("total", "h200", 22, 0.377, 0.0056, 0.0, {"latency": 22}, OURS),
    ComparedSet("product", "h200", 20, 0.873, 0.014, 0.0, {"l1": 16, "issue": 4}, OURS),
    ComparedSet("transpose", "h200", 17, 0.922, 0.1, 0.0, {"blocks": 15, "memory": 1, "l1": 1}, OURS),
    ComparedSet("heat", "h200", 17, 0.689, 0.027, 0.0, {"blocks": 17}, OURS),
    ComparedSet("histogram", "h200", 18, 0.889, 0.028, 0.0, {"atomics": 13, "latency": 5}, OURS),
    ComparedSet("gather", "h200", 19, 0.743, 0.15, 0.0, {"l2": 11, "blocks": 3, "latency": 3, "memory": 2}, OURS),
    ComparedSet("steps", "h200", 19, 0.833, 0.11, 0.0, {"alu": 14, "latency": 3, "blocks": 2}, OURS),
    ComparedSet("saxpy", "h100", 20, 0.842, 0.026, 0.0, {"memory": 13, "blocks": 4, "latency": 3}, H100),
    ComparedSet("polynomial", "h100", 19, 0.838, 0.076, 0.0, {"issue": 15, "latency": 4}, H100),
    ComparedSet("total", "h100", 22, 0.776, 0.0027, 0.0, {"latency": 22}, H100),
    ComparedSet("product", "h100", 20, 0.913, 0.01, 0.0, {"l1": 16, "issue": 4}, H100),
    ComparedSet("transpose", "h100", 17, 0.929, 0.13, 0.0, {"blocks": 10, "latency": 4, "memory": 2, "l1": 1}, H100),
    ComparedSet("heat", "h100", 17, 0.429, 0.03, 0.0, {"memory": 10, "blocks": 5, "l1": 1, "latency": 1}, H100),
    ComparedSet("histogram", "h100", 18, 0.9147, 0.036, 0.0, {"atomics": 13, "latency": 5}, H100),
    ComparedSet("gather", "h100", 19, 0.704, 0.11, 0.0, {"l2": 12, "latency": 3, "blocks": 2, "memory": 2}, H100),
    ComparedSet("steps", "h100", 19, 0.842, 0.13, 0.0, {"alu": 14, "latency": 4, "memory": 1}, H100),
)

LEAST_BOUND = 4
"""Variants of a set that a term has to bound, so that the set says something of it."""
FELT = 0.02
"""Share of what a variant saves from which a term is named."""


@dataclass(frozen=True)
class Trust:
    """``of_gpu``: what was compared on the GPU; ``of_bound``: on any GPU, of the term that bounds the time; ``calibration``: what held-out
    measurements say of it, empty where there is none."""

    of_gpu: str
    of_bound: str
    calibration: str = ""

    @property
    def words(self) -> str:
        """A sentence without its full stop."""
        return "; ".join(part for part in (self.of_gpu, self.of_bound, self.calibration) if part)


def trust(gpu: Gpu, terms: Mapping[str, float]) -> Trust:
    """What stands behind an estimate on ``gpu`` whose time is divided among ``terms``, in any unit."""
    name = gpu.like or gpu.called
    here = [each for each in COMPARED if each.gpu == name]
    of_gpu = f"{_ranks(here)} of {'this GPU' if not gpu.like else f'the {name} that it is like'}"
    if not here:
        others = ", ".join(dict.fromkeys(each.gpu for each in COMPARED))
        of_gpu = f"never compared on this GPU, {_ranks(COMPARED)} of {others}"
    bound = max(terms, key=lambda each: terms[each], default="")
    calibration = gpu.calibration
    fitted = f"calibration {calibration}" if calibration.is_measured else ""
    if fitted and calibration.held_out is not None:
        fitted += f", rank {calibration.held_out:.2f} on variants held out"
    return Trust(of_gpu, f"bound by {bound}: {_of_term(bound)}" if bound else "", fitted)


def compared_on(term: str) -> list[ComparedSet]:
    """The sets that say something of a term."""
    return [each for each in COMPARED if each.bound.get(term, 0) >= LEAST_BOUND]


def unproven_part(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Which part of what a variant saves is in terms that were never compared, in words; empty where nothing is saved.

    ``before``, ``after``: the time that each term answers for. What one term saves and another takes again counts as saved.
    """
    saved = {term: max(0.0, us - after.get(term, 0.0)) for term, us in before.items()}
    total = sum(saved.values())
    if total <= 0:
        return ""
    blind = {t: us / total for t, us in saved.items() if us >= FELT * total and not compared_on(t)}
    if not blind:
        return "all of what it saves is in parts of the model that were compared with measured times"
    parts = ", ".join(
        f"{term} {100 * share:.0f} %" for term, share in sorted(blind.items(), key=lambda p: (-p[1], p[0]))
    )
    share = f"{100 * sum(blind.values()):.0f} % of what it saves"
    return f"{share} is in parts of the model that were never compared with measured times ({parts})"


def _of_term(term: str) -> str:
    sets = compared_on(term)
    return f"compared, {_ranks(sets)}" if sets else "never compared"


def _ranks(sets: list[ComparedSet] | tuple[ComparedSet, ...]) -> str:
    if not sets:
        return "no rank"
    least, most = min(each.rank for each in sets), max(each.rank for each in sets)
    said = f"{least:.2f}" if f"{least:.2f}" == f"{most:.2f}" else f"{least:.2f} to {most:.2f}"
    kernels = len({each.kernel for each in sets})
    return f"rank {said} on {kernels} kernel{'s' if kernels > 1 else ''}"
