"""What a division costs whose operands the short code cannot round: a subroutine of the assembler, which a warp enters as a whole.

    if.then          ... FCHK, BRA ...            what every execution of the block issues
    if.then (slow)   CALL, tests, RET             as often as a warp has a lane with such operands, which the executor counts

Counted by hand in the subroutines of CUDA 12.9 and 13.0 for sm_75 to sm_90: 0 / 0 takes 26 warp instructions with its call and return,
0 / x and infinities 33, finite numbers at the edge of the range some 50. One figure, the first, stands for all: it is the one that
hardware's counters tell (``docs/decisions/0043-slow-paths-of-divisions.md``).
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelwright.codegen.cost.scoreboard_steps import Step
from kernelwright.codegen.ptx_text import Position

INTEGERS, BRANCHES, SPECIALS = 17, 8, 1
"""Warp instructions by where they are done; the last is what makes a NaN."""
SLOW_PATH = INTEGERS + BRANCHES + SPECIALS
_SLOW = " (slow)"
_STALLS = {"alu": 5, "branch": 7, "xu": 8}
"""Cycles until the next one: each needs what the one before found out. Read from the same code."""


def slow_label(label: str) -> str:
    """What the slow paths of a block's divisions are called where blocks have names; no IR block has a name with a space."""
    return label + _SLOW


def is_slow_label(label: str) -> bool:
    """Whether it is one of those names."""
    return label.endswith(_SLOW)


def slow_paths(divisions: Iterable[tuple[str, Position | None]]) -> dict[str, tuple[tuple[Step, ...]]]:
    """Of divisions (their block, where they are in the source): by ``slow_label``, what the slow path of one of them issues."""
    found: dict[str, tuple[tuple[Step, ...]]] = {}
    for block, position in divisions:
        if slow_label(block) not in found:
            steps = (
                *[_step("int", "alu", block, position)] * INTEGERS,
                *[_step("branch", "branch", block, position)] * BRANCHES,
                *[_step("special", "xu", block, position)] * SPECIALS,
            )
            found[slow_label(block)] = (steps,)
    return found


def _step(kind: str, pipe: str, block: str, position: Position | None) -> Step:
    return Step(
        kind=kind, pipes=((pipe, 1.0),), stall=_STALLS[pipe], waits=(), sets=-1, frees=-1, barrier=False, block=block, position=position,
    )  # fmt: skip
