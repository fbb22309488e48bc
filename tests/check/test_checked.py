"""``kw.checked()`` and ``pytest --kw-check``: launches from Python that are checked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.device.checking import pytest_plugin
from kernelwright.errors import Misuse
from kernelwright.pipeline import Program
from tests.kw_process import SRC

SOURCE = """
extern "C" __global__ void shift(float *x) { x[threadIdx.x + 1] = x[threadIdx.x]; }
extern "C" __global__ void scale(float *x, float by) { x[threadIdx.x] *= by; }
extern "C" __global__ void past(const int *x, int *out) { out[0] = x[threadIdx.x + 4]; }
extern "C" __global__ void last(int *who) { atomicExch(who, 1000 * (int)blockIdx.x); }
__device__ int calls;
extern "C" __global__ void count() { calls++; }
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checked") / "kernels.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="module")
def program(source: Path) -> Program:
    return kw.compile(source)


@pytest.fixture
def device() -> Iterator[kw.Device]:
    with kw.Device("h200") as opened:
        yield opened


def launch(device: kw.Device, program: Program, name: str, *args: object, blocks: int = 1, threads: int = 32) -> None:
    device.launch(program.kernel(name), blocks, threads, args)  # type: ignore[arg-type]


def test_findings_fail_the_block(device: kw.Device, program: Program, source: Path) -> None:
    x = np.arange(65, dtype=np.float32)
    with pytest.raises(kw.CheckFailed) as failed, kw.checked() as found:
        launch(device, program, "shift", x, threads=64)
        assert [one.kind for one in found.findings] == ["race"], "known within the block already"
    (race,) = failed.value.report.defects
    assert (race.kernel, race.file, race.line, race.buffer) == ("shift", str(source), 2, "x")
    assert isinstance(failed.value, AssertionError) and failed.value.exit_code == 1
    assert "1 finding in 1 launch" in str(failed.value) and f"{source}:2: race" in str(failed.value)


def test_what_is_sound_passes_and_writes_its_arrays(device: kw.Device, program: Program) -> None:
    x = np.arange(32, dtype=np.float32)
    with kw.checked(schedules=2) as found:
        launch(device, program, "scale", x, 2.0)
        # Other arrays at the same addresses, larger and smaller.
        launch(device, program, "scale", np.ones(64, np.float32), 2.0, threads=64)
        launch(device, program, "scale", np.ones(8, np.float32), 2.0, threads=8)
    assert found.report.launches == 3 and found.findings == ()
    assert x[31] == 62


def test_only_launches_within_are_checked(device: kw.Device, program: Program) -> None:
    launch(device, program, "shift", np.arange(65, dtype=np.float32), threads=64)
    with kw.checked() as found:
        launch(device, program, "scale", np.zeros(32, np.float32), 1.0)
    launch(device, program, "shift", np.arange(65, dtype=np.float32), threads=64)
    assert found.report.launches == 1


def test_faults_and_reads_past_an_array_are_findings(device: kw.Device, program: Program) -> None:
    with pytest.raises(kw.CheckFailed) as failed, kw.checked():
        launch(device, program, "past", np.zeros(4, np.int32), np.zeros(1, np.int32), threads=1)
        launch(device, program, "scale", np.zeros(4, np.float32), 1.0, threads=8)
    assert [(one.kind, one.buffer) for one in failed.value.report.defects] == [("out-of-bounds", "x")] * 2


def test_orders_are_tried_and_told_in_the_arrays_type(device: kw.Device, program: Program) -> None:
    with (
        pytest.raises(kw.CheckFailed, match=r"element 0: 7000 in the usual order, [0-6]0* under"),
        kw.checked(schedules=4),
    ):
        launch(device, program, "last", np.zeros(1, np.int32), blocks=8, threads=1)
    with kw.checked():
        launch(device, program, "last", np.zeros(1, np.int32), blocks=8, threads=1)


def test_device_variables_are_watched(device: kw.Device, program: Program) -> None:
    with pytest.raises(kw.CheckFailed, match="race"), kw.checked():
        launch(device, program, "count")


def test_another_exception_goes_on_with_the_findings_as_a_note(device: kw.Device, program: Program) -> None:
    x = np.arange(65, dtype=np.float32)
    with pytest.raises(ZeroDivisionError) as raised, kw.checked():
        launch(device, program, "shift", x, threads=64)
        raise ZeroDivisionError
    (note,) = raised.value.__notes__
    assert "1 finding" in note and "race" in note


def test_the_inner_of_two_has_the_launches(device: kw.Device, program: Program) -> None:
    x = np.arange(65, dtype=np.float32)
    with kw.checked() as outer:
        launch(device, program, "scale", x, 1.0)
        with pytest.raises(kw.CheckFailed), kw.checked():
            launch(device, program, "shift", x, threads=64)
    assert outer.report.launches == 1


def test_as_a_decorator(device: kw.Device, program: Program) -> None:
    @kw.checked(seed=1)
    def shifts(threads: int) -> int:
        launch(device, program, "shift", np.arange(65, dtype=np.float32), threads=threads)
        return threads

    assert shifts(1) == 1
    with pytest.raises(kw.CheckFailed):
        shifts(64)


