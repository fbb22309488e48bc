"""The checks of a proof, a line each, in the order they are shown; ``Turn`` says in which they are made."""

from __future__ import annotations

from kernelwright.prove.checks import (
    memory_fences,
    past_buffers,
    right_outputs,
    schedules,
    trials,
    undefined_behaviour,
    weak_memory,
)
from kernelwright.prove.checks.check_kind import CheckKind

CHECKS: dict[str, CheckKind] = {
    kind.name: kind
    for kind in (
        right_outputs.TRAINING,
        right_outputs.HELD_OUT,
        right_outputs.DIFFERENT,
        schedules.ORDERS,
        schedules.SUB_WARPS,
        weak_memory.WEAK_MEMORY,
        past_buffers.PAST_BUFFERS,
        undefined_behaviour.RACES,
        undefined_behaviour.WARP_RACES,
        undefined_behaviour.BOUNDS,
        undefined_behaviour.INITIALISATION,
        memory_fences.FENCES,
        undefined_behaviour.INHERITED,
        undefined_behaviour.UNDEFINED,
        right_outputs.TOO_GOOD,
        trials.WHOLE_PROGRAM,
        trials.LARGER_DATA,
        trials.SANITIZER,
    )
}
"""By name. A failed check makes a variant what its row says; ``docs/proof.md`` explains each."""


def in_turn() -> list[CheckKind]:
    """In the order they are made."""
    return sorted(CHECKS.values(), key=lambda kind: kind.turn)
