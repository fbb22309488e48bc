"""``kw bench model``: what can be shown of the timing model without a GPU and without downloads.

Counters beside what they must be, of launches for which formulas say it (``exact_counts.py``): promised, to the last one. Estimates beside
published microbenchmarks (``published.py``): printed, with the error of each, and not promised, because sources differ from each
other by more than the model from them. Estimates from samples beside those of whole grids, over the suite: promised to 2 %.
How estimates rank variants of whole kernels is ``kw model check``, on measured times that have to be downloaded.
"""

from __future__ import annotations

import statistics
from functools import cache

from kernelwright.bench.model.exact_counts import counted_rows
from kernelwright.bench.model.published import GPUS, PUBLISHED, Published, Quantity
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.bench.sampling import OFF_BOUND, over_suite
from kernelwright.target import gpu

COUNTED_ON = ("rtx2080ti", "a100", "rtx3090", "rtx4090", "h200")
"""One for each target of the assembler, Volta's left out: its code has a shuffle more, which no lane takes part in."""
QUICK_GPUS = ("h200", "a100")
QUICK_EVERY = 4
"""A quick run looks at every fourth launch, on one GPU."""


def measure(quick: bool, say: Say) -> Measured:
    """Counters, microbenchmarks and samples of blocks; ``quick``: one GPU. Errors are relative."""
    result = Measured("model")
    counts: list[Row] = []
    for name in QUICK_GPUS[:1] if quick else COUNTED_ON:
        say(f"exact counts, {name}")
        counts += counted_rows(gpu(name), QUICK_EVERY if quick else 1)
    result.rows += count_rows(counts)
    wrong = [row for row in counts if row["counted"] != row["exact"]]
    result.notes += [
        f"{row['gpu']}, {row['kernel']}, {row['launch']}: {row['counted']} {row['counter']}, and not {row['exact']}"
        for row in wrong
    ]
    result.at_most(f"counters that are not exact, of {len(counts):,}", len(wrong), 0)

    figures = [each for each in PUBLISHED if not quick or each.gpu in QUICK_GPUS]
    compared = published_rows(figures, say)
    result.rows += compared
    result.notes += medians(figures, compared)

    say("samples")
    rows, launches = over_suite(quick, say)
    result.rows += rows
    off = [abs(row["off %"]) for row in launches if "off %" in row]
    result.at_most("samples, farthest from the whole grid, %", max(off, default=None), OFF_BOUND)
    return result


def count_rows(counts: list[Row]) -> list[Row]:
    """A row for each kernel: of how many counters, and how many are exact."""
    found: dict[str, Row] = {}
    for row in counts:
        of = found.setdefault(row["kernel"], {"counters of": row["kernel"], "launches": 0, "counters": 0, "exact": 0})
        of["counters"] += 1
        of["exact"] += row["counted"] == row["exact"]
    for kernel, of in found.items():
        of["launches"] = len({(row["gpu"], row["launch"]) for row in counts if row["kernel"] == kernel})
    return list(found.values())


def published_rows(figures: list[Published], say: Say) -> list[Row]:
    """A row for each figure, with what the model says and how far that is off."""

    @cache
    def estimated(quantity: Quantity, on: str) -> float:
        say(f"{quantity.name}, {on}")
        return quantity.estimated(GPUS[on])

    rows = []
    for each in figures:
        value = estimated(each.quantity, each.gpu)
        rows.append(
            {
                "microbenchmark": each.quantity.name, "gpu": each.gpu, "unit": each.quantity.unit, "published": each.figure,
                "estimated": float(f"{value:.4g}"), "off %": round(100 * (value / each.figure - 1), 1),
                "source": each.source, "note": "; ".join(filter(None, (each.note, each.unlike))),
            }
        )  # fmt: skip
    return rows


def medians(figures: list[Published], rows: list[Row]) -> list[str]:
    """How far estimates are from published figures, by microbenchmark, of those that can be compared; ``rows``: theirs."""
    by_name: dict[str, list[float]] = {}
    for each, row in zip(figures, rows, strict=True):
        if not each.unlike:
            by_name.setdefault(each.quantity.name, []).append(abs(row["off %"]))
    return [
        f"{name}: {len(off)} published, the median {statistics.median(off):.1f} % off, the farthest {max(off):.1f} %"
        for name, off in by_name.items()
    ]
