"""Search: strategies behind ask and tell. An island: candidates are opaque, so nothing here knows what a kernel is.

strategy   ask, tell, results, budgets, hooks, progress       ties       what counts as a gain
default    scan, combine, evolve, clean up                    gevo       Algorithm 1 of paper 000, the control arm
minimise   delta debugging, single effects, pairs             combine    greedy, in groups
nsga2      ranks, crowding, selection                         genomes    crossover
credit     which kinds of genes pay                           hypervolume

hooks = Hooks(draw=..., scan=..., kind=...)
strategy = Default(hooks, seed=0, budget=Budget(evaluations=2000))
while batch := strategy.ask():
    strategy.tell([Result(c, objectives=(time_us,), instructions=n) or Result(c, None, cause="fault"), ...])
strategy.best, strategy.front, strategy.progress
"""

from __future__ import annotations

from kernelwright.search.default import Default
from kernelwright.search.gevo import Gevo
from kernelwright.search.hypervolume import hypervolume
from kernelwright.search.minimise import Effect, Minimise, Pair, Pairs, SingleEffects
from kernelwright.search.nsga2 import crowding, dominates, fronts, ranks, select, tournament
from kernelwright.search.strategy import Budget, Hooks, Planned, Progress, Result, Strategy
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
    "hypervolume",
    "is_gain",
    "preferred",
    "ranks",
    "select",
    "tournament",
]
