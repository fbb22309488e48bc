"""How much a check compared: launches, differing sizes, bytes of output.

Of the outputs, those count that the original changes in some training case and whose rule does not ignore them: who leaves
everything else as it was has computed nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.device.describe_access import plural
from kernelwright.evaluate.workload.comparison import Ignore
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.baseline import Reference, shape_of


@dataclass(frozen=True)
class Compared:
    cases: int
    launches: int
    sizes: int
    """Different ones: of launches and of memory."""
    output_bytes: int

    def __str__(self) -> str:
        sizes = f" of {plural(self.sizes, 'size')}" if self.sizes > 1 else ""
        return (
            f"{plural(self.cases, 'case')}{sizes} ({self.launches} launch{'' if self.launches == 1 else 'es'}, "
            f"{self.output_bytes:,} bytes of output compared)"
        )


def compared(cases: Sequence[Reference], rules: Rules, changed: frozenset[str], times: int = 1) -> Compared:
    """``changed``: the outputs that the original changes. ``times``: how often each case is run."""
    counted = [
        values.nbytes
        for one in cases
        for name, values in one.expected.items()
        if not isinstance(rules.of(name), Ignore) and (name in changed or name not in one.output.before)
    ]
    launches = sum(len(one.run.launches) for one in cases)
    return Compared(len(cases), times * launches, len({shape_of(one.run) for one in cases}), times * sum(counted))


def changed_outputs(cases: Sequence[Reference]) -> frozenset[str]:
    """The outputs that the original changes in one of the cases."""
    return frozenset(
        name
        for one in cases
        for name, values in one.expected.items()
        if name not in one.output.before or one.output.before[name].tobytes() != values.tobytes()
    )
