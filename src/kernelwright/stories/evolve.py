"""Evolution, in its first and smallest form: single random deletions, the first that is faster and still right is kept.

until the budget is spent:
    ask       draw a deletion that has not been tried
    evaluate  apply, verify, run every case, compare
    tell      keep it when the output is within tolerance and fewer instructions were executed
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from kernelwright.edits import Delete, Original, apply, deletions
from kernelwright.errors import Misuse
from kernelwright.evaluate.executed import ExecutedInstructions
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload import Workload
from kernelwright.ir import Module
from kernelwright.pipeline import compile as compile_program


@dataclass(frozen=True)
class Found:
    """What the search kept (None: nothing) and what it cost."""

    kernel: str
    edit: Delete | None
    line: str
    """Source line of the deleted instruction, ``blur.cu:19``."""
    text: str
    """The deleted instruction."""
    before: float
    after: float
    error: float
    tried: int
    rejected: dict[str, int]


def evolve(workload: Workload, *, seed: int = 0, evaluations: int = 500) -> Found:
    """Searches until one deletion is kept or ``evaluations`` candidates were tried; the same seed gives the same result.

    Raises ``Misuse`` when the workload's own kernel fails on its own cases.
    """
    unit = compile_program(workload.source).units[0]
    kernel = _kernel_name(unit.module, workload.kernel)
    evaluate = ExecutedInstructions(workload, kernel)
    original = evaluate.reference(unit.module)
    whole = Original(unit.module, kernel)
    candidates = list(deletions(whole))
    random.Random(seed).shuffle(candidates)
    rejected: Counter[str] = Counter()
    for tried, edit in enumerate(candidates[:evaluations], start=1):
        outcome = evaluate(apply(whole, (edit,)).module)
        if isinstance(outcome, Rejected):
            rejected[outcome.stage] += 1
        elif outcome.cost >= original.cost:
            rejected["no faster"] += 1
        else:
            where = whole.location(edit.subject)
            place = f"{where.file.rsplit('/', 1)[-1]}:{where.line}" if where else "no source line"
            text = whole.lines[edit.subject]
            return Found(kernel, edit, place, text, original.cost, outcome.cost, outcome.error, tried, dict(rejected))
    return Found(
        kernel, None, "", "", original.cost, original.cost, 0.0, min(len(candidates), evaluations), dict(rejected)
    )


def _kernel_name(module: Module, name: str) -> str:
    """The mangled name of the kernel a person calls ``name``."""
    names = [kernel.name for kernel in module.kernels]
    exact = [k for k in names if k == name or k.startswith(f"_Z{len(name)}{name}")]
    if len(exact) != 1:
        raise Misuse(
            f"{'several kernels are' if exact else 'no kernel is'} called {name!r}",
            hint=f"the kernels are {', '.join(names) or 'none'}",
        )
    return exact[0]


__all__ = ["Found", "Ok", "evolve"]
