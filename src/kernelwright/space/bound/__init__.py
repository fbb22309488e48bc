"""How fast the best completion of a partial candidate could be: a lower bound with its origin."""

from kernelwright.space.bound.lower_bound import Explanation, LowerBound

__all__ = ["Explanation", "LowerBound"]
