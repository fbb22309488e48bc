"""Computations that ship with the package, each with its inputs and its NumPy oracle."""

from kernelwright.space.library.table import EXAMPLES, example

__all__ = ["EXAMPLES", "example"]
