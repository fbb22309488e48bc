"""What a search is told about genes: which to try first, and how to draw one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from kernelwright.edits import OPERATORS, UNIFORM, Gene, Original, draw_gene, known_edits, listed
from kernelwright.errors import Misuse
from kernelwright.evaluate.hot import hot
from kernelwright.evaluate.run import RunSettings
from kernelwright.evaluate.variant import Candidate
from kernelwright.evaluate.workload import Workload


class Proposals:
    """Of one program. The ``gevo`` preset draws as the paper does: six kinds of edits, all places alike; the default draws
    places by their share of the time, and knows kinds of edits beyond the paper's.

    Raises ``Misuse`` when nothing can be edited.
    """

    def __init__(self, workload: Workload, originals: Mapping[str, Original], settings: RunSettings) -> None:
        unknown = [name for name in settings.kernels if name not in originals]
        if unknown:
            raise Misuse(
                f"no kernel of this program is called {unknown[0]!r}", hint=f"there are {', '.join(originals)}"
            )
        wanted = settings.kernels or tuple(originals)
        self.originals = {name: original for name, original in originals.items() if name in wanted}
        if not any(original.free or original.users for original in self.originals.values()):
            raise Misuse(
                "there is nothing to edit in these kernels", hint="evolve another program, or other kernels of it"
            )
        if settings.preset == "gevo":
            self._weights, self._known, self._operators = None, None, UNIFORM
            return
        heat = hot(workload, originals)
        self._weights = {name: heat.weights[name] for name in self.originals}
        if not any(any(each.values()) for each in self._weights.values()):
            raise Misuse("none of these kernels ever runs", hint="evolve the kernels that the program launches")
        self._known = known_edits(self.originals, heat.launches)
        self._operators = OPERATORS

    def draw(self, dice: random.Random, candidate: Candidate) -> Gene | None:
        """A gene for a candidate: a kernel by its share of the time, an edit of that kernel as the candidate has it."""
        return draw_gene(
            self.originals, dice, candidate, weights=self._weights, operators=self._operators, known=self._known
        )

    def scan(self) -> Iterator[Gene]:
        """Single genes that can be listed, the most promising first."""
        return listed(self.originals, self._weights, self._known)

    def kind(self, gene: Gene) -> str:
        """What the credit of operators is counted by."""
        return gene.kind