def test_suppressions(device: kw.Device, program: Program, tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    entry = '[[suppress]]\nkind = "race"\nfile = "kernels.cu"\nline = {}\nreason = "planted"\n'
    known.write_text(entry.format(2) + entry.format(3))
    with kw.checked(suppressions=known) as found:
        launch(device, program, "shift", np.arange(65, dtype=np.float32), threads=64)
    (suppressed,) = found.report.suppressed
    assert suppressed[1].reason == "planted" and [one.first for one in found.report.unmatched] == [3]


def test_what_cannot_be_checked_is_refused(device: kw.Device, tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="nothing was launched"), kw.checked():
        pass
    with pytest.raises(Misuse, match="cannot be read"), kw.checked(suppressions=tmp_path / "none.toml"):
        raise AssertionError("not reached")
    with pytest.raises(Misuse, match="-1 orders"), kw.checked(schedules=-1):
        raise AssertionError("not reached")


def test_a_real_gpu_does_not_say(program: Program, device: kw.Device) -> None:
    from kernelwright.device.from_python.backends import CudaLauncher

    real = CudaLauncher.__new__(CudaLauncher)  # none is needed to refuse
    with (
        device._placed(program.kernel("count"), 1, 1, (), 0) as (loaded, given, _),
        pytest.raises(Misuse, match="real"),
    ):
        real.run(loaded, given, None, lambda *_: pytest.fail("not reached"))


# -- pytest ----------------------------------------------------------------------------------------------------------

TESTS = """
import numpy as np, pytest
import kernelwright as kw

program = kw.compile({source!r})

def run(name, *args, threads=32):
    with kw.Device("h200") as device:
        device.launch(program.kernel(name), 1, threads, args)

def test_sound(): run("scale", np.ones(32, np.float32), 2.0)
def test_racing(): run("shift", np.arange(65, dtype=np.float32), threads=64)
def test_past(): run("past", np.zeros(4, np.int32), np.zeros(1, np.int32), threads=1)
def test_nothing(): pass
def test_within():
    with pytest.raises(kw.CheckFailed), kw.checked():
        run("shift", np.arange(65, dtype=np.float32), threads=64)
@pytest.mark.skip
def test_skipped(): run("shift", np.arange(65, dtype=np.float32), threads=64)
"""


def test_the_plugin_fails_tests_with_findings(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_kernels.py").write_text(TESTS.format(source=str(source)))
    (tmp_path / "known.toml").write_text(
        '[[suppress]]\nkind = "out-of-bounds"\nfile = "kernels.cu"\nline = 4\nreason = "planted"\n'
        '[[suppress]]\nkind = "barrier"\nfile = "kernels.cu"\nline = 4\nreason = "old"\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "")
    # It is about ours; others that are installed take time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    arguments = ["-rA", "--import-mode=importlib", "--kw-check", "--kw-suppressions", "known.toml", "test_kernels.py"]
    assert pytest.main(arguments, plugins=[pytest_plugin]) == pytest.ExitCode.TESTS_FAILED
    del sys.modules["test_kernels"]
    said = capsys.readouterr().out
    assert "1 failed, 4 passed, 1 skipped" in said
    assert "FAILED test_kernels.py::test_racing" in said and "kernels.cu:2: race" in said
    assert "During handling" not in said and "pytest_plugin.py" not in said and "checked_launches.py" not in said, (
        "frames of ours say nothing"
    )
    assert "kw: launches checked: 3 in 3 tests; findings suppressed: 1" in said
    assert "kernels.cu:4: barrier matches nothing" in said


def test_the_plugin_imports_nothing_until_it_is_asked() -> None:
    """pytest imports it at every start of a project that names it."""
    code = (
        "import sys, pytest; before = set(sys.modules); import kernelwright.device.checking.pytest_plugin as ours;"
        "config = type('', (), {'getoption': lambda self, name: False})(); ours.pytest_configure(config);"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": SRC}, capture_output=True, text=True
    )
    rooms = ["kernelwright", "kernelwright.device", "kernelwright.device.checking"]
    assert done.stdout.split() == [*rooms, "kernelwright.device.checking.pytest_plugin"], done.stderr


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"--kw-suppressions": "known.toml"}, "known.toml:1: a suppression without a reason"),
        ({"--kw-suppressions": "none.toml"}, "none.toml cannot be read"),
        ({"--kw-schedules": -1}, "--kw-schedules -1"),
    ],
)
def test_the_plugin_refuses_bad_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known.toml").write_text('[[suppress]]\nkind = "race"\nfile = "a.cu"\nline = 1\n')
    options = {"--kw-check": True, "--kw-suppressions": None, "--kw-schedules": 0, "--kw-seed": 0, **given}
    with pytest.raises(pytest.UsageError, match=re.escape(says)):
        pytest_plugin.pytest_configure(SimpleNamespace(getoption=options.get, stash={}))  # type: ignore[arg-type]
