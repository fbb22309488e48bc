"""docs/generated-kernels.md shows what is generated: its code is run, its kernels and its bound are compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.space.bound import LowerBound
from kernelwright.space.computation.objects import Backbone
from kernelwright.space.cuda_source import generate
from kernelwright.space.library import EXAMPLES, example
from kernelwright.target import gpu
from tests.space.bound.widened_leaf import TableNumbering
from tests.space.written_leaf import WrittenLeaf, naive_matmul, tiled_matmul

PAGE = Path(__file__).parents[2] / "docs" / "generated-kernels.md"


def shown(mark: str, language: str) -> str:
    """The block of code behind a mark."""
    found = re.search(rf"<!-- {mark} -->\n\n```{language}\n(.*?)```", PAGE.read_text(), re.S)
    assert found, mark
    return found[1]


@pytest.mark.parametrize(("mark", "leaf_of"), [("naive", naive_matmul), ("tiled", tiled_matmul)])
def test_kernels_are_those_that_are_generated(mark: str, leaf_of: Callable[[Backbone], WrittenLeaf]) -> None:
    backbone = example("matmul").computation(m=1024, n=1024, k=1024).backbone()
    assert shown(mark, "cuda") == generate(backbone, leaf_of(backbone)).source


def test_the_bound_is_the_one_that_is_printed() -> None:
    backbone = example("matmul").computation(m=1024, n=1024, k=1024).backbone()
    numbering = TableNumbering(backbone)
    bound = LowerBound(backbone, numbering, gpu("h200"))
    assert shown("bound", "text").strip() == str(bound.explain(numbering.state(tiled_matmul(backbone))))


def test_the_declaration_runs_and_all_of_the_library_is_named() -> None:
    text = PAGE.read_text()
    code = re.search(r"```python\n(.*?)```", text, re.S)
    assert code
    found: dict[str, Backbone] = {}
    exec(code[1], found)
    assert [i.name for i in found["backbone"].instructions if i.temporary is None] == ["x", "y", "mul", "st"]
    families = text.replace("`_", "`matmul_")
    assert all(f"`{name}`" in families for name in EXAMPLES)
