"""Programs bred from a grammar: the language, genotypes and what they derive, problems (paper 001)."""

from kernelwright.grammar.bnf import Grammar, Symbol
from kernelwright.grammar.derivation import Derivation, derive
from kernelwright.grammar.problem import Problem, load_problem

__all__ = ["Derivation", "Grammar", "Problem", "Symbol", "derive", "load_problem"]
