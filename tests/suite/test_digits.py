"""The digits that the learning programs read from scikit-learn."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

import numpy as np
import pytest

from kernelwright.errors import ToolError
from kernelwright.suite.digits import load_digits, split_digits

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
