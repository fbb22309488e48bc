"""A workload of a decorated function: ten lines, wherever the function is defined."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.errors import Misuse

SOURCE = "__global__ void scale(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
DOCS = Path(__file__).parents[2] / "docs"


def launch(n: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return -(-n // 64), (64,), (np.arange(n, dtype=np.float32), np.zeros(n, np.float32), np.int32(n))


def test_the_function_says_what_is_right() -> None:
    @kw.workload(SOURCE, launch(100), launch(64))
    def scale(x: Any, y: Any, n: int) -> dict[str, Any]:
        return {"y": 2 * x}

    assert scale.kernel == "scale" and len(scale.cases) == 2 and scale.source.read_text() == SOURCE
    assert np.array_equal(scale.told(scale.cases[0])["y"], 2 * np.arange(100, dtype=np.float32))
    sent = pickle.loads(pickle.dumps(scale))
    assert sent.fingerprint() == scale.fingerprint()
    assert np.array_equal(sent.told(sent.cases[1])["y"], 2 * np.arange(64, dtype=np.float32))


def test_another_oracle_is_another_workload_and_other_cases_are_the_originals() -> None:
    def made(factor: int) -> Any:
        return kw.workload(SOURCE, launch(100), kernel="scale")(lambda x, y, n: {"y": factor * x})

    assert made(2).fingerprint() != made(3).fingerprint()
    elsewhere = kw.workload(SOURCE, launch(99), kernel="scale")(lambda x, y, n: {"y": x})
    assert made(2).told(elsewhere.cases[0]) == {}


def test_a_wrong_oracle_is_noticed(tmp_path: Path) -> None:
    wrong = kw.workload(SOURCE, launch(100), kernel="scale")(lambda x, y, n: {"y": 3 * x})
    with pytest.raises(Misuse, match=r"original|oracle"):
        kw.evolve(wrong, evaluations=1, folder=tmp_path / "run", jobs=1)


def test_a_file_in_place_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "app.cu"
    path.write_text(SOURCE)
    assert kw.workload(str(path), launch(64), kernel="scale")(lambda x, y, n: {"y": 2 * x}).source == path


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: kw.workload(3, launch(64)), "the source is '3'"),  # type: ignore[arg-type]
        (lambda: kw.workload(SOURCE, (1, 64)), "is no launch"),  # type: ignore[arg-type]
        (
            lambda: kw.workload(SOURCE, launch(64), kernel="scale")(lambda x: {}),
            "has 3 arguments, and the function takes 1",
        ),
        (lambda: kw.workload(SOURCE, launch(64), kernel="f")(lambda x, y, n: 1 / 0), "f fails: ZeroDivisionError"),
        (lambda: kw.workload(SOURCE, launch(64), kernel="f")(lambda x, y, n: x), "what f returns"),
        (lambda: kw.workload(SOURCE, launch(64), kernel="f")(lambda x, y, n: {"z": x}), "returns z, which is no array"),
        (lambda: kw.workload(SOURCE)(lambda x: {}), "without a case judges nothing"),
        (lambda: kw.workload(SOURCE, launch(64))(3), "says nothing of what is right"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_sentences(make: Any, says: str) -> None:
    with pytest.raises(Misuse) as caught:
        make()
    assert says in caught.value.message


def test_the_ten_lines_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"## In Python\n\n.*?\n\n((?:    [^\n]*\n|\n)+)", (DOCS / "evolve.md").read_text(), re.S)
    lines = [line[4:] for line in code.splitlines() if line.strip()]
    assert len(lines) == 10
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("\n".join(lines).replace("evaluations=200", "evaluations=2, jobs=1"), names)
    assert names["run"].evaluations >= 2
