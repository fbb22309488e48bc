"""What is found in declared spaces, held against all solutions that they have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernelwright.errors import Misuse
from kernelwright.exploration.own_space import read_space
from kernelwright.space.engine.solver import Solver
from kernelwright.space.lang.conditions import Condition, ObjectSet
from kernelwright.space.lang.declaration import Count, Space, counted, number_of, product
from kernelwright.space.lang.ground_space import GroundSpace
from kernelwright.space.lang.grounding import ground, ground_again
from kernelwright.space.review import Finding, reviewed
from tests.space.solutions import leaves
from tests.space.toys import loops


class Dim(ObjectSet): ...


class Other(ObjectSet): ...


def tiles() -> Space:
    space = Space("tiles")
    kind = space.enum("kind", "LOOP UNROLL THREAD", Dim)
    size = space.integer("size", Dim, lambda dim: (2, 4, 8, 16, 32))

    @space.rule
    def unrolled_are_small(d: Dim) -> Condition:
        """At most eight iterations."""
        return kind(d).UNROLL >> (size(d) <= 8)

    @space.counter
    def threads() -> Count:
        """At most 64 threads."""
        return product(Dim, lambda d: counted(size(d), kind(d).THREAD)) <= 64

    return space


def grounded(space: Space, objects: tuple[str, ...] = ("m", "n")) -> GroundSpace:
    return ground(space, {Dim: objects})


def dead(space: Space, objects: tuple[str, ...] = ("m", "n")) -> dict[str, str]:
    return {f.name: f.why for f in reviewed(grounded(space, objects), {}) if f.kind == "dead rule"}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert reviewed(grounded(tiles()), {}) == []


def test_rules_that_remove_nothing_are_found_with_the_reason() -> None:
    space = tiles()
    kind, size = space.choices["kind"], space.choices["size"]

    @space.rule
    def weaker(d: Dim) -> Condition:
        """Less than 32 iterations."""
        return kind(d).UNROLL >> (size(d) < 32)

    @space.rule
    def always(d: Dim) -> Condition:
        """No more than what is offered."""
        return size(d) < 64

    @space.rule
    def of_nothing(d: Other) -> Condition:
        """Nothing is there."""
        return size(d) < 2

    @space.rule
    def four_at_once(a: Dim, b: Dim) -> Condition:
        """Implied, as a clause of four choices."""
        return ~kind(a).UNROLL | ~kind(b).UNROLL | (size(a) <= 16) | (size(b) <= 16)

    @space.counter
    def few() -> Count:
        """At most two threads."""
        return number_of(Dim, lambda d: kind(d).THREAD) <= 2

    found = dead(space)
    assert set(found) == {"weaker", "always", "of_nothing", "four_at_once", "few"}
    assert found["weaker"].endswith("the other rules exclude all 2 cases that it forbids: unrolled_are_small")
    assert "cannot break it" in found["always"] and "cannot break it" in found["few"]
    assert "there is no object of Other" in found["of_nothing"]
    assert "few" not in dead(space, ("m", "n", "o"))


@pytest.mark.parametrize("boxes", [0, 1])
def test_the_space_is_the_same_without_a_dead_rule(boxes: int) -> None:
    space = loops(("a1", "b1"), boxes)
    found = {each.name for each in reviewed(space, {}) if each.kind == "dead rule"}
    assert found and len(found) < len(space.rules)
    whole = leaves(Solver(space.constraints))
    for name in found:
        fewer = ground_again(space, space.space.without(name))
        assert leaves(Solver(fewer.constraints)) == whole, name
    assert "wide_is_small" not in found


class Box(ObjectSet): ...


def test_objects_that_cannot_exist_are_found() -> None:
    space = tiles()
    exists = space.optional("exists", Box, "box")
    kind = space.choices["kind"]

    @space.rule
    def boxes_want_other_kinds(b: Box, d: Dim) -> Condition:
        """A box wants a loop that is none."""
        return exists(b).YES >> (~kind(d).LOOP & ~kind(d).UNROLL & ~kind(d).THREAD)

    (found,) = reviewed(ground(space, {Dim: ("m", "n"), Box: ("box0",)}), {})
    assert (found.kind, found.name) == ("impossible object", "box0")
    assert "exists(box0) is YES is impossible in the whole space" in found.why and "boxes_want_other_kinds" in found.why


def test_an_empty_space_is_all_that_is_found() -> None:
    space = tiles()
    size = space.choices["size"]

    @space.rule
    def none(d: Dim) -> Condition:
        """Nothing fits."""
        return size(d) < 2

    (found,) = reviewed(grounded(space), {"any": []})
    assert found.kind == "empty space" and "none: Nothing fits." in found.why


def test_an_object_that_is_offered_no_value_is_named() -> None:
    space = Space("tiles")
    space.integer("size", Dim, lambda dim: (2, 4) if str(dim) == "m" else ())
    (found,) = reviewed(grounded(space), {})
    assert (found.kind, found.why) == ("empty space", "size(n) offers no value")


def test_schedules_are_rejected_with_what_they_clash_with() -> None:
    space = tiles()
    kind, size = space.choices["kind"], space.choices["size"]
    threads = [kind(d).THREAD for d in "mn"]
    schedules: dict[str, Any] = {
        "fits": [*threads, size("m") == 32],
        "too large": [*threads, size("m") == 32, size("n") == 4],
        "unknown": [kind("z").THREAD],
    }
    large, unknown = reviewed(grounded(space), schedules)
    assert (large.kind, large.name) == ("rejected schedule", "too large")
    assert large.why.startswith("decision 4: ") and "size(m) is 32" in large.why and "At most 64 threads." in large.why
    assert unknown == Finding("rejected schedule", "unknown", "decision 1: tiles has no choice kind(z)")


PAGE = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text().split("```python")[1].split("```")[0]


def test_the_space_of_the_page_has_nothing_wrong(tmp_path: Path) -> None:
    path = tmp_path / "my_rules.py"
    path.write_text(PAGE)
    own = read_space(str(path))
    assert own.name == "tiles" and list(own.schedules) == ["rows to threads"]
    assert reviewed(own.ground, own.schedules) == []


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("x = 1", "", "has no space with objects"),
        (PAGE + "\nmore = tiles", "", "has 2 spaces, tiles, more"),
        (PAGE, ":more", "has no space more"),
        (PAGE + "\nschedules = []", "", "is no dictionary"),
        (PAGE + "\nschedules = {'a': ['kind']}", "", "schedule a of"),
        (PAGE + "\nspace.enum('kind', 'A B', Dim)", "", "tiles has two choices called kind"),
    ],
)
def test_files_that_do_not_do_are_told(text: str, name: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "my_rules.py"
    path.write_text(text)
    with pytest.raises(Misuse) as raised:
        read_space(f"{path}{name}")
    assert said in raised.value.message
