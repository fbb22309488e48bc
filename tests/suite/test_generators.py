"""What every generator, oracle and reader of the suite promises."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite import NAMES, load
from kernelwright.suite.evolving import DATA_SETS, HELD_OUT
from kernelwright.suite.program import Size


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def generated(name: str, folder: Path, size: Size, seed: int) -> tuple[tuple[str, ...], dict[str, str]]:
    folder.mkdir()
    return load(name).generate(folder, size, seed), contents(folder)


@pytest.mark.parametrize("size", ["minute", "tiny", "small", "medium"])
@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_a_function_of_the_seed(name: str, size: Size, tmp_path: Path) -> None:
    first = generated(name, tmp_path / "first", size, 7)
    again = generated(name, tmp_path / "again", size, 7)
    other = generated(name, tmp_path / "other", size, 8)
    assert first == again
    assert first != other
    assert first[1].keys() == other[1].keys()


@pytest.mark.parametrize("name", NAMES)
def test_arguments_name_inputs_and_outputs_relative_to_the_folder(name: str, tmp_path: Path) -> None:
    program = load(name)
    argv = program.generate(tmp_path, "tiny", 1)
    inputs = set(contents(tmp_path))
    files = {argument for argument in argv if argument.endswith((".bin", ".txt"))}
    assert files == inputs | set(program.outputs)
    assert not inputs & set(program.outputs)
    assert all("/" not in argument for argument in argv)


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_is_finite_and_covered_by_tolerances_and_leaves_the_folder_alone(name: str, tmp_path: Path) -> None:
    program = load(name)
    argv = program.generate(tmp_path, "tiny", 3)
    before = contents(tmp_path)
    want = program.oracle(tmp_path, argv)
    assert contents(tmp_path) == before
    assert want.keys() == program.tolerance.keys()
    for key, array in want.items():
        assert array.size and np.isfinite(array).all(), key
        assert program.tolerance[key].reason


@pytest.mark.parametrize("name", NAMES)
def test_data_that_is_held_out_differs_in_values_and_in_size(name: str, tmp_path: Path) -> None:
    """Each size that is searched on with other values, and a larger and a smaller size in place of each."""

    def shape(size: Size, seed: int) -> tuple[tuple[str, int], ...]:
        folder = tmp_path / f"{size}-{seed}"
        folder.mkdir()
        load(name).generate(folder, size, seed)
        return tuple(sorted((path.name, path.stat().st_size) for path in folder.iterdir()))

    seen, held = {shape(*each) for each in DATA_SETS}, {shape(*each) for each in HELD_OUT}
    assert not {seed for _, seed in DATA_SETS} & {seed for _, seed in HELD_OUT}
    assert {size for size, _ in DATA_SETS} < {size for size, _ in HELD_OUT}
    # Sizes of files may hang on values, as those of a graph do.
    assert len(held - seen) >= 2 and len(held) == len(HELD_OUT)
