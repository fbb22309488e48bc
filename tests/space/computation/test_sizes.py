"""Formulas of sizes that are known at launch, against the numbers that they stand for."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import pytest

from kernelwright.space.computation.at_launch import difference, other_sizes
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.sizes import (
    LaunchSize,
    Size,
    formula_of,
    is_below,
    is_dynamic,
    known_divisor,
    shown,
    size_at_launch,
    value_at,
)
from kernelwright.space.library import EXAMPLES

NAMES = {"m": 6, "n": 8, "k": 5}
MULTIPLES = {"m": 3, "n": 4, "k": 1}


def drawn(generator: random.Random, numbers: dict[str, int]) -> int:
    """The same computation with sizes and with numbers, by the generator's state."""
    found: int = generator.choice([*numbers.values(), generator.randint(-3, 5)])
    for _ in range(4):
        other: int = generator.choice([*numbers.values(), generator.randint(-3, 5)])
        operation = generator.randrange(5)
        found = [found + other, found - other, found * other, other - found, -found][operation]
    return found


@pytest.mark.parametrize("seed", range(200))
def test_a_formula_is_what_it_was_computed_from(seed: int) -> None:
    sizes = {name: size_at_launch(name, value, MULTIPLES[name]) for name, value in NAMES.items()}
    made = drawn(random.Random(seed), sizes)  # type: ignore[arg-type]
    assert int(made) == drawn(random.Random(seed), NAMES)
    for _ in range(5):
        others = {name: multiple * random.randint(1, 9) for name, multiple in MULTIPLES.items()}
        right = drawn(random.Random(seed), others)
        assert value_at(made, others) == right == eval(shown(made), dict(others))
        assert eval(formula_of(made).text(first="1"), dict(others)) == right
        assert right == 0 or right % known_divisor(made) == 0
        if is_below(0, made):
            assert right > 0
        assert is_dynamic(made) == bool(formula_of(made).sizes)


def test_what_is_always_positive() -> None:
    m, n = size_at_launch("m", 7), size_at_launch("n", 8, 4)
    assert is_below(0, m) and is_below(-1, m - 1) and is_below(m - 1, m) and is_below((n - 1) * m, n * m)
    assert not is_below(0, m - 1) and is_below(0, n - 3) and not is_below(0, n - 4)
    assert not is_below(m, n) and not is_below(n, m)  # it depends
    assert is_below(2, 3) and not is_below(3, 3)


def test_other_arithmetic_gives_the_tuned_number() -> None:
    n = size_at_launch("n", 10)
    for plain in (n // 2, n % 3, abs(n), int(n), n**2, min(n, 3)):
        assert not isinstance(plain, Size)
    assert n == 10 and hash(n) == hash(10) and f"{n}" == "10"
    with pytest.raises(TypeError):
        n + "a"  # type: ignore[operator]
    for again in (pickle.loads(pickle.dumps(n * n + 1)), copy.deepcopy(n * n + 1)):
        assert again == 101 and shown(again) == "n * n + 1"


SIZES: dict[str, dict[str, int]] = {
    name: {size: 12 + n for n, size in enumerate(each.sizes)} for name, each in EXAMPLES.items()
}


@pytest.mark.parametrize("name", SIZES)
def test_all_sizes_of_the_library_can_be_given_at_launch(name: str) -> None:
    family, tuned = EXAMPLES[name], SIZES[name]
    made = family.computation(**{size: size_at_launch(size, value) for size, value in tuned.items()})
    dynamic = made.launch_sizes
    assert {size.name for size in dynamic} == set(tuned)
    for sizes in other_sizes(tuned, dynamic):
        assert difference(made, family.computation(**sizes), sizes) == ""
    made.backbone()


def declared(kind: str, n: int) -> Computation:
    c = Computation("own")
    extent: Any = {"half": n // 2}.get(kind, n)
    i = c.loop("i", extent, (4,))
    shape = (2 * n + 20 if kind != "shape" or n < 50 else 3 * n,)
    x, y = c.input("X", shape), c.output("Y", (n + 20,))
    factor = 1.0 / n if kind == "number" else 2.0
    index = i + (3 if n > 4000 and kind == "index" else 0)
    value = c.load("x", x[index]) * factor
    if kind == "statement" and n % 2:
        value = c.compute("more", value + 1.0)
    c.store("st", y[i], value)
    return c


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("alike", ""),
        ("half", "the extent of loop i"),
        ("shape", "the shape of array X"),
        ("number", "what st_value computes: 0.03125 is 1"),
        ("index", "the index of x"),
        ("statement", "statement more"),
    ],
)
def test_a_declaration_that_is_another_at_other_sizes(kind: str, said: str) -> None:
    made = declared(kind, size_at_launch("n", 32))
    found = [
        difference(made, declared(kind, s["n"]), s)
        for s in other_sizes({"n": 32}, (LaunchSize("n"),))
        if s["n"] > 1 or kind == "number"
    ]
    assert (said in found) if said else not any(found)
