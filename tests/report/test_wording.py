"""How findings are worded."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

from kernelwright.report import finding_words
from kernelwright.search.minimise import Pair


def test_gains() -> None:
    assert [finding_words.gain(x) for x in (0.0974, -0.02, 0.0004, None)] == [
        "+9.7 %",
        "-2.0 %",
        "nothing",
        "rejected",
    ]
    assert (finding_words.alone(None), finding_words.within(None)) == ("rejected", "needed")


def test_every_relation_but_independence_has_words() -> None:
    relation = get_type_hints(Pair.relation.fget)["return"]  # type: ignore[attr-defined]
    assert set(finding_words.RELATIONS) == set(get_args(relation)) - {"independent"}


def test_mangled_names_are_told_as_in_the_source() -> None:
    said = finding_words.for_people(
        "_Z17score_lower_rightPKiPiiiiii #62, _Z4reduIfLi4EEvPT_ and argument 1 == i32 2",
        {"argument 1 == i32 2": "n == 2"},
    )
    assert said == "score_lower_right #62, redu<float, 4> and n == 2"


def check(status: str, detail: str, *sentences: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "races",
        "status": status,
        "detail": detail,
        "evidence": [{"sentence": s, **more} for s in sentences],
    }


def test_evidence_is_not_repeated_and_not_endless() -> None:
    assert finding_words.evidence(check("failed", "2 races: one", "one", "two", case="c", schedule="s")) == [
        "two (c, schedule s)"
    ]
    assert finding_words.evidence(check("failed", "many", *(f"race {n}" for n in range(5)))) == [
        "race 0", "race 1", "race 2", "and 2 more"
    ]  # fmt: skip


def test_the_domain_of_what_is_data_specific() -> None:
    checks = [
        {"name": "training", "status": "passed", "detail": "right on 2 cases"},
        {"name": "different", "status": "failed", "detail": "'out' has 9 of 128 elements outside the tolerance"},
        {"name": "undefined", "status": "failed", "detail": "2 places"},
    ]
    said = finding_words.domain({"label": "data-specific", "checks": checks})
    assert said == (
        "It is right for launches like those of the training data, not for all that the original takes. "
        "different: 'out' has 9 of 128 elements outside the tolerance."
    )
    assert finding_words.domain({"label": "benign", "checks": checks}) == finding_words.domain(None) == ""


def test_the_summary_names_what_did_not_pass() -> None:
    checks = [
        {"name": n, "status": s} for n, s in (("a", "passed"), ("b", "failed"), ("c", "not run"), ("d", "passed"))
    ]
    assert finding_words.summary(checks) == "2 checks passed; failed: b; not run: c"
