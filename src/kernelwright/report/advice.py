"""What a profile suggests, each sentence with the figure behind it and the figure that would do.

    advice(row) == ["loads touch 10.0 sectors a request; 4 would do where the lanes of a warp read neighbouring words of 4 bytes"]

A rule is a row of the table: which figure, from where on it is worth a sentence, and the sentence. They are rules of thumb on counted
figures, none of them says how much time would be saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.codegen.cost.slow_paths import SLOW_PATH
from kernelwright.lazy_dataclasses import dataclass

Row = dict[str, Any]


@dataclass(frozen=True)
class Rule:
    """``holds`` and ``words`` are asked of a row of ``device.profiling.profile_rows``."""

    holds: Callable[[Row], bool]
    words: Callable[[Row], str]


def _above(key: str, bound: float) -> Callable[[Row], bool]:
    return lambda row: row.get(key) is not None and row[key] > bound


def _term(row: Row, name: str) -> float:
    """The share of the time that a part of the machine takes."""
    return float(row.get("terms", {}).get(name, 0.0))


RULES: tuple[Rule, ...] = (
    Rule(
        _above("load_sectors_per_request", 6),
        lambda row: (
            f"loads touch {row['load_sectors_per_request']:.1f} sectors a request; 4 would do where the lanes of a warp read "
            "neighbouring words of 4 bytes (8 of 8 bytes, 16 of 16)"
        ),
    ),
    Rule(
        _above("store_sectors_per_request", 6),
        lambda row: (
            f"stores touch {row['store_sectors_per_request']:.1f} sectors a request; 4 would do where the lanes of a warp write "
            "neighbouring words of 4 bytes (8 of 8 bytes, 16 of 16)"
        ),
    ),
    Rule(
        _above("wavefronts_per_shared_request", 1.5),
        lambda row: (
            f"shared memory takes {row['wavefronts_per_shared_request']:.1f} turns a request, 1 would do: lanes meet in the same "
            "bank; pad the rows of the array, or change which lane reads what"
        ),
    ),
    Rule(
        _above("turns_per_atomic_request", 4),
        lambda row: (
            f"an atomic takes {row['turns_per_atomic_request']:.1f} turns a request, 1 would do: lanes of a warp update the same "
            "address; sum up in the warp or the block first"
        ),
    ),
    Rule(
        _above("turns_per_constant_request", 1.5),
        lambda row: (
            f"constant memory takes {row['turns_per_constant_request']:.1f} turns a request, 1 would do: lanes read different "
            "constants at once; global memory suits that"
        ),
    ),
    Rule(
        lambda row: SLOW_PATH * row.get("slow_divisions", 0.0) > 0.05 * sum(row.get("instructions", {}).values()),
        lambda row: (
            f"{row['slow_divisions']:,.0f} divisions of a warp go through a subroutine of {SLOW_PATH} instructions, for a lane has 0, "
            "infinity or numbers too far apart: __fdividef has none, where its rounding will do"
        ),
    ),
    Rule(
        lambda row: row.get("simt_efficiency", 1.0) < 0.75,
        lambda row: (
            f"{32 * row['simt_efficiency']:.0f} of 32 lanes take part in an instruction on average: branches divide the warps, or "
            "the block does not fill them"
        ),
    ),
    Rule(
        lambda row: row.get("occupancy", 1.0) < 0.5 and _term(row, "latency") > 0.3,
        lambda row: (
            f"{100 * row['occupancy']:.0f} % of the warps that a multiprocessor can hold are there, and most of the time is waiting "
            f"for results: {row['occupancy_limit']} keep more from being there"
        ),
    ),
    Rule(
        lambda row: _term(row, "barriers") > 0.2,
        lambda row: (
            f"{100 * _term(row, 'barriers'):.0f} % of the time is waiting at barriers, {row['barriers_per_block']:.0f} a block: kw evolve "
            "tries which of them are needed, and proves it"
        ),
    ),
)  # fmt: skip


def advice(row: Row) -> list[str]:
    """Sentences, in the order of the table; none where there was no estimate."""
    return [] if "trouble" in row or "roofline" in row else [rule.words(row) for rule in RULES if rule.holds(row)]
