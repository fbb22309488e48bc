"""The planted set: every unsafe win gets its right label, no sound one is called unsafe. ``kw bench prove`` does 100 seeds."""

from __future__ import annotations

import pytest

from kernelwright.bench.prove.labelling import label_planted
from kernelwright.bench.prove.planted import SOUND, UNSAFE, Planted
from kernelwright.ir import print_function
from kernelwright.prove import Prover, prove
from kernelwright.prove.checked_run import Device

SEEDS = (7, 1234)


@pytest.mark.parametrize("planted", [*UNSAFE, *SOUND], ids=lambda p: p.kernel)
def test_labels(planted: Planted) -> None:
    device = Device()
    for seed in SEEDS:
        proof = prove(planted.workload(seed), planted.original, planted.variant, seed=seed, device=device)
        assert proof.label == planted.label, str(proof)
        assert proof.check("training").status == "passed"


@pytest.mark.parametrize("planted", [*UNSAFE, *SOUND], ids=lambda p: p.kernel)
def test_the_compiler_does_not_make_them_alike(planted: Planted) -> None:
    texts = {print_function(m[planted.kernel].functions[planted.kernel]) for m in (planted.original, planted.variant)}
    assert len(texts) == 2


def test_there_are_enough() -> None:
    assert len(UNSAFE) >= 12 and len(SOUND) >= 12
    assert {one.label for one in UNSAFE} == {"lock-step only", "data-specific", "schedule-dependent"}


EXPECTED = {
    "earlier_warp": ("races", "write at unsafe.cu:9", "read at unsafe.cu:13", "different warps of a block"),
    "largest": ("races", "unsafe.cu:38", "'best'"),
    "halo_written": ("orders", "'out' has", "expected"),
    "never_set": ("initialisation", "that nobody has written, of shared memory 'most'"),
    "one_warp": ("warp races", "lanes of one warp", "shared memory 's'"),
    "dense_keys": ("different", "'keys' ", "expected"),
    "square": ("different", "width"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_evidence(name: str) -> None:
    """A failed check says what, and where: both ends of a race, the first element that is wrong, the input it is wrong on."""
    check, *words = EXPECTED[name]
    planted = next(one for one in UNSAFE if one.kernel == name)
    found = prove(planted.workload(3), planted.original, planted.variant, seed=3).check(check)
    assert found.status == "failed" and found.evidence
    told = "\n".join([found.detail, *map(str, found.evidence)])
    assert all(word in told for word in words), told


def test_the_same_arguments_give_the_same_proof() -> None:
    planted = next(one for one in UNSAFE if one.kernel == "small")
    one, other = (prove(planted.workload(5), planted.original, planted.variant, seed=5) for _ in range(2))
    assert one == other


def test_a_prover_serves_several_variants() -> None:
    planted = next(one for one in SOUND if one.kernel == "dead_store")
    prover = Prover(planted.workload(1), planted.original, seed=1)
    first = prover.prove(planted.variant)
    assert prover.prove({}).label == "clean"
    assert prover.prove(planted.variant) == first and first.label == "clean"


@pytest.mark.slow
@pytest.mark.parametrize("planted", [*UNSAFE, *SOUND], ids=lambda p: p.kernel)
def test_labels_in_a_hundred_seeds(planted: Planted) -> None:
    assert label_planted(planted, range(100)).labels == {planted.label: 100}
