"""``kw`` and ``kw.Device`` on a real GPU by its name, which a stand-in for the driver's library plays."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelwright.codegen.toolchain import Driver, Gpu
from kernelwright.device.real_gpu import availability
from kernelwright.device.settings import Settings
from kernelwright.errors import DeviceError, Misuse, ToolError
from tests import kw_process
from tests.warm_cache import WarmCache

from .conftest import Fake

HERE = Path(__file__).parent
Done = subprocess.CompletedProcess[str]
Kw = Callable[..., Done]


@pytest.fixture
def kw(fake: Fake, tmp_path_factory: pytest.TempPathFactory, warm_cache: WarmCache) -> Iterator[Kw]:
    """Runs a command in a folder with the program. One cache and one folder for all, so that a program is built once."""
    cache, folder = (tmp_path_factory.getbasetemp() / name for name in ("commands-cache", "commands"))
    if not folder.exists():
        folder.mkdir()
        shutil.copy(HERE / "session.cu", folder)
    fake.set("KERNELWRIGHT_CACHE", str(cache))

    def go(*words: str) -> Done:
        return kw_process.kw(*words, cwd=folder, timeout=60)

    with warm_cache.at(cache):
        yield go


def test_run(kw: Kw, fake: Fake) -> None:
    """What is measured finds the GPU busy, so that the host's own time is not in it: the program's events see that."""
    done = kw("run", "--device", "cuda:0", "--report", "session.cu", "--", "run")
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "0 wrong, 0.020 ms", done.stderr
    head, adds, talks = done.stderr.splitlines()
    assert head.split()[1:] == ["launches", "us", "on", "cuda:0", "kernel"]
    assert adds.split()[1:] == ["2", "20.0", "add_one"] and talks.split()[1:] == ["1", "10.0", "talk"]
    launched = [call.split()[1] for call in fake.named("launch")]
    assert launched == ["kw_wait", "add_one", "kw_wait", "add_one", "kw_wait", "talk"]


def test_a_run_without_a_report_measures_nothing(kw: Kw, fake: Fake) -> None:
    done = kw("run", "--device", "cuda", "session.cu", "--", "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(fake.named("record")) == 2, "the program's own"


def test_profile(kw: Kw) -> None:
    done = kw("profile", "--device", "cuda:0", "--json", "session.cu", "--", "run")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["device"], told["gpu"]) == ("cuda:0", "Stand-in 0")
    adds, talks = told["kernels"]
    assert (adds["kernel"], adds["launches"], adds["time_us"], adds["mean_us"]) == ("add_one", 2, 20.0, 10.0)
    assert (adds["registers"], adds["occupancy"], adds["block"]) == (24, 1.0, [256, 1, 1])
    assert (talks["kernel"], talks["share"]) == ("talk", pytest.approx(1 / 3))
    table = kw("profile", "--device", "cuda:0", "session.cu", "--", "run").stdout
    assert "measured on cuda:0, Stand-in 0" in table and "add_one" in table


def test_more_launches_than_are_kept_waiting(kw: Kw, tmp_path: Path) -> None:
    many = tmp_path / "many.cu"
    many.write_text(
        'extern "C" __global__ void talk() {}\n'
        "int main() { for (int i = 0; i < 1500; i++) talk<<<1, 32>>>(); return cudaDeviceSynchronize(); }\n"
    )
    done = kw("profile", "--device", "cuda:0", "--json", str(many))
    (row,) = json.loads(done.stdout)["kernels"]
    assert (row["launches"], row["time_us"]) == (1500, 15000.0)


def test_times_end_at_a_fault(kw: Kw) -> None:
    done = kw("run", "--device", "cuda:0", "--report", "session.cu", "--", "fault")
    assert "fault: cudaErrorIllegalAddress" in done.stdout
    assert "bounds" in done.stderr and "Traceback" not in done.stderr


def test_a_kernel_that_does_not_end(kw: Kw) -> None:
    done = kw("run", "--device", "cuda:0", "--timeout", "1", "session.cu", "--", "endless")
    assert done.stdout.splitlines() == ["endless: cudaErrorLaunchTimeout", "afterwards: cudaErrorLaunchTimeout"]
    assert done.returncode == 5
    assert done.stderr == (
        "kw: a kernel did not end, and was stopped after 1 seconds (--timeout or KERNELWRIGHT_TIMEOUT sets this limit)\n"
    )


@pytest.mark.parametrize("command", ["check", "capture"])
def test_what_only_a_virtual_gpu_does(kw: Kw, command: str) -> None:
    done = kw(command, "--device", "cuda:0", "session.cu", "--", "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"kw {command} works on a virtual GPU, not on cuda:0" in done.stderr and "h200" in done.stderr


def test_a_page_of_counters(kw: Kw) -> None:
    done = kw("profile", "--device", "cuda:0", "--html", "page.html", "session.cu")
    assert done.returncode == 2 and "counts nothing" in done.stderr


@pytest.mark.parametrize(
    ("gpus", "device", "said"),
    [("1", "cuda:7", "there is no cuda:7: this machine has 1 GPU,"), ("0", "cuda:0", "there is no cuda:0: cuInit")],
)
def test_a_gpu_that_is_not_there(kw: Kw, fake: Fake, gpus: str, device: str, said: str) -> None:
    """Told before anything is compiled or run."""
    fake.set("FAKE_CUDA_GPUS", gpus)
    done = kw("run", "--device", device, "session.cu", "--", "run")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"kw: {said}") and "kw doctor lists" in done.stderr


def test_no_driver(kw: Kw, fake: Fake) -> None:
    if availability.has_device_file():
        pytest.skip("there is a GPU here")
    fake.set("LD_LIBRARY_PATH", "/nowhere")
    done = kw("run", "--device", "cuda:0", "session.cu")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("kw: there is no cuda:0: this machine has no NVIDIA driver")


def test_the_doctor_lists_gpus_as_they_are_asked_for(kw: Kw) -> None:
    findings = json.loads(kw("doctor", "--json").stdout)["findings"]
    (gpu,) = [f for f in findings if f["what"] == "GPU"]
    assert gpu["found"].startswith("cuda:0: Stand-in 0, sm_90")


# -- what auto means ---------------------------------------------------------------------------------------------------

GPU = Gpu("NVIDIA Something", "sm_90", 1 << 30)


@pytest.mark.parametrize(
    ("file", "driver", "binding", "chosen"),
    [
        (True, Driver("13.0", (GPU,)), True, "cuda:0"),
        (True, Driver("13.0", (GPU,)), False, "h200"),
        (True, Driver("13.0", (), "asleep"), True, "h200"),
        (True, None, True, "h200"),
        (False, Driver("13.0", (GPU,)), True, "h200"),
    ],
)
def test_auto(monkeypatch: pytest.MonkeyPatch, file: bool, driver: Driver | None, binding: bool, chosen: str) -> None:
    monkeypatch.setattr(availability, "has_device_file", lambda: file)
    monkeypatch.setattr(availability, "has_binding", lambda: binding)
    monkeypatch.setattr(availability, "_driver", lambda: driver)
    assert Settings.for_device("auto").name == chosen
    assert Settings.of({}).name == chosen
    assert Settings.for_device("auto", virtual_for="kw check").name == "h200"


def test_what_a_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "_driver", lambda: Driver("13.0", (GPU, GPU)))
    assert availability.require_gpu(1) is GPU
    with pytest.raises(DeviceError, match="this machine has 2 GPUs"):
        availability.require_gpu(2)
    monkeypatch.setattr(availability, "has_binding", lambda: False)
    with pytest.raises(ToolError, match="binding") as caught:
        availability.require_gpu(1)
    assert "pip install" in str(caught.value)


def test_settings_of_a_real_gpu() -> None:
    settings = Settings.for_device("cuda:3")
    assert (settings.real, settings.ordinal, settings.timeout_s) == ("cuda:3", 3, 0.0)
    assert Settings.for_device("cuda", timeout_s=5).timeout_s == 5
    with pytest.raises(Misuse, match="unknown GPU 'cuda:x'"):
        Settings.for_device("cuda:x")


# -- from Python -------------------------------------------------------------------------------------------------------

FROM_PYTHON = """
import numpy as np
import kernelwright as kw
from kernelwright.device.schedule import Schedule
from kernelwright.errors import KernelwrightError
program = kw.compile("SOURCE")
add, x = program.kernel("add_one"), np.arange(8, dtype=np.float32)
with kw.Device("cuda:0") as device:
    done = device.launch(add, 1, 32, (x, 8))
    print(device.name, done.fault, done.time_us, x.tolist())
    print(repr(device.launch(program.kernel("talk"), 1, 1).text))
    table = device.variable(add, "table", np.float32)
    table[:] = 2.5
    device.launch(add, 1, 32, (x, 8))
    print(set(table.tolist()), device.variable(add, "table", np.float32)[3])
    print(device.launch(program.kernel("bounds"), 1, 1).fault.kind, device.launch(add, 1, 32, (x, 8)).fault, x[0])
    for attempt in (
        lambda: done.result,
        lambda: device.launch(add, 1, 32, (x, 8), schedule=Schedule.forward()),
        lambda: device.launch(add, 1, 2048, (x, 8)),
        lambda: kw.Device("cuda:4"),
    ):
        try:
            attempt()
        except KernelwrightError as error:
            print(type(error).__name__, error.message)
with kw.Device("cuda:0", timeout_s=1) as device:
    print(device.launch(program.kernel("forever"), 1, 1).fault.kind)
"""


def test_from_python(python: Callable[[str], str], fake: Fake) -> None:
    lines = python(FROM_PYTHON.replace("SOURCE", str(HERE / "session.cu"))).splitlines()
    assert lines[:4] == [
        "cuda:0 None 10.0 [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]",
        "'a kernel speaks\\n'",
        "{2.5} 2.5",
        "out-of-bounds None 3.0",
    ]
    assert lines[4] == "Misuse a real GPU counts nothing"
    assert lines[5].startswith("Misuse a real GPU has its own order")
    assert lines[6].startswith("DeviceError kernel 'add_one' was not launched")
    assert lines[7].startswith("DeviceError there is no cuda:4: this machine has 1 GPU")
    assert lines[8] == "endless"
    assert not list((fake.cache / "gpu").glob("*.lock")), "what does not measure takes no lock"
