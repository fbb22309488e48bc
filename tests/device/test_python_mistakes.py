"""What people get wrong in Python: a sentence that names it and says what to give, never another error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.device.settings import size_in_bytes
from kernelwright.errors import KernelwrightError, Misuse, check_kind, check_names, reason, texts

EXAMPLES = Path(__file__).parents[2] / "examples"
HELLO, BLUR = str(EXAMPLES / "hello.cu"), str(EXAMPLES / "blur.py")
GUARD = [("n", ">=")]
wrong: Any = 3
"""Of a type that is never right."""

CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "a device that is no name": (lambda: kw.Device(wrong), "the name of a device is '3', of type int"),
    "a device that is None": (lambda: kw.Device(None), "the name of a device is None"),  # type: ignore[arg-type]
    "winners by name": (lambda: kw.Device("h200", winners="smooth-1"), "not versions of kernels"),  # type: ignore[arg-type]
    "a budget in words": (lambda: kw.Device("h200", budget="x"), "budget is 'x'"),  # type: ignore[arg-type]
    "a calibration that is none": (lambda: kw.Device("h200", calibration=wrong), "the calibration is '3'"),
    "no source": (lambda: kw.compile(wrong), "what is to be compiled is '3'"),
    "sources that are none": (lambda: kw.compile([wrong]), "what is to be compiled is '3'"),
    "an architecture by its number": (lambda: kw.compile(HELLO, arch=90), "unknown architecture 90"),  # type: ignore[arg-type]
    "folders that are none": (lambda: kw.compile(HELLO, include=wrong), "include is '3', and not a text or several"),
    "macros in a dictionary": (lambda: kw.compile(HELLO, define={"N": 3}), "define is"),  # type: ignore[arg-type]
    "options that are none": (lambda: kw.compile(HELLO, options=wrong), "what is given as options"),
    "nothing to load": (lambda: kw.load(wrong), "what is to be loaded is '3'"),
    "a workload that is none": (lambda: kw.evolve(wrong), "the workload is '3'"),
    "a setting that there is not": (lambda: kw.evolve(BLUR, name="x"), "a search has no setting 'name'"),
    "objectives that are none": (lambda: kw.evolve(BLUR, objectives=wrong), "what is given as objectives"),
    "a folder that is none": (lambda: kw.evolve(BLUR, folder=wrong, evaluations=1), "the folder of a run is '3'"),
    "a folder that cannot be": (lambda: kw.evolve(BLUR, folder="/proc/x/y", evaluations=1), "cannot be written"),
    "a watch that cannot be called": (lambda: kw.evolve(BLUR, watch=wrong, evaluations=1), "watch is 3"),
    "sizes that are none": (lambda: kw.explore("axpy", None), "what is given for the sizes of axpy is None"),  # type: ignore[arg-type]
    "a budget of kernels in words": (lambda: kw.explore("axpy", [64], evaluations="x"), "evaluations is 'x'"),
    "a seed that is no number": (lambda: kw.explore("axpy", [64], seed=1.5), "seed is '1.5'"),
    "an unknown setting of explore": (lambda: kw.explore("axpy", [64], nope=1), "kw.explore has no setting 'nope'"),
    "a device of explore": (lambda: kw.explore("axpy", [64], device=wrong), "the name of a device"),
    "dynamic that is none": (lambda: kw.explore("axpy", [64], dynamic=wrong), "what is given as dynamic"),
    "a problem that is none": (lambda: kw.breed(wrong), "the problem is '3'"),
    "bred into a folder that cannot be": (lambda: kw.breed("keijzer6", folder="/proc/x/y"), "cannot be written"),
    "a run that is no name": (lambda: kw.winners(wrong), "a run is '3'"),
    "a run to open that is no name": (lambda: kw.Run.open(wrong), "a run is '3'"),  # type: ignore[call-arg]
    "a version that cannot be called": (lambda: kw.versions("m", [wrong, max], by=GUARD), "which cannot be called"),
    "one guard in place of several": (lambda: kw.versions("m", [max, min], by="n >="), "what is given as by of m"),  # type: ignore[arg-type]
    "a guard that is a text": (lambda: kw.versions("m", [max, min], by=["n>="]), "not an expression"),  # type: ignore[list-item]
    "versions without a name": (lambda: kw.versions(wrong, [max, min], by=GUARD), "the name of the versions"),
    "a computation that is none": (lambda: kw.computation(wrong), "3 declares no computation"),
    "no values of a parameter": (
        lambda: kw.from_kernel_tuner("f", "__global__ void f(int n) {}\n", 1, [np.int32(1)], {"block_size_x": []}),
        "the parameter block_size_x has no values",
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_it_is_a_sentence(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, says = CALLS[case]
    with pytest.raises(KernelwrightError) as caught:
        call()
    assert says in caught.value.message and caught.value.hint
    assert list(tmp_path.rglob("journal*")) == []


@pytest.fixture(scope="module")
def add() -> kw.Kernel:
    return kw.compile(HELLO, arch="sm_90").kernel("add")


LAUNCHES: dict[str, tuple[dict[str, Any], str]] = {
    "no arguments": ({"args": None}, "what kernel 'add' is launched with is None"),
    "one argument": ({"args": 5}, "what kernel 'add' is launched with is '5'"),
    "a kernel by its name": ({"kernel": "add"}, "what is to be launched is 'add', of type str"),
    "shared memory in words": ({"shared_bytes": "x"}, "shared_bytes is 'x'"),
    "half a byte": ({"shared_bytes": 1.5}, "shared_bytes is '1.5'"),
    "cooperative in words": ({"cooperative": "x"}, "cooperative is 'x'"),
    "a schedule that is none": ({"schedule": "x"}, "the schedule is 'x'"),
    "a grid with a fraction": ({"grid": (4.5,)}, "which is no whole number"),
}


@pytest.mark.parametrize("case", LAUNCHES)
def test_of_a_launch_too(case: str, add: kw.Kernel) -> None:
    changed, says = LAUNCHES[case]
    a = np.zeros(256, np.float32)
    asked = {"kernel": add, "grid": 1, "block": 256, "args": (a, a, a.copy(), 256)} | changed
    device = kw.Device("h200")
    with pytest.raises(KernelwrightError) as caught:
        device.launch(**asked)
    assert says in caught.value.message
    assert device.launch(add, 1, 256, (a, a, a.copy(), 256)).fault is None  # the device is as good as before


def test_one_text_is_not_taken_letter_by_letter(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#define N 3\n")
    source = tmp_path / "a.cu"
    source.write_text('#include "mine.h"\n__global__ void f(int *a) { a[0] = N + MORE; }\n')
    program = kw.compile(source, include=str(tmp_path), define="MORE=4", cache=False)
    assert len(program.kernels) == 1


def test_words_for_what_python_says() -> None:
    assert reason(KeyError("edges")) == "there is no 'edges'"
    assert reason(FileNotFoundError(2, "No such file or directory", "x")) == "No such file or directory"
    assert reason(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid")) == "it is no text in UTF-8, from byte 0 on"
    assert reason(ValueError("too few")) == "too few" and reason(ValueError()) == "ValueError"


def test_the_helpers_let_pass_what_is_right() -> None:
    check_kind(3, int, "n", "")
    check_names(["a"], ["a", "b"], "it")
    assert texts("one", "them") == ("one",) == texts(["one"], "them") and texts((), "them") == ()
    with pytest.raises(Misuse, match="it has no setting 'c'"):
        check_names(["c"], ["a", "b"], "it")


def test_more_memory_than_can_be_mapped_is_refused() -> None:
    assert size_in_bytes("16T") == 1 << 44
    with pytest.raises(Misuse, match="more memory than any device has"):
        size_in_bytes("17T")
