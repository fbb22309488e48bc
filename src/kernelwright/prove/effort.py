"""How much is tried: numbers only, so that the same effort gives the same proof on every machine."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.device.schedule import GROUPS, Schedule
from kernelwright.lazy_dataclasses import dataclass

WATCHED = 20
"""How much longer a launch takes when every access is watched."""
TRIED = 50
"""Runs of a case that a changed input of it counts for: watched, under other schedules, of the original and of variants."""


@dataclass(frozen=True)
class Effort:
    """What a proof costs is about proportional to these."""

    orders: int = 4
    """Random orders of blocks and warps, besides the reverse one."""
    sub_warps: int = 1
    """Random schedules for each size of lane group."""
    weak: int = 8
    """Schedules of weak memory, for kernels with fences; 8 have one of each kind."""
    draws: int = 8
    """Cases asked of the workload's generator."""
    changes: int = 40
    """Changed inputs that the original accepts, for each kernel."""
    tries: int = 96
    """Changed inputs that are tried to find so many."""
    aims: int = 96
    """Changed inputs that are aimed at sides of conditions, for each kernel; each is one run of the original."""
    reordered: int = 6
    """Cases of each kernel that are run under other schedules."""
    budget: int = 1 << 27
    """Times that the warps of one launch of the original may go back in loops; variants get what follows from its use."""
    work: int = 150_000_000
    """Executions of blocks of instructions by warps that each part of a proof may take, for each kernel: large launches are
    run less often. A launch whose accesses are watched counts ``WATCHED`` times."""

    def tries_of(self, work: int) -> int:
        """How many changed inputs are tried of a case that takes so much work."""
        return max(8, min(self.tries, self.work // (TRIED * max(work, 1))))

    @property
    def work_of_a_try(self) -> int:
        """What a case may take so that as many changed inputs are tried of it as are wanted."""
        return self.work // (TRIED * max(self.changes, 1))

    def aims_of(self, work: int) -> int:
        """How many inputs are aimed at conditions of a case that takes so much work."""
        return min(self.aims, 3 * self.changes, self.work // (4 * max(work, 1)))

    def other_orders(self, seed: int) -> tuple[Schedule, ...]:
        """The reverse schedule and ``orders`` random ones."""
        return (Schedule.reverse(), *(Schedule.random(seed * 100 + n) for n in range(self.orders)))

    def weak_orders(self, seed: int) -> tuple[Schedule, ...]:
        """``weak`` schedules of weak memory."""
        return tuple(Schedule.weak(seed * 64 + n) for n in range(self.weak))

    def split_warps(self, seed: int) -> tuple[Schedule, ...]:
        """``sub_warps`` schedules for each size of lane group."""
        return tuple(Schedule.subwarp(g, seed * 100 + n) for n in range(self.sub_warps) for g in GROUPS)


def divided(schedules: Sequence[Schedule]) -> tuple[tuple[Schedule, ...], tuple[Schedule, ...]]:
    """Those that keep warps whole, and those that split them; the forward one is left out."""
    whole = tuple(s for s in schedules if s.kind not in ("forward", "subwarp"))
    return whole, tuple(s for s in schedules if s.kind == "subwarp")
