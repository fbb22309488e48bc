"""What a profile suggests: each rule speaks where its figure is bad, and is silent where it is good."""

from __future__ import annotations

from typing import Any

import pytest

from kernelwright.report.advice import RULES, advice

GOOD: dict[str, Any] = {
    "load_sectors_per_request": 4.0, "store_sectors_per_request": None, "wavefronts_per_shared_request": 1.0,
    "turns_per_atomic_request": None, "turns_per_constant_request": 1.0, "simt_efficiency": 1.0, "occupancy": 0.25,
    "occupancy_limit": "registers", "terms": {"fp32": 0.9, "latency": 0.1}, "barriers_per_block": 2.0,
    "slow_divisions": 10.0, "instructions": {"int": 9_000.0, "fp32": 1_000.0},
}  # fmt: skip


@pytest.mark.parametrize(
    ("worse", "words"),
    [
        ({"load_sectors_per_request": 10.0}, "loads touch 10.0 sectors a request; 4 would do"),
        ({"store_sectors_per_request": 32.0}, "stores touch 32.0 sectors a request; 4 would do"),
        ({"wavefronts_per_shared_request": 8.0}, "shared memory takes 8.0 turns a request, 1 would do"),
        ({"turns_per_atomic_request": 32.0}, "an atomic takes 32.0 turns a request, 1 would do"),
        ({"turns_per_constant_request": 3.0}, "constant memory takes 3.0 turns a request, 1 would do"),
        ({"slow_divisions": 100.0}, "100 divisions of a warp go through a subroutine of 26 instructions"),
        ({"simt_efficiency": 0.5}, "16 of 32 lanes take part"),
        ({"terms": {"latency": 0.8, "fp32": 0.2}}, "25 % of the warps that a multiprocessor can hold"),
        ({"terms": {"barriers": 0.4, "fp32": 0.6}}, "40 % of the time is waiting at barriers, 2 a block"),
    ],
)
def test_a_bad_figure_is_named_with_the_one_that_would_do(worse: dict[str, Any], words: str) -> None:
    (sentence,) = advice({**GOOD, **worse})
    assert sentence.startswith(words)


def test_good_figures_and_failed_launches_give_no_advice() -> None:
    assert advice(GOOD) == [] and advice({"trouble": "it stopped with a fault"}) == []


def test_every_rule_is_seen_above() -> None:
    worst = {
        **GOOD, "load_sectors_per_request": 32.0, "store_sectors_per_request": 32.0, "wavefronts_per_shared_request": 32.0,
        "turns_per_atomic_request": 32.0, "turns_per_constant_request": 32.0, "simt_efficiency": 0.1,
        "slow_divisions": 1000.0,
        "terms": {"latency": 0.6, "barriers": 0.4},
    }  # fmt: skip
    assert len(advice(worst)) == len(RULES)
