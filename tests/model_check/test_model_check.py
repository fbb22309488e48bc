"""Estimates against a tuner's cache file: files of both forms, bad ones, samples, and figures that can be reckoned by hand."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.calibration import FACTORS, load
from kernelwright.device.model_check.agreement import agreement
from kernelwright.device.model_check.check_variants import check_variants, sample, variants_of
from kernelwright.device.model_check.expressions import Expression
from kernelwright.device.model_check.fills import fill_of
from kernelwright.device.model_check.idle_parameters import IdleParameter, idle_parameters
from kernelwright.device.model_check.kernel_description import KernelDescription, as_tuned, read_description
from kernelwright.device.model_check.observed_variant import observe_variant
from kernelwright.device.model_check.tuner_cache import MeasuredVariant, read_tuner_cache
from kernelwright.device.timing_model.cut_launch import multiplied
from kernelwright.device.timing_model.estimate import Estimate, estimate
from kernelwright.errors import Misuse
from kernelwright.target import Gpu, gpu, gpu_called
from tests.cli.test_json import check as check_keys
from tests.cli.test_json import documented
from tests.model.build import access, count, observed

N = 1 << 20
SETTINGS = [(block, per) for block in (32, 64, 128, 256) for per in (1, 2)]
DESCRIPTION = """
source = "scale.cu"
kernel = "scale"
grid = ["ceil(1048576, block_size_x * per_thread)"]
block = "block_size_x"
where = "per_thread < 3"
arguments = [{ bytes = "4 * 1048576" }, { bytes = "4 * 1048576", fill = "random" }, { int = 1048576 }]
"""


def entries() -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {
        f"{block},{per}": {"block_size_x": block, "per_thread": per, "time": 0.01 + 0.1 / block, "GFLOP/s": 3.0}
        for block, per in SETTINGS
    }
    made["1024,2"] = {"block_size_x": 1024, "per_thread": 2, "time": "RuntimeFailedConfig"}
    made["64,4"] = {"block_size_x": 64, "per_thread": 4, "time": 0.5}
    return made


def kernel_tuner(cache: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "device_name": "NVIDIA A100-PCIE-40GB", "kernel_name": "scale", "tune_params_keys": ["block_size_x", "per_thread"],
        "cache": entries() if cache is None else cache, **more,
    }  # fmt: skip


def t4() -> dict[str, Any]:
    return {
        "metadata": {"timeunit": "miliseconds"},
        "results": [
            {
                "configuration": {"block_size_x": e["block_size_x"], "per_thread": e["per_thread"]},
                "invalidity": "runtime" if isinstance(e["time"], str) else "correct",
                "measurements": [{"name": "time", "value": e["time"], "unit": ""}],
            }
            for e in entries().values()
        ],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).parent / "scale.cu", tmp_path)
    (tmp_path / "scale.toml").write_text(DESCRIPTION)
    (tmp_path / "cache.json").write_text(json.dumps(kernel_tuner()))
    return tmp_path


# -- files -------------------------------------------------------------------------------------------------------------


def test_both_forms_and_their_archives_say_the_same(folder: Path) -> None:
    (folder / "t4.json").write_text(json.dumps(t4()))
    (folder / "t4.json.gz").write_bytes(gzip.compress(json.dumps(t4()).encode()))
    read = [read_tuner_cache(folder / name) for name in ("cache.json", "t4.json", "t4.json.gz")]
    for found in read:
        assert [(dict(v.parameters), v.time_us) for v in found.variants] == [
            (dict(v.parameters), v.time_us) for v in read[0].variants
        ]
        assert found.failed == 1 and found.varied() == ("block_size_x", "per_thread")
    assert read[0].variants[0].time_us == pytest.approx(1000 * (0.01 + 0.1 / 32))
    assert (read[0].device, read[0].kernel) == ("NVIDIA A100-PCIE-40GB", "scale") and read[1].device == ""


def cache_text(change: Callable[[dict[str, Any]], Any]) -> bytes:
    made = kernel_tuner()
    change(made)
    return json.dumps(made).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (json.dumps(kernel_tuner()).encode()[:-2], "cache.json:1:"),
        (gzip.compress(json.dumps(kernel_tuner()).encode())[:-20], "truncated"),
        (b"\xff\xfe\x00", "no tuner's cache file"),
        (b"[1, 2]", "no tuner's cache file"),
        (cache_text(lambda c: c["cache"]["32,1"].update(time=0)), "'32,1' took 0 ms"),
        (cache_text(lambda c: c["cache"]["32,1"].update(time=-1.5)), "'32,1' took -1.5 ms"),
        (cache_text(lambda c: c["cache"]["32,1"].pop("per_thread")), "other parameters than the first"),
        (cache_text(lambda c: c["cache"]["64,1"].update(device_name="NVIDIA A10")), "several devices"),
        (cache_text(lambda c: c.update(cache={"a": {"block_size_x": 1, "per_thread": 1, "time": "failed"}})), "all 1 variants failed"),
        (cache_text(lambda c: c.update(cache={"a": 3})), "'a' has no parameters"),
    ],
)  # fmt: skip
def test_bad_caches(folder: Path, content: bytes, said: str) -> None:
    (folder / "cache.json").write_bytes(content)
    with pytest.raises(Misuse) as told:
        read_tuner_cache(folder / "cache.json")
    assert said in told.value.message and told.value.hint


def test_files_fill_arrays(folder: Path) -> None:
    numbers = np.arange(5, dtype=np.int32)
    np.save(folder / "five.npy", numbers)
    np.savez(folder / "all.npz", five=numbers, none=np.zeros(0))
    for name in ("five.npy", "all.npz:five"):
        view = np.zeros(50, np.uint8)
        fill_of(name, folder, "here").write(view, 1)
        assert (
            view[:40].view(np.int32).tolist() == [0, 1, 2, 3, 4] * 2 and view[40:].tobytes() == numbers.tobytes()[:10]
        )
    for name in ("zeros", "random"):
        floats = np.zeros(16, np.float32)
        fill_of(name, folder, "here").write(floats.view(np.uint8), 1)
        assert floats.any() == (name == "random") and (floats >= 0).all() and (floats < 1).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("noise", "fills nothing"), ("five.npz", "fills nothing"), ("all.npy:five", "fills nothing"), (3, "fills nothing"),
        ("six.npy", "six.npy cannot be used: No such file"), ("bad.npy", "bad.npy cannot be used"), ("bad.npz:a", "bad.npz cannot be used"),
        ("all.npz:six", "has no array 'six'"), ("all.npz:none", "holds no numbers"), ("objects.npy", "cannot be used"),
    ],
)  # fmt: skip
def test_fills_that_are_none(folder: Path, given: Any, said: str) -> None:
    np.savez(folder / "all.npz", five=np.arange(5), none=np.zeros(0))
    np.save(folder / "objects.npy", np.array([{}]), allow_pickle=True)
    (folder / "bad.npy").write_bytes(b"no numbers")
    (folder / "bad.npz").write_bytes(b"no numbers")
    with pytest.raises(Misuse) as told:
        fill_of(given, folder, "scale.toml: arguments[1]")
    assert said in told.value.message and told.value.message.startswith("scale.toml: arguments[1]") and told.value.hint


UNROLLED = """// a loop
#pragma unroll loop_unroll_factor_k
  for (;;) ;
