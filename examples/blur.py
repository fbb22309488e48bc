"""A workload in Python: the kernel of blur.cu on two rows of random values."""

from pathlib import Path

import numpy as np

from kernelwright.evaluate import Case, Workload


def case(n: int, seed: int) -> Case:
    random = np.random.default_rng(seed)
    values, frozen = random.random(n, dtype=np.float32), random.integers(0, 2, n, dtype=np.int32)
    return Case(grid=((n + 63) // 64,), block=(64,), arguments=(values, frozen, np.zeros(n, np.float32), np.int32(n)))


workload = Workload(Path(__file__).with_name("blur.cu"), "blur", cases=(case(256, 1), case(200, 2)))
