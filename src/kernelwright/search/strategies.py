"""The strategies there are, by name: what settings accept, help lists and stories run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kernelwright.search.default import Default
from kernelwright.search.generations import Generations
from kernelwright.search.gevo import Gevo
from kernelwright.search.random_edits import RandomEdits
from kernelwright.search.strategy import Strategy
from kernelwright.search.tree.best_first import BestFirst
from kernelwright.search.tree.monte_carlo import tag, uct
from kernelwright.search.tree.neighbours import Neighbours
from kernelwright.search.tree.plain_descents import uniform, weighted


@dataclass(frozen=True)
class Named:
    """A strategy by name. ``make`` takes ``Hooks``, ``Operators`` where it is over individuals, a ``DecisionTree`` where it is over
    trees; ``seed`` and ``budget``; and what else is its own."""

    name: str
    make: Callable[..., Strategy[Any]]
    over: Literal["genomes", "individuals", "trees"]
    praise: str
    """Why to choose it, behind its name."""
    what: str = ""
    """What it is, where help has to say that."""
    informed: bool = True
    """Whether what is drawn for it leans on what is known of the program; else all places are alike."""


STRATEGIES: Mapping[str, Named] = {
    each.name: each
    for each in (
        Named("default", Default, "genomes", "finds more"),
        Named("gevo", Gevo, "genomes", "is the paper's", "the search of the paper", informed=False),
        Named("random", RandomEdits, "genomes", "searches nothing", "edits drawn at random, to compare with"),
        Named("generations", Generations, "individuals", "breeds programs"),
        Named("neighbours", Neighbours, "trees", "finds more", "decisions of the fastest leaves changed, by bounds"),
        Named("tag", tag, "trees", "searches where the best were", "threshold ascent on the tree, as in the paper"),
        Named("uct", uct, "trees", "balances values and visits", "upper confidence bounds applied to trees"),
        Named("weighted", weighted, "trees", "follows the bounds", "random descents weighted by bounds"),
        Named("best-first", BestFirst, "trees", "proves what it finds", "branch and bound by the least bound"),
        Named("uniform", uniform, "trees", "searches nothing", "random descents, to compare with", informed=False),
    )
}

PRESETS: Mapping[str, Named] = {name: each for name, each in STRATEGIES.items() if each.over == "genomes"}
"""Those to choose from for a search over genomes; the first is the default."""
DEFAULT = next(iter(PRESETS))

TREE_SEARCHES: Mapping[str, Named] = {name: each for name, each in STRATEGIES.items() if each.over == "trees"}
"""Those to choose from for a search of a tree of decisions; the first is the default."""
DEFAULT_TREE_SEARCH = next(iter(TREE_SEARCHES))


def listed() -> str:
    """The presets, for help: ``default, or gevo: the search of the paper``."""
    return ", or ".join(f"{each.name}: {each.what}" if each.what else each.name for each in PRESETS.values())
