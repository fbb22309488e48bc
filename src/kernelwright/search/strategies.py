"""The strategies that search genomes, by name: what settings accept, help lists and stories run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kernelwright.search.default import Default
from kernelwright.search.gevo import Gevo
from kernelwright.search.strategy import Budget, G, Hooks, Strategy


@dataclass(frozen=True)
class Named:
    """A strategy over genomes."""

    name: str
    make: Callable[..., Strategy[Any]]
    praise: str
    """Why to choose it, behind its name."""
    what: str = ""
    """What it is, where that needs saying."""
    informed: bool = True
    """Whether what is drawn for it leans on what is known of the program; else all places are alike."""

    def over(
        self, hooks: Hooks[G], seed: int, budget: Budget, population: int | None = None
    ) -> Strategy[tuple[G, ...]]:
        """The strategy at its start. ``population``: None for its own size."""
        size = {} if population is None else {"population": population}
        return self.make(hooks, seed=seed, budget=budget, **size)


STRATEGIES: Mapping[str, Named] = {
    each.name: each
    for each in (
        Named("default", Default, praise="finds more"),
        Named("gevo", Gevo, praise="is the paper's", what="the search of the paper", informed=False),
    )
}
DEFAULT = next(iter(STRATEGIES))


def listed() -> str:
    """All of them, for help: ``default, or gevo: the search of the paper``."""
    return ", or ".join(f"{each.name}: {each.what}" if each.what else each.name for each in STRATEGIES.values())