# pragma unroll (loop_unroll_factor_k)
#pragma unroll loop_unroll_factor_kk
#pragma unroll 4
"""


def test_a_factor_of_0_takes_its_pragma_away(folder: Path) -> None:
    """As Kernel Tuner does it; a pragma with 0 would forbid clang to unroll. Lines keep their numbers."""
    tuned = as_tuned(UNROLLED, {"loop_unroll_factor_k": 0, "loop_unroll_factor_kk": 2, "other": 0}).splitlines()
    assert tuned == ["// a loop", "", "  for (;;) ;", "", *UNROLLED.splitlines()[4:]]
    assert as_tuned(UNROLLED, {"loop_unroll_factor_k": 4, "per_thread": 0}) == UNROLLED
    (folder / "scale.cu").write_text(UNROLLED)
    description = read_description(folder / "scale.toml")
    with description.source_of({"per_thread": 0}) as source:
        assert source == description.source
    with description.source_of({"loop_unroll_factor_k": 0}) as source:
        assert source != description.source and source.name == "scale.cu"
        assert source.read_text().splitlines() == ["// a loop", "", "  for (;;) ;", "", *UNROLLED.splitlines()[4:]]
    assert not source.exists()
    description.source.unlink()
    with pytest.raises(Misuse, match="cannot be read"), description.source_of({}):
        pass


def test_a_variant_is_compiled_without_that_pragma(folder: Path) -> None:
    """A loop of eight with a factor of 0 is unrolled as one without a pragma, and not kept a loop; includes are found beside the source."""
    (folder / "size.h").write_text("#define SIZE 8\n")
    text = """#include "size.h"
    __global__ void scale(float *out, const float *in, int n) {
      float sum = 0;
    PRAGMA
      for (int k = 0; k < SIZE; k++) sum += in[threadIdx.x + 32 * k];
      out[threadIdx.x] = sum + n;
    }
    """
    (folder / "scale.toml").write_text(DESCRIPTION.replace("* per_thread", "").replace('where = "per_thread < 3"', ""))
    counts = []
    for pragma, factor in (
        ("", 0),
        ("#pragma unroll loop_unroll_factor_k", 0),
        ("#pragma unroll loop_unroll_factor_k", 1),
    ):
        (folder / "scale.cu").write_text(text.replace("PRAGMA", pragma))
        description = read_description(folder / "scale.toml")
        seen, _ = observe_variant(description, {"block_size_x": 32, "loop_unroll_factor_k": factor}, gpu("a100"))
        counts.append(len([a for a in seen.accesses if a.kind == "load" and a.space == "global"]))
    assert counts == [8, 8, 1]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be read"):
        read_tuner_cache(tmp_path / "none.json")
    with pytest.raises(Misuse, match="cannot be read"):
        read_description(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('source = "scale.cu"', 'source = "other.cu"', "there is no file"),
        ('kernel = "scale"', "", "lacks kernel"),
        ("where", "wehre", "unknown key 'wehre'"),
        ("block = ", "block == ", "Invalid"),
        ("{ int = 1048576 }", "{ int = 1, bytes = 2 }", "arguments[2]"),
        ("per_thread < 3", "per_thread <", "where: 'per_thread <' is no expression"),
        ("per_thread < 3", "__import__('os')", "more than arithmetic"),
        ('"block_size_x"', "[1, 1, 1, 1]", "one to three"),
    ],
)
def test_bad_descriptions(folder: Path, old: str, new: str, said: str) -> None:
    (folder / "scale.toml").write_text(DESCRIPTION.replace(old, new, 1))
    with pytest.raises(Misuse) as told:
        cache = read_tuner_cache(folder / "cache.json")
        read_description(folder / "scale.toml").agrees_with(cache)
    assert said in f"{told.value.message} {told.value.hint}"


def test_a_cache_of_another_kernel(folder: Path) -> None:
    description = read_description(folder / "scale.toml")
    (folder / "cache.json").write_text(json.dumps(kernel_tuner(kernel_name="convolution")))
    with pytest.raises(Misuse, match="has times of 'convolution'"):
        description.agrees_with(read_tuner_cache(folder / "cache.json"))
    strange = {k: {**e, "tile": i} for i, (k, e) in enumerate(entries().items())}
    (folder / "cache.json").write_text(
        json.dumps(kernel_tuner(strange, tune_params_keys=["block_size_x", "per_thread", "tile"]))
    )
    with pytest.raises(Misuse, match="varies tile, which neither"):
        description.agrees_with(read_tuner_cache(folder / "cache.json"))
    lacking = {k: {n: x for n, x in e.items() if n != "per_thread"} for k, e in entries().items()}
    (folder / "cache.json").write_text(json.dumps(kernel_tuner(lacking)))
    with pytest.raises(Misuse, match="names 'per_thread', which the cache's variants do not have"):
        description.agrees_with(read_tuner_cache(folder / "cache.json"))


# -- figures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("ceil(10, 4)", 3), ("a * b + 1", 13), ("a % 2 == 1 and not b > 4", True), ("min(a, b) - -1", 4), ("7 // b", 1)],
)
def test_expressions(text: str, value: object) -> None:
    assert Expression(text, "x").value({"a": 3, "b": 4}) == value


@pytest.mark.parametrize("text", ["1 / 0", "'a' * 2.5", "a.b", "f(a)", "[a]", "a if a else b"])
def test_expressions_that_have_no_value(text: str) -> None:
    with pytest.raises(Misuse, match="x: "):
        Expression(text, "x").value({"a": 3, "b": 4})


@given(st.lists(st.tuples(st.floats(0.1, 1e6), st.floats(0.1, 1e6)), min_size=3, max_size=30))
def test_ranks_are_scipys(pairs: Sequence[tuple[float, float]]) -> None:
    measured, estimated = [a for a, _ in pairs], [b for _, b in pairs]
    found = agreement(measured, estimated)
    from scipy.stats import spearmanr  # seconds, which every process that collects this file would pay

    if len(set(measured)) > 1 and len(set(estimated)) > 1:
        assert found.rank == pytest.approx(float(spearmanr(measured, estimated)[0]))
    assert found.regret >= found.regret_of_ten >= 0 and found.error >= 0


def test_agreement_by_hand() -> None:
    found = agreement([10, 20, 40, 80], [10, 5, 20, 40])
    assert (found.scale, found.regret, found.regret_of_ten) == (2, 1, 0)
    assert found.error == pytest.approx(2**0.5 - 1), "off by 2, 2, 1 and 1 after the scale"
    assert found.rank == pytest.approx(0.8)


def idle(times: Sequence[tuple[int, int, float]]) -> list[IdleParameter]:
    return idle_parameters([MeasuredVariant(f"{a},{b}", {"a": a, "b": b}, us) for a, b, us in times])


def test_parameters_that_change_no_time() -> None:
    """Of neighbouring values: 1 with 2 and 2 with 4, each beside the same value of the other."""
    same = [(a, b, 10.0 * b + 0.01 * a) for a in (1, 2, 4) for b in range(1, 7)]
    assert idle(same) == [IdleParameter("a", 12, 1.0)]
    # One in ten may differ, not more; nine pairs say nothing.
    one = [(a, b, us * (1.5 if (a, b) == (4, 3) else 1)) for a, b, us in same]
    assert idle(one) == [IdleParameter("a", 12, 11 / 12)]
    assert idle([(a, b, us * (1.5 if a == 4 and b < 3 else 1)) for a, b, us in same]) == []
    assert idle([row for row in same if row[1] < 6 and row[:2] != (4, 1)]) == []
    assert idle([(1, 1, 3.0)]) == [] and idle([]) == []


@given(st.integers(3, 60), st.integers(0, 5))
def test_samples(n: int, seed: int) -> None:
    variants = [MeasuredVariant(str(i), {"a": i}, float((7 * i) % 50 + 1)) for i in range(50)]
    found = sample(variants, n, seed)
    assert len(found) == len({v.name for v in found}) == min(n, 50)
    assert found == sample(list(reversed(variants)), n, seed), "the order of the file plays no part"
    fastest = sorted(v.time_us for v in variants)[: min(10, n // 4)]
    assert set(fastest) <= {v.time_us for v in found}


def test_counts_are_multiplied_up() -> None:
    seen = observed([count("entry", 12)], [access(requests=12, sectors=48)], grid=24)
    whole = multiplied(seen, (100, 3, 1))
    assert whole.geometry.blocks == 300
    assert (whole.blocks[0].executions, whole.accesses[0].requests, whole.accesses[0].sectors) == (150, 150, 600)


def test_titles_of_gpus() -> None:
    for title, name in (
        ("NVIDIA A100-PCIE-40GB", "a100"),
        ("NVIDIA GeForce RTX 2080 Ti", "rtx2080ti"),
        ("TITAN RTX", "titan-rtx"),
    ):
        assert gpu_called(title) is gpu(name)
    assert gpu_called("AMD Radeon PRO W6600") is None and gpu_called("") is None


def estimate_variant(description: KernelDescription, parameters: dict[str, Any], on: Gpu) -> Estimate:
    return estimate(*observe_variant(description, parameters, on), on)


# -- the whole ---------------------------------------------------------------------------------------------------------


def test_a_cut_launch_is_about_the_whole_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    description = read_description(folder / "scale.toml")
    parameters = {"block_size_x": 256, "per_thread": 2}
    cut = estimate_variant(description, parameters, gpu("a100"))
    monkeypatch.setattr("kernelwright.device.model_check.observed_variant.COUNTED", 1 << 30)
    whole = estimate_variant(description, parameters, gpu("a100"))
    assert cut.time_us == pytest.approx(whole.time_us, rel=0.02)


EDGE = """
__global__ void edge(const float *x, float *y, int times) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.y == gridDim.y - 1) return;
  float sum = 0;
  for (int n = 0; n < times; n++) sum += x[i + n];
  y[blockIdx.y * gridDim.x * blockDim.x + i] = sum;
}
"""
EDGE_KERNEL = """
source = "edge.cu"
kernel = "edge"
grid = ["64", "4"]
block = ["width"]
arguments = [{ bytes = "64 * 32 * 4", fill = "random" }, { bytes = "4 * 64 * 32 * 4" }, { int = 50 }]
"""


def test_a_row_that_does_nothing_counts_as_often_as_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of four rows. And the last block of each reads past its buffer, within what a GPU maps, and goes on."""
    (tmp_path / "edge.cu").write_text(EDGE)
    (tmp_path / "edge.toml").write_text(EDGE_KERNEL)
    description = read_description(tmp_path / "edge.toml")
    some = estimate_variant(description, {"width": 32}, gpu("a100"))
    monkeypatch.setattr("kernelwright.device.model_check.observed_variant.COUNTED", 1 << 30)
    every = estimate_variant(description, {"width": 32}, gpu("a100"))
    assert sum(some.instructions.values()) == pytest.approx(sum(every.instructions.values()), rel=0.01)
    assert some.cycles == pytest.approx(every.cycles, rel=0.02)


