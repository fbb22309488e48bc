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
TURNED, STRETCHED, MOVED = 0.25, 0.1, 0.8
"""How far a digit is deformed at most: radians, a share of its size, pixels."""


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


def deformed_digits(rng: np.random.Generator, training: int, validation: int) -> tuple[Examples, Examples]:
    """As many examples as wanted: digits turned, stretched and moved a little, as the 8 million of paper 000's larger set are made of
    60,000 (Loosli, Canu and Bottou, "Training invariant support vector machines using selective sampling", 2007). Two thirds
    of the digits become the training examples, the others the validation examples."""
    digits = load_digits()
    order = rng.permutation(len(digits.images))
    of_training, of_validation = np.split(order, [2 * len(order) // 3])
    return (
        _deformed(rng, digits, rng.choice(of_training, training)),
        _deformed(rng, digits, rng.choice(of_validation, validation)),
    )


def _deformed(rng: np.random.Generator, digits: Examples, chosen: NDArray[np.int64]) -> Examples:
    """Each of the chosen digits, deformed in a way of its own: every pixel is looked up where it comes from, between four."""
    count = len(chosen)
    angle = rng.uniform(-TURNED, TURNED, count)
    stretch = rng.uniform(1 - STRETCHED, 1 + STRETCHED, (count, 2))
    move = rng.uniform(-MOVED, MOVED, (count, 2))
    middle = (SIDE - 1) / 2
    y, x = np.mgrid[:SIDE, :SIDE] - middle
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    from_x = (cosine * x - sine * y) * stretch[:, :1, None] + move[:, :1, None] + middle
    from_y = (sine * x + cosine * y) * stretch[:, 1:, None] + move[:, 1:, None] + middle
    framed = np.pad(digits.images[chosen].reshape(count, SIDE, SIDE).astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    left, top = (np.clip(np.floor(each), -1, SIDE - 1).astype(np.int64) for each in (from_x, from_y))
    right, below = np.clip(from_x - left, 0, 1), np.clip(from_y - top, 0, 1)
    which = np.arange(count)[:, None, None]

    def at(down: int, across: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = framed[which, top + 1 + down, left + 1 + across]
        return found

    upper = at(0, 0) * (1 - right) + at(0, 1) * right
    lower = at(1, 0) * (1 - right) + at(1, 1) * right
    images = upper * (1 - below) + lower * below
    return Examples(images.reshape(count, -1).astype(np.float32), digits.labels[chosen])
