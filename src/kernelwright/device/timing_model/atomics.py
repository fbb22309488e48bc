"""How long L2 is busy with atomics: word-operations on the line that takes most of them, and all of them over the chip.

Lanes of half a warp that meet at a word are one operation of L2: 163,840 threads that add to one word are 10,240 of them by the hardware's
counters (V100; accel-sim/gpgpu-sim_distribution, pull request 33). A line takes two in a cycle: adding to ten words of one line takes 11
cycles a warp (a GPU that is not named; llnl/RAJA, pull request 1624), ten words in each half being 20 operations. The chip takes two
in a cycle of each slice of L2: 181 G a second on 10,000 words in the same measurement are 80 % of what that is on an A100.

Not known: whether a slice takes neighbouring words of a line together, what 64 bits, floating point, exchanges and compare-and-swap cost
beside integer additions, and whether operations whose result is used are slower.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelwright.device.timing_model.counters import AccessCount, BlockTrace, Observed
from kernelwright.target import WARP

OPERATIONS_PER_CYCLE = 2
"""Of a line, and of a slice."""
BYTES_OF_SLICE = 64
"""What a slice of L2 delivers in a cycle; the table has the rate of all slices together."""


def atomic_cycles(observed: Observed, trace: Sequence[BlockTrace], l2_bytes_per_cycle: int) -> float:
    """Over the launch; ``trace``: logged blocks, which say how operations are spread over lines. Without them all are on one."""
    which = [i for i, a in enumerate(observed.accesses) if a.kind == "atomic" and a.space == "global"]
    total = sum(word_operations(observed, observed.accesses[i]) for i in which)
    on_one_line = total * _hottest_share(trace, which) / OPERATIONS_PER_CYCLE
    return max(on_one_line, total * BYTES_OF_SLICE / (OPERATIONS_PER_CYCLE * l2_bytes_per_cycle))


def word_operations(observed: Observed, access: AccessCount) -> float:
    """Of an access over the launch: different words of each half of a warp. Of the lanes that ask, as many share a word as meet where most
    do; half of these in each half."""
    if not access.requests:
        return 0.0
    blocks = [b for b in observed.blocks if (b.function, b.label) == (access.function, access.label) and b.executions]
    executions = sum(b.executions for b in blocks)
    lanes = sum(b.lanes for b in blocks) / executions if executions else float(WARP)
    meeting = 1 + access.serial / access.requests
    if lanes > WARP // 2:
        meeting = max(1.0, meeting / 2)
    return access.requests * max(1.0, lanes / meeting)


def _hottest_share(trace: Sequence[BlockTrace], accesses: Sequence[int]) -> float:
    lines = [_asked_lines(block, accesses) for block in trace]
    hit = np.concatenate(lines) if lines else np.zeros(0, np.uint64)
    if not len(hit):
        return 1.0
    _, counts = np.unique(hit >> np.uint64(4), return_counts=True)
    return float(counts.max()) / float(counts.sum())


def _asked_lines(block: BlockTrace, accesses: Sequence[int]) -> npt.NDArray[np.uint64]:
    """The lines of a block's requests of these accesses, with repetition."""
    asked = block.requests[np.isin(block.requests["access"], accesses)]
    pieces = [block.lines[a:b] for a, b in zip(asked["first_line"].tolist(), asked["last_line"].tolist(), strict=True)]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.uint64)
