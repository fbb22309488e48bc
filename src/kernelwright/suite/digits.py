"""Handwritten digits for the programs that learn: the data set that comes with scikit-learn.

1,797 images of 8x8 pixels (Alpaydin and Kaynak, "Optical recognition of handwritten digits", UCI repository, 1998).
"""

from __future__ import annotations

import importlib

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass

SIDE = 8


@dataclass(frozen=True)
class Examples:
    """``images``: float32, (examples, pixels), 0 white to 1 black; ``labels``: int32, one per example."""

    images: NDArray[np.float32]
    labels: NDArray[np.int32]


def load_digits() -> Examples:
    """All images, in the data set's order. Raises :class:`ToolError` where scikit-learn is not installed."""
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ImportError as error:
        message = "the handwritten digits are part of scikit-learn, which cannot be imported"
        raise ToolError(f"{message} ({error})", hint="pip install scikit-learn") from None
    images, labels = datasets.load_digits(return_X_y=True)
    return Examples((images / 16.0).astype(np.float32), labels.astype(np.int32))


def split_digits(
    rng: np.random.Generator, classes: int, training: int, validation: int, *, coarse: bool = False
) -> tuple[Examples, Examples]:
    """Random examples of the first ``classes`` digits: ``training`` of them, and ``validation`` others.

    Every class is among the training examples. ``coarse`` halves the images' resolution.
    """
    digits = load_digits()
    images = digits.images
    if coarse:
        images = images.reshape(-1, SIDE // 2, 2, SIDE // 2, 2).mean(axis=(2, 4)).reshape(len(images), -1)
    usable = np.flatnonzero(digits.labels < classes)
    while True:
        chosen = rng.permutation(usable)[: training + validation]
        first, second = chosen[:training], chosen[training:]
        if len(np.unique(digits.labels[first])) == classes:
            break
    return Examples(images[first], digits.labels[first]), Examples(images[second], digits.labels[second])
