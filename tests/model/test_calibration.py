"""Calibrations are values: written, read back, refused when they make no sense; each constant moves its own term."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.calibration import DEFAULT, FACTORS, Calibration, load
from kernelwright.device.timing_model.estimate import FACTOR_OF, Estimate, estimate
from kernelwright.errors import Misuse
from kernelwright.target import gpu
from tests.model.build import access, asked, count, observed, step, weights

P100 = gpu("p100")


def test_the_default_is_labelled_uncalibrated() -> None:
    assert str(DEFAULT) == "uncalibrated" and not DEFAULT.is_measured
    assert all(getattr(DEFAULT, name) == 1 for name in FACTORS)
    assert str(Calibration("lab", "h200", 120, 0.11)) == "lab (120 measurements on h200)"


def test_there_and_back(tmp_path: Path) -> None:
    made = Calibration("lab", "h200", 120, 0.11, norm=8, launch=0.8, dram=1.09, barrier=1.5)
    made.save(tmp_path / "c.json")
    assert load(tmp_path / "c.json") == made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "holds no calibration"),
        ("[]", "of format 1"),
        ('{"format": 2}', "of format 1"),
        ('{"format": 1, "magic": 3}', "does not know: magic"),
        ('{"format": 1, "dram": 0}', "'dram' is a positive number"),
        ('{"format": 1, "dram": "fast"}', "'dram' is a positive number"),
        ('{"format": 1, "dram": Infinity}', "'dram' is a positive number"),
        ('{"format": 1, "norm": 3}', "norm is one of"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(Misuse, match=message):
        load(tmp_path / "c.json")
    with pytest.raises(Misuse, match="holds no calibration"):
        load(tmp_path / "nothing.json")


def busy() -> dict[str, Estimate]:
    """A launch on a P100 that keeps every part busy, under each calibration with one factor doubled."""
    kinds = ("fp32", "int", "fp64", "special", "warp", "branch", "atomic", "load_global", "load_shared")
    steps = [step(k) for k in kinds] + [step("int", pipe=p) for p in ("fp16", "tensor")]
    w = weights({"entry": [*steps, step("load_global", sets=0), step("barrier", waits=(0,))]})
    accesses = [
        access(requests=50, sectors=400), access(space="shared", requests=50, wavefronts=100),
        access("atomic", requests=50, sectors=50, serial=100),
    ]  # fmt: skip
    trace = [asked(0, [(0, [(i, 15)]) for i in range(5)] + [(2, [(9, 1)])], [0, 1])]
    o = observed([count("entry", 50), count("entry", 50, barriers=1)], accesses, grid=50, trace=trace)
    found = {"": estimate(o, w, P100)}
    for name in FACTORS:
        found[name] = estimate(o, w, P100, DEFAULT.changed(name, 2.0))
    return found


def test_each_factor_moves_its_own_terms_and_no_others() -> None:
    found = busy()
    before = {t.name: t.cycles for t in found[""].terms}
    owners = {**FACTOR_OF, "latency": "latency", "barriers": "barrier"}
    assert set(before) == {*owners, "blocks"}  # which nobody calibrates
    for name in FACTORS:
        after = {t.name: t.cycles for t in found[name].terms}
        for term, cycles in before.items():
            if term == "latency" and name == "latency":
                assert after[term] > cycles
            elif owners.get(term) == name:
                assert after[term] == pytest.approx(2 * cycles), (name, term)
            else:
                assert after[term] == cycles, (name, term)
    assert (
        found["scale"].kernel_us == pytest.approx(2 * found[""].kernel_us) and found["scale"].cycles == found[""].cycles
    )
    assert found["launch"].time_us - found[""].time_us == pytest.approx(P100.launch_us)


def test_json_has_every_constant() -> None:
    written = json.loads(json.dumps(DEFAULT.as_json()))
    assert set(FACTORS) | {"format", "name", "gpu", "rows", "error", "held_out", "source", "left_alone", "norm"} == set(
        written
    )
