"""A person's oracle beside the statements of the computation, before there is a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.exploration.subject import Subject
from kernelwright.space.computation.family import SEED, TOLERANCE

MOST_WORK = 1 << 24
"""Iterations of a computation that is also carried out as it is declared: a tenth of a second."""


def check_oracle(subject: Subject) -> None:
    """Raises ``Misuse`` for an oracle of a person that fails, returns something else than the outputs, or other numbers than the
    statements come to. Larger computations are compared with kernels alone."""
    family = subject.family
    if subject.own is None or family.oracle is None:
        return
    memory = family.inputs(subject.declared, SEED)
    outputs = family.expected(subject.declared, memory)
    if subject.work > MOST_WORK:
        return
    for name, values in replace(family, oracle=None).expected(subject.declared, memory).items():
        scale = max(float(np.abs(values).max()), 1e-30)
        error = float(np.abs(outputs[name] - values).max()) / scale
        if error > TOLERANCE:
            raise Misuse(
                f"the oracle of {family.name} and its statements differ: {name} by {error:.2g} of its largest value",
                hint="one of them is wrong; without an oracle kernels are held against the statements",
            )
