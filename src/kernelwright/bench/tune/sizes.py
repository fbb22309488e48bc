"""What thresholds do for sizes that they were never tuned on: of each program, each size left out in turn, and run with thresholds of the
others."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.result import Measured, Row, Say
from kernelwright.bench.tune.measure import known_programs
from kernelwright.bench.tune.measured_program import built_program
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.suite.multiversion.table import COMPARE, PROGRAMS
from kernelwright.versions.configurations import Configurations
from kernelwright.versions.program import TunedProgram
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.thresholds import tune

SIZES: dict[str, tuple[str, ...]] = {
    "mapscan1": ("4096 4 1 4", "1024 16 1 4", "256 64 1 4", "64 256 1 4", "32 512 1 4", "8 2048 1 4"),
    "mapscan2": ("4096 4 6 2", "1024 16 6 2", "256 64 6 2", "64 256 6 2"),
    "lud": ("16 4", "32 8", "48 8", "64 16"),
    "backprop": ("256 16", "1024 16", "4096 16", "16384 16", "65536 16"),
    "lavamd": ("6 4", "4 8", "3 16", "2 32", "1 64"),
    "nw": ("1 96", "8 48", "64 24", "256 16", "512 8"),
    "nn": ("1 16384 4", "16 1024 4", "128 128 4", "256 64 4", "1024 16 4"),
    "srad": ("1 64 64 2", "4 32 32 2", "16 16 16 2", "64 16 8 2", "256 8 8 2"),
    "pathfinder": ("1 12 4096", "8 12 512", "64 12 128", "256 12 32", "1024 12 8"),
    "option_pricing": ("4096 5", "1024 16", "512 32", "256 64", "32 256"),
    "locvolcalib": ("2 32 32 2", "16 16 16 2", "64 8 8 2", "256 4 8 2"),
    "heston": ("16 2 10 64 2", "64 4 10 32 2", "128 4 20 16 2", "512 8 20 8 2"),
    "bfast": ("512 48 12", "256 64 12", "64 128 23", "32 256 23", "8 512 23"),
}
"""Between the two datasets of each program, and a little beyond."""
QUICK = ("mapscan1",)
SAME = 1.01
"""Times of the best up to this are the best's."""


def measure(quick: bool, say: Say, names: Sequence[str] = ()) -> Measured:
    """``quick``: one program. ``names``: these programs only. Raises ``Misuse`` for one that is none."""
    result = Measured("tune-sizes")
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        for name in known_programs(names or (QUICK if quick else SIZES)):
            say(name)
            built = built_program(PROGRAMS[name], Path(folder))
            result.rows += left_out_rows(name, CheckedProgram(built, parse_rule(COMPARE)), SIZES[name])
    result.notes += notes_of(result.rows)
    result.notes.append("times are estimates of the virtual GPU")
    return result


def notes_of(rows: Sequence[Row]) -> list[str]:
    """What the rows come to, in sentences."""
    shares = [row["of its best"] for row in rows]
    untuned = [row["untuned us"] / row["best us"] for row in rows]
    inside = [row["of its best"] for row in rows if row["size left out"] in SIZES[row["program"]][1:-1]]
    worse = sum(share > other * SAME for share, other in zip(shares, untuned, strict=True))
    return [
        f"of {len(shares)} sizes left out in turn, thresholds of the others are best for {_best(shares)} (within 1 %); of the "
        f"{len(inside)} that lie between others for {_best(inside)}",
        f"in the geometric mean they take {_mean(shares):.3g} times the best, at worst {max(shares):.3g} times; untuned it is "
        f"{_mean(untuned):.3g} times, at worst {max(untuned):.3g}",
        f"with thresholds of the others, {worse} sizes are slower than untuned",
    ]


def _best(shares: Sequence[float]) -> int:
    return sum(share <= SAME for share in shares)


def left_out_rows(name: str, program: TunedProgram, sizes: Sequence[str]) -> list[Row]:
    """A row for each size: its best time, and that with thresholds of the others."""
    whole = tune(program, sizes)
    rows: list[Row] = []
    for dataset in whole.datasets:
        others = [size for size in sizes if size != dataset.name]
        rest = tune(program, others, measured={other: list(whole.measured[other]) for other in others})
        known = Configurations(program, dataset.name, Resolution.exact(), list(whole.measured[dataset.name]))
        here = known.at(rest.thresholds)
        rows.append(
            {
                "program": name,
                "size left out": dataset.name,
                "best us": round(dataset.best_us, 2),
                "with thresholds of the others us": round(here.time_us, 2),
                "untuned us": round(dataset.untuned_us, 2),
                "of its best": round(here.time_us / dataset.best_us, 3),
            }
        )
    return rows


def _mean(shares: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, shares)))
