"""How long L2 is busy with atomics: word-operations on the line that takes most of them, and all of them over the chip.

A slice of L2 takes the words of a sector together, and lanes that meet at a word one after the other: on an H200 a warp that adds to one
word takes it 46 cycles, to two words 23, to four 12, to the eight of a sector 4.7, to the 32 words of a line 4.7 as well, and to
eight sectors of 256 bytes 47, 32 lanes in all (``make gpu``, 2026-11-27). Ten words take 9.6; on another GPU, which is not named, 11
(llnl/RAJA, pull request 1624). Pieces of 256 bytes are of different slices, or meet by chance: beside 64 words, 256 are 2 to 4 times as
fast (2 when everybody begins with the same), 1,000 are 5.9, 4,096 are 15 to 17. All slices together take some 23 sectors in a cycle.
Whether the old value is used makes no difference; float additions take as long, but for lanes that meet: 3.5 cycles each, not 1.45.

Not known: what 64 bits, exchanges and compare-and-swap cost, and what other GPUs do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelwright.device.timing_model.counters import LINE, AccessCount, BlockTrace, Observed
from kernelwright.target import WARP

CYCLES = 1.3
"""Of a slice, for a sector's words, or for one more lane at one of them: 1.16 and 1.45 as measured."""
PIECE_SHIFT = 1
"""Lines of a slice that lie beside each other: two, 256 bytes."""
PIECE = LINE << PIECE_SHIFT
SPREAD = 0.65
"""Pieces keep as many slices busy as their number to this power comes to: fitted to 4, 16 and 64 pieces."""
BYTES_PER_OPERATION = 200
"""Of L2's rate over the whole chip: what all slices together take in a cycle, 4,700 bytes of loads or 23 sectors of atomics."""


def atomic_cycles(observed: Observed, trace: Sequence[BlockTrace], l2_bytes_per_cycle: int) -> float:
    """Over the launch; ``trace``: logged blocks, which say how operations are spread over lines. Without them all are on one."""
    which = [i for i, a in enumerate(observed.accesses) if a.kind == "atomic" and a.space == "global"]
    total = sum(sector_operations(observed, observed.accesses[i]) for i in which)
    slices: float = _pieces(observed, trace, which) ** SPREAD
    return max(total * CYCLES / slices, total * BYTES_PER_OPERATION / l2_bytes_per_cycle)


def sector_operations(observed: Observed, access: AccessCount) -> float:
    """Of an access over the launch: turns that slices take for it. As many in each sector as lanes meet where most do, but no more than
    there are lanes."""
    if not access.requests:
        return 0.0
    blocks = [b for b in observed.blocks if (b.function, b.label) == (access.function, access.label) and b.executions]
    executions = sum(b.executions for b in blocks)
    lanes = sum(b.lanes for b in blocks) / executions if executions else float(WARP)
    meeting = 1 + access.serial / access.requests
    sectors = max(1.0, access.sectors / access.requests)
    return access.requests * max(1.0, min(lanes, sectors * meeting))


def _pieces(observed: Observed, trace: Sequence[BlockTrace], accesses: Sequence[int]) -> float:
    """How many pieces take all requests, if each took as many as the one that takes most. Where logged blocks have none in common,
    others have their own as well, as far as there is memory."""
    of_blocks = [_asked_lines(block, accesses) >> np.uint64(4 + PIECE_SHIFT) for block in trace]
    hit = np.concatenate(of_blocks) if of_blocks else np.zeros(0, np.uint64)
    if not len(hit):
        return 1.0
    different, counts = np.unique(hit, return_counts=True)
    pieces = float(counts.sum()) / float(counts.max())
    some = [block for block in of_blocks if len(block)]
    if len(some) > 1 and len(different) == sum(len(np.unique(block)) for block in some):
        room = observed.touched_bytes / PIECE
        pieces = max(pieces, min(pieces * observed.geometry.blocks / len(some), room))
    return pieces


def _asked_lines(block: BlockTrace, accesses: Sequence[int]) -> npt.NDArray[np.uint64]:
    """The lines of a block's requests of these accesses, with repetition."""
    asked = block.requests[np.isin(block.requests["access"], accesses)]
    pieces = [block.lines[a:b] for a, b in zip(asked["first_line"].tolist(), asked["last_line"].tolist(), strict=True)]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.uint64)
