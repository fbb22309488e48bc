"""A best that falls short of its proof: what relies on less takes its place where that is enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.edits import Gene
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json
from kernelwright.launch_relations import Product, Relation, quantity
from kernelwright.stories.evolve import evolve
from kernelwright.stories.variant_search.prove_best import _Proving
from tests.stories.test_evolve import AGAIN, EVALUATIONS

PROOFS = "kernelwright.stories.proving.Proofs"


def test_what_relies_on_less_is_the_best_where_that_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a guard too few it falls, with two it stands, with three as well: two are kept, and the run ends with as fast a variant."""

    def guarded(candidate: tuple[Gene, ...], count: int) -> tuple[Gene, ...]:
        guards = (Relation((quantity("block", axis),), ">=", (Product(1),)) for axis in range(count))
        return (*candidate, *(Gene(candidate[0].kernel, RequireLaunch(guard_json(guard))) for guard in guards))

    def count_of(candidate: tuple[Gene, ...]) -> int:
        return sum(isinstance(gene.edit, RequireLaunch) for gene in candidate)

    def judged(self: object, candidate: tuple[Gene, ...], speedup: float, *, accept: str = "any") -> SimpleNamespace:
        label = "clean" if count_of(candidate) >= enough else "data-specific"
        asked.append(count_of(candidate))
        return SimpleNamespace(is_whole=True, as_json=lambda: {"label": label, "checks": []})

    monkeypatch.setattr(PROOFS + ".of", judged)
    monkeypatch.setattr(PROOFS + ".provable", lambda *_: None)
    monkeypatch.setattr(PROOFS + ".masked", lambda *_: None)
    monkeypatch.setattr(PROOFS + ".relying_on_less", lambda _, candidate: [guarded(candidate, n) for n in (1, 2, 3)])
    for enough, order, kept in ((2, [0, 3, 1, 2], 2), (3, [0, 3, 1, 2], 3)):
        asked: list[int] = []
        run = evolve(AGAIN, folder=tmp_path / f"{enough}", evaluations=EVALUATIONS, seed=1, jobs=2)
        assert asked[:4] == order and run.best is not None and run.fallen is not None
        assert count_of(run.best.candidate) == kept and run.best.speedup == pytest.approx(run.fallen.speedup, rel=0.005)


