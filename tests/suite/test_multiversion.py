"""The programs of several versions: every version computes the same, and tuning finds the fastest."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from kernelwright.bench.tune.measured_program import built_program
from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram
from kernelwright.suite.multiversion.source import source_of
from kernelwright.suite.multiversion.table import PROGRAMS, TABLE_1, nested
from kernelwright.versions.program import INFINITE
from tests.suite.multiversion_oracles import ORACLES, primitive_polynomials, shown, sobol


def checksum(rows: int, columns: int, shapes: int, iterations: int) -> str:
    """What mapscan prints, in NumPy."""
    numbers = np.arange(rows * columns, dtype=np.uint64) * 2654435761 % 2**32
    matrix = (numbers >> 24).astype(np.uint32)
    for shape in range(shapes):
        m, n = rows >> shape, columns << shape
        work = matrix.reshape(m, n)
        for _ in range(iterations):
            work = np.cumsum(work + np.arange(m, dtype=np.uint32)[:, None], axis=1, dtype=np.uint32)
        matrix = work.reshape(-1)
    total = 0
    for number in matrix.tolist():
        total = (total * 31 + number) % 2**64
    return f"x{total:x}"


def guards_of(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r'KW_THRESHOLD(?:_IF)?\("(\w+)"', text))


def test_programs_have_guards_and_at_least_two_datasets() -> None:
    for program in PROGRAMS.values():
        guards = guards_of(program.text())
        assert len(guards) == len(set(guards)) >= 2 and len(set(program.datasets)) >= 2
    assert all(nested(name).scale for name in TABLE_1)


def test_a_map_over_one_reduction_has_three_versions() -> None:
    """And what it is distributed over has none of its own: they would be the same again."""
    rows = Map(
        "i", "rows", (Fold("sum", "j", "n", "x[i * n + j]"), Code("y[i] = sum;")), (("float", "sum"),), name="sums"
    )
    arrays = (Array("x", "rows * n", "noise(i)"), Array("y", "rows"))
    program = NestedProgram("sums", "sums of rows", ("rows", "n"), arrays, (rows,), ("y",), ("4 4", "2 8"), "")
    assert guards_of(source_of(program)) == ("sums_outer", "sums_block")
    text = source_of(program)
    assert "float sum;\n    sum = 0.0f;\n    for (int j = 0; j < n; j++)\n        sum = add(sum, x[i * n + j]);" in text
    assert "own = block_fold<float, add>(own, n);" in text
    assert "fold_segments<float, add>(terms_float, all_sum, rows, n);" in text


def test_a_block_is_made_for_what_a_map_in_a_loop_never_exceeds() -> None:
    """Its size changes with the loop, which the host does not know where it launches the block."""
    halves = Loop("k", "3", (Map("j", "n >> k", (Code("x[i * n + j] += k;"),), at_most="n"),))
    program = NestedProgram(
        "halves",
        "",
        ("rows", "n"),
        (Array("x", "rows * n"),),
        (Map("i", "rows", (halves,), name="rows"),),
        ("x",),
        (),
        "",
    )
    text = source_of(program)
    assert "int width = n, bytes = 0;" in text and "if (int j = threadIdx.x; j < n >> k) {" in text
    assert "rows_j<<<blocks(rows * (n >> k)), 128>>>(rows, n, x, k);" in text


def test_the_oracles_own_sobol_numbers_are_such() -> None:
    """Its polynomials are those of SciPy's table; of each dimension, the first 1024 numbers (with 0, which is left out) fall into 1024 equal
    parts, one each, and those of the first two into all shapes of parts of the square."""
    table = np.load(Path(scipy.stats.__file__).parent / "_sobol_direction_numbers.npz")
    assert primitive_polynomials(60) == table["poly"][1:61].tolist()
    points = np.vstack([np.zeros((1, 20), dtype=np.int64), sobol(1023, 20)])
    assert all(len(set(column >> 22)) == 1024 for column in points.T)
    for bits in range(11):
        assert len({(int(x) >> (32 - bits), int(y) >> (22 + bits)) for x, y in points[:, :2]}) == 1024


def test_what_stands_outside_of_a_map_is_refused() -> None:
    program = NestedProgram("none", "nothing", ("n",), (), (Code("x = 1;"),), (), (), "")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="only loops and maps stand outside of a map"):
        source_of(program)


def assignments(guards: tuple[str, ...], seed: int) -> list[dict[str, int]]:
    """Nothing taken; each guard alone; all; and some at random."""
    generator = random.Random(seed)
    some = [{guard: 1 for guard in guards if generator.random() < 0.4} for _ in range(3)]
    blocks = {guard: 1 for guard in guards if guard.endswith("_block")}
    inner = {guard: 1 for guard in guards[2:] if guard.endswith("_outer")}
    return [{}, *({guard: 1} for guard in guards[:2]), blocks, inner, *some]


def check(name: str, folder: Path, given: list[dict[str, int]]) -> None:
    oracle, datasets = ORACLES[name]
    built = built_program(PROGRAMS[name], folder)
    for dataset in datasets:
        want = oracle(*map(int, dataset.split()))
        for thresholds in given:
            answer = built.answer(dataset, thresholds)
            assert answer.ran.failure is None, (thresholds, answer.ran.failure)
            words = bytes(answer.output["stdout (words)"].tolist()).decode().split()
            expected = np.concatenate([shown(want[word]).astype(float) for word in words if word in want])
            got = answer.output["stdout"]
            assert np.allclose(got, expected, rtol=2e-4, atol=2e-5), (thresholds, np.abs(got - expected).max())


def test_versions_agree_with_the_oracle(tmp_path: Path) -> None:
    check("pathfinder", tmp_path, assignments(guards_of(PROGRAMS["pathfinder"].text()), 1)[:4])


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE_1)
def test_all_versions_of_all_programs_agree_with_the_oracle(name: str, tmp_path: Path) -> None:
    check(name, tmp_path, assignments(guards_of(PROGRAMS[name].text()), 2))


@pytest.mark.slow
def test_every_version_computes_the_same(tmp_path: Path) -> None:
    built = built_program(PROGRAMS["mapscan2"], tmp_path)
    sizes = (8, 4, 3, 2)
    for rows, elements in itertools.product((1, 4, INFINITE), (1, INFINITE)):
        answer = built.answer(" ".join(map(str, sizes)), {"rows": rows, "elements": elements})
        words = bytes(answer.output["stdout (words)"].tolist()).decode()
        assert answer.ran.failure is None and words == checksum(*sizes)
