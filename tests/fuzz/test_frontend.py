"""Random kernels from CUDA source to the virtual GPU, against gcc: no internal error, and every value right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.codegen.inline_asm.ptx_instructions import FAMILIES
from kernelwright.device.arena import Arena
from kernelwright.pipeline import compile as compile_program
from tests.fuzz.grammar import Source, ptx_source, random_source
from tests.fuzz.oracle import GCC, HERE, Host
from tests.fuzz.ptx_table import ROWS
from tests.simt.harness import Array, Case

pytestmark = pytest.mark.skipif(GCC is None, reason="there is no g++ to compare with")
N, M = 13, 37
SHAPES = ((2, 32), (1, 64), (3, 20))


def arrays(vector: str, slots: int, results: int = 1) -> list[Array]:
    width = {"2": 2, "4": 4}[vector[-1]]
    element = {
        "int": np.int32,
        "uint": np.uint32,
        "short": np.int16,
        "uchar": np.uint8,
        "ushort": np.uint16,
        "longlong": np.int64,
    }
    r = np.random.default_rng(5)
    p = (r.integers(-(2**31), 2**31, 64) >> r.integers(0, 31, 64)).astype(np.int32)
    w = r.integers(0, 100, slots * width).astype(element[vector[:-1]])
    return [p, np.arange(slots * results, dtype=np.int64), w, np.zeros(8, np.int32)]


def check(
    source: Source, folder: Path, name: str, level: int, shapes: tuple[tuple[int, int], ...], both: bool
) -> list[str]:
    """What is wrong, in words. ``both``: the reference executor runs it too."""
    path = folder / f"{name}.cu"
    path.write_text(source.text)
    (folder / "prelude.h").write_text((HERE / "prelude.h").read_text())
    host = Host(source, folder, name)
    module = compile_program(path, arch="sm_80", level=level).units[0].module
    wrong = []
    with Arena() as arena:
        for number, kernel in enumerate(source.kernels):
            for grid, block in shapes:
                given = arrays(kernel.vector, grid * block, len(ROWS) if "asm" in name else 1)
                want = host.launch(number, grid, block, given, N, M)
                case = Case(module, kernel.name, grid, block, *given, N, M, budget=20_000_000)
                place = f"{path} {kernel.name} <<<{grid}, {block}>>> at -O{level}"
                runs = [("virtual", case.fast)] + ([("reference", case.reference)] if both else [])
                for which, run in runs:
                    try:
                        ran = run(arena)
                    except Exception as error:  # an internal error is what is looked for
                        wrong.append(f"{place}, {which}: {type(error).__name__}: {error}")
                        continue
                    if ran.fault is not None:
                        wrong.append(f"{place}, {which}: {ran.fault}")
                        continue
                    # Behind the arguments are tables that the compiler made.
                    for k, (found, right) in enumerate(zip(ran.arrays[: len(want)], want, strict=True)):
                        if not np.array_equal(found, right):
                            at = np.flatnonzero(found != right)
                            wrong.append(
                                f"{place}, {which}: array {k} at {at[:3]}: {found[at[:3]]}, not {right[at[:3]]}"
                            )
    return wrong


@pytest.mark.parametrize("seed", range(2))
def test_random_kernels(tmp_path: Path, seed: int) -> None:
    wrong = check(random_source(seed, 15), tmp_path, "random", (3, 1)[seed % 2], SHAPES[seed : seed + 1], False)
    assert not wrong, "\n".join(wrong)


def test_each_instruction_of_inline_ptx(tmp_path: Path) -> None:
    wrong = check(ptx_source(1), tmp_path, "asm", 3, SHAPES[:1], False)
    assert not wrong, "\n".join(wrong)


def test_a_wrong_lowering_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = FAMILIES["sub"]
    monkeypatch.setitem(FAMILIES, "sub", lambda b, words, operands: right(b, ["add", *words[1:]], operands))
    wrong = check(ptx_source(1), tmp_path, "asm", 3, SHAPES[:1], False)
    assert len(wrong) == 1 and "array 1" in wrong[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_many_random_kernels(tmp_path: Path, seed: int) -> None:
    """2,500 kernels, at each level of optimisation."""
    wrong = check(random_source(seed, 25), tmp_path, "random", seed % 4, SHAPES[seed % 3 :][:1], False)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_each_instruction_with_other_operands(tmp_path: Path, seed: int) -> None:
    wrong = check(ptx_source(100 + seed), tmp_path, "asm", seed % 4, SHAPES, True)
    assert not wrong, "\n".join(wrong)


ELSEWHERE = {
    "atom", "red", "bar", "barrier", "membar", "fence", "prefetch", "prefetchu", "discard", "applypriority", "trap", "exit", "ld", "ldu",
    "st", "vote", "elect", "shfl", "activemask", "nanosleep", "cp", "mbarrier", "createpolicy", "cvta", "match", "redux", "isspacep",  # effects: tests/simt/test_inline_asm.py
    "rcp", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh",  # approximate
}  # fmt: skip


def test_the_table_has_each_instruction_that_inline_ptx_knows() -> None:
    met: set[str] = set().union(*(row.words for row in ROWS)) - {""}
    assert FAMILIES.keys() - met - ELSEWHERE == set()
    assert met <= FAMILIES.keys()
