"""Proofs made in a process of their own: what becomes of one that ends it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.errors import ToolError
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.farm import Lost
from kernelwright.prove.proof import proof_from_json
from kernelwright.stories import proving
from kernelwright.stories.proving import Proofs, meets


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
