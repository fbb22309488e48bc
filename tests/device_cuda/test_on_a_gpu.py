"""The worker of a real GPU, on one: what the stand-in promises in the other tests, kept by the driver. Needs no compiler."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.device.arena import ARENA_BASE
from kernelwright.device.real_gpu.worker import CudaWorker, Image, Job
from kernelwright.errors import DeviceError
from kernelwright.launch import Launch

pytestmark = pytest.mark.gpu

IMAGE = Image((Path(__file__).parent / "kernels.ptx").read_bytes(), "kernels.ptx")
ONE = (1, 1, 1)
AT = ARENA_BASE + (1 << 16)
ZEROS = [(AT, bytes(4096))]


def job(kernel: str, parameters: bytes = b"", block: int = 1) -> Job:
    return Job(IMAGE, Launch(kernel, ONE, (block, 1, 1), parameters))


ADD = job("add_one", struct.pack("<Qi", AT, 3), 32)


@pytest.fixture(scope="module")
def gpu() -> Iterator[CudaWorker]:
    from kernelwright.codegen.toolchain import find_driver

    found = find_driver()
    if found is None or not found.gpus:
        pytest.skip("no NVIDIA GPU")
    pytest.importorskip("cuda.bindings.driver", reason="needs cuda-bindings")
    with CudaWorker(timeout_s=60) as made:
        yield made


def test_a_launch_changes_what_it_should(gpu: CudaWorker) -> None:
    for _ in range(2):
        done, after = gpu.run(ADD, [(AT, struct.pack("<4f", 1, 2, 3, 4)), (AT + (1 << 20), b"unchanged")])
        assert done.fault is None and done.time_us > 0
        assert after == {AT: struct.pack("<4f", 2, 3, 4, 4)}


def test_what_kernels_print(gpu: CudaWorker) -> None:
    assert gpu.run(job("talk"), [])[0].text == "a kernel speaks\n"
    assert gpu.run(ADD, ZEROS)[0].text == ""


def test_variables_are_set_before_and_read_after(gpu: CudaWorker) -> None:
    bump = Job(IMAGE, Launch("bump", ONE, ONE), (("table", AT),))
    _, after = gpu.run(bump, [(AT, struct.pack("<4I", 41, 1, 2, 3))])
    assert after == {AT: struct.pack("<4I", 42, 1, 2, 3)}


def test_a_fault_is_a_result_and_the_next_request_meets_a_fresh_worker(gpu: CudaWorker) -> None:
    gpu.run(ADD, ZEROS)
    starts = gpu.starts
    done, after = gpu.run(job("bounds"), ZEROS)
    assert done.fault is not None and done.fault.kind == "out-of-bounds" and after == {}
    assert gpu.run(ADD, ZEROS)[0].fault is None
    assert gpu.starts == starts + 1


def test_a_kernel_that_does_not_end_is_stopped(gpu: CudaWorker) -> None:
    gpu.run(ADD, ZEROS)
    began = time.monotonic()
    done, _ = gpu.run(job("forever", struct.pack("<Q", AT)), ZEROS, timeout_s=2.0)
    assert done.fault is not None and done.fault.kind == "endless"
    assert time.monotonic() - began < 60
    assert gpu.run(ADD, ZEROS)[0].fault is None


def test_refused_launches_leave_the_worker_alive(gpu: CudaWorker) -> None:
    gpu.run(ADD, ZEROS)
    starts = gpu.starts
    with pytest.raises(DeviceError, match="was not launched"):
        gpu.run(job("add_one", ADD.launch.parameters, 2048), ZEROS)
    with pytest.raises(DeviceError):
        gpu.run(Job(Image(b".version 6.0\n.target sm_60\nnonsense"), Launch("add_one", ONE, ONE)), ZEROS)
    assert gpu.run(ADD, ZEROS)[0].fault is None
    assert gpu.starts == starts


def test_times_repeat(gpu: CudaWorker) -> None:
    wide = Job(IMAGE, Launch("add_one", (4096, 1, 1), (256, 1, 1), struct.pack("<Qi", AT, 256)))
    first, second = gpu.time([wide, wide], ZEROS, rounds=31)
    assert 0 < first.median_us < 1000
    assert abs(first.median_us / second.median_us - 1) < 0.2
    assert gpu.time([wide], ZEROS, rounds=11, cold=True)[0].median_us > 0.5 * first.median_us


def test_what_the_driver_says_of_a_kernel(gpu: CudaWorker) -> None:
    facts = gpu.facts(IMAGE, "add_one")
    assert 4 <= facts.registers <= 64 and facts.max_threads == 1024
    assert 1 <= gpu.resident_blocks(IMAGE, "add_one", 256) <= 8
