"""Data with the regularities of the paper's: what has to hold for them, and that nothing of the kind holds for the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.errors import Misuse
from kernelwright.suite.evolving import data_set, program_and_data
from kernelwright.suite.program import Size


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_the_answer_of_btree_is_the_question(size: Size) -> None:
    for name, alike in (("btree@regular", True), ("btree", False)):
        program = program_and_data(name)
        with data_set(program, size, 5) as (folder, arguments):
            points, ranges = (np.fromfile(folder / arguments[n], np.int32) for n in (2, 3))
            answers = program.oracle(folder, arguments)
        assert np.array_equal(answers["values"], points) is alike
        assert np.array_equal(answers["spans"][:, 0], ranges[::2]) is alike
        assert np.array_equal(answers["spans"][:, 1], ranges[1::2] - ranges[::2]) is alike


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_the_chip_of_hotspot_is_square(size: Size) -> None:
    for name, square in (("hotspot@regular", True), ("hotspot", False)):
        with data_set(program_and_data(name), size, 5) as (folder, arguments):
            assert (arguments[0] == arguments[1]) is square
            for file in arguments[4:6]:
                assert np.fromfile(folder / file, np.float32).size == int(arguments[0]) * int(arguments[1])


def test_regular_data_are_a_function_of_the_seed(tmp_path: Path) -> None:
    program = program_and_data("btree@regular")
    written = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        program.generate(folder, "tiny", seed)
        written.append([file.read_bytes() for file in sorted(folder.iterdir())])
    assert written[0] == written[1] != written[2]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nn@regular", "no other data"),
        ("btree@dense", "called 'dense'"),
        ("btree@", "called ''"),
        ("tree@regular", "'tree'"),
    ],
)
def test_names_that_are_none(name: str, says: str) -> None:
    with pytest.raises(Misuse, match=says):
        program_and_data(name)
