"""The planted set: every unsafe win gets its right label, no sound one is called unsafe. ``kw bench prove`` does 100 seeds."""

from __future__ import annotations

from functools import cache

import pytest

from kernelwright.bench.prove.labelling import label_planted
from kernelwright.bench.prove.planted import SOUND, UNSAFE, Planted
from kernelwright.ir import print_function
from kernelwright.prove import Proof, Prover, prove
from kernelwright.prove.labels import LABELS
from tests.prove.planted import planted

SEED = 7
"""One in the fast tests; ``test_labels_in_a_hundred_seeds`` shows that others give the same labels."""


@cache
def proof_of(kernel: str) -> Proof:
    one = planted(kernel)
    return prove(one.workload(SEED), one.original, one.variant, seed=SEED)


@pytest.mark.parametrize("one", [*UNSAFE, *SOUND], ids=lambda p: p.kernel)
def test_labels(one: Planted) -> None:
    proof = proof_of(one.kernel)
    assert proof.label == one.label, str(proof)
    assert proof.check("training").status == "passed"


@pytest.mark.parametrize("one", [*UNSAFE, *SOUND], ids=lambda p: p.kernel)
def test_the_compiler_does_not_make_them_alike(one: Planted) -> None:
    texts = {print_function(m[one.kernel].functions[one.kernel]) for m in (one.original, one.variant)}
    assert len(texts) == 2


def test_there_are_enough() -> None:
    assert len(UNSAFE) >= 12 and len(SOUND) >= 12
    assert {one.label for one in UNSAFE} == {"lock-step only", "data-specific", "schedule-dependent"}


EXPECTED = {
    "earlier_warp": ("races", "write at unsafe.cu:9", "read at unsafe.cu:13", "different warps of a block"),
    "largest": ("races", "unsafe.cu:38", "'best'"),
    "halo_written": ("orders", "'out' has", "expected"),
    "never_set": ("initialisation", "that were never written, of shared memory 'most'"),
    "one_warp": ("warp races", "lanes of one warp", "shared memory 's'"),
    "dense_keys": ("different", "'keys' ", "expected"),
    "square": ("different", "width"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_evidence(name: str) -> None:
    """A failed check says what, and where: both ends of a race, the first element that is wrong, the input it is wrong on."""
    check, *words = EXPECTED[name]
    found = proof_of(name).check(check)
    assert found.status == "failed" and found.evidence
    told = "\n".join([found.detail, *map(str, found.evidence)])
    assert all(word in told for word in words), told


def test_the_same_arguments_give_the_same_proof() -> None:
    small = planted("small")
    one, other = (prove(small.workload(5), small.original, small.variant, seed=5) for _ in range(2))
    assert one == other


def test_a_prover_serves_several_variants() -> None:
    dead = planted("dead_store")
    prover = Prover(dead.workload(1), dead.original, seed=1)
    first = prover.prove(dead.variant)
    assert prover.prove({}).label == "clean"
    assert prover.prove(dead.variant) == first and first.label == "clean"


@pytest.mark.parametrize("one", [*UNSAFE[::3], *SOUND[::6]], ids=lambda p: p.kernel)
def test_a_proof_that_ends_where_it_falls_short_says_whether_a_variant_is_what_was_asked_for(one: Planted) -> None:
    """The label of the whole proof tells. What ends early made fewer checks, and found one failed; what does not is the whole proof."""
    whole = proof_of(one.kernel)
    prover = Prover(one.workload(SEED), one.original, seed=SEED)
    for least in LABELS[1:]:
        proof = prover.prove(one.variant, least=least)
        is_enough = LABELS.index(whole.label) <= LABELS.index(least)
        assert proof.is_whole or not is_enough
        if is_enough:
            assert proof == whole
        else:
            assert not proof.is_whole and LABELS.index(least) < LABELS.index(proof.label)
            made = [sum(check.status != "not run" for check in each.checks) for each in (proof, whole)]
            assert made[0] <= made[1]


@pytest.mark.slow
@pytest.mark.parametrize("one", [*UNSAFE, *SOUND], ids=lambda p: p.kernel)
def test_labels_in_a_hundred_seeds(one: Planted) -> None:
    assert label_planted(one, range(100)).labels == {one.label: 100}
