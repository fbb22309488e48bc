"""Support vector machine on handwritten digits: inputs, outputs and reference."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite.digits import Examples, deformed_digits, split_digits
from kernelwright.suite.program import LargerData, Size, SuiteProgram, Tolerance

# classes, training examples, validation examples, iterations per machine
SHAPE: dict[Size, tuple[int, int, int, int]] = {
    "minute": (2, 11, 9, 6),
    "tiny": (2, 15, 14, 8),
    "small": (10, 300, 200, 10_000),
    "medium": (10, 340, 210, 10_000),
    "large": (10, 1200, 597, 10_000),
}
LARGER = (3000, 1000, 10_000)
"""Of the set to which winners are transferred: training examples, validation examples, iterations per machine."""
COST, GAMMA = 5.0, 0.05  # as paper 000 sets them for handwriting (Table 1)
TOLERANCE = 1e-3
SMALLEST_CURVATURE = 1e-6


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Random examples of the digits; the validation examples are others than the training ones.

    Raises ToolError where scikit-learn, which brings the digits, is not installed.
    """
    classes, training, validation, iterations = SHAPE[size]
    rng = np.random.default_rng(seed)
    return _written(
        folder, *split_digits(rng, classes, training, validation, coarse=size in ("minute", "tiny")), iterations
    )


def generate_larger(folder: Path, seed: int) -> tuple[str, ...]:
    """Ten times as many examples as ``small`` has, deformed digits. Raises ToolError where scikit-learn is not installed."""
    training, validation, iterations = LARGER
    return _written(folder, *deformed_digits(np.random.default_rng(seed), training, validation), iterations)


def _written(folder: Path, first: Examples, second: Examples, iterations: int) -> tuple[str, ...]:
    first.images.tofile(folder / "points.bin")
    first.labels.tofile(folder / "labels.bin")
    second.images.tofile(folder / "validation_points.bin")
    second.labels.tofile(folder / "validation_labels.bin")
    inputs = ("points.bin", "labels.bin", "validation_points.bin", "validation_labels.bin")
    numbers = (str(first.images.shape[1]), str(COST), str(GAMMA), str(iterations))
    return (*inputs, *numbers, "model.bin", "predictions.bin", "error.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``error``: float64, the share of wrong predictions."""
    return {"error": np.fromfile(folder / "error.bin", dtype=np.float64)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same training in double precision."""
    problem = Problem.load(folder, argv)
    wrong = predict(problem, train(problem)) != problem.validation_labels
    return {"error": np.array([wrong.mean()])}


@dataclass(frozen=True)
class Problem:
    """Examples of all classes, and how to train on them."""

    points: NDArray[np.float64]
    labels: NDArray[np.int32]
    validation_points: NDArray[np.float64]
    validation_labels: NDArray[np.int32]
    cost: float
    gamma: float
    iterations: int

    @staticmethod
    def load(folder: Path, argv: tuple[str, ...]) -> Problem:
        """Reads the input files of a run, as the program's argument list names them below ``folder``."""

        def points(name: str) -> NDArray[np.float64]:
            return np.fromfile(folder / name, dtype=np.float32).reshape(-1, int(argv[4])).astype(np.float64)

        def labels(name: str) -> NDArray[np.int32]:
            return np.fromfile(folder / name, dtype=np.int32)

        examples = points(argv[0]), labels(argv[1]), points(argv[2]), labels(argv[3])
        return Problem(*examples, float(argv[5]), float(argv[6]), int(argv[7]))

    @property
    def classes(self) -> int:
        """How many there are; labels count from 0."""
        return int(self.labels.max()) + 1

    def kernel(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """The Gaussian kernel of each row of ``a`` with each row of ``b``: shape (rows of a, rows of b)."""
        squared: NDArray[np.float64] = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
        return np.exp(-self.gamma * squared)


@dataclass(frozen=True)
class Machine:
    """Tells two classes apart: the sign of ``bias + sum of multiplier * label * kernel`` over its members."""

    members: NDArray[np.int64]
    signs: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    bias: float


def train(problem: Problem) -> list[Machine]:
    """One machine per pair of classes, in the order of the program."""
    kernel = problem.kernel(problem.points, problem.points)
    return [_train_pair(problem, kernel, c, d) for c, d in combinations(range(problem.classes), 2)]


def _train_pair(problem: Problem, kernel: NDArray[np.float64], positive: int, negative: int) -> Machine:
    members = np.concatenate([np.flatnonzero(problem.labels == c) for c in (positive, negative)])
    signs = np.where(problem.labels[members] == positive, 1.0, -1.0)
    kernel = kernel[np.ix_(members, members)]
    multipliers = np.zeros(len(members))
    slack = signs.copy()

    def rising_and_falling() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        below, above = multipliers < problem.cost, multipliers > 0
        return np.where(signs > 0, below, above), np.where(signs > 0, above, below)

    for _ in range(problem.iterations):
        rising, falling = rising_and_falling()
        up = int(np.argmax(np.where(rising, slack, -np.inf)))
        violation = np.where(falling, slack[up] - slack, -np.inf)
        curvature = np.maximum(2 - 2 * kernel[up], SMALLEST_CURVATURE)
        gain = np.where(violation > TOLERANCE, violation**2 / curvature, 0.0)
        down = int(np.argmax(gain))
        if gain[down] == 0:
            break
        step = violation[down] / curvature[down]
        step = min(step, problem.cost - multipliers[up] if signs[up] > 0 else multipliers[up])
        step = min(step, multipliers[down] if signs[down] > 0 else problem.cost - multipliers[down])
        multipliers[up] += signs[up] * step
        multipliers[down] -= signs[down] * step
        slack -= step * (kernel[up] - kernel[down])
    rising, falling = rising_and_falling()
    return Machine(members, signs, multipliers, float(slack[rising].max() + slack[falling].min()) / 2)


def predict(problem: Problem, machines: list[Machine]) -> NDArray[np.int64]:
    """The class with most votes for each validation example."""
    kernel = problem.kernel(problem.validation_points, problem.points)
    votes = np.zeros((len(kernel), problem.classes), dtype=np.int64)
    for (c, d), machine in zip(combinations(range(problem.classes), 2), machines, strict=True):
        value = kernel[:, machine.members] @ (machine.multipliers * machine.signs) + machine.bias
        votes[np.arange(len(kernel)), np.where(value > 0, c, d)] += 1
    winners: NDArray[np.int64] = votes.argmax(axis=1)
    return winners


PROGRAM = SuiteProgram(
    name="svm",
    title="Support vector machine",
    summary="Trains a Gaussian-kernel classifier by sequential minimal optimisation, a block per pair of classes.",
    sources=("svm.cu",),
    flags=(),
    generate=generate,
    outputs=("model.bin", "predictions.bin", "error.bin"),
    read=read,
    oracle=oracle,
    tolerance={"error": Tolerance("a classifier may be wrong on 1 % more (paper 000, section 4.3)", absolute=0.01)},
    larger=LargerData(generate_larger, f"{LARGER[0]:,} deformed digits", "error.bin"),
)
