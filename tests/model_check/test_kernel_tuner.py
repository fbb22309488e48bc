"""``kw.from_kernel_tuner``: its files are what ``kw model check`` and ``kw evolve`` take, and the kernel computes the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.device.model_check.kernel_description import read_description
from kernelwright.device.model_check.tuner_cache import read_tuner_cache
from kernelwright.errors import Misuse
from tests import kw_process
from tests.model_check.test_model_check import kernel_tuner

SOURCE = (Path(__file__).parent / "scale.cu").read_text()
N = 5000
PARAMETERS = {"block_size_x": [32, 64, 128, 256], "per_thread": [1, 2, 4]}


def taken(folder: Path, **changes: Any) -> Any:
    x = np.random.default_rng(1).random(N, np.float32)
    given: dict[str, Any] = {
        "kernel_name": "scale",
        "kernel_source": SOURCE,
        "problem_size": N,
        "arguments": [np.zeros(N, np.float32), x, np.int32(N)],
        "tune_params": PARAMETERS,
        "grid_div_x": ["block_size_x", "per_thread"],
        "folder": folder / "scale",
    }
    return kw.from_kernel_tuner(**(given | changes))


def test_a_workload_at_the_fastest_parameters_computes_what_the_kernel_does(tmp_path: Path) -> None:
    (tmp_path / "cache.json").write_text(json.dumps(kernel_tuner()))
    found = taken(tmp_path, cache=tmp_path / "cache.json")
    assert found.parameters == {"block_size_x": 256, "per_thread": 1}
    workload = found.workload
    (step,) = workload.cases[0].steps
    assert (step.grid, step.block) == ((20, 1, 1), (256, 1, 1))
    out, x, n = step.arguments
    with kw.Device("h200") as device:
        done = device.launch(kw.compile(workload.source).kernel("scale"), step.grid, step.block, (out, x, n))
    assert done.fault is None and (out == 2 * x).all()
    other = taken(tmp_path, parameters={"block_size_x": 32, "per_thread": 4}).workload.cases[0].steps[0]
    assert (other.grid, other.block) == ((40, 1, 1), (32, 1, 1))
    assert taken(tmp_path).parameters == {"block_size_x": 32, "per_thread": 1}


def test_the_description_is_what_model_check_takes(tmp_path: Path) -> None:
    (tmp_path / "cache.json").write_text(json.dumps(kernel_tuner()))
    found = taken(tmp_path, cache=str(tmp_path / "cache.json"))
    description = read_description(found.description)
    description.agrees_with(read_tuner_cache(found.cache))
    assert description.extent(description.grid, {"block_size_x": 64, "per_thread": 2}) == (40, 1, 1)
    # What the arrays hold decides what the kernel does, so that is taken over, too.
    assert [(a.kind, a.fill.word, a.fill.array) for a in description.arguments] == [
        ("bytes", "zeros", ""),
        ("bytes", "", "argument_01"),
        ("int", "zeros", ""),
    ]
    view = np.zeros(4 * N, np.uint8)
    description.arguments[1].fill.write(view, 1)
    assert (view.view(np.float32) == found.workload.cases[0].steps[0].arguments[1]).all()
    done = kw_process.kw(
        "model", "check", "cache.json", "--kernel", "scale/scale.toml", "--variants", "3", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_a_factor_of_0_leaves_unrolling_to_the_compiler(tmp_path: Path) -> None:
    source = SOURCE.replace("{", "{\n#pragma unroll loop_unroll_factor_k\nfor (int k = 0; k < 1; k++);\n", 1)
    parameters = {**PARAMETERS, "loop_unroll_factor_k": [0, 2]}
    made = taken(tmp_path, kernel_source=source, tune_params=parameters)
    assert "pragma unroll" not in (made.folder / "evolve.cu").read_text()
    assert "pragma unroll" in (made.folder / "scale.cu").read_text(), "other variants have their factors"
    other = {"block_size_x": 32, "per_thread": 1, "loop_unroll_factor_k": 2}
    made = taken(tmp_path, kernel_source=source, tune_params=parameters, parameters=other)
    assert "#pragma unroll loop_unroll_factor_k" in (made.folder / "evolve.cu").read_text()


def test_grids_follow_kernel_tuners_rules(tmp_path: Path) -> None:
    def grid(size: Any, **changes: Any) -> Any:
        made = taken(tmp_path, problem_size=size, tune_params={"block_size_x": [32], "tile": [4]}, **changes)
        found = read_description(made.description)
        at = {"block_size_x": 32, "tile": 4}
        return found.extent(found.grid, at), found.extent(found.block, at)

    assert grid((100, 7), grid_div_x=None) == ((4, 7, 1), (32, 1, 1))
    assert grid((100, 70), grid_div_x=[], grid_div_y=["tile", 2]) == ((100, 9, 1), (32, 1, 1))
    assert grid("block_size_x * 10", grid_div_x=["block_size_x * tile"]) == ((3, 1, 1), (32, 1, 1))
    other = taken(tmp_path, tune_params={"tx": [8]}, block_size_names=["tx"], grid_div_x=None, kernel_source=SOURCE)
    assert other.workload.cases[0].steps[0].grid == (625, 1, 1)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kernel_source": "__kernel void scale() {\n}"}, "the source is OpenCL"),
        ({"kernel_source": lambda p: ""}, "the source is a function"),
        ({"kernel_source": "missing.cu"}, "missing.cu cannot be read"),
        ({"problem_size": lambda p: 3}, "is not one to three sizes"),
        ({"problem_size": (1, 2, 3, 4)}, "is not one to three sizes"),
        ({"grid_div_x": [lambda p: 3]}, "is no list of names and numbers"),
        ({"grid_div_x": "block_size_x"}, "is no list of names and numbers"),
        ({"arguments": [[1.0, 2.0]]}, "argument 0 is"),
        ({"arguments": [np.float64(1)]}, "argument 0 is"),
        (
            {"parameters": {"block_size_x": 32}},
            "`parameters` has block_size_x, and tune_params block_size_x, per_thread",
        ),
        ({"cache": "missing.json"}, "missing.json cannot be read"),
    ],
)
def test_what_cannot_be_taken_over_is_told(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(Misuse) as raised:
        taken(tmp_path, **changes)
    assert says in str(raised.value) and "next: " in str(raised.value)
