"""Outcomes are values: equal, hashable, picklable, JSON both ways."""

from __future__ import annotations

import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.device.fault import Fault, Location
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import (
    STAGES,
    Metrics,
    Ok,
    Outcome,
    Rejected,
    outcome_from_json,
    outcome_to_text,
    rejected_by,
)

FIGURES = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
OUTCOMES = st.one_of(
    st.builds(
        Ok,
        FIGURES,
        FIGURES,
        st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)).map(Metrics),
    ),
    st.builds(Rejected, st.sampled_from(sorted(STAGES)), st.text(), st.text()),
)


@given(OUTCOMES)
def test_json_pickle_and_hash_keep_an_outcome(outcome: Outcome) -> None:
    for again in (
        outcome_from_json(outcome_to_text(outcome)),
        outcome_from_json(json.loads(json.dumps(outcome.as_json()))),
        pickle.loads(pickle.dumps(outcome)),
    ):
        assert again == outcome and hash(again) == hash(outcome)


@given(OUTCOMES, OUTCOMES)
def test_text_tells_outcomes_apart(one: Outcome, other: Outcome) -> None:
    # 0.0 and -0.0 are equal figures with two texts.
    if one != other:
        assert outcome_to_text(one) != outcome_to_text(other)


def test_order_of_metrics_does_not_matter() -> None:
    one, other = Ok(1.0, 0.0, Metrics({"a": 1, "b": 2})), Ok(1.0, 0.0, Metrics({"b": 2.0, "a": 1.0}))
    assert one == other and hash(one) == hash(other) and outcome_to_text(one) == outcome_to_text(other)
    assert one.metrics["b"] == 2 and len(one.metrics) == 2
    assert Ok(1.0, 0.0, {"a": 1.0}).metrics == {"a": 1.0}  # type: ignore[arg-type]


@pytest.mark.parametrize("figures", [(math.nan, 0), (math.inf, 0), (-1, 0), (1, math.nan), (1, math.inf), (1, -1e-9)])
def test_an_accepted_candidate_has_figures(figures: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"time_us|error"):
        Ok(*figures)


def test_metrics_are_finite() -> None:
    with pytest.raises(ValueError, match="sectors"):
        Ok(1.0, 0.0, Metrics({"sectors": math.inf}))


def test_the_table_of_stages_is_closed() -> None:
    with pytest.raises(ValueError, match="verify, compile"):
        Rejected("vibes", "felt wrong")


def test_objectives_by_name() -> None:
    outcome = Ok(12.5, 0.25, Metrics({"registers": 32}))
    assert outcome.objectives() == (12.5, 0.25)
    assert outcome.objectives(["registers", "time"]) == (32, 12.5)
    with pytest.raises(Misuse, match="'speed'") as wrong:
        outcome.objectives(["speed"])
    assert "error, registers, time" in str(wrong.value)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", '{"ok": 1}', '{"ok": true}', '{"ok": true, "time_us": "x", "error": 0, "metrics": {}}',
     '{"ok": false, "stage": "future", "reason": "r", "where": ""}', '{"ok": true, "time_us": -1, "error": 0, "metrics": {}}',
     '{"ok": true, "time_us": NaN, "error": 0, "metrics": {}}', '{"ok": true, "time_us": 1, "error": 0, "metrics": [1]}'],
)  # fmt: skip
def test_what_is_no_outcome(text: str) -> None:
    with pytest.raises(Misuse, match="no outcome"):
        outcome_from_json(text)


def test_a_fault_becomes_a_rejection() -> None:
    place = Location("kernel", file="a.cu", line=7)
    fault = Fault("out-of-bounds", "4 bytes after the end of 'd_a'", "kernel", place, (1, 0, 0), (2, 0, 0))
    found = rejected_by(fault)
    assert (found.stage, found.where) == ("fault", "a.cu:7")
    assert "out-of-bounds: 4 bytes after the end of 'd_a'" in found.reason and "(2, 0, 0)" in found.reason
    assert rejected_by(Fault("endless", "does not end")) == Rejected("timeout", "endless: does not end")
    assert str(found).startswith("fault: out-of-bounds") and str(found).endswith("(a.cu:7)")