def test_what_fixes_no_size_is_the_fastest_of_all_that_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit of the best counts as one that fixes a size: the fastest variant without it is noted beside the best."""
    fixed: list[Gene] = []

    def fixes(_: object, candidate: tuple[Gene, ...]) -> bool:
        return any(gene in fixed for gene in candidate)

    def judged(_: object, candidate: tuple[Gene, ...], speedup: float, *, accept: str = "any") -> SimpleNamespace:
        fixed[:] = fixed or candidate[:1]  # the best is proven first
        return SimpleNamespace(is_whole=True, as_json=lambda: {"label": "clean", "checks": []})

    monkeypatch.setattr(PROOFS + ".of", judged)
    monkeypatch.setattr(PROOFS + ".fixes_launch", fixes)
    monkeypatch.setattr(PROOFS + ".provable", lambda *_: None)
    run = evolve(AGAIN, folder=tmp_path / "run", evaluations=EVALUATIONS, seed=1, jobs=2)
    free, most = run.for_any_size, max(each.speedup for each in run.accepted if not fixes(None, each.candidate))
    assert run.best is not None and fixes(None, run.best.candidate)
    assert free is not None and not fixes(None, free.candidate) and free.speedup == most > 1.01


class _Judged:
    """A search and its proofs in which a candidate falls short where ``wrong`` says so, and each edit multiplies the speed-up."""

    def __init__(self, speedups: dict[str, float], wrong: Callable[[frozenset[str]], bool]) -> None:
        self.proven_together: list[str] = []
        self._speedups, self._wrong = speedups, wrong
        self._proofs: dict[str, dict[str, object]] = {}
        run = SimpleNamespace(
            proof=self._proofs.get, journal=SimpleNamespace(events=lambda kind: []), settings=SimpleNamespace(accept="clean"),
            subject=None,
        )  # fmt: skip
        search = SimpleNamespace(
            run=run, standing=SimpleNamespace(phase="", best=None), say=lambda said: None, note=lambda kind, data: None,
            try_one=self.found,
        )  # fmt: skip
        self.proving = _Proving(
            cast(Any, search), cast(Any, SimpleNamespace(of=self._proof, masked=lambda candidate: None))
        )

    def found(self, candidate: tuple[str, ...]) -> Any:
        speedup = math.prod(self._speedups[letter] for letter in candidate)
        return SimpleNamespace(name="".join(candidate), candidate=candidate, speedup=speedup, is_gain=speedup > 1.01)

    def _proof(self, candidate: tuple[str, ...], speedup: float, *, accept: str) -> SimpleNamespace:
        self.proven_together.append("".join(candidate))
        label = "data-specific" if self._wrong(frozenset(candidate)) else "clean"
        self._proofs["".join(candidate)] = {"label": label, "checks": []}
        return SimpleNamespace(is_whole=True, as_json=lambda: {"label": label, "checks": []})


def test_what_is_proven_of_a_best_is_where_its_edits_are_put_together_from() -> None:
    """Eight edits, one of them at fault: those that are proven are proven once, together, and the two others one by one."""
    speedups = dict.fromkeys("abcdefgh", 1.1)
    judged = _Judged(speedups, lambda edits: "g" in edits)
    kept, at_fault = judged.proving.without_faults(judged.found((*"abcdefgh",)), judged.found((*"abcdef",)))
    assert kept is not None and kept.candidate == (*"abcdefh",) and at_fault == {"g"}
    assert judged.proven_together == ["abcdef", "abcdefg", "abcdefh"]


def test_edits_of_a_best_are_put_together_in_halves() -> None:
    """Of eight edits one is at fault: half the proofs that one each would take."""
    judged = _Judged(dict.fromkeys("abcdefgh", 1.1), lambda edits: "g" in edits)
    kept, at_fault = judged.proving.without_faults(judged.found((*"abcdefgh",)))
    assert kept is not None and kept.candidate == (*"abcdefh",) and at_fault == {"g"}
    assert judged.proven_together == ["abcd", "abcdef", "abcdefg", "abcdefh"]


@given(
    st.sets(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), max_size=4),
    st.sets(st.sampled_from("abcdefghijklm"), max_size=3),
)
def test_what_is_put_together_holds_and_nothing_more_can_be_added(faults: set[str], pair: set[str]) -> None:
    """With edits that are wrong alone, and some that are wrong only all together."""

    def wrong(edits: frozenset[str]) -> bool:
        return bool(faults & edits) or (len(pair) > 1 and pair <= edits)

    letters = "abcdefghijklmnopqrstuvwxyz"
    judged = _Judged(dict.fromkeys(letters, 1.05), wrong)
    if not wrong(frozenset(letters)):
        return
    kept, at_fault = judged.proving.without_faults(judged.found((*letters,)))
    assert kept is not None and not wrong(frozenset(kept.candidate))
    assert all(wrong(frozenset((*kept.candidate, letter))) for letter in letters if letter not in kept.candidate)
    assert at_fault == set(letters).difference(kept.candidate)
    assert len(judged.proven_together) <= 2 * len(at_fault) * math.ceil(math.log2(len(letters)))


def test_another_variant_is_proven_where_one_edit_of_the_best_cannot_be() -> None:
    """Of the best "abu" only "a" can be proven, for "b" goes with "u"; "abc" is nearly as fast and can be proven whole."""
    speedups = {"abu": 2.0, "abv": 1.99, "abw": 1.98, "abc": 1.9, "a": 1.1, "abcg": 1.9}

    def found(candidate: tuple[str, ...]) -> SimpleNamespace:
        name = "".join(candidate)
        return SimpleNamespace(
            name=name, key=name, candidate=candidate, speedup=speedups[name], is_gain=True, size=len(name)
        )

    def provable(candidate: tuple[str, ...]) -> tuple[str, ...]:
        return (*"abcg",) if candidate == (*"abc",) else ("a",)

    asked: list[str] = []

    def proof(candidate: tuple[str, ...], speedup: float, *, accept: str) -> SimpleNamespace:
        asked.append("".join(candidate))
        proofs["".join(candidate)] = {"label": "proven", "checks": []}
        return SimpleNamespace(is_whole=True, as_json=lambda: {"label": "proven", "checks": []})

    proofs: dict[str, dict[str, object]] = {"a": {"label": "proven", "checks": []}}
    accepted = [found((*name,)) for name in ("a", "abu", "abv", "abw", "abc")]
    journal = SimpleNamespace(events=lambda kind: [])
    run = SimpleNamespace(
        proof=proofs.get, journal=journal, settings=SimpleNamespace(accept="clean"), subject=None, accepted=accepted
    )
    search = SimpleNamespace(
        run=run, standing=SimpleNamespace(phase="", best=None), say=lambda said: None, note=lambda kind, data: None, try_one=found,
    )  # fmt: skip
    proving = _Proving(cast(Any, search), cast(Any, SimpleNamespace(of=proof, provable=provable)))
    kept = proving.proven_of_others(cast(Any, found((*"abu",))), cast(Any, found(("a",))))
    assert kept is not None and kept.name == "a" and asked == []  # "b" is taken to be at fault, and all others have it
    speedups["ab"] = 1.1
    provable_of = {"abu": "ab", "abv": "ab", "abw": "ab", "abc": "abcg"}
    proving = _Proving(
        cast(Any, search), cast(Any, SimpleNamespace(of=proof, provable=lambda c: (*provable_of["".join(c)],)))
    )
    kept = proving.proven_of_others(cast(Any, found((*"abu",))), cast(Any, found((*"ab",))))
    assert kept is not None and kept.name == "abcg" and asked == ["abcg"]
    kept = proving.proven_of_others(cast(Any, found((*"abu",))), None)
    assert kept is not None and kept.name == "abcg"
