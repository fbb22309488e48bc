"""A small neural network on handwritten digits: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite.digits import Examples, deformed_digits, split_digits
from kernelwright.suite.program import LargerData, Size, SuiteProgram, Tolerance

# classes, training examples, validation examples, hidden units, batch, epochs
SHAPE: dict[Size, tuple[int, int, int, int, int, int]] = {
    "minute": (3, 17, 11, 5, 11, 1),
    "tiny": (3, 20, 13, 7, 14, 1),
    "small": (10, 300, 200, 32, 32, 10),
    "medium": (10, 340, 210, 37, 28, 10),
    "large": (10, 1200, 597, 128, 64, 20),
}
LARGER = (3000, 1000, 32, 32, 4)
"""Of the set to which winners are transferred: training and validation examples; hidden units and batch as in ``small``; epochs."""
RATE, MOMENTUM = 0.1, 0.9


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Random examples of the digits; the validation examples are others than the training ones.

    Raises ToolError where scikit-learn, which brings the digits, is not installed.
    """
    classes, training, validation, units, batch, epochs = SHAPE[size]
    rng = np.random.default_rng(seed)
    examples = split_digits(rng, classes, training, validation, coarse=size in ("minute", "tiny"))
    return _written(folder, rng, *examples, (units, classes, batch, epochs))


def generate_larger(folder: Path, seed: int) -> tuple[str, ...]:
    """Ten times as many examples as ``small`` has, deformed digits. Raises ToolError where scikit-learn is not installed."""
    training, validation, units, batch, epochs = LARGER
    rng = np.random.default_rng(seed)
    return _written(folder, rng, *deformed_digits(rng, training, validation), (units, 10, batch, epochs))


def _written(
    folder: Path, rng: np.random.Generator, first: Examples, second: Examples, shape: tuple[int, ...]
) -> tuple[str, ...]:
    """``shape``: hidden units, classes, batch, epochs."""
    first.images.tofile(folder / "points.bin")
    first.labels.tofile(folder / "labels.bin")
    second.images.tofile(folder / "validation_points.bin")
    second.labels.tofile(folder / "validation_labels.bin")
    inputs = ("points.bin", "labels.bin", "validation_points.bin", "validation_labels.bin")
    sizes = (str(n) for n in (first.images.shape[1], *shape))
    settings = (str(RATE), str(MOMENTUM), str(int(rng.integers(1 << 31))))
    return (*inputs, *sizes, *settings, "model.bin", "predictions.bin", "error.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``error``: float64, the share of wrong predictions."""
    return {"error": np.fromfile(folder / "error.bin", dtype=np.float64)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same training, with the same random numbers, in double precision."""
    features, units, classes, batch, epochs = (int(a) for a in argv[4:9])
    rate, momentum, seed = float(argv[9]), float(argv[10]), int(argv[11])
    points = np.fromfile(folder / argv[0], dtype=np.float32).reshape(-1, features).astype(np.float64)
    labels = np.fromfile(folder / argv[1], dtype=np.int32)
    validation_points = np.fromfile(folder / argv[2], dtype=np.float32).reshape(-1, features).astype(np.float64)
    validation_labels = np.fromfile(folder / argv[3], dtype=np.int32)
    random = Random(seed)
    network = Network(random.weights(features, units), random.weights(units, classes))
    train(network, points, labels, batch, epochs, rate, momentum, random)
    wrong = network.scores(validation_points).argmax(axis=1) != validation_labels
    return {"error": np.array([wrong.mean()])}


@dataclass
class Random:
    """The program's random numbers: a linear congruential generator."""

    state: int

    def next(self) -> int:
        """The next state, from 0 to 2**32 - 1."""
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return self.state

    def weights(self, inputs: int, outputs: int) -> NDArray[np.float64]:
        """Initial weights of a layer, zero for the biases in the last row."""
        uniform = np.array([(self.next() >> 8) / 2**23 - 1 for _ in range(inputs * outputs)], dtype=np.float32)
        limit = np.sqrt(np.float32(6) / np.float32(inputs))
        return np.vstack([(limit * uniform).reshape(inputs, outputs), np.zeros(outputs)])

    def shuffle(self, items: NDArray[np.int64]) -> None:
        """Permutes in place (Fisher-Yates), from the last item down."""
        for i in range(len(items) - 1, 0, -1):
            other = self.next() * (i + 1) >> 32
            items[[i, other]] = items[[other, i]]


@dataclass
class Network:
    """Two layers of weights, one row per input and a last one for the bias."""

    hidden: NDArray[np.float64]
    output: NDArray[np.float64]

    def activations(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rectified outputs of the hidden layer: shape (points, hidden)."""
        sums: NDArray[np.float64] = points @ self.hidden[:-1] + self.hidden[-1]
        return np.maximum(sums, 0.0)

    def scores(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The output for each class, before any softmax: shape (points, classes)."""
        scores: NDArray[np.float64] = self.activations(points) @ self.output[:-1] + self.output[-1]
        return scores

    def gradients(
        self, points: NDArray[np.float64], labels: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of the mean cross entropy over the examples, by the hidden and by the output weights."""
        activations = self.activations(points)
        scores = self.scores(points)
        likelihood = np.exp(scores - scores.max(axis=1, keepdims=True))
        likelihood /= likelihood.sum(axis=1, keepdims=True)
        by_scores = (likelihood - np.eye(scores.shape[1])[labels]) / len(points)
        by_activations = np.where(activations > 0, by_scores @ self.output[:-1].T, 0.0)
        return _by_weights(points, by_activations), _by_weights(activations, by_scores)


def _by_weights(inputs: NDArray[np.float64], by_outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.vstack([inputs.T @ by_outputs, by_outputs.sum(axis=0)])


def train(
    network: Network,
    points: NDArray[np.float64],
    labels: NDArray[np.int32],
    batch: int,
    epochs: int,
    rate: float,
    momentum: float,
    random: Random,
) -> None:
    """Changes the network's weights, a batch at a time."""
    hidden_velocity, output_velocity = np.zeros_like(network.hidden), np.zeros_like(network.output)
    order = np.arange(len(points))
    for _ in range(epochs):
        random.shuffle(order)
        for first in range(0, len(order), batch):
            chosen = order[first : first + batch]
            by_hidden, by_output = network.gradients(points[chosen], labels[chosen])
            hidden_velocity = momentum * hidden_velocity - rate * by_hidden
            output_velocity = momentum * output_velocity - rate * by_output
            network.hidden += hidden_velocity
            network.output += output_velocity


PROGRAM = SuiteProgram(
    name="sgd",
    title="Momentum SGD",
    summary="Trains a network with one hidden layer by stochastic gradient descent with momentum, batch after batch.",
    sources=("sgd.cu",),
    flags=(),
    generate=generate,
    outputs=("model.bin", "predictions.bin", "error.bin"),
    read=read,
    oracle=oracle,
    tolerance={"error": Tolerance("a network may be wrong on 1 % more (paper 000, section 4.3)", absolute=0.01)},
    larger=LargerData(generate_larger, f"{LARGER[0]:,} deformed digits", "error.bin"),
)
