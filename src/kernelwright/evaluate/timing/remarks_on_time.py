"""What a person should know of the times that gains are counted from."""

from __future__ import annotations

from kernelwright.evaluate.outcome import Ok
from kernelwright.search.ties import TIE

SHORT_US = 1.0
"""A kernel that takes less is felt less than its launch."""


def remarks_on_time(original: Ok, as_compiled_us: float) -> list[str]:
    """Of the original, and of the program as it is compiled; a sentence each."""
    said = []
    if as_compiled_us < original.time_us * (1 - TIE):
        said.append(
            f"the program as it is compiled takes {as_compiled_us:.3f} us, less than after the post-passes that every "
            f"variant gets ({original.time_us:.3f} us): gains are counted from the former"
        )
    shortest = original.metrics.get("shortest_us", SHORT_US)
    if shortest < SHORT_US:
        said.append(
            f"a kernel runs for {shortest:.2f} us, less than its launch costs: gains there are hardly felt; "
            "larger inputs say more"
        )
    return said
