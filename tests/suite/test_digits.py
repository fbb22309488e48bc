"""The digits that the learning programs read from scikit-learn."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

import numpy as np
import pytest

from kernelwright.errors import ToolError
from kernelwright.suite import digits as digits_module
from kernelwright.suite.digits import SIDE, Examples, deformed_digits, load_digits, split_digits

needs_digits = pytest.mark.skipif(find_spec("sklearn") is None, reason="the digits come with scikit-learn")


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ToolError, match="part of scikit-learn") as caught:
        load_digits()
    assert caught.value.hint == "pip install scikit-learn"
    assert "No module named 'sklearn.datasets'" in caught.value.message


@needs_digits
def test_there_are_1797_digits_between_white_and_black() -> None:
    digits = load_digits()
    assert digits.images.shape == (1797, 64)
    assert digits.images.dtype == np.float32 and digits.labels.dtype == np.int32
    assert digits.images.min() == 0.0 and digits.images.max() == 1.0
    assert np.bincount(digits.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


@needs_digits
def test_a_split_shares_no_example_and_has_all_classes() -> None:
    images = {
        tuple(image): label for image, label in zip(load_digits().images.tolist(), load_digits().labels, strict=True)
    }
    for seed in range(5):
        first, second = split_digits(np.random.default_rng(seed), 4, 12, 200)
        assert set(first.labels) == {0, 1, 2, 3}
        assert len(first.labels) == len(first.images) == 12 and len(second.labels) == len(second.images) == 200
        assert all(images[tuple(i)] == label for i, label in zip(first.images.tolist(), first.labels, strict=True))
        chosen = [tuple(image) for image in np.vstack([first.images, second.images]).tolist()]
        assert len(set(chosen)) == len(chosen)


@needs_digits
def test_coarse_images_are_means_of_four_pixels() -> None:
    fine, _ = split_digits(np.random.default_rng(1), 10, 50, 10)
    coarse, _ = split_digits(np.random.default_rng(1), 10, 50, 10, coarse=True)
    assert coarse.images.shape == (50, 16)
    assert coarse.images[7, 5] == fine.images[7].reshape(8, 8)[2:4, 2:4].mean()


@needs_digits
def test_deformed_digits_are_a_function_of_the_seed_between_white_and_black() -> None:
    first, second = deformed_digits(np.random.default_rng(5), 500, 100)
    again, _ = deformed_digits(np.random.default_rng(5), 500, 100)
    other, _ = deformed_digits(np.random.default_rng(6), 500, 100)
    assert first.images.shape == (500, 64) and second.images.shape == (100, 64)
    assert first.images.dtype == np.float32 and first.labels.dtype == np.int32
    assert first.images.min() >= 0.0 and 0.9 < first.images.max() <= 1.0
    assert set(first.labels) == set(second.labels) == set(range(10))
    assert (first.images == again.images).all() and (first.images != other.images).any()


@needs_digits
def test_digits_that_are_not_deformed_are_those_of_the_set_and_none_is_in_both_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TURNED", "STRETCHED", "MOVED"):
        monkeypatch.setattr(digits_module, name, 0.0)
    known = {tuple(i): label for i, label in zip(load_digits().images.tolist(), load_digits().labels, strict=True)}
    first, second = deformed_digits(np.random.default_rng(1), 3000, 1000)
    for examples in (first, second):
        assert all(known[tuple(i)] == label for i, label in zip(examples.images.tolist(), examples.labels, strict=True))
    assert not set(map(tuple, first.images.tolist())) & set(map(tuple, second.images.tolist()))


@needs_digits
def test_deforming_agrees_with_scipy() -> None:
    from scipy.ndimage import map_coordinates

    digits = load_digits()
    chosen = np.arange(0, 60)
    found = digits_module._deformed(np.random.default_rng(7), digits, chosen)
    rng = np.random.default_rng(7)
    angle, stretch, move = rng.uniform(-0.25, 0.25, 60), rng.uniform(0.9, 1.1, (60, 2)), rng.uniform(-0.8, 0.8, (60, 2))
    middle = (SIDE - 1) / 2
    for n, which in enumerate(chosen):
        image = digits.images[which].reshape(SIDE, SIDE).astype(float)
        rows, cols = np.empty((SIDE, SIDE)), np.empty((SIDE, SIDE))
        for y in range(SIDE):
            for x in range(SIDE):
                across, down = x - middle, y - middle
                cols[y, x] = (np.cos(angle[n]) * across - np.sin(angle[n]) * down) * stretch[n, 0] + move[n, 0] + middle
                rows[y, x] = (np.sin(angle[n]) * across + np.cos(angle[n]) * down) * stretch[n, 1] + move[n, 1] + middle
        padded = np.pad(image, 3)  # scipy treats what lies outside as white only beyond the padding
        expected = map_coordinates(padded, [rows + 3, cols + 3], order=1, mode="constant")
        assert found.images[n].reshape(SIDE, SIDE) == pytest.approx(expected, abs=1e-6)
    assert isinstance(found, Examples) and (found.labels == digits.labels[chosen]).all()
