"""A workload with something to find: the kernel of adding.cu on two rows, with two barriers that nothing needs."""

from pathlib import Path

import numpy as np

from kernelwright.evaluate import Case, Workload


def case(n: int, seed: int) -> Case:
    values = np.random.default_rng(seed).random(n, dtype=np.float32)
    return Case(grid=((n + 127) // 128,), block=(128,), arguments={"p": values, "n": np.int32(n)})


workload = Workload(Path(__file__).with_name("adding.cu"), "add_one", cases=(case(500, 1), case(200, 2)))
