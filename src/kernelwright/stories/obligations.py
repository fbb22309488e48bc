"""What the variants of a run owe, found out in a process apart: a solver may run out of time or memory.

owed = Obligations(subject, kind, "h200")
owed.of(candidate, launches)           # [Obligation, ...]; none for candidates that are not made of edits
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from kernelwright.device.settings import virtual_gpu
from kernelwright.edits.gene import Gene, by_kernel
from kernelwright.evaluate.candidate import C, VariantKind
from kernelwright.evaluate.workload.subject import Subject
from kernelwright.evolution.genomes import GenomeBuilder
from kernelwright.farm import Lost, Pool, Raised
from kernelwright.guards import LaunchFacts
from kernelwright.prove.obligations.less_relied_on import masked_where_possible, relying_on_less
from kernelwright.prove.obligations.obligation import Obligation, obligation_from_json
from kernelwright.prove.obligations.owed import owed_by_program, provable_part

TIMEOUT_S = 1800.0
"""Of a variant: only against a solver that hangs, its own limits do not depend on the clock."""
MEMORY_BYTES = 3 << 30

Launches = Mapping[str, Sequence[LaunchFacts]]


class Obligations(Generic[C]):
    """Asks for one variant at a time. Nothing is started before the first."""

    def __init__(
        self,
        subject: Subject,
        kind: VariantKind[C],
        device: str,
        timeout_s: float = TIMEOUT_S,
        memory: int = MEMORY_BYTES,
    ) -> None:
        self._pool = Pool(_setup, (subject, kind, device), workers=1, timeout_s=timeout_s, memory_bytes=memory)

    def of(self, candidate: C, launches: Launches) -> list[Obligation]:
        """``launches``: by kernel, what the guards see of the launches in training."""
        ((_, found),) = list(self._pool.map([("owed", candidate, launches)]))
        if isinstance(found, Lost | Raised):
            return [Obligation("what the variant owes is found out", "tested", f"it could not be: {found.reason}")]
        return [obligation_from_json(one) for one in found]

    def provable(self, candidate: C, launches: Launches) -> C | None:
        """The candidate without the edits that owe what nothing settles, with the guards that the others need; None where that
        cannot be found out."""
        ((_, found),) = list(self._pool.map([("provable", candidate, launches)]))
        if isinstance(found, Lost | Raised) or not found:
            return None
        made: C = found
        return made

    def relying_on_less(self, candidate: C, launches: Launches) -> list[C]:
        """What the candidate is when it relies on less, in the order of trying; nothing where that is nothing new."""
        return self._listed("less", candidate, launches)

    def masked(self, candidate: C) -> list[C]:
        """The candidate with masked loads in place of those that rely on their address; nothing where it has none."""
        return self._listed("masked", candidate, {})

    def _listed(self, what: str, candidate: C, launches: Launches) -> list[C]:
        ((_, found),) = list(self._pool.map([(what, candidate, launches)]))
        return [] if isinstance(found, Lost | Raised) else list(found)

    def close(self) -> None:
        """Ends the worker process, if one was started."""
        self._pool.close()


def _setup(subject: Subject, kind: VariantKind[C], device: str) -> Callable[[tuple[str, Any, Launches]], Any]:
    builder = kind.builder(subject.workload().modules(), virtual_gpu(device).arch)

    def work(asked: tuple[str, Any, Launches]) -> Any:
        what, candidate, launches = asked
        if not isinstance(builder, GenomeBuilder):
            return []
        edits = by_kernel(candidate)
        if what == "owed":
            return [one.as_json() for one in owed_by_program(builder.originals, edits, launches, builder.arch)]
        if what == "less":
            return relying_on_less(builder.originals, candidate, launches)
        if what == "masked":
            careful = masked_where_possible(builder.originals, candidate)
            return [careful] if careful != candidate else []
        return tuple(
            Gene(kernel, edit)
            for kernel, some in edits.items()
            for edit in provable_part(builder.originals[kernel], some, launches.get(kernel, ()), arch=builder.arch)
        )

    return work
