"""Labels and proofs as values: the worst evidence wins, and JSON carries everything both ways."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from kernelwright.errors import Misuse
from kernelwright.prove import CHECKS, LABELS, MEANING, Check, Evidence, Proof, proof_from_json

PROOF = Proof(
    (
        Check("training", "passed", "right on 2 cases"),
        Check("races", "failed", "a race", (Evidence("a and b", "race", place="k.cu:3", other="k.cu:5", count=7),)),
        Check(
            "different", "failed", "wrong", (Evidence("x", "value", "n=3", "forward", "k", output="out", index=(0, 2)),)
        ),
        Check("whole program", "not run", "there is none"),
    ),
    seed=4,
    notes=("the original races itself",),
)


def label_of(failed: list[str]) -> str:
    """Of a variant that failed these checks."""
    return Proof(tuple(Check(name, "failed", "found something") for name in failed)).label


def test_nothing_failed_is_clean() -> None:
    assert label_of([]) == "clean"


def test_the_worst_wins() -> None:
    for one, other in combinations(CHECKS, 2):
        labels = {CHECKS[one].label, CHECKS[other].label}
        worst = max(labels, key=LABELS.index)
        if labels != {"lock-step only", "data-specific"}:
            assert label_of([one, other]) == label_of([other, one]) == worst


def test_what_takes_lock_step_and_is_wrong_on_other_data_is_of_no_use() -> None:
    """As on an H200: on the training cases, too, it gave other results."""
    assert (
        label_of(["sub-warps", "different"])
        == label_of(["different", "warp races", "undefined"])
        == "schedule-dependent"
    )


def test_the_order_of_labels() -> None:
    best = ["proven", "clean", "as safe as the original", "benign"]
    assert [*LABELS] == [*best, "lock-step only", "data-specific", "schedule-dependent", "wrong"]
    assert set(MEANING) == set(LABELS)
    assert {kind.label for kind in CHECKS.values()} == set(LABELS) - {"proven", "clean"}


def test_json_both_ways() -> None:
    assert PROOF.label == "schedule-dependent"
    assert proof_from_json(PROOF.as_json()) == PROOF
    assert proof_from_json(json.dumps(PROOF.as_json())) == PROOF


def test_only_what_applies_is_written() -> None:
    assert PROOF.as_json()["checks"][2]["evidence"] == [
        {
            "sentence": "x",
            "kind": "value",
            "case": "n=3",
            "schedule": "forward",
            "kernel": "k",
            "output": "out",
            "index": [0, 2],
        }
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        "[]",
        {},
        {**PROOF.as_json(), "label": "clean"},
        {**PROOF.as_json(), "checks": [{"name": "luck", "status": "passed", "detail": "", "evidence": []}]},
        {**PROOF.as_json(), "checks": [{"name": "races", "status": "maybe", "detail": "", "evidence": []}]},
        {**PROOF.as_json(), "checks": [{"name": "races", "status": "passed", "detail": "", "evidence": [{"what": 1}]}]},
    ],
)
def test_what_is_no_proof(wrong: object) -> None:
    with pytest.raises(Misuse, match="this is no proof"):
        proof_from_json(wrong)  # type: ignore[arg-type]


def test_a_check_can_be_found() -> None:
    assert PROOF.check("races").status == "failed"
    with pytest.raises(KeyError):
        PROOF.check("orders")


def test_a_proof_in_words() -> None:
    text = str(PROOF)
    assert text.startswith("schedule-dependent\n") and "races: failed - a race" in text and "note: the original" in text
