"""Computations as declared: the objects they give, and what is refused."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kernelwright.errors import Misuse
from kernelwright.space.computation import interpretation
from kernelwright.space.computation.arrays import Loop
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import maximum
from kernelwright.space.computation.strip_mining import (
    can_cut,
    may_be_partly_there,
    rest_of,
    tile_sizes,
    vector_widths,
)
from kernelwright.space.library import EXAMPLES, example

SMALL = {"n": 64, "m": 64, "k": 64, "batch": 4, "filters": 8, "channels": 4, "size": 16, "window": 3, "p": 64}


def outer(m: int = 8, n: int = 8) -> Computation:
    c = Computation("outer")
    i, j = c.loop("m", m, (4,)), c.loop("n", n, (4, 2))
    a, b, out = c.input("A", (m,)), c.input("B", (n,)), c.output("C", (m, n))
    c.store("st", out[i, j], c.compute("mul", c.load("a", a[i]) * c.load("b", b[j])))
    return c


def test_table_1_of_the_paper() -> None:
    backbone = outer().backbone()
    dims = {i.name: {d.loop.name for d in i.dims} for i in backbone.instructions if i.temporary is None}
    assert dims == {"a": {"m"}, "b": {"n"}, "mul": {"m", "n"}, "st": {"m", "n"}}
    assert [d.name for d in backbone.instruction("mul").dims] == ["mul.m0", "mul.m1", "mul.n0", "mul.n1", "mul.n2"]
    assert backbone.dim("mul.n2").universe == (2,) and backbone.dim("mul.n0").universe == ()
    assert [t.name for t in backbone.temporaries] == ["a_to_mul", "b_to_mul"]
    assert {(p.lhs.name, p.rhs.name) for p in backbone.pairs if p.producer == "mul"} == {
        (f"mul.{d}", f"st.{d}") for d in ("m0", "m1", "n0", "n1", "n2")
    }


def test_a_reduction_begins_before_its_loops_and_ends_before_its_users() -> None:
    backbone = example("matmul").computation(m=16, n=16, k=16).backbone()
    (reduction,) = backbone.reductions
    assert [d.name for d in reduction.dims] == ["mad.k0", "mad.k1"]
    assert not any(d.is_parallel for d in reduction.dims)
    pairs = {(d.before.name, d.after.name) for d in backbone.dependences}
    assert {("mad_init", "mad.k0"), ("mad.k1", "st"), ("a_to_mad_put", "a_to_mad_get"), ("mad_init", "mad")} <= pairs


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_of_the_library_is_consistent(name: str) -> None:
    entry = EXAMPLES[name]
    computation = entry.computation(**{size: SMALL[size] for size in entry.sizes})
    backbone = computation.backbone()
    names = [o.name for o in (*backbone.dims, *backbone.instructions, *backbone.pairs, *backbone.temporaries)]
    assert len(names) == len(set(names))
    for pair in backbone.pairs:
        assert (pair.lhs.loop, pair.lhs.level, pair.lhs.universe) == (pair.rhs.loop, pair.rhs.level, pair.rhs.universe)
    memory = entry.inputs(computation, 3)
    for array, values in entry.expected(computation, memory).items():
        assert values.shape == computation.arrays[array].shape and np.isfinite(values).all()
    assert entry.sizes.keys() <= SMALL.keys()
    with pytest.raises(Misuse, match="has no size q"):
        entry.computation(q=3)


@pytest.mark.parametrize("name", EXAMPLES)
def test_statements_carried_out_are_what_numpy_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpretation, "BLOCK", 1000)  # so that there are several
    entry = EXAMPLES[name]
    computation = entry.computation(**{size: min(SMALL[size], 24) for size in entry.sizes})
    memory = entry.inputs(computation, 4)
    assert entry.oracle is not None
    by_numpy, by_statements = (each.expected(computation, memory) for each in (entry, replace(entry, oracle=None)))
    assert by_numpy.keys() == by_statements.keys()
    for array, values in by_numpy.items():
        assert by_statements[array] == pytest.approx(values, rel=1e-9, abs=1e-12)


def test_what_takes_minutes_to_carry_out_wants_an_oracle() -> None:
    entry = replace(example("matmul"), oracle=None)
    computation = entry.computation(m=8192, n=8192, k=8192)
    with pytest.raises(Misuse, match="too many to carry out") as raised:
        interpretation.interpreted(computation, {}, {})
    assert "matmul has 5.5e+11 iterations" in raised.value.message


def test_objects_mean_the_same_in_another_process() -> None:
    backbone = outer().backbone()
    assert pickle.loads(pickle.dumps(backbone.dims[0])) == backbone.dims[0]
    assert outer().backbone().pairs == backbone.pairs


def sizes_of(*loops: Loop) -> list[list[tuple[int, ...]]]:
    return list(tile_sizes(loops).values())


def test_tile_sizes_are_divisors_and_powers_of_two() -> None:
    assert sizes_of(Loop("m", 12, (32, 4))) == [[(2, 3, 4, 6, 8, 12), (2, 3, 4)]]
    assert sizes_of(Loop("m", 64, (32, 4))) == [[(2, 4, 8, 16, 32), (2, 4)]]
    assert sizes_of(Loop("m", 7, (4, 7))) == [[(2, 4), (2, 4, 7)]]
    assert sizes_of(Loop("m", 1, (4,))) == [[]]
    assert sizes_of(Loop("m", 3, (32, 4))) == [[(2, 3)]]  # two tiles of 2 would be four iterations
    assert sizes_of(Loop("m", 1009, (32,))) == [[(2, 4, 8, 16, 32)]]


def test_all_loops_together_have_sixteen_sizes() -> None:
    """Powers of two are kept; of the divisors, those of two loops before those of one."""
    (first,), (second,), (third,) = sizes_of(Loop("m", 720, (32,)), Loop("n", 1000, (32,)), Loop("k", 1024, (32,)))
    assert len({*first, *second, *third}) == 16
    assert {2, 4, 8, 16, 32} <= set(first) & set(second) and third == (2, 4, 8, 16, 32)
    assert {5, 10, 20} <= set(first) & set(second) and 30 not in first
    assert len(sizes_of(Loop("m", 5040, (5040,)))[0][0]) == 16


@pytest.mark.parametrize("extent", [2, 3, 7, 12, 31, 100, 1000])
def test_tiles_cover_their_loop_without_a_whole_idle_iteration(extent: int) -> None:
    (tiles,) = sizes_of(Loop("m", extent, (32, 4)))
    partial = 0
    for sizes in itertools.product(*tiles):
        if can_cut(extent, sizes):
            product = math.prod(sizes)
            covered = rest_of(extent, sizes) * product
            assert extent <= covered < extent + product
            partial += covered > extent
    assert bool(partial) == may_be_partly_there(extent, tiles)


def test_vectors_are_contiguous_and_aligned() -> None:
    c = Computation("copy")
    m, n = c.loop("m", 8, (8,)), c.loop("n", 8, (4,))
    rows, padded, strided = c.input("A", (8, 8)), c.input("B", (8, 8), (10, 1)), c.input("D", (8, 8), (16, 2))
    assert vector_widths(rows[m, n], n, (2, 4)) == (2, 4)
    assert vector_widths(padded[m, n], n, (2, 4)) == (2,)
    assert vector_widths(strided[m, n], n, (2, 4)) == ()
    assert vector_widths(rows[n, m], n, (2, 4)) == ()
    assert vector_widths(c.input("E", (8, 10))[m, n + 1], n, (2, 4)) == ()
    six = c.loop("p", 6, (4,))
    assert vector_widths(c.input("F", (8, 8))[m, six], six, (2, 4)) == (2,)  # the second four would be half there


def wrong_loop(c: Computation) -> None:
    c.loop("j", 0)


def loop_of_data(c: Computation) -> None:
    c.loop("j", c.load("a", c.input("A", (4,))[c.loop("m", 4)]))


def index_of_data(c: Computation) -> None:
    a = c.input("A", (4,))
    a[c.load("a", a[c.loop("m", 4)])]


def out_of_bounds(c: Computation) -> None:
    c.input("A", (4,))[c.loop("m", 4) + 1]


def racing_store(c: Computation) -> None:
    m, n = c.loop("m", 4), c.loop("n", 4)
    c.store("st", c.output("C", (4,))[m], c.load("a", c.input("A", (4, 4))[m, n]))


def overlapping_store(c: Computation) -> None:
    m, n = c.loop("m", 4), c.loop("n", 4)
    c.store("st", c.output("C", (8,))[m + n], c.load("a", c.input("A", (4, 4))[m, n]))


def store_to_input(c: Computation) -> None:
    m, a = c.loop("m", 4), c.input("A", (4,))
    c.store("st", a[m], c.load("a", a[m]))


def load_of_output(c: Computation) -> None:
    c.load("a", c.output("C", (4,))[c.loop("m", 4)])


def reduction_over_nothing(c: Computation) -> None:
    c.sum("s", c.load("a", c.input("A", (4,))[c.loop("m", 4)]), over=c.loop("k", 4))


def foreign_value(c: Computation) -> None:
    other = Computation("other")
    x = other.load("x", other.input("A", (4,))[other.loop("m", 4)])
    c.compute("y", x * 2.0)


def two_names(c: Computation) -> None:
    c.loop("m", 4)
    c.input("m", (4,))


def nothing_stored(c: Computation) -> None:
    c.backbone()


def unused_value(c: Computation) -> None:
    m, a = c.loop("m", 4), c.input("A", (4,))
    c.load("b", a[m])
    c.store("st", c.output("C", (4,))[m], maximum(c.load("a", a[m]), 0.0))
    c.backbone()


def word_of_c(c: Computation) -> None:
    c.input("float", (4,))


def made_count(c: Computation) -> None:
    i = c.loop("m", 4)
    c.store(
        "st", c.output("e_to_st_m0", (4,))[i], c.compute("e", c.load("a", c.input("A", (4,))[i]), through_memory=True)
    )
    c.backbone()


def made_name(c: Computation) -> None:
    m = c.loop("m", 4, (2,))
    c.store("st", c.output("C", (4,))[m], c.load("a", c.input("m1", (4,))[m]))
    c.backbone()


def condition_on_data(c: Computation) -> None:
    if c.load("a", c.input("A", (4,))[c.loop("m", 4)]) > 0:
        pass


def range_of_data(c: Computation) -> None:
    range(c.load("a", c.input("A", (4,))[c.loop("m", 4)]))  # type: ignore[arg-type]


def text_in_an_expression(c: Computation) -> None:
    c.compute("y", c.load("a", c.input("A", (4,))[c.loop("m", 4)]) * "2")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (wrong_loop, "loop j of bad has 0 iterations: there is nothing to compute"),
        (loop_of_data, "the extent of loop j of bad is computed from data"),
        (index_of_data, "cannot index an array: an index is a sum of loops times whole numbers"),
        (out_of_bounds, "dimension 0 of array A has 4 elements; its index is 1 to 4"),
        (racing_store, "st writes one element of C for all iterations of n"),
        (overlapping_store, "st writes some elements of C twice: its strides overlap at n"),
        (store_to_input, "st writes A, an input of bad"),
        (load_of_output, "a reads C, an output of bad"),
        (reduction_over_nothing, "s is a sum over k: its operands do not vary there"),
        (foreign_value, "y uses x, which is not of bad"),
        (two_names, "bad has two things called m"),
        (word_of_c, "'float' is no name for a part of bad"),
        (made_name, "m1 of bad has the name of the index of loop m"),
        (made_count, "e_to_st_m0 of bad has the name of the extent of the temporary from e to st"),
        (condition_on_data, "a value of the computation is asked for while it is declared"),
        (range_of_data, "a value of the computation is asked for while it is declared"),
        (nothing_stored, "bad stores nothing"),
        (unused_value, "bad computes b and does not use it"),
        (text_in_an_expression, "'2' is neither a value of the computation nor a number"),
    ],
)
def test_what_is_refused(declare: Callable[[Computation], None], sentence: str) -> None:
    with pytest.raises(Misuse) as raised:
        declare(Computation("bad"))
    assert sentence in raised.value.message
