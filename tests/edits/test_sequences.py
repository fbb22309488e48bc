"""Random edits over the kernels of the suite: whatever subset, in whatever order, LLVM accepts what comes out."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelwright.bench.edits import EVERY_KIND, Tally, random_genome, run_sequence
from kernelwright.edits import Applied, Genome, Original, apply, as_json, draw, dumps, from_json, loads
from kernelwright.edits.table import BY_NAME
from kernelwright.ir import parse_module, verify
from kernelwright.passes.llvm import check
from kernelwright.passes.recipe import optimise_with
from tests.edits.conftest import modules, suite_kernels
from tests.examples import few

SMALL = 260
"""Instructions of the kernels that the fast tests use: larger ones take LLVM and our verifier most of the time."""


def genome(original: Original, rng: random.Random, longest: int = 12) -> Genome:
    """Edits of every kind, drawn on the original and on what earlier ones made of it."""
    return random_genome(original, rng, longest)


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
relaxed = settings(max_examples=few(50), deadline=None, suppress_health_check=list(HealthCheck))


@settings(relaxed, max_examples=few(120))
@given(numbers)
def test_any_edits_in_any_order_give_valid_ir(seed: int) -> None:
    sequence(random.Random(seed).choice(small_kernels()), seed)


@pytest.mark.slow
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
@example(110504)  # a load whose address is computed from an operand that repair changed
@example(
    65535
)  # the same, where that operand leads to memory that is written before repair, and to other memory after it
def test_what_is_drawn_applies(seed: int) -> None:
    rng = random.Random(seed)
    original = rng.choice(small_kernels())
    edits = genome(original, rng)
    draft = apply(original, edits).draft
    for _ in range(5):
        edit = draw(draft, rng, operators=EVERY_KIND)
        # It may take back what an earlier edit promised of memory, never itself.
        assert edit is not None and len(edits) not in [each.index for each in apply(original, (*edits, edit)).inert]


@relaxed
@given(numbers, numbers)
def test_edits_of_another_kernel_do_no_harm(seed: int, other: int) -> None:
    rng = random.Random(seed)
    original, foreign = rng.choice(small_kernels()), random.Random(other).choice(small_kernels())
    accepted(apply(original, genome(foreign, rng)))


@relaxed
@given(numbers)
def test_every_part_in_every_order_gives_its_own_text_each_time(seed: int) -> None:
    """No edit remembers another application: neither in the original's caches nor in the order of a set."""
    rng = random.Random(seed)
    original = rng.choice(small_kernels())
    edits = genome(original, rng)
    parts = [tuple(rng.sample(edits, rng.randint(0, len(edits)))) for _ in range(4)]
    first = [apply(original, part) for part in parts]
    source = next(m for m in modules() if original.kernel in m.functions)
    fresh = Original(parse_module(str(source)), original.kernel)
    for part, applied in reversed(list(zip(parts, first, strict=True))):
        again = apply(original, part)
        assert again.text == applied.text and again.guards == applied.guards and again.recipe == applied.recipe
        assert [i.reason for i in again.inert] == [i.reason for i in applied.inert]
        assert apply(fresh, part).repaired == applied.repaired


def test_post_passes_take_what_edits_make() -> None:
    """Sixty genomes of every kind through LLVM's pipeline, as evolution runs it."""
    for seed in range(60):
        rng = random.Random(seed)
        original = rng.choice(small_kernels())
        applied = apply(original, genome(original, rng))
        verify(parse_module(optimise_with(applied.text, applied.recipe, "sm_80")))


@pytest.mark.slow
def test_the_benchmark_finds_nothing_in_two_thousand_sequences() -> None:
    """``kw bench edits`` runs a hundred thousand."""
    tally = Tally()
    for seed in range(2000):
        run_sequence(list(suite_kernels()), seed, tally)
    assert tally.refused == [] and tally.checked == 4000 and tally.kinds.keys() == BY_NAME.keys()
