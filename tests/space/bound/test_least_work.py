"""What statements do at least: what a compiler computes once is counted once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kernelwright as kw
from kernelwright.space.bound.least_work import least_work
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import Expression, exp


def declared(expression: Callable[[Expression, Expression], Expression]) -> Computation:
    """One statement of two loads of the same elements, as a file of a person's may have."""
    c = Computation("own")
    i = c.loop("n", 64, (4,))
    x, y = c.input("X", (64,)), c.output("Y", (64,))
    c.store("st", y[i], c.compute("value", expression(c.load("a", x[i]), c.load("b", x[i]))))
    return c


CASES: dict[str, tuple[Callable[[Expression, Expression], Expression], int, int]] = {
    "equal exponentials": (lambda a, b: exp(a) + exp(a) + b, 2, 1),
    "equal loads": (lambda a, b: exp(a) + exp(b), 1, 1),
    "equal in the other order": (lambda a, b: exp(a + 3.0) + exp(3.0 + b), 2, 1),
    "a common part": (lambda a, b: (a * a + b + 2.0) * (a * b + a + 2.0), 2, 0),
    "different ones": (lambda a, b: exp(a) + exp(b + 2.0), 2, 2),
    "halves": (lambda a, b: a / 2.0 + b, 1, 0),
    "thirds": (lambda a, b: a / 3.0 + b, 1, 1),
}
"""With the fewest multiply-adds and special functions of an iteration."""


@pytest.mark.parametrize("name", CASES)
def test_equal_results_are_counted_once(name: str) -> None:
    expression, fma, special = CASES[name]
    backbone = declared(expression).backbone()
    works = dict(zip([i.name for i in backbone.instructions], least_work(backbone), strict=True))
    assert (works["value"].fma, works["value"].special) == (fma, special)


def test_statements_share_results() -> None:
    c = Computation("own")
    i = c.loop("n", 64, (4,))
    x, y, z = c.input("X", (64,)), c.output("Y", (64,)), c.output("Z", (64,))
    c.store("st", y[i], c.compute("first", exp(c.load("a", x[i]))))
    c.store("more", z[i], c.compute("second", exp(c.load("b", x[i])) * 3.0))
    backbone = c.backbone()
    assert sum(work.special for work in least_work(backbone)) == 1


def test_the_compiler_does_no_more(tmp_path: Path) -> None:
    """In PTX: one exponential for two equal ones, and a product for a half."""
    path = tmp_path / "own.cu"
    path.write_text(
        'extern "C" __global__ void own(const float *__restrict__ X, float *__restrict__ Y) {\n'
        "    float a = X[threadIdx.x], b = X[threadIdx.x];\n"
        "    Y[threadIdx.x] = expf(a + 3.0f) + expf(3.0f + b);\n"
        "    Y[threadIdx.x + 64] = a / 2.0f;\n"
        "}\n"
    )
    ptx = kw.compile(str(path), arch="sm_90").ptx()
    assert ptx.count("ex2.approx") == 1 and "div." not in ptx
