"""The table of GPUs: every number has its source, and the derived ones agree with what the vendor publishes."""

from __future__ import annotations

from dataclasses import fields

import pytest

from kernelwright.architectures import architecture
from kernelwright.errors import Misuse
from kernelwright.target import GPUS, PIPES, WARP, Gpu, gpu, stand_ins

each_gpu = pytest.mark.parametrize("it", GPUS.values(), ids=GPUS)

NAMED = (
    "p100", "v100", "a100", "h100", "h200", "t4", "rtx2080ti", "titan-rtx", "a4000", "a10", "rtx3090", "a6000", "l4",
    "rtx4090", "l40s",
)  # fmt: skip
THREADS = {"sm_75": 1024, "sm_86": 1536, "sm_89": 1536}
"""Of a multiprocessor, where they are not 2048: CUDA C++ Programming Guide, technical specifications."""


def test_the_named_gpus_are_there() -> None:
    assert tuple(GPUS) == NAMED
    assert gpu("H200") is GPUS["h200"]
    with pytest.raises(Misuse, match="unknown GPU 'h300'"):
        gpu("h300")


ABOUT = ("name", "title", "arch", "sm", "sources", "like", "calibration")
"""Fields that are no figures."""


@each_gpu
def test_every_figure_has_a_source(it: Gpu) -> None:
    figures = [f.name for f in fields(it) if f.name not in ABOUT]
    figures += [f"sm.{f.name}" for f in fields(it.sm) if f.name not in ("rates", "sources")]
    figures += [f"sm.rates.{pipe}" for pipe in PIPES]
    for figure in figures:
        assert len(it.source(figure)) > 20, figure
    assert set(it.sources) == {f for f in figures if not f.startswith("sm.")}
    assert {f"sm.{name}" for name in it.sm.sources} == {f for f in figures if f.startswith("sm.")}
    with pytest.raises(Misuse, match="no figure"):
        it.source("sm.magic")


# Peak rates that the white papers state: single and double precision in TFLOP/s.
@pytest.mark.parametrize(
    ("name", "single", "double"),
    [
        ("p100", 10.6, 5.3),
        ("v100", 15.7, 7.8),
        ("a100", 19.5, 9.7),
        ("h100", 66.9, 33.5),
        ("h200", 66.9, 33.5),
        ("t4", 8.1, None),
        ("rtx2080ti", 13.4, None),
        ("titan-rtx", 16.3, 0.51),
        ("a4000", 19.2, None),
        ("a10", 31.2, None),
        ("rtx3090", 35.6, 0.556),
        ("a6000", 38.7, 0.605),
        ("l4", 30.3, None),
        ("rtx4090", 82.6, 1.29),
        ("l40s", 91.6, None),
    ],
)
def test_peak_arithmetic(name: str, single: float, double: float | None) -> None:
    """Lanes x 2 operations x multiprocessors x clock."""
    it = gpu(name)
    for pipe, stated in (("fma", single), ("fp64", double)):
        if stated is None:
            continue  # the data sheet does not say
        peak = it.sm.rates[pipe] * 2 * it.multiprocessors * it.clock_mhz / 1e6
        assert peak == pytest.approx(stated, rel=0.01)


@each_gpu
def test_figures_fit_together(it: Gpu) -> None:
    sm = it.sm
    assert sm.l1_latency < it.l2_latency < it.dram_latency
    assert sm.alu_latency < sm.shared_latency <= sm.l1_latency or sm.shared_latency < it.l2_latency
    assert sm.threads == THREADS.get(it.arch, 2048) == sm.warps * WARP
    assert sm.registers % (sm.partitions * sm.register_unit) == 0
    assert not sm.carveouts or (
        sm.carveouts[-1] == sm.shared_bytes < sm.l1_bytes and list(sm.carveouts) == sorted(sm.carveouts)
    )
    assert it.dram_bytes_per_cycle < it.l2_bytes_per_cycle
    assert architecture(it.arch).name == it.arch
    assert hash(it) == hash(gpu(it.name))


def test_stand_ins() -> None:
    """Itself first; Pascal, whose machine code nobody reads, is stood for by Volta and Turing."""
    assert stand_ins("sm_60")[:2] == ("sm_70", "sm_75")
    assert stand_ins("sm_70")[:2] == ("sm_70", "sm_75")
    assert stand_ins("sm_90")[0] == "sm_90"
    assert stand_ins("sm_121") == ("sm_121",)
    with pytest.raises(Misuse, match="unknown architecture"):
        stand_ins("sm_1")
