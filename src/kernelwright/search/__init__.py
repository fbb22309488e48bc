"""Search: strategies behind ask and tell. An island: candidates are opaque, so nothing here knows what a kernel is.

    strategy     ask, tell, results, budgets, hooks, progress     planned      what all strategies share
    default      scan, combine, evolve, clean up                  gevo         Algorithm 1 of paper 000, the control arm
    generations  whole generations of individuals                 strategies   all of them, by name
    combine      greedy, in groups                                minimise     delta debugging, single effects, pairs
    experience   what is learnt about genes                       credit       which kinds of genes pay
    population   the best so far                                  genomes      crossover
    nsga2        fronts, crowding, tournaments             tree/        of decision trees: TAG, UCT, best first, certificates
    ties         what counts as a gain

How a story uses it:

    hooks = Hooks(draw=..., scan=..., kind=...)
    strategy = Default(hooks, seed=0, budget=Budget(evaluations=2000))
    while batch := strategy.ask():
        # of an outcome: Result(genome, (time_us,), instructions, key=...) or Result(genome, None, cause="fault")
        strategy.tell([judge(genome) for genome in batch])
    strategy.best, strategy.front, strategy.progress

The same seed and the same results give the same questions, so a run is repeated or resumed from its journal.
"""

from __future__ import annotations

from kernelwright.search.default import Default
from kernelwright.search.gevo import Gevo
from kernelwright.search.minimise import Effect, Minimise, Pair, Pairs, SingleEffects
from kernelwright.search.nsga2 import crowding, dominates, fronts, select, tournament
from kernelwright.search.planned import Planned
from kernelwright.search.strategy import Budget, Hooks, Progress, Result, Strategy
from kernelwright.search.ties import TIE, is_gain, preferred

__all__ = [
    "TIE",
    "Budget",
    "Default",
    "Effect",
    "Gevo",
    "Hooks",
    "Minimise",
    "Pair",
    "Pairs",
    "Planned",
    "Progress",
    "Result",
    "SingleEffects",
    "Strategy",
    "crowding",
    "dominates",
    "fronts",
    "is_gain",
    "preferred",
    "select",
    "tournament",
]
