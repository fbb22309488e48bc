"""A best that falls short of its proof: what relies on less takes its place where that is enough."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from kernelwright.edits import Gene
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json
from kernelwright.launch_relations import Product, Relation, quantity
from kernelwright.stories.evolve import evolve
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
