"""What measurements identify: constants that made the times are met again, the others are left alone, each with a reason."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from kernelwright.calibration import DEFAULT, FACTORS, Calibration
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.device.timing_model.fit import Measured
from kernelwright.device.timing_model.identify import FOLDS, fit_identified
from kernelwright.errors import Misuse
from kernelwright.target import gpu
from tests.model.build import access, asked, count, observed, step, weights

A100 = gpu("a100")


def rows(truth: Calibration, kinds: Sequence[str], noise: float = 0.0, each: int = 16) -> list[Measured]:
    """Kernels without barriers and atomics; those of ``load_global`` are bound by memory or by L1, those of ``fp32`` by a pipe."""
    draw = random.Random(5)
    made = []
    for kind in kinds:
        for variant in range(each):
            n, grid = draw.randint(8, 60), draw.choice([2000, 8000, 30_000])
            arithmetic = draw.randint(0, 3 * n)
            steps = [step("fp32") for _ in range(arithmetic)] + [step(kind) for _ in range(n)]
            sectors = draw.choice([4, 8, 32]) * n * grid * 4
            accesses = [access(requests=n * grid * 4, sectors=sectors)] if kind == "load_global" else []
            trace = [
                asked(b, [(0, [(100 * b + i, 15)]) for i in range(n)] if accesses else [], *[[0]] * 4) for b in range(4)
            ]
            o = observed([count("entry", 4 * grid)], accesses, grid=grid, block=128, trace=trace)
            w = weights({"entry": steps})
            time = estimate(o, w, A100, truth).time_us * draw.uniform(1 - noise, 1 + noise)
            made.append(Measured(kind, str(variant), o, w, A100, time))
    return made


def test_a_scale_is_met_again_and_nothing_else_moves() -> None:
    found = fit_identified(rows(Calibration(scale=1.4), ("load_global", "fp32"), 0.03), "mine", "by hand")
    made = found.fit.calibration
    assert found.fitted == ("scale",) and made.scale == pytest.approx(1.4, rel=0.03)
    assert all(getattr(made, name) == 1 for name in FACTORS if name != "scale") and made.norm == DEFAULT.norm
    assert (made.name, made.gpu, made.rows, made.source) == ("mine", "a100", 32, "by hand")
    assert made.held_out is not None and made.held_out > 0.95 and made.error is not None and made.error < 0.05
    assert found.left_alone["atomic"] == found.left_alone["barrier"] == "no estimate depends on it"
    assert set(found.left_alone) == {*FACTORS, "norm"} - {"scale"}
    assert set(made.left_alone) == {f"{name}: {why}" for name, why in found.left_alone.items()}


def test_a_constant_that_made_the_times_is_identified() -> None:
    found = fit_identified(rows(Calibration(scale=1.2, pipes=2.2), ("load_global", "fp32"), 0.02), "mine")
    assert "pipes" in found.fitted and found.fit.calibration.pipes == pytest.approx(2.2, rel=0.1)
    assert found.held_out_error < 0.5 * found.scaled_error and found.fit.after < 0.05
    assert "l2" in found.left_alone


def test_constants_that_only_fit_noise_are_left_alone() -> None:
    """Times at random: whatever fits them does not fit the folds that are held out."""
    draw = random.Random(2)
    some = [
        Measured(r.kernel, r.variant, r.observed, r.weights, r.gpu, r.time_us * draw.choice([0.5, 2.0]))
        for r in rows(DEFAULT, ("load_global",))
    ]
    found = fit_identified(some, "mine")
    assert found.fitted == ("scale",) and set(found.left_alone) == {*FACTORS, "norm"} - {"scale"}
    assert all(found.left_alone.values())


def test_the_order_of_the_rows_plays_no_part() -> None:
    some = rows(Calibration(scale=0.8), ("fp32",), 0.05)
    assert fit_identified(some, "a").fit.calibration == fit_identified(some[::-1], "a").fit.calibration


def test_too_few_rows() -> None:
    with pytest.raises(Misuse, match="11 measurements do not say which constants they identify: 12 are the least"):
        fit_identified(rows(DEFAULT, ("fp32",))[: 3 * FOLDS - 1], "few")