def test_variants_that_cannot_run_are_told(folder: Path) -> None:
    description = read_description(folder / "scale.toml")
    too_large = MeasuredVariant("2048,1", {"block_size_x": 2048, "per_thread": 1}, 3.0)
    found = list(check_variants(description, [too_large], gpu("a100")))
    assert found[0].estimate is None and "2048" in found[0].trouble
    cache = read_tuner_cache(folder / "cache.json")
    assert len(variants_of(description, cache)) == len(SETTINGS), "'where' leaves one out"


@pytest.fixture
def kw(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kernelwright", "model", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)

    return run


Command = Callable[..., subprocess.CompletedProcess[str]]


def test_check_and_its_page(folder: Path, kw: Command) -> None:
    done = kw("check", "cache.json", "--kernel", "scale.toml", "--variants", "4", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "page.html").read_text()
    assert page.count("<svg") == 1 and "scale on a100" in page and "Farthest off first" in page
    assert "http" not in page.replace("http://www.w3.org", ""), "self-contained"
    assert "<script" not in page and page.count("<tr><td><code>") == 4
    there = kw("check", "cache.json", "--kernel", "scale.toml", "--variants", "4", "--html", "none/page.html")
    assert there.returncode == 3 and "cannot be written" in there.stderr


def test_fit_and_what_it_is_for(folder: Path, kw: Command) -> None:
    slow = {
        key: {**e, "time": e["time"] if isinstance(e["time"], str) else 3 * e["time"]} for key, e in entries().items()
    }
    (folder / "slow.json").write_text(json.dumps(kernel_tuner(slow)))
    done = kw("fit", "cache.json", "slow.json", "--kernel", "scale.toml", "-o", "mine.json", "--json")
    assert done.returncode == 0, done.stderr
    found, made = json.loads(done.stdout), load(folder / "mine.json")
    check_keys(found, documented("`kw model`", "`fit`: "))
    assert (made.name, made.gpu, made.rows) == ("mine", "a100", 2 * len(SETTINGS))
    assert made.source == "cache.json, slow.json; 40 variants of each, seed 1" and found[
        "calibration"
    ] == made.as_json() | {"left_alone": list(made.left_alone)}
    assert found["fitted"]["scale"] == made.scale and set(found["fitted"]) | set(found["left_alone"]) == {
        *FACTORS,
        "norm",
    }
    assert made.left_alone and made.held_out == found["held_out"]["rank"].get("scale")
    plain = json.loads(kw("check", "cache.json", "--kernel", "scale.toml", "--json").stdout)
    told = kw("check", "cache.json", "--kernel", "scale.toml", "--calibration", "mine.json", "--json")
    scaled = json.loads(told.stdout)
    assert scaled["calibration"] == "mine (16 measurements on a100)" and plain["calibration"] == "uncalibrated"
    assert "was fitted on" in told.stderr and "cache.json" in told.stderr, (
        "nothing is judged by what it was fitted on in silence"
    )
    assert {"scale"} <= set(found["fitted"]) <= {"scale", "launch"}
    for one, other in zip(plain["rows"], scaled["rows"], strict=True):
        kernel = one["estimated us"] - gpu("a100").launch_us
        assert other["estimated us"] == pytest.approx(
            made.launch * gpu("a100").launch_us + made.scale * kernel, abs=0.2
        )
    text = kw("fit", "cache.json", "slow.json", "--kernel", "scale.toml", "-o", "mine.json")
    assert "scale " in text.stdout and "left alone: " in text.stdout and "rank held out" in text.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit", "cache.json", "--kernel", "scale.toml"), "-o FILE"),
        (("fit", "cache.json", "--kernel", "scale.toml", "-o", "none/mine.json"), "there is no folder none"),
        (("fit", "cache.json", "--kernel", "scale.toml", "-o", "m.json", "--html", "p.html"), "are for check"),
        (("fit", "cache.json", "other.json", "--kernel", "scale.toml", "-o", "m.json"), "measured on 'NVIDIA A100-PCIE-40GB', and other.json on"),
        (("fit", "cache.json", *["--kernel", "scale.toml"] * 2, "-o", "m.json"), "1 cache files and 2 kernels"),
        (("fit", "cache.json", "--kernel", "scale.toml", "-o", "m.json", "--variants", "4"), "12 are the least"),
        (("check", "cache.json", "other.json", "--kernel", "scale.toml"), "takes one cache file"),
        (("check", "cache.json", "--kernel", "scale.toml", "--device", "h300"), "unknown GPU 'h300'"),
        (("check", "unknown.json", "--kernel", "scale.toml"), "was measured on 'Radeon', which is not in the table"),
        (("check", "cache.json", "--kernel", "scale.toml", "--calibration", "cache.json"), "holds no calibration"),
        (("judge", "cache.json", "--kernel", "scale.toml"), "kw model has no 'judge'"),
    ],
)  # fmt: skip
def test_misuse_is_a_sentence(folder: Path, kw: Command, arguments: tuple[str, ...], said: str) -> None:
    (folder / "other.json").write_text(json.dumps(kernel_tuner(device_name="NVIDIA A10")))
    (folder / "unknown.json").write_text(json.dumps(kernel_tuner(device_name="Radeon")))
    done = kw(*arguments)
    assert done.returncode == 2 and said in done.stderr and "next: " in done.stderr and "Traceback" not in done.stderr
    assert not (folder / "m.json").exists()


