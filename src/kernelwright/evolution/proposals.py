"""What a search is told about genes: which to try first, and how to draw one."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from kernelwright.cuda.names import readable
from kernelwright.edits import OPERATORS, UNIFORM, Gene, Original, draw_gene, known_edits, listed
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.gene_draw import with_edits
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.original import Id
from kernelwright.edits.table import row_of
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok, Outcome
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.general import fixes_launch, own_blocks
from kernelwright.evolution.genomes import Genes
from kernelwright.evolution.hot_instructions import Heat, hot
from kernelwright.search.strategies import PRESETS

DRAFTS = 256
"""Edited kernels that are kept: several genes are drawn for the same candidate."""


class Proposals:
    """Of one program. For a strategy that is not informed, drawn as in the paper: six kinds of edits, all places alike; for others
    kernels by their share of the candidate's time and of the work, places by their share of the work, and knows kinds of edits beyond
    the paper's.

    Raises ``Misuse`` when nothing can be edited.
    """

    def __init__(self, workload: Workload, originals: Mapping[str, Original], settings: RunSettings) -> None:
        unknown = [name for name in settings.kernels if name not in originals]
        if unknown:
            raise Misuse(
                f"no kernel of this program is called {unknown[0]!r}", hint=f"there are {', '.join(originals)}"
            )
        self._shares: dict[Genes, dict[str, float]] = {}
        self._with_edits = lru_cache(DRAFTS)(with_edits)
        wanted = settings.kernels or tuple(originals)
        self.originals = {name: original for name, original in originals.items() if name in wanted}
        if not any(original.free or original.users for original in self.originals.values()):
            raise Misuse(
                "there is nothing to edit in these kernels", hint="evolve another program, or other kernels of it"
            )
        if not PRESETS[settings.preset].informed:
            self._weights, self._known, self._operators = None, None, UNIFORM
            self.own_blocks: tuple[str, ...] = ()
            return
        heat = hot(workload, originals)
        self._weights = {name: heat.weights[name] for name in self.originals}
        if not any(any(each.values()) for each in self._weights.values()):
            raise Misuse("none of these kernels ever runs", hint="evolve the kernels that the program launches")
        self._work = {name: sum(weights.values()) for name, weights in self._weights.items()}
        self.own_blocks = own_blocks(heat.launches)
        self._known = self._known_edits(heat, general=settings.general)
        self._operators = OPERATORS

    def _known_edits(self, heat: Heat, *, general: bool) -> dict[str, list[Edit]]:
        """What all launches had alike, then what those on the first data set had: on others the original runs. ``general``: nothing that
        is good for data of one size only."""
        found: dict[str, list[Edit]] = {}
        for launches in (heat.launches, heat.first):
            for name, edits in known_edits(self.originals, launches).items():
                before = found.setdefault(name, [])
                new = [edit for edit in edits if edit not in before]
                before += [e for e in new if not (general and fixes_launch((Gene(name, e),), self.own_blocks))]
        return found

    def learn(self, candidate: Genes, outcome: Outcome) -> None:
        """Takes in how long each kernel of a candidate runs. A kernel that has become ten times as fast is worth less
        attention, and one with few threads may work little and yet take long; but where much is done, much can be left
        out. So the share of a kernel is the geometric mean of its share of the original's work and of the candidate's time."""
        if self._weights is None or not isinstance(outcome, Ok):
            return
        times = {name: outcome.metrics.get(f"us {readable(name)}", 0.0) for name in self.originals}
        if not any(times.values()):
            return
        shares = {name: math.sqrt(self._work[name] * times[name]) for name in self.originals}
        self._shares[candidate] = shares
        if not candidate:
            self._weights = {name: _scaled(self._weights[name], shares[name]) for name in self.originals}

    def draw(self, dice: random.Random, candidate: Genes) -> Gene | None:
        """A gene for a candidate: a kernel by its share of the time, an edit of that kernel as the candidate has it."""
        return draw_gene(
            self.originals,
            dice,
            candidate,
            weights=self._weights,
            operators=self._operators,
            known=self._known,
            shares=self._shares.get(candidate),
            state=self._with_edits,
        )

    def scan(self) -> Iterator[Gene]:
        """Single genes that can be listed, the most promising first."""
        return listed(self.originals, self._weights, self._known)

    def kind(self, gene: Gene) -> str:
        """What the credit of operators is counted by."""
        return gene.kind

    def groups(self, gene: Gene) -> Sequence[tuple[str, ...]]:
        """What goes together: edits of one kind in one kernel; then all of its promises and loads, which exclude each other seldom."""
        kind = row_of(gene.edit)
        is_free = kind.keeps_meaning and (kind.known is not None or isinstance(gene.edit, HoistLoads))
        return [(gene.kernel, gene.kind), *([(gene.kernel,)] if is_free else [])]

    def is_general(self, gene: Gene) -> bool:
        """Whether it is good for data of any size."""
        return not fixes_launch((gene,), self.own_blocks)


def _scaled(weights: Mapping[Id, float], to: float) -> dict[Id, float]:
    """The weights of one kernel, so that they add up to what is given."""
    total = sum(weights.values())
    return {id: weight * to / total for id, weight in weights.items()} if total else dict(weights)
