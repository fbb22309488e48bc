"""Fitting: times made with known constants are met again, ranks are Spearman's."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from kernelwright.calibration import DEFAULT, Calibration
from kernelwright.device.timing_model import estimate as estimate_module
from kernelwright.device.timing_model.caches import Traffic, traffic
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.device.timing_model.fit import Measured, MeasuredRows, fit, rank_by_kernel, spearman
from kernelwright.errors import Misuse
from kernelwright.target import Gpu, gpu
from tests.model.build import access, asked, count, observed, step, weights

H100 = gpu("h100")
TRUTH = Calibration(norm=8, launch=1.3, issue=1.1, pipes=1.2, l1=1.25, l2=1.4, dram=1.15, latency=1.3, barrier=2.0)


def rows(truth: Calibration, noise: float = 0.0, it: Gpu = H100) -> list[Measured]:
    """Variants of kernels that lean on different parts of the machine, timed with other constants than the table's."""
    draw = random.Random(3)
    made = []
    for kernel, kind in (
        ("arithmetic", "fp64"),
        ("memory", "load_global"),
        ("shared", "load_shared"),
        ("issue", "int"),
    ):
        for variant in range(6):
            n, grid = draw.randint(5, 80), draw.choice([20, 400, 3000, 20_000])
            steps = [step(kind, sets=i % 6) for i in range(n)] + [step("fp32", waits=(0,))]
            steps += [step("barrier")] * (variant % 3)
            sectors = draw.choice([4, 8, 32]) * n * grid * 4 if kind == "load_global" else 0
            accesses = [
                access(requests=n * grid * 4, sectors=sectors) if sectors
                else access(space="shared", requests=n * grid * 4, wavefronts=2 * n * grid * 4)
            ] if kind.startswith("load") else []  # fmt: skip
            trace = [
                asked(b, [(0, [(100 * b + i, 15)]) for i in range(n)] if sectors else [], *[[0]] * 4) for b in range(4)
            ]
            o = observed([count("entry", 4 * grid)], accesses, grid=grid, block=128, trace=trace)
            w = weights({"entry": steps})
            time = estimate(o, w, it, truth).time_us * draw.uniform(1 - noise, 1 + noise)
            made.append(Measured(kernel, str(variant), o, w, it, time))
    return made


def test_known_constants_are_met_again() -> None:
    found = fit(rows(TRUTH), "synthetic")
    assert found.before > 0.15
    assert found.after < 0.03
    assert found.calibration.name == "synthetic" and found.calibration.gpu == "h100" and found.calibration.rows == 24
    assert found.calibration.error == found.after
    assert set(found.rank) == {"arithmetic", "memory", "shared", "issue"} and min(found.rank.values()) > 0.9
    assert found.median_rank is not None and found.median_rank > 0.95


def test_launches_are_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches are replayed, accesses matched and steps laid out once for each row, whatever constants are tried; and the estimates are
    those of a launch that was never looked at before."""
    measured, replays = rows(TRUTH), Counter[str]()

    def counted(*given: Any) -> Traffic:
        replays["traffic"] += 1
        return traffic(*given)

    monkeypatch.setattr(estimate_module, "traffic", counted)
    kept = MeasuredRows(measured)
    tried = [Calibration(latency=a, barrier=b) for a in (0.7, 1.0, 1.3) for b in (0.5, 1.0, 2.0)]
    again = [[kept.estimated(i, each) for i in range(len(measured))] for each in (*tried, tried[0])]
    assert replays["traffic"] == len(measured)
    assert again[0] == again[-1]
    for each, found in zip(tried, again, strict=False):
        assert found == [estimate(r.observed, r.weights, r.gpu, each).time_us for r in measured]


def test_noise_is_not_learned_away() -> None:
    found = fit(rows(TRUTH, noise=0.1), "noisy")
    assert 0.01 < found.after < 0.09 < found.before


def test_a_perfect_start_stays() -> None:
    found = fit(rows(DEFAULT), "same")
    assert replace(found.calibration, name="uncalibrated", gpu="", rows=0, error=None) == DEFAULT
    assert found.after == found.before == 0


def test_the_same_rows_give_the_same_calibration_and_progress_is_told() -> None:
    told: list[float] = []
    some = rows(TRUTH, noise=0.05)[::3]
    one = fit(some, "a", progress=lambda round, loss: told.append(loss))
    assert one == fit(some, "a")
    assert told == sorted(told, reverse=True) and told


def test_bad_rows_are_refused() -> None:
    good = rows(TRUTH)
    with pytest.raises(Misuse, match="at least 3 measurements"):
        fit(good[:2], "few")
    with pytest.raises(Misuse, match="time measured for arithmetic"):
        fit([replace(good[0], time_us=0.0), *good[1:]], "zero")
    with pytest.raises(Misuse, match="several GPUs"):
        fit([*good, *rows(TRUTH, it=gpu("a100"))], "mixed")


def test_spearman_is_spearman() -> None:
    from scipy import stats  # takes two seconds, which every process that collects this file would pay

    draw = random.Random(1)
    for _ in range(50):
        a = [draw.randint(0, 8) for _ in range(12)]
        b = [draw.randint(0, 8) for _ in range(12)]
        expected = stats.spearmanr(a, b).statistic
        assert spearman(a, b) == pytest.approx(float(expected))
    assert spearman([1, 1, 1], [1, 2, 3]) is None


def test_ranks_are_by_kernel_and_take_three_variants() -> None:
    some = rows(TRUTH)
    few = some[:2] + some[6:9]
    found = rank_by_kernel(few, [r.time_us for r in few])
    assert set(found) <= {"memory"} and all(r == pytest.approx(1) for r in found.values())
