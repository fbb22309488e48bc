"""Would doing nothing pass? A tolerance that lets it pass measures nothing, and a search will find that out.

HotSpot at 1 % of the raw values is the known case: a whole run changes the temperatures by 0.06 %, so a kernel that
copies its input is "within tolerance", and very fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kernelwright.evaluate.workload.comparison import Array, Given, Rule, judge
from kernelwright.evaluate.workload.rule_text import EXACT, Rules


def passes_idle(
    name: str, rule: Rule, expected: Array, before: Array | None, inputs: Mapping[str, Array]
) -> Iterator[str]:
    """A sentence for each way to leave the work on output ``name`` undone that ``rule`` would accept.

    Tried: leaving the buffer as it was, filling it with zeros, copying an input of its shape. A way that gives exactly
    what is expected is no warning: then that *is* the work.
    """
    given = Given(before, tuple(inputs.values()))
    ways: list[tuple[str, Array]] = [] if before is None else [("leaving it as it was", before)]
    if expected.dtype.kind in "biufc":
        ways.append(("filling it with zeros", np.zeros_like(expected)))
    ways += [(f"copying '{source}' to it", values) for source, values in inputs.items() if source != name]
    for way, values in ways:
        if judge(EXACT, values, expected).accepted:
            continue
        verdict = judge(rule, values, expected, given)
        if verdict.accepted:
            yield (
                f"'{name}': {way} would pass under '{rule}' (error {verdict.figure:.2g}); "
                "judge it by the change that is made, 'change 1%', or be stricter"
            )


def idle_warnings(
    rules: Rules, expected: Mapping[str, Array], before: Mapping[str, Array], inputs: Mapping[str, Array]
) -> list[str]:
    """The warnings for all outputs of a case that change at all."""
    found: list[str] = []
    for name, values in expected.items():
        earlier = before.get(name)
        if earlier is not None and judge(EXACT, earlier, values).accepted:
            continue
        alike = {n: v for n, v in inputs.items() if v.shape == values.shape and v.dtype == values.dtype}
        found += passes_idle(name, rules.of(name), values, earlier, alike)
    return found
