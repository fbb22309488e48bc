"""Runs of variants that are known from an earlier proof: the same code does the same on the same input, under the same schedule.

    found = known.get(one, (code, schedule, watch))        # a KnownRun, or None
    known.keep(one, (code, schedule, watch), found)

Variants that are proven one after the other share most of their code: a guard changes none of it, and an edit changes one of several
kernels. Only runs that came to an answer are kept, and only as long as the case is held.
"""

from __future__ import annotations

from collections.abc import Hashable
from weakref import WeakKeyDictionary

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.baseline import Reference
from kernelwright.prove.evidence import Evidence
from kernelwright.prove.fences import Fences
from kernelwright.prove.sightings import Sites


@dataclass(frozen=True, eq=False)
class KnownRun:
    """What one run of a variant on a case showed. Nothing changes what it holds."""

    wrong: Evidence | None
    sites: Sites
    fences: Fences
    incomplete: bool


class KnownRuns:
    """By case, and by all else that decides what a run does: the text of the code, the schedule, whether accesses were watched."""

    def __init__(self) -> None:
        self._runs: WeakKeyDictionary[Reference, dict[Hashable, KnownRun]] = WeakKeyDictionary()

    def get(self, one: Reference, asked: Hashable) -> KnownRun | None:
        """What the run came to when it was made; None where it was not. ``asked``: all that decides it, besides the case."""
        return self._runs.get(one, {}).get(asked)

    def keep(self, one: Reference, asked: Hashable, run: KnownRun) -> None:
        """Keeps a run; it replaces an earlier one of the same case and ``asked``."""
        self._runs.setdefault(one, {})[asked] = run
