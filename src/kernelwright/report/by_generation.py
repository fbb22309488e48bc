"""How a search went, generation by generation: time and error of the fittest, as figure 10 of paper 000 shows them.

for each in by_generation(run):
    each.generation, each.time_us, each.error
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.variant_run import VariantRun
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Fittest:
    """The fastest that was accepted up to the end of a generation; 0 is what comes before the first: scanning, combining."""

    generation: int
    time_us: float
    error: float

    def as_json(self) -> dict[str, Any]:
        """A row of ``generations`` in ``kw evolve --json``; the time in microseconds."""
        return {"generation": self.generation, "time_us": self.time_us, "error": self.error}


def by_generation(run: VariantRun[Any]) -> list[Fittest]:
    """A line for each generation, in order; of a run without any evaluation, none."""
    fittest: dict[int, Fittest] = {}
    best: Fittest | None = None
    for row in run.searched():
        if not isinstance(row.outcome, Ok):
            continue
        number = int(row.facts.get("generation", 0))
        if best is None or row.outcome.time_us < best.time_us:
            best = Fittest(number, row.outcome.time_us, row.outcome.error)
        fittest[number] = Fittest(number, best.time_us, best.error)
    return [fittest[number] for number in sorted(fittest)]


def transfer_in_words(found: Mapping[str, Any]) -> str:
    """A transfer to a larger set of data (``VariantRun.transfer``) as a sentence."""
    if found.get("why"):
        return f"on {found['data']}: {found['why']}"
    (before, after), (error_before, error_after) = found["time_us"], found["error"]
    flags = f", compile flags {found['flags']} included" if found.get("flags") else ""
    return (
        f"on {found['data']}, the whole program{flags}: {before / after:.3f}x ({before:.4g} us became {after:.4g} us in kernels), "
        f"its own error {100 * error_before:.2f} % before, {100 * error_after:.2f} % with it; "
        f"it ran in {found['exchanged']:,} of {found['launches']:,} launches of its kernels"
    )
