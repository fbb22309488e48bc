"""A workload in which time and error are at odds: the kernel of series.cu, half of the change it makes allowed as error."""

from pathlib import Path

import numpy as np

from kernelwright.evaluate import Case, Workload


def case(n: int, seed: int) -> Case:
    values = np.random.default_rng(seed).random(n, dtype=np.float32)
    return Case(grid=((n + 63) // 64,), block=(64,), arguments={"in": values, "out": np.zeros(n, np.float32), "n": n})


workload = Workload(Path(__file__).with_name("series.cu"), "series", cases=(case(256, 1), case(200, 2)), tolerance=0.5)
