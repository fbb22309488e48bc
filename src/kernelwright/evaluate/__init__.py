"""What is asked of a candidate, and what came of it."""

from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.workload import Case, Workload, load_workload

__all__ = ["Case", "Ok", "Outcome", "Rejected", "Workload", "load_workload"]
