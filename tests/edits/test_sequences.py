"""Random edits over the kernels of the suite: whatever subset, in whatever order, LLVM accepts what comes out."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelwright.edits import Applied, Edit, Genome, Original, apply, as_json, draw, dumps, from_json, loads
from kernelwright.ir import parse_module, verify
from kernelwright.passes.llvm import check
from tests.edits.conftest import modules, suite_kernels

SMALL = 260
"""Instructions of the kernels that the fast tests use: larger ones take LLVM and our verifier most of the time."""


def genome(original: Original, rng: random.Random, longest: int = 12) -> Genome:
    """Edits drawn on the original and on what earlier ones made of it."""
    edits: list[Edit] = []
    draft = apply(original, ()).draft
    for _ in range(rng.randint(1, longest)):
        edit = draw(draft, rng)
        assert edit is not None
        edits.append(edit)
        if rng.random() < 0.4:
            draft = apply(original, edits).draft
    return tuple(edits)


def accepted(applied: Applied) -> None:
    verify(applied.module)  # first: LLVM ends the process on some modules that this refuses
    check(applied.text)


def sequence(original: Original, seed: int) -> None:
    """One genome as drawn, then a part of it in another order."""
    rng = random.Random(seed)
    edits = genome(original, rng)
    shuffled = rng.sample(edits, rng.randint(1, len(edits)))
    for variant in (edits, tuple(shuffled)):
        accepted(apply(original, variant))


@cache
def small_kernels() -> list[Original]:
    return [k for k in suite_kernels() if len(k.nodes) <= SMALL]


numbers = st.integers(0, 2**32 - 1)
relaxed = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


@settings(relaxed, max_examples=120)
@given(numbers)
def test_any_edits_in_any_order_give_valid_ir(seed: int) -> None:
    sequence(random.Random(seed).choice(small_kernels()), seed)


def test_a_thousand_sequences() -> None:
    """LLVM alone, which is quicker than our verifier, once the test above has passed."""
    for seed in range(1000):
        original = random.Random(seed).choice(small_kernels())
        check(apply(original, genome(original, random.Random(seed), 6)).text)


@pytest.mark.parametrize("number", range(4))
def test_the_largest_kernels(number: int) -> None:
    largest = sorted(suite_kernels(), key=lambda k: len(k.nodes))[-1 - number]
    for seed in range(3):
        sequence(largest, seed)


@relaxed
@given(numbers)
def test_the_same_edits_give_the_same_text(seed: int) -> None:
    original = random.Random(seed).choice(small_kernels())
    edits = genome(original, random.Random(seed))
    assert genome(original, random.Random(seed)) == edits
    applied = apply(original, edits)
    source = next(m for m in modules() if original.kernel in m.functions)
    again = apply(Original(parse_module(str(source)), original.kernel), edits)
    assert applied.text == apply(original, edits).text == again.text
    assert applied.repaired == again.repaired


@relaxed
@given(numbers)
def test_json_and_back(seed: int) -> None:
    original = random.Random(seed).choice(small_kernels())
    edits = genome(original, random.Random(seed))
    assert loads(dumps(edits)) == edits
    assert tuple(from_json(as_json(e)) for e in edits) == edits


@relaxed
@given(numbers)
def test_what_is_inert_has_no_effect(seed: int) -> None:
    """A genome without its inert edits gives the same variant; drawn edits apply to what they were drawn on."""
    rng = random.Random(seed)
    original = rng.choice(small_kernels())
    edits = genome(original, rng)
    mixed = tuple(rng.sample(edits + edits, 2 * len(edits)))
    applied = apply(original, mixed)
    left_out = {i.index for i in applied.inert}
    rest = apply(original, [e for n, e in enumerate(mixed) if n not in left_out])
    assert rest.inert == () and rest.text == applied.text


@relaxed
@given(numbers)
def test_what_is_drawn_applies(seed: int) -> None:
    rng = random.Random(seed)
    original = rng.choice(small_kernels())
    edits = genome(original, rng)
    draft = apply(original, edits).draft
    for _ in range(5):
        edit = draw(draft, rng)
        assert edit is not None and apply(original, (*edits, edit)).inert[len(apply(original, edits).inert) :] == ()


@relaxed
@given(numbers, numbers)
def test_edits_of_another_kernel_do_no_harm(seed: int, other: int) -> None:
    rng = random.Random(seed)
    original, foreign = rng.choice(small_kernels()), random.Random(other).choice(small_kernels())
    accepted(apply(original, genome(foreign, rng)))


@pytest.mark.slow
def test_a_hundred_thousand_sequences() -> None:
    for seed in range(100_000):
        original = random.Random(seed).choice(suite_kernels())
        rng = random.Random(seed)
        edits = genome(original, rng)
        applied = apply(original, rng.sample(edits, len(edits)))
        if seed % 10 == 0:
            verify(applied.module)
        check(applied.text)
