"""The default search against the paper's (``--preset gevo``) at equal evaluations, over five seeds.

The same runs as ``kw bench evolve`` makes, with further seeds, on five programs; they are kept in the same place. What is
compared is the fastest variant that is right on the training cases, which is all that the paper's search asks for.
"""

from __future__ import annotations

import statistics

from kernelwright.bench.evolve import ARMS, QUICK, row_of
from kernelwright.bench.result import Measured, Say

PROGRAMS = ("bfs", "gaussian", "hotspot", "nn", "srad")
SEEDS = (1, 2, 3, 4, 5)
EVALUATIONS = 400


def measure(quick: bool, say: Say) -> Measured:
    result = Measured("search")
    programs, seeds = (PROGRAMS[3:4], SEEDS[:2]) if quick else (PROGRAMS, SEEDS)
    arms = {arm.name: arm for arm in ARMS}
    ratios: dict[int, list[float]] = {seed: [] for seed in seeds}
    for program in programs:
        speedups: dict[str, list[float]] = {"found": [], "gevo": []}
        for seed in seeds:
            for name, found in speedups.items():
                say(f"{program}, {name}, seed {seed}")
                found.append(row_of(program, arms[name], QUICK if quick else EVALUATIONS, seed)["as GEVO would"])
            ratios[seed].append(speedups["found"][-1] / speedups["gevo"][-1])
        result.rows.append(
            {
                "program": program,
                "seeds": len(seeds),
                "default": round(statistics.geometric_mean(speedups["found"]), 3),
                "gevo": round(statistics.geometric_mean(speedups["gevo"]), 3),
                "default, by seed": " ".join(f"{s:.3f}" for s in speedups["found"]),
                "gevo, by seed": " ".join(f"{s:.3f}" for s in speedups["gevo"]),
            }
        )
    by_seed = [statistics.geometric_mean(some) for some in ratios.values()]
    result.at_least(
        "default over gevo, geometric mean of speed-ups, all seeds", statistics.geometric_mean(by_seed), 1.0
    )
    result.at_least("the same in the worst seed", min(by_seed), 1.0)
    return result
