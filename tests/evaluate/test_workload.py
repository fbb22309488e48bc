"""Workloads from Python, from a recording, from a program; and everything that is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.errors import Misuse
from kernelwright.evaluate import Case, Rules, Workload, load_workload
from kernelwright.evaluate.workload.comparison import Change, Gevo, Ulp
from kernelwright.evaluate.workload.program_case import ProgramCase
from tests.evaluate import kernels


def case(n: int = 8) -> Case:
    values = np.arange(n, dtype=np.float32)
    return Case((1,), (n,), {"in": values, "out": np.zeros_like(values), "factor": 2.0, "n": n})


def test_rules_in_every_form() -> None:
    def made(**more: Any) -> Rules:
        return Workload(Path("k.ll"), "scale", (case(),), **more).rules

    assert made() == Rules()
    assert made(tolerance=0.01).of("out") == Change(0.01)
    assert made(tolerance="out: gevo 1%").of("out") == Gevo(0.01)
    assert made(tolerance={"out": Ulp(2)}).of("out") == Ulp(2)
    assert made(tolerance=Ulp(3)).of("out") == Ulp(3)
    with pytest.raises(Misuse, match="no rule"):
        made(tolerance="exactly")


def test_workloads_that_contradict_themselves() -> None:
    with pytest.raises(Misuse, match="without a case"):
        Workload(Path("k.ll"), "scale", ())
    with pytest.raises(Misuse, match="mixes"):
        Workload(Path("k.ll"), "scale", (case(), ProgramCase(("true",), {"stdout": "bytes"})))
    with pytest.raises(Misuse, match="cannot be read"):
        Workload(Path("/no/such.ll"), "scale", (case(),)).modules()
    with pytest.raises(Misuse, match="kw capture"):
        Workload.from_program(["true"], ["stdout"]).modules()


def test_further_cases() -> None:
    workload = Workload(Path("k.ll"), "scale", (case(),), generator=lambda seed: case(seed + 1))
    assert workload.more(4).fingerprint() == case(5).fingerprint() != workload.more(5).fingerprint()
    with pytest.raises(Misuse, match="no further cases"):
        Workload(Path("k.ll"), "scale", (case(),)).more(1)
    assert len(workload.with_cases([workload.more(1), workload.more(2)]).cases) == 2


def test_the_fingerprint_is_of_all_that_matters(tmp_path: Path) -> None:
    source = tmp_path / "k.ll"
    source.write_text(kernels.text())
    base = Workload(source, "scale", (case(),))
    assert base.fingerprint() == Workload(source, "scale", (case(),)).fingerprint()
    others = [
        Workload(source, "add", (case(),)),
        Workload(source, "scale", (case(9),)),
        Workload(source, "scale", (case(), case())),
        Workload(source, "scale", (case(),), "gevo 1%"),
    ]
    assert base.fingerprint() not in {w.fingerprint() for w in others}
    before = base.fingerprint()
    source.write_text(kernels.text("scale"))
    assert base.fingerprint() != before


def test_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(kernels.text())
    path = tmp_path / "w.py"
    path.write_text(
        "from pathlib import Path\nimport numpy as np\nfrom kernelwright.evaluate import Case, Workload\n"
        "workload = Workload(Path(__file__).with_name('k.ll'), 'add', (Case((1,), (4,), (np.zeros(4, np.int32), 1)),))\n"
    )
    assert "add" in load_workload(path).modules()


@pytest.mark.parametrize(
    ("text", "says"),
    [("x = 1", "defines no"), ("1 / 0", "ZeroDivisionError"), (None, "does not exist"), ("\x00", "fails"),
     ("from kernelwright.evaluate import Case\nCase()", "a case states"), ("raise SystemExit(3)", "fails")],
)  # fmt: skip
def test_what_is_no_workload(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "w.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(Misuse, match=says):
        load_workload(path)
