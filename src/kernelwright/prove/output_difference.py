"""Comparing the outputs of two runs by a workload's rules, with the first element that is wrong as evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluate.workload.case import Arrays, Output
from kernelwright.evaluate.workload.comparison import Given, Metric, Rule, judge
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.prove.checked_run import CaseRun
from kernelwright.prove.evidence import Evidence


def difference(run: CaseRun, expected: Arrays, output: Output, rules: Rules) -> Evidence | None:
    """Why ``run`` is not right; None when it is. ``output`` is the original's, for what was in memory before."""
    if run.rejected is not None or run.output is None:
        reason = run.rejected.reason if run.rejected else "it left nothing"
        place = run.rejected.where if run.rejected else ""
        kernel = run.fault.kernel if run.fault else ""
        return Evidence(reason, "fault", run.case, str(run.schedule), kernel, place)
    for name, wanted in expected.items():
        found = run.output.arrays.get(name)
        if found is None:
            return Evidence(f"there is no output '{name}'", "value", run.case, str(run.schedule), output=name)
        rule = rules.of(name)
        inputs = tuple(v for n, v in output.inputs.items() if n != name and _alike(v, wanted))
        given = Given(output.before.get(name), inputs)
        verdict = judge(rule, found, wanted, given)
        if not verdict.accepted:
            wrong = _wrong(rule, found, wanted, given)
            return _evidence(run, name, found, wanted, wrong, verdict.sentence)
    return None


def _evidence(
    run: CaseRun, name: str, found: NDArray[Any], wanted: NDArray[Any], wrong: NDArray[np.bool_] | None, sentence: str
) -> Evidence:
    case, schedule = run.case, str(run.schedule)
    if wrong is None or not wrong.any():
        return Evidence(f"'{name}' {sentence}", "value", case, schedule, output=name)
    first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    index = tuple(int(i) for i in first)
    count = int(np.count_nonzero(wrong))
    place = ", ".join(map(str, index))
    sentence = (
        f"'{name}' has {count} of {wrong.size} elements outside the tolerance, the first is [{place}] = {found[index]}, "
        f"expected {wanted[index]}"
    )
    return Evidence(
        sentence, "value", case, schedule, output=name, index=index,
        found=str(found[index]), expected=str(wanted[index]), count=count,
    )  # fmt: skip


def _wrong(rule: Rule, found: NDArray[Any], wanted: NDArray[Any], given: Given) -> NDArray[np.bool_] | None:
    """Which elements lie outside; None where that cannot be said element by element."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype or isinstance(rule, Metric):
        return None
    if wanted.dtype.kind in "iuf" and wanted.dtype.itemsize <= 8 and wanted.dtype.isnative:
        with np.errstate(all="ignore"):
            errors = rule.errors(found, wanted, given)
        return errors > rule.tolerance if errors.shape == wanted.shape else None
    size = wanted.dtype.itemsize
    left, right = (np.ascontiguousarray(v).view(np.uint8).reshape(*wanted.shape, size) for v in (found, wanted))
    return np.asarray((left != right).any(axis=-1))


def _alike(left: NDArray[Any], right: NDArray[Any]) -> bool:
    return left.shape == right.shape and left.dtype == right.dtype
