"""Rows of a profile: sums over launches, geometries and processes, and what they look like on a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.profiling.profile_rows import KEYS, MOST_LINES, Profiled, merged, profile_rows
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.device.virtual_gpu.launch_estimates import L2History
from kernelwright.report.profile import facts, profile_page
from kernelwright.target import gpu
from tests.model.build import access, count, observed, paths, step, weights
from tests.model.running import Device, all_weights

H100 = gpu("h100")


@pytest.fixture
def device() -> Iterator[Device]:
    with Arena() as arena:
        yield Device(arena)


def launches(
    kernel: str, grid: int, times: Sequence[float], *, kind: str = "fp32", sectors: int = 4, line: int = 7
) -> Profiled:
    """Launches of blocks of 64 threads whose warps do ten instructions and a load."""
    warps = 2 * grid
    o = observed(
        [count("entry", warps)],
        [
            access(requests=warps, sectors=sectors * warps, line=line),
            access(space="shared", requests=warps, wavefronts=3 * warps, line=line),
        ],
        grid=grid, block=64, trace=[paths(0, [0], [0])],
    )  # fmt: skip
    steps = [step(kind, line=line) for _ in range(10)] + [step("load_global", sets=0, line=line + 1)]
    found = estimate(o, weights({"entry": steps}), replace(H100, block_cycles=0.0))
    made = Profiled((kernel, (grid, 1, 1), (64, 1, 1), 0), len(times))
    for time in times:
        made.add(replace(found, kernel_us=time, time_us=time + 2.5), o)
    return made


def test_a_row_per_kernel() -> None:
    rows = profile_rows(
        [launches("_Z4moveiPf", 10, [1.0, 2.0]), launches("_Z4moveiPf", 30, [9.0]), launches("rest", 5, [4.0])]
    )
    assert [(r["kernel"], r["launches"], r["time_us"]) for r in rows] == [("move", 3, 12.0), ("rest", 1, 4.0)]
    move = rows[0]
    assert (move["mean_us"], move["least_us"], move["most_us"], move["share"]) == (4.0, 1.0, 9.0, 0.75)
    assert move["grid"] == [10, 1, 1] and move["block"] == [64, 1, 1]
    assert [(g["grid"][0], g["launches"], g["time_us"]) for g in move["geometries"]] == [(10, 2, 3.0), (30, 1, 9.0)]
    assert move["mangled"] == "_Z4moveiPf" and (move["launch_us"], rows[1]["launch_us"]) == (7.5, 2.5)


def test_figures_of_one_launch_are_means_and_rates_are_over_all_requests() -> None:
    """Two launches with 20 warps, one with 60: 100 warps in three launches, ten instructions each and a load."""
    (row,) = profile_rows([launches("k", 10, [1.0, 2.0], sectors=4), launches("k", 30, [9.0], sectors=32)])
    assert row["instructions"] == {"fp32": pytest.approx(1000 / 3), "load_global": pytest.approx(100 / 3)}
    assert row["sectors_per_request"] == pytest.approx((40 * 4 + 60 * 32) / 100)
    assert row["load_sectors_per_request"] == row["sectors_per_request"]
    assert row["store_sectors_per_request"] is None and row["turns_per_atomic_request"] is None
    assert row["wavefronts_per_shared_request"] == 3
    assert row["simt_efficiency"] == 1.0
    assert row["occupancy"] == 1.0 and row["occupancy_limit"] == "warps" and row["registers"] == 32


def test_shares_of_time_are_weighted_by_time() -> None:
    slow, quick = launches("k", 10_000, [90.0], kind="special"), launches("k", 10_000, [10.0], kind="fp64", line=50)
    (row,) = profile_rows([slow, quick])
    assert row["bound_by"] == "xu" == next(iter(row["terms"]))
    assert sum(row["terms"].values()) == pytest.approx(1)
    assert row["terms"]["xu"] == pytest.approx(slow.totals["term xu"] / 100)
    by_line = {each["line"]: each["share"] for each in row["lines"]}
    assert by_line[7] + by_line[8] == pytest.approx(0.9) and by_line[50] + by_line[51] == pytest.approx(0.1)
    assert list(by_line.values()) == sorted(by_line.values(), reverse=True)


def test_only_the_dearest_lines_are_told() -> None:
    many = [launches("k", 10, [float(i + 1)], line=10 * i) for i in range(1, MOST_LINES + 5)]
    (row,) = profile_rows(many)
    assert (
        row["without_line"] == 0
        and len(row["lines"]) == MOST_LINES
        and row["lines"][0]["line"] == 10 * (MOST_LINES + 4)
    )


def test_bytes_are_those_of_every_launch_not_of_the_longest() -> None:
    """The first launch finds a cold cache, the second what the first one left."""
    one = launches("k", 10, [5.0])
    cold = estimate(
        observed([count("entry", 1)], [access(requests=1, sectors=4)], buffers=[(0, 1 << 20)]), weights({}), H100
    )
    o = observed([count("entry", 1)])
    one.add(replace(cold, dram_bytes=900.0), o)
    one.add(replace(cold, dram_bytes=0.0), o)
    assert profile_rows([one])[0]["dram_bytes"] == pytest.approx((one.totals["dram_bytes"]) / 3)
    assert one.totals["dram_bytes"] - launches("k", 10, [5.0]).totals["dram_bytes"] == 900.0


def test_processes_are_merged_exactly() -> None:
    """Rows that went through JSON, in any split, are the rows of all launches together."""
    some = [launches("k", 10, [1.0, 2.0]), launches("k", 30, [9.0], sectors=32), launches("other", 3, [2.0])]
    whole = profile_rows(some)
    sent = [json.loads(json.dumps(profile_rows([each]))) for each in some]
    assert json.loads(json.dumps(whole)) == json.loads(json.dumps(merged(sent)))
    assert merged([]) == [] and merged([[]]) == []


def test_launches_without_an_estimate_say_why() -> None:
    fault = Profiled(("k", (1, 1, 1), (32, 1, 1), 0), launches=2, trouble="it stopped with a fault")
    (row,) = profile_rows([fault])
    assert row["trouble"] == "it stopped with a fault" and row["launches"] == 2 and row["time_us"] == 0
    both = profile_rows([fault, launches("k", 10, [3.0])])[0]
    assert "trouble" not in both and both["launches"] == 3 and both["mean_us"] == 3.0


def test_every_key_is_explained() -> None:
    (row,) = profile_rows([launches("k", 10, [1.0])])
    assert set(row) == set(KEYS) - {"trouble", "roofline"}


def test_a_kernel_that_really_ran(device: Device) -> None:
    x, y = device.floats(4096, "x"), device.floats(4096, "y")
    o = device.observe("uneven", 8, 128, [5, x, y])
    found = estimate(o, all_weights()["uneven"], H100)
    seen = Profiled(("uneven", (8, 1, 1), (128, 1, 1), 0), 1)
    seen.add(found, o)
    (row,) = profile_rows([seen])
    assert (row["time_us"], row["launch_us"]) == (found.kernel_us, found.time_us - found.kernel_us)
    assert row["barriers_per_block"] == 1
    assert row["lines"][0]["file"].endswith("kernels.cu") and row["lines"][0]["line"] in range(30, 37)
    assert row["sources"]["paths"] == "logged"
    device.arena.view(y, np.float32)[:8] = 0
    half = device.observe("half_warp", 1, 32, [y])
    found = estimate(half, all_weights()["half_warp"], H100)
    seen = Profiled(("half_warp", (1, 1, 1), (32, 1, 1), 0), 1)
    seen.add(found, half)
    (row,) = profile_rows([seen])
    assert 0.3 <= row["simt_efficiency"] < 0.8 and row["slow_divisions"] == 1


def test_the_page_stands_alone_and_escapes() -> None:
    rows = profile_rows([launches("k<&>", 10, [1.0]), launches("other", 3, [2.0])])
    page = profile_page("a<b>.cu", H100.title, rows)
    assert "k&lt;&amp;&gt;" in page and "a&lt;b&gt;.cu" in page and "k<&>" not in page
    assert "src=" not in page and "href=" not in page and "<script" not in page
    assert "kernelwright 0" in page.lower() and "kw profile a.cu" in profile_page("a", "g", rows, "kw profile a.cu")
    assert all(len(fact) == 2 for fact in facts(rows[0]))
    failed = profile_rows([Profiled(("k", (1, 1, 1), (1, 1, 1), 0), trouble="it stopped with a fault")])
    assert "it stopped with a fault" in profile_page("p", "g", failed)


def test_the_page_has_the_whole_kernel_and_a_roofline(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    lines = [
        "// a remark",
        "__global__ void k(float *a)",
        "{",
        "    int x = 1;",
        "",
        "    a[0] = x;",
        "    a[1] = 2;",
        "}",
        "int main() {}",
    ]
    source.write_text("\n".join(lines))
    (row,) = profile_rows([launches("k", 10, [1.0], line=6)])
    row["all_lines"] = [[str(source), line, us] for _, line, us in row["all_lines"]]
    page = profile_page("a", "g", [row], chip=H100)
    assert "Line by line" in page and "int x = 1;" in page and "int main" not in page and "a remark" not in page
    shares = {line: us / row["time_us"] for _, line, us in row["all_lines"]}
    assert all(f"{100 * share:.1f} %" in page for line, share in shares.items() if line in range(2, 9))
    assert "Under the roofs" in page and "roofline-1" in page
    row["all_lines"] = []
    assert "Line by line" not in profile_page("a", "g", [row], chip=H100)


def test_rows_that_are_merged_again_keep_all_lines() -> None:
    many = [launches("k", 10, [float(i + 1)], line=10 * i) for i in range(1, MOST_LINES + 5)]
    (row,) = profile_rows(many)
    assert len(row["all_lines"]) > MOST_LINES
    (again,) = merged([[row], [row]])
    assert [line for _, line, _ in again["all_lines"]] == [line for _, line, _ in row["all_lines"]]
    assert sum(us for _, _, us in again["all_lines"]) == pytest.approx(2 * sum(us for _, _, us in row["all_lines"]))


# -- what the L2 cache still holds ------------------------------------------------------------------------------------


def test_a_second_launch_finds_what_the_first_one_left() -> None:
    history = L2History(1000)
    o = observed([count("entry", 1)], buffers=[(0, 400), (1000, 1400)])
    assert history.warm(o) == 0.0
    assert history.warm(o) == 1.0
    other = observed([count("entry", 1)], buffers=[(2000, 2600)])
    assert history.warm(other) == 0.0
    # 600 bytes were used since: 400 of the 800 are left.
    assert history.warm(o) == 0.5


def test_what_never_fits_is_never_all_there() -> None:
    history = L2History(1000)
    o = observed([count("entry", 1)], buffers=[(0, 4000)])
    assert [history.warm(o), history.warm(o)] == [0.0, 0.25]
