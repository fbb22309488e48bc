"""What is asked of a candidate, and what came of it.

``workload`` is what candidates are judged by: its cases (``case``, ``recorded``, ``program``) and its rules of comparison
(``compare``, ``rules``, ``idle``). ``judge`` and ``runner`` do the judging, ``outcome`` is what came of it, ``journal`` keeps it.
``capture`` and ``replay`` make a workload of a program's own launches; ``measure`` takes times that mean something, ``on_gpu``
those of a search's candidates.
"""

from __future__ import annotations

from kernelwright.evaluate.capture.capture import Capture, Operation, ProgramIdentity
from kernelwright.evaluate.capture.writer import CaptureWriter
from kernelwright.evaluate.outcome import STAGES, Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.workload.case import Case, Step
from kernelwright.evaluate.workload.comparison_rules import Rules, parse_rule, parse_rules
from kernelwright.evaluate.workload.program_case import ProgramCase
from kernelwright.evaluate.workload.workload import Workload, load_workload

__all__ = [
    "STAGES",
    "Capture",
    "CaptureWriter",
    "Case",
    "Metrics",
    "Ok",
    "Operation",
    "Outcome",
    "ProgramCase",
    "ProgramIdentity",
    "Rejected",
    "Rules",
    "Step",
    "Workload",
    "load_workload",
    "parse_rule",
    "parse_rules",
]
