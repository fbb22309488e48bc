"""The whole path on a real kernel: source to IR, run, one edit kept because it is faster and still right."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.errors import Misuse
from kernelwright.evaluate import load_workload
from kernelwright.stories.evolve import evolve

BLUR = Path(__file__).parents[2] / "examples" / "blur.py"


def test_an_edit_is_kept_that_is_faster_and_right() -> None:
    found = evolve(load_workload(BLUR), seed=0)
    assert found.edit is not None
    assert found.after < found.before
    assert found.error == 0
    assert found.line.startswith("blur.cu:")


def test_the_same_seed_finds_the_same() -> None:
    workload = load_workload(BLUR)
    assert evolve(workload, seed=5, evaluations=8) == evolve(workload, seed=5, evaluations=8)


def test_an_unknown_kernel_names_those_there_are(tmp_path: Path) -> None:
    text = BLUR.read_text().replace('"blur",', '"blurr",').replace("Path(__file__)", f"Path({str(BLUR)!r})")
    (tmp_path / "w.py").write_text(text)
    with pytest.raises(Misuse, match="_Z4blur"):
        evolve(load_workload(tmp_path / "w.py"))


@pytest.mark.parametrize(
    ("text", "says"), [("x = 1", "defines no"), ("1 / 0", "ZeroDivisionError"), (None, "does not exist")]
)
def test_what_is_no_workload(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "w.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(Misuse, match=says):
        load_workload(path)