def test_constants_of_a_description(folder: Path) -> None:
    source = (folder / "scale.cu").read_text()
    (folder / "scale.cu").write_text("__constant__ float table[64];\n" + source)
    (folder / "scale.toml").write_text(DESCRIPTION + 'constants = { table = "random" }\n')
    parameters = {"block_size_x": 64, "per_thread": 1}
    assert estimate_variant(read_description(folder / "scale.toml"), parameters, gpu("a100")).time_us > 0
    (folder / "scale.toml").write_text(DESCRIPTION + 'constants = { tabel = "random" }\n')
    with pytest.raises(Misuse, match=r"scale.cu has no variable 'tabel'") as told:
        estimate_variant(read_description(folder / "scale.toml"), parameters, gpu("a100"))
    assert told.value.hint == "it has table"
    (folder / "scale.toml").write_text(DESCRIPTION + 'constants = { table = "zeroes" }\n')
    with pytest.raises(Misuse, match="constants: table: 'zeroes' fills nothing"):
        read_description(folder / "scale.toml")


def test_the_command(folder: Path, kw: Command) -> None:
    done = kw("check", "cache.json", "--kernel", "scale.toml", "--variants", "4", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_keys(found, documented("`kw model`", "`check`: "))
    assert (found["gpu"], found["estimated"], found["variants"], found["failed"]) == ("a100", 4, len(SETTINGS), [])
    assert set(found["predictors"]) == {"instructions", "roofline", "occupancy", "code size"}
    assert found["agreement"]["scale"] > 0 and len(found["rows"]) == 4
    text = kw("check", "cache.json", "--kernel", "scale.toml", "--variants", "4")
    assert "rank correlation" in text.stdout and "about 0 s left" in text.stderr
    (folder / "t4.json").write_text(json.dumps(t4()))
    nameless = kw("check", "t4.json", "--kernel", "scale.toml")
    assert nameless.returncode == 2 and "names no device" in nameless.stderr and "--device" in nameless.stderr
