"""Proofs made in a process of their own: what becomes of one that ends it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kernelwright.errors import ToolError
from kernelwright.evaluate.judging.whole_program import Program
from kernelwright.evaluate.workload.subject import Recordings
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.farm import Lost
from kernelwright.prove.changed_inputs.refuting_changes import Counterexample
from kernelwright.prove.checks.table import CHECKS
from kernelwright.prove.evidence import Check, Evidence
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.prove.proof import Proof, proof_from_json
from kernelwright.stories import proving
from kernelwright.stories.obligations import Obligations
from kernelwright.stories.proving import Proofs, counterexamples_of, meets
from kernelwright.stories.variant_search.prove_best import not_compared


@pytest.fixture
def proofs(finished_run: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Proofs]:
    class Dead:
        def __init__(self, *_: Any, **__: Any) -> None: ...
        def close(self) -> None: ...
        def map(self, items: list[Any]) -> Iterator[tuple[int, Lost]]:
            yield 0, request.param

    monkeypatch.setattr(proving, "Pool", Dead)
    with EvolveRun.open(finished_run, GENOMES) as run, Proofs(run) as made:
        yield made


@pytest.mark.parametrize("proofs", [Lost("crash", "it ended its process by signal SIGSEGV")], indirect=True)
def test_what_ends_the_process_is_wrong_and_the_run_goes_on(proofs: Proofs) -> None:
    proof = proofs.of((), 2.0)
    assert proof.label == "wrong" and not meets(proof.label, "any")
    assert proof.check("training").detail == "while it was proven, it ended its process by signal SIGSEGV"
    assert proof_from_json(proof.as_json()) == proof


@pytest.mark.parametrize("proofs", [Lost("timeout", "it did not end"), Lost("memory", "too much")], indirect=True)
def test_what_takes_too_much_says_nothing_of_the_variant(proofs: Proofs) -> None:
    with pytest.raises(ToolError, match="the proof cannot be made") as told:
        proofs.of((), 2.0)
    assert "smaller inputs" in str(told.value)


def test_what_refutes_one_variant_is_tried_on_all_later_ones(
    finished_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = Proof(tuple(Check(name, "passed", "") for name in CHECKS))
    refuted = Obligation("it is 3", "refuted", "it is not", kernel="k", counterexample=(("argument 2", 4),))
    found = Counterexample("k", (("argument 2", 4),))
    asked: list[tuple[str, tuple[Counterexample, ...]]] = []

    class Told:
        """Finds the first variant wrong on what refutes it, and nothing else."""

        def __init__(self, *_: Any, **__: Any) -> None: ...
        def close(self) -> None: ...
        def of(self, *_: Any) -> list[Obligation]:
            return [refuted]

        def map(self, items: list[Any]) -> Iterator[tuple[int, Any]]:
            what, _, _, counterexamples, _ = items[0]
            asked.append((what, counterexamples))
            if what == "proof":
                yield 0, {"proof": clean.as_json(), "launches": {}}
            else:
                yield 0, {"wrong": [Evidence("off by one", "value", "n: 3 -> 4", index=(0, 1)).as_json()]}

    monkeypatch.setattr(proving, "Pool", Told)
    monkeypatch.setattr(proving, "Obligations", Told)
    with EvolveRun.open(finished_run, GENOMES) as run, Proofs(run) as made:
        before = tuple(counterexamples_of(run))
        first, second = made.of((), 2.0), made.of((), 2.0)
    assert asked == [("proof", before), ("refuted", (*before, found)), ("proof", (*before, found))]
    assert first.label == "data-specific" and "off by one (n: 3 -> 4)" in first.check("different").detail
    assert proof_from_json(first.as_json()) == first
    assert second.label == "clean"  # its own check has tried it


def test_a_run_that_is_resumed_knows_what_refuted_its_variants() -> None:
    refuted = Obligation("it is 3", "refuted", "it is not", kernel="k", counterexample=(("argument 2", 4),))
    held = Obligation("it is 3", "solver", "it is", kernel="k")
    events = [
        SimpleNamespace(data={"obligations": [one.as_json() for one in some]})
        for some in ([held, refuted], [refuted], [])
    ]
    run: Any = SimpleNamespace(journal=SimpleNamespace(events=lambda kind: [*events, SimpleNamespace(data={})]))
    assert counterexamples_of(run) == [Counterexample("k", (("argument 2", 4),))]


class OutOfMemory:
    """A pool whose worker has died of what it was asked."""

    def map(self, asked: list[Any]) -> Iterator[tuple[int, Lost]]:
        yield 0, Lost("memory", "it needed more memory than it may have")


def test_a_solver_out_of_memory_leaves_what_the_tests_say() -> None:
    obligations: Obligations[Any] = Obligations(cast(Any, None), cast(Any, None), "h200")  # starts nothing
    obligations._pool.close()
    obligations._pool = cast(Any, OutOfMemory())
    (owed,) = obligations.of((), {})
    assert owed.method == "tested" and "needed more memory than it may have" in owed.reason
    passed = Proof(tuple(Check(name, "passed", "", ()) for name in CHECKS))
    assert replace(passed, obligations=(owed,)).label == passed.label == "clean"
    assert obligations.provable((), {}) is None and obligations.relying_on_less((), {}) == obligations.masked(()) == []


def test_a_program_that_cannot_run_again_says_why() -> None:
    recordings = Recordings((), (), program=Program("/gone", (), "."))
    assert proving._whole(recordings, "h200", cast(Any, None)) == (None, "the program is not there any more (/gone)")
    with pytest.raises(ToolError, match="not there any more"):
        proving._no_trial("the program is not there any more", {})


def test_a_whole_program_that_was_not_compared_is_said() -> None:
    def proof(training: str, whole: str) -> list[dict[str, str]]:
        return [{"name": "training", "status": training}, {"name": "whole program", "status": whole, "detail": "why"}]

    assert not_compared(proof("passed", "not run")) == "the whole program was not compared: why"
    assert not not_compared(proof("passed", "passed")) and not not_compared(proof("passed", "failed"))
    assert not not_compared(proof("failed", "not run")), "that is not what is wrong with it"
    assert not not_compared([])
