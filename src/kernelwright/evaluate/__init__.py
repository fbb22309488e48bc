"""What is asked of a candidate, and what came of it, whatever its kind (``candidate``).

``workload/`` is what candidates are judged by: cases and rules of comparison. ``capture/`` makes a workload of a program's own
launches. ``judging/`` builds and judges, ``timing/`` says how long launches take, ``outcome`` is what came of it, ``run/`` hands
out the work and keeps it in a journal.
"""

from __future__ import annotations

from kernelwright.evaluate.capture.capture import Capture, Operation, ProgramIdentity
from kernelwright.evaluate.capture.writer import CaptureWriter
from kernelwright.evaluate.outcome import STAGES, Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.workload.case import Case, Step
from kernelwright.evaluate.workload.program_case import ProgramCase
from kernelwright.evaluate.workload.rule_text import Rules, parse_rule, parse_rules
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
