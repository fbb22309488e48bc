"""The default search against the paper's (``--preset gevo``) and against edits drawn at random, at equal evaluations, over five seeds.

Runs as ``kw bench evolve`` makes them, on five programs, kept in the same place. What is compared is the fastest variant that is right
on the training cases, which is all that the paper's search asks for. Arms:

    default   kw evolve --accept any
    control   the same with --preset gevo: Algorithm 1, its population as large as its budget allows
    random    the same with --preset random: one to three edits drawn at a time, and no selection
"""

from __future__ import annotations

import statistics

from kernelwright.bench.evolve import QUICK, Arm, row_of
from kernelwright.bench.result import Measured, Say

PROGRAMS = ("bfs", "gaussian", "hotspot", "nn", "srad")
SEEDS = (1, 2, 3, 4, 5)
EVALUATIONS = (400, 5000)
ARMS = (
    Arm("default", ("--accept", "any")),
    Arm("control", ("--accept", "any", "--preset", "gevo")),
    Arm("random", ("--accept", "any", "--preset", "random")),
)


def measure(quick: bool, say: Say) -> Measured:
    result = Measured("search")
    programs, seeds = (PROGRAMS[3:4], SEEDS[:2]) if quick else (PROGRAMS, SEEDS)
    for evaluations in (QUICK,) if quick else EVALUATIONS:
        found = {
            (program, arm.name): [_speedup(program, arm, evaluations, seed, say) for seed in seeds]
            for program in programs
            for arm in ARMS
        }
        for program in programs:
            result.rows.append(
                {"program": program, "evaluations": evaluations, "seeds": len(seeds)}
                | {arm.name: round(statistics.geometric_mean(found[program, arm.name]), 3) for arm in ARMS}
                | {f"{arm.name}, by seed": " ".join(f"{s:.3f}" for s in found[program, arm.name]) for arm in ARMS}
            )
        for other in ("control", "random"):
            by_seed = [
                statistics.geometric_mean(
                    found[program, "default"][number] / found[program, other][number] for program in programs
                )
                for number in range(len(seeds))
            ]
            name = f"default over {other}, {evaluations} evaluations, geometric mean of speed-ups"
            result.at_least(f"{name}, all seeds", statistics.geometric_mean(by_seed), 1.0)
            result.at_least(f"{name}, worst seed", min(by_seed), 1.0)
    return result


def _speedup(program: str, arm: Arm, evaluations: int, seed: int, say: Say) -> float:
    say(f"{program}, {arm.name}, {evaluations} evaluations, seed {seed}")
    return float(row_of(program, arm, evaluations, seed)["as GEVO would"])
