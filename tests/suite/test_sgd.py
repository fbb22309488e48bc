"""Momentum SGD: the oracle's gradients against differences, its training against one number at a time."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kernelwright.cuda.clang import Clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.suite.sgd import workload
from kernelwright.suite.sgd.workload import PROGRAM, Network, Random

needs_digits = pytest.mark.skipif(find_spec("sklearn") is None, reason="the digits come with scikit-learn")

Matrix = list[list[float]]


def loss(network: Network, points: np.ndarray[tuple[int, ...], np.dtype[np.float64]], labels: list[int]) -> float:
    likelihood = np.exp(network.scores(points))
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    return -float(np.log(likelihood[np.arange(len(labels)), labels]).mean())


def test_gradients_agree_with_differences() -> None:
    rng = np.random.default_rng(5)
    network = Network(rng.normal(size=(5, 6)), rng.normal(size=(7, 3)))
    points, labels = rng.normal(size=(9, 4)), rng.integers(3, size=9, dtype=np.int32)
    for weights, gradient in zip((network.hidden, network.output), network.gradients(points, labels), strict=True):
        for place in np.ndindex(weights.shape):
            kept = weights[place]
            weights[place] = kept + 1e-6
            above = loss(network, points, labels.tolist())
            weights[place] = kept - 1e-6
            below = loss(network, points, labels.tolist())
            weights[place] = kept
            assert gradient[place] == pytest.approx((above - below) / 2e-6, abs=1e-7)


def train_by_hand(
    hidden: Matrix, output: Matrix, examples: list[tuple[list[float], int]], rate: float, momentum: float, steps: int
) -> None:
    """Every step takes all examples; plain loops over single numbers."""
    moved = [[[0.0] * len(row) for row in layer] for layer in (hidden, output)]
    for _ in range(steps):
        slope = [[[0.0] * len(row) for row in layer] for layer in (hidden, output)]
        for point, label in examples:
            inputs = [*point, 1.0]
            units = [max(0.0, sum(i * hidden[k][u] for k, i in enumerate(inputs))) for u in range(len(hidden[0]))]
            active = [*units, 1.0]
            scores = [sum(a * output[k][c] for k, a in enumerate(active)) for c in range(len(output[0]))]
            whole = sum(math.exp(score) for score in scores)
            wrong = [math.exp(score) / whole - (c == label) for c, score in enumerate(scores)]
            for c, w in enumerate(wrong):
                for k, a in enumerate(active):
                    slope[1][k][c] += a * w / len(examples)
            for u, unit in enumerate(units):
                back = sum(output[u][c] * w for c, w in enumerate(wrong)) if unit > 0 else 0.0
                for k, i in enumerate(inputs):
                    slope[0][k][u] += i * back / len(examples)
        for layer, weights in enumerate((hidden, output)):
            for row, weight_row in enumerate(weights):
                for col in range(len(weight_row)):
                    moved[layer][row][col] = momentum * moved[layer][row][col] - rate * slope[layer][row][col]
                    weight_row[col] += moved[layer][row][col]


def test_training_agrees_with_training_by_hand() -> None:
    rng = np.random.default_rng(2)
    points, labels = rng.normal(size=(6, 3)), rng.integers(3, size=6, dtype=np.int32)
    network = Network(rng.normal(size=(4, 5)), rng.normal(size=(6, 3)))
    hidden, output = network.hidden.tolist(), network.output.tolist()
    train_by_hand(hidden, output, list(zip(points.tolist(), labels.tolist(), strict=True)), 0.1, 0.9, 4)
    workload.train(network, points, labels, batch=6, epochs=4, rate=0.1, momentum=0.9, random=Random(1))
    assert network.hidden == pytest.approx(np.array(hidden), abs=1e-12)
    assert network.output == pytest.approx(np.array(output), abs=1e-12)


def test_batches_cover_each_example_once_an_epoch_and_the_last_may_be_smaller() -> None:
    seen: list[int] = []
    sizes: list[int] = []

    class Spy(Network):
        def gradients(self, points, labels):  # type: ignore[no-untyped-def]
            sizes.append(len(points))
            seen.extend(points[:, 0].astype(int).tolist())
            return super().gradients(points, labels)

    points = np.column_stack([np.arange(7.0), np.ones(7)])
    network = Spy(np.zeros((3, 2)), np.zeros((3, 2)))
    workload.train(network, points, np.zeros(7, dtype=np.int32), 3, 2, 0.1, 0.5, Random(9))
    assert sizes == [3, 3, 1, 3, 3, 1]
    assert sorted(seen[:7]) == sorted(seen[7:]) == list(range(7))
    assert seen[:7] != seen[7:] != list(range(7))


def test_the_order_is_that_of_fisher_and_yates_with_the_numbers_of_numerical_recipes() -> None:
    state, want = 12, list(range(50))
    for left in range(50, 1, -1):
        state = (1664525 * state + 1013904223) & 0xFFFFFFFF
        chosen = math.floor(state / 2**32 * left)
        want[left - 1], want[chosen] = want[chosen], want[left - 1]
    order = np.arange(50)
    Random(12).shuffle(order)
    assert order.tolist() == want


def test_initial_weights_are_uniform_with_the_variance_of_he_and_biases_are_zero() -> None:
    weights = Random(3).weights(50, 400)
    assert weights.shape == (51, 400)
    assert (weights[-1] == 0).all()
    assert weights[:-1].var() == pytest.approx(2 / 50, rel=0.02)
    assert np.abs(weights).max() <= np.sqrt(6 / 50) + 1e-7


@needs_digits
def test_the_network_learns(tmp_path: Path) -> None:
    for seed in range(3):
        argv = workload.generate(tmp_path, "small", seed)
        [error] = workload.oracle(tmp_path, argv)["error"]
        untrained = workload.oracle(tmp_path, (*argv[:9], "1e-9", *argv[10:]))["error"]
        assert error < 0.15 < 0.7 < untrained


@needs_digits
def test_inputs_are_a_function_of_the_seed(tmp_path: Path) -> None:
    argv = workload.generate(tmp_path, "tiny", 3)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert first.keys() == set(argv[:4])
    assert workload.generate(tmp_path, "tiny", 3) == argv
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    workload.generate(tmp_path, "tiny", 4)
    assert first != {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@needs_digits
def test_larger_data_have_ten_times_the_examples_and_can_be_learnt(tmp_path: Path) -> None:
    assert PROGRAM.larger is not None
    argv = PROGRAM.larger.generate(tmp_path, 1)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    labels, others = (np.fromfile(tmp_path / argv[n], dtype=np.int32) for n in (1, 3))
    _, training, validation, *_ = workload.SHAPE["small"]
    assert len(labels) == 10 * training and len(others) == 5 * validation
    assert PROGRAM.larger.generate(tmp_path, 1) == argv
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert 0 < workload.oracle(tmp_path, argv)["error"][0] < 0.25  # nine of ten guesses would be wrong
    PROGRAM.larger.generate(tmp_path, 2)
    assert first != {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_the_device_pass_gives_kernels_without_a_warning(clang: Clang) -> None:
    [source] = PROGRAM.source_paths
    done = device_pass(source, SourceOptions(extra=("-Wall", "-Wextra", "-Werror")), clang)
    for kernel in ("gather", "forward", "softmax_gradient", "backward", "weight_gradient", "momentum_step"):
        assert f"{len(kernel)}{kernel}" in done.text
    assert done.warnings == ""
