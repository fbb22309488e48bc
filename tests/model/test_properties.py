"""What must hold for every launch: more work is never faster, a better machine never slower."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.calibration import FACTORS, NORMS, Calibration
from kernelwright.codegen.cost.block_weights import Weights
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.target import GPUS, Gpu
from tests.examples import few
from tests.model.build import access, asked, count, observed, paths, step, weights

KINDS = ("fp32", "int", "fp64", "special", "warp", "branch", "load_global", "load_shared", "store_global", "atomic")
SOME_STEPS = st.lists(
    st.builds(
        step,
        st.sampled_from(KINDS),
        stall=st.integers(1, 8),
        waits=st.lists(st.integers(0, 5), max_size=2).map(tuple),
        sets=st.integers(-1, 5),
        line=st.integers(0, 5),
    ),
    min_size=1,
    max_size=10,
)
SOME_GPU = st.sampled_from(sorted(GPUS.values(), key=lambda g: g.name))
SOME_CALIBRATION = st.builds(
    lambda norm, factors: Calibration(norm=norm, **dict(zip(FACTORS, factors, strict=True))),
    st.sampled_from(NORMS),
    st.lists(st.floats(0.25, 4.0), min_size=len(FACTORS), max_size=len(FACTORS)),
)


@st.composite
def launches(draw: st.DrawFn) -> tuple[Observed, Weights]:
    w = weights(
        {"entry": draw(SOME_STEPS), "body": draw(SOME_STEPS)}, registers=draw(st.sampled_from([16, 32, 64, 128]))
    )
    grid, block = draw(st.integers(1, 3000)), draw(st.sampled_from([32, 64, 256]))
    warps = grid * block // 32
    rounds = draw(st.integers(0, 20))
    accesses = [
        access(requests=warps, sectors=warps * draw(st.integers(1, 32)), line=1),
        access("store", requests=warps, sectors=warps * draw(st.integers(1, 32)), line=2),
        access(space="shared", requests=warps, wavefronts=warps * draw(st.integers(1, 32)), line=3),
        access("atomic", requests=warps, sectors=warps, serial=warps * draw(st.integers(0, 31)), line=4),
    ]
    logged = draw(st.sampled_from(["nothing", "paths", "all"]))
    run = [[0, *[1] * rounds]] * (block // 32)
    trace = [paths(n, *run) for n in range(min(grid, 4))]
    if logged == "all":
        asks = draw(
            st.lists(st.tuples(st.sampled_from([0, 1, 3]), st.integers(0, 50), st.integers(1, 15)), max_size=20)
        )
        trace = [asked(n, [(a, [(line + 7 * n, mask)]) for a, line, mask in asks], *run) for n in range(min(grid, 4))]
    blocks = [count("entry", warps), count("body", warps * rounds)]
    made = observed(
        blocks, accesses, grid=grid, block=block, trace=trace if logged != "nothing" else (), buffers=[(0, 1 << 20)]
    )
    return made, w


@settings(max_examples=few(80), deadline=None)
@given(launches(), SOME_GPU, SOME_CALIBRATION, st.integers(0, 3), st.integers(1, 100_000))
def test_more_traffic_is_never_faster(
    launch: tuple[Observed, Weights], it: Gpu, c: Calibration, which: int, more: int
) -> None:
    o, w = launch
    before = estimate(o, w, it, c).cycles
    for name in ("sectors", "wavefronts", "serial"):
        if name == "serial" and o.accesses[which].kind == "atomic":
            continue  # lanes that meet at a word are one operation of L2, and fewer than lanes that do not
        accesses = list(o.accesses)
        accesses[which] = replace(accesses[which], **{name: getattr(accesses[which], name) + more})
        assert estimate(replace(o, accesses=tuple(accesses)), w, it, c).cycles >= before * (1 - 1e-9), name


@settings(max_examples=few(80), deadline=None)
@given(launches(), SOME_GPU, SOME_CALIBRATION, st.sampled_from(KINDS), st.booleans())
def test_more_instructions_are_never_faster(
    launch: tuple[Observed, Weights], it: Gpu, c: Calibration, kind: str, at_end: bool
) -> None:
    o, w = launch
    extra = step(kind, stall=1)
    blocks = dict(w.blocks)
    for key, segments in w.blocks.items():
        first, *rest = segments
        blocks[key] = ((*first, extra) if at_end else (extra, *first), *rest)
        more = replace(w, blocks=dict(blocks))
        assert estimate(o, more, it, c).cycles >= estimate(o, w, it, c).cycles * (1 - 1e-9)


@settings(max_examples=few(60), deadline=None)
@given(launches(), SOME_GPU, st.sampled_from(FACTORS), st.floats(1.0, 5.0))
def test_a_slower_part_is_never_faster(launch: tuple[Observed, Weights], it: Gpu, factor: str, times: float) -> None:
    o, w = launch
    slower = Calibration().changed(factor, times)
    assert estimate(o, w, it, slower).time_us >= estimate(o, w, it).time_us * (1 - 1e-9)


@settings(max_examples=few(60), deadline=None)
@given(launches(), SOME_GPU)
def test_a_warmer_cache_or_a_faster_memory_is_never_slower(launch: tuple[Observed, Weights], it: Gpu) -> None:
    o, w = launch
    before = estimate(o, w, it).time_us * (1 + 1e-9)
    assert estimate(replace(o, warm=0.5), w, it).time_us <= before
    assert estimate(o, w, replace(it, dram_gb_per_s=2 * it.dram_gb_per_s)).time_us <= before
    assert estimate(o, w, replace(it, clock_mhz=2 * it.clock_mhz, dram_gb_per_s=2 * it.dram_gb_per_s)).time_us <= before


@settings(max_examples=few(60), deadline=None)
@given(launches(), SOME_GPU, SOME_CALIBRATION)
def test_shares_and_lines_are_the_whole(launch: tuple[Observed, Weights], it: Gpu, c: Calibration) -> None:
    o, w = launch
    found = estimate(o, w, it, c)
    assert abs(sum(t.share for t in found.terms) - 1) < 1e-9
    assert abs(sum(each.share for each in found.lines) - 1) < 1e-9
    assert max(t.cycles for t in found.terms if t.name not in ("latency", "barriers")) <= found.cycles * (1 + 1e-9)
    assert found.time_us > 0 and 0 <= found.l1_hit_rate <= 1 and 0 <= found.l2_hit_rate <= 1
    assert repr(found) == repr(estimate(o, w, it, c))
