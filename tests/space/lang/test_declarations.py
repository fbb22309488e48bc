"""What a declaration may not say, told in its own words; and what it says grounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.errors import Misuse
from kernelwright.space.estimate import chen, knuth
from kernelwright.space.lang.conditions import Condition, ObjectSet
from kernelwright.space.lang.declaration import Space, counted, product
from kernelwright.space.lang.grounding import ground
from kernelwright.space.partial import Partial
from tests.space.solutions import leaves
from tests.space.toys import LoopSet, loops


class Node(ObjectSet): ...


class Part(ObjectSet, subset_of=Node): ...


NODES = ("p", "q", "r")


def colours() -> Space:
    space = Space("colours")
    space.enum("colour", "RED GREEN", Node)
    return space


def test_rules_that_empty_a_space_are_named() -> None:
    space = colours()
    colour = space.choices["colour"]

    @space.rule
    def all_differ(a: Node, b: Node) -> Condition:
        """No two nodes have one colour."""
        return colour(a) != colour(b)

    @space.rule
    def red_is_rare(a: Node) -> Condition:
        """There is no red."""
        return ~colour(a).RED

    with pytest.raises(Misuse) as told:
        Partial.root(ground(space, {Node: NODES}))
    assert "colours has no implementation" in str(told.value) and "No two nodes have one colour." in str(told.value)
    assert "not colour(p) is RED: red_is_rare: There is no red." in str(told.value)
    assert Partial.root(ground(space.without("red_is_rare"), {Node: NODES[:2]})).values("colour", "p") == [
        "RED",
        "GREEN",
    ]


def test_what_a_rule_may_not_be() -> None:
    space = colours()
    colour = space.choices["colour"]
    with pytest.raises(Misuse, match="has no reason"):

        @space.rule
        def silent(a: Node) -> Condition:
            return colour(a).RED

    with pytest.raises(Misuse, match="names no set"):

        @space.rule
        def unbound(a: int) -> Condition:
            """It is about nothing."""
            return colour(a).RED

    with pytest.raises(Misuse, match="colour has no value BLUE"):
        _ = colour("p").BLUE
    with pytest.raises(Misuse, match="not true or false yet"):
        bool(colour("p").RED and colour("q").RED)
    with pytest.raises(Misuse, match="two choices called"):
        space.enum("colour", "A B", Node)


def test_a_rule_that_is_no_disjunction_is_refused() -> None:
    space = colours()
    colour = space.choices["colour"]

    @space.clause
    def twisted(a: Node) -> Condition:
        """Four choices compared in pairs."""
        return (colour("p") == colour("q")) | (colour("r") == colour("s"))

    with pytest.raises(Misuse, match="twisted is about 4 choices"):
        ground(space, {Node: (*NODES, "s")})


def test_objects_limits_and_decisions_are_checked() -> None:
    with pytest.raises(Misuse, match="in Part but not in Node"):
        ground(colours(), {Node: NODES, Part: ("z",)})
    with pytest.raises(Misuse, match="wants the limits"):
        space = colours()
        space.limit("most", "red nodes")
        ground(space, {Node: NODES})
    partial = Partial.root(ground(colours(), {Node: NODES}))
    colour = partial.space.space.choices["colour"]
    with pytest.raises(Misuse, match="no choice colour"):
        partial.decide(colour("z").RED)
    with pytest.raises(Misuse, match="cannot be decided"):
        partial.decide(colour("p").RED, colour("p").GREEN)
    with pytest.raises(Misuse, match="would have 40 values"):
        many = Space("many")
        many.integer("size", Node, lambda node: range(1, 41))
        ground(many, {Node: NODES})


def test_products_count_what_is_at_least_one() -> None:
    space = Space("small")
    size = space.integer("size", Node, lambda node: (0, 1))

    @space.counter
    def volume():  # type: ignore[no-untyped-def]
        """Everything fits."""
        return product(Node, lambda n: counted(size(n), size(n) == 1)) <= 4

    with pytest.raises(Misuse, match="values below 1"):
        ground(space, {Node: NODES})


def test_opposite_values_are_one_decision() -> None:
    space = loops(("a1", "b1"))
    partial = Partial.root(space)
    a, b = space.members[LoopSet]
    order = space.space.choices["order"]
    decided = partial.decide(order(b, a).BEFORE)
    assert decided.values("order", a, b) == ["AFTER"] and decided.values("order", b, a) == ["BEFORE"]
    assert space.describe(*space.literal(order(a, b).AFTER)) == "order(a1, b1) is AFTER"


def test_estimates_are_near_the_truth() -> None:
    start = Partial.root(loops(("a1", "b1"), 1), seed=3)
    exact = len(leaves(start.solver))
    order = np.arange(start.space.constraints.variables, dtype=np.int32)
    found = knuth(start.solver, start.state, order, 4000)
    assert abs(found.leaves.mean - exact) < 2 * found.leaves.half_width
    other = chen(start.solver, start.state, order, 60)
    assert abs(other.mean - exact) < 3 * other.half_width
    assert 0 <= found.dead_ends.mean < 0.2


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "spaces.md").read_text()
    names: dict[str, object] = {}
    exec(page.split("```python")[1].split("```")[0], names)
    partial = names["partial"]
    assert isinstance(partial, Partial) and partial.values("size", "n") == [2]
    told = capsys.readouterr().out
    assert "size(m) is 32" in told and "kind(n) is THREAD" in told and "threads_of_a_block" in told
