"""Support vector machine: the oracle against a general optimiser and against scikit-learn."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.cuda.clang import Clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.suite.svm import workload
from kernelwright.suite.svm.workload import PROGRAM, Problem

needs_digits = pytest.mark.skipif(find_spec("sklearn") is None, reason="the digits come with scikit-learn")


def blobs(seed: int, classes: int, count: int, cost: float) -> Problem:
    """Overlapping clouds of points in the plane."""
    rng = np.random.default_rng(seed)
    labels = np.arange(2 * count, dtype=np.int32) % classes
    points = rng.normal(labels[:, None] * [1.5, 0.7], 1.0)
    return Problem(points[:count], labels[:count], points[count:], labels[count:], cost, 0.5, 10_000)


def dual(multipliers: NDArray[np.float64], signs: NDArray[np.float64], kernel: NDArray[np.float64]) -> float:
    signed = multipliers * signs
    return float(multipliers.sum() - signed @ kernel @ signed / 2)


@pytest.mark.parametrize("seed", range(4))
def test_a_machine_reaches_the_optimum_of_the_dual(seed: int) -> None:
    problem = blobs(seed, 2, 24, cost=2.0)
    [machine] = workload.train(problem)
    points = problem.points[machine.members]
    kernel = np.exp(-0.5 * ((points[:, None] - points) ** 2).sum(axis=2))
    from scipy.optimize import minimize

    best = minimize(
        lambda m: -dual(m, machine.signs, kernel),
        np.zeros(24),
        bounds=[(0.0, 2.0)] * 24,
        constraints={"type": "eq", "fun": lambda m: m @ machine.signs},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert best.success
    assert dual(machine.multipliers, machine.signs, kernel) == pytest.approx(-best.fun, rel=1e-5)
    assert machine.multipliers.min() >= 0 and machine.multipliers.max() <= 2.0
    assert machine.multipliers @ machine.signs == pytest.approx(0, abs=1e-9)
    # Examples with a multiplier inside its bounds lie on the margin.
    value = kernel @ (machine.multipliers * machine.signs) + machine.bias
    free = (machine.multipliers > 1e-6) & (machine.multipliers < 2.0 - 1e-6)
    assert free.any()
    assert (value * machine.signs)[free] == pytest.approx(1.0, abs=2 * workload.TOLERANCE)


def test_predictions_are_votes_of_all_pairs() -> None:
    problem = blobs(1, 4, 40, cost=1.0)
    machines = workload.train(problem)
    assert len(machines) == 6
    predictions = workload.predict(problem, machines)
    for point, prediction in zip(problem.validation_points, predictions, strict=True):
        votes = [0] * 4
        for (c, d), machine in zip(combinations(range(4), 2), machines, strict=True):
            nearness = np.exp(-0.5 * ((problem.points[machine.members] - point) ** 2).sum(axis=1))
            votes[c if nearness @ (machine.multipliers * machine.signs) + machine.bias > 0 else d] += 1
        assert prediction == votes.index(max(votes))


@needs_digits
@pytest.mark.parametrize("seed", range(2))
def test_the_oracle_agrees_with_scikit_learn(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "small", seed)
    problem = Problem.load(tmp_path, argv)
    classifier = importlib.import_module("sklearn.svm").SVC(C=problem.cost, gamma=problem.gamma)
    theirs = classifier.fit(problem.points, problem.labels).predict(problem.validation_points)
    assert (workload.predict(problem, workload.train(problem)) == theirs).all()
    error = workload.oracle(tmp_path, argv)["error"]
    assert error.tolist() == [(theirs != problem.validation_labels).mean()]
    assert 0 < error[0] < 0.1


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
    for kernel in ("compute_kernel_matrix", "train", "decide", "vote"):
        assert f"{len(kernel)}{kernel}" in done.text
    assert done.warnings == ""
