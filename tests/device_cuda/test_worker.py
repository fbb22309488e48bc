"""The process that owns a GPU: results, faults, endless kernels, deaths, and the lock around it all."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.device.arena import ARENA_BASE
from kernelwright.device.real_gpu.lock import GpuLock
from kernelwright.device.real_gpu.worker import CudaWorker, Image, Job
from kernelwright.errors import DeviceError
from kernelwright.evaluate.timing.duel import duel
from kernelwright.launch import Launch

from .conftest import Fake

MODULE = Image(b"MODULE", "a.cu")
AT = ARENA_BASE + (1 << 16)
ONE = (1, 1, 1)
ADD = Job(MODULE, Launch("add_one", ONE, (32, 1, 1), struct.pack("<Qi", AT, 3)))
BUFFERS = [(AT, struct.pack("<4f", 1, 2, 3, 4)), (AT + 4096, b"unchanged")]


@pytest.fixture
def worker(fake: Fake) -> Iterator[CudaWorker]:
    with CudaWorker(timeout_s=20, folder=fake.cache) as made:
        yield made


def job(kernel: str) -> Job:
    return Job(MODULE, Launch(kernel, ONE, ONE))


def test_a_job_runs_on_memory_of_its_own_and_changes_come_back(worker: CudaWorker) -> None:
    for _ in range(2):
        done, after = worker.run(ADD, BUFFERS)
        assert (done.fault, done.time_us) == (None, 10.0)
        assert after == {AT: struct.pack("<4f", 2, 3, 4, 4)}
    assert worker.starts == 1


def test_a_worker_starts_without_numpy() -> None:
    """Which takes longer to import than all that it needs; a worker starts anew behind every fault."""
    code = (
        "import sys, kernelwright.device.real_gpu.gpu_process, kernelwright.device.real_gpu.cuda_device; "
        "print([m for m in ('numpy', 'statistics', 'llvmlite') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_modules_travel_and_load_once(worker: CudaWorker, fake: Fake) -> None:
    for _ in range(3):
        worker.run(ADD, BUFFERS)
    assert fake.named("load") == ["load MODULE"]


def test_what_it_says_about_the_gpu(worker: CudaWorker) -> None:
    info = worker.info()
    assert (info.name, info.arch, info.driver_version) == ("Stand-in 0", "sm_90", 12080)
    assert (info.properties.multiprocessors, info.properties.max_block) == (132, (1024, 1024, 64))
    facts = worker.facts(MODULE, "add_one")
    assert (facts.registers, facts.max_threads, worker.resident_blocks(MODULE, "add_one", 256)) == (24, 1024, 8)


def test_device_variables_are_set_before_and_read_after(worker: CudaWorker) -> None:
    variable = Job(MODULE, Launch("nothing", ONE, ONE), (("table", AT), ("absent_one", AT + 4096)))
    content = bytes(range(64))
    _, after = worker.run(variable, [(AT, content), (AT + 4096, b"kept")])
    assert after == {}
    _, after = worker.run(Job(MODULE, Launch("nothing", ONE, ONE)), [(AT, content)])
    assert after == {}


def test_a_fault_is_a_result_and_the_next_request_meets_a_fresh_worker(worker: CudaWorker) -> None:
    done, after = worker.run(job("bounds"), BUFFERS)
    assert done.fault is not None
    assert (done.fault.kind, after) == ("out-of-bounds", {})
    again, after = worker.run(ADD, BUFFERS)
    assert again.fault is None and after
    assert worker.starts == 2


def test_a_kernel_that_does_not_end_is_killed_and_said_to_be_endless(fake: Fake) -> None:
    with CudaWorker(timeout_s=1.0, folder=fake.cache) as worker:
        worker.info()
        begin = time.monotonic()
        done, _ = worker.run(job("forever"), BUFFERS)
        assert time.monotonic() - begin < 5
        assert done.fault is not None
        assert (done.fault.kind, done.fault.message) == (
            "endless",
            "the kernel does not end: it was stopped after 1 seconds",
        )
        assert worker.run(ADD, BUFFERS)[0].fault is None


def test_a_worker_that_dies_is_replaced(worker: CudaWorker) -> None:
    worker.run(ADD, BUFFERS)
    assert worker._process is not None
    os.kill(worker._process.pid, signal.SIGSEGV)
    with pytest.raises(DeviceError, match=r"worker process was ended by SIGSEGV"):
        worker.run(ADD, BUFFERS)
    assert worker.run(ADD, BUFFERS)[0].fault is None


def test_what_kernels_print_comes_with_the_result(worker: CudaWorker) -> None:
    assert worker.run(job("talk"), [])[0].text == "a kernel speaks\n"
    assert worker.run(ADD, BUFFERS)[0].text == ""


def test_refused_launches_leave_the_worker_alive(worker: CudaWorker) -> None:
    with pytest.raises(DeviceError, match="was not launched"):
        worker.run(Job(MODULE, Launch("add_one", ONE, (2048, 1, 1), bytes(12))), BUFFERS)
    with pytest.raises(DeviceError, match="unknown opcode"):
        worker.run(Job(Image(b"BAD"), Launch("add_one", ONE, ONE, bytes(12))), BUFFERS)
    assert worker.run(ADD, BUFFERS)[0].fault is None
    assert worker.starts == 1


def test_times_of_several_jobs_on_the_same_memory(worker: CudaWorker) -> None:
    slow = Job(MODULE, Launch("add_slow", ONE, ONE, ADD.launch.parameters))
    fast, late = worker.time([ADD, slow], BUFFERS, rounds=5, warmup=1)
    assert (fast.median_us, late.median_us, len(late.samples), late.spread) == (10.0, 30.0, 5, 0.0)
    assert worker.run(ADD, BUFFERS)[1] == {AT: struct.pack("<4f", 2, 3, 4, 4)}


def test_single_samples_for_measuring_until_two_separate(worker: CudaWorker, fake: Fake) -> None:
    slow = Job(MODULE, Launch("add_slow", ONE, ONE, ADD.launch.parameters))
    worker.stage(BUFFERS)
    result = duel(lambda: worker.sample(slow), lambda: worker.sample(ADD), pairs=40)
    assert (result.verdict, result.speedup.median) == ("faster", 3.0)
    # Placed once, restored before every sample.
    assert len(fake.named("reserve")) == 1
    assert len([c for c in fake.named("copy") if c == "copy 16"]) == 1 + 2 * (result.speedup.samples + 3)
    # What comes in between does not disturb: neither other memory nor a worker that had to be replaced.
    assert worker.run(ADD, BUFFERS)[1] == {AT: struct.pack("<4f", 2, 3, 4, 4)}
    assert worker.sample(ADD) == 10.0
    with pytest.raises(DeviceError, match="illegal memory access"):
        worker.sample(job("bounds"))
    assert worker.sample(ADD) == 10.0


def test_a_failing_kernel_has_no_time(worker: CudaWorker) -> None:
    with pytest.raises(DeviceError, match="illegal memory access"):
        worker.time([ADD, job("bounds")], BUFFERS, rounds=3)
    assert worker.run(ADD, BUFFERS)[0].fault is None


def test_a_gpu_that_is_not_there(fake: Fake) -> None:
    with CudaWorker(1, folder=fake.cache) as worker, pytest.raises(DeviceError, match="no GPU number 1"):
        worker.info()
    fake.set("FAKE_CUDA_GPUS", "0")
    with CudaWorker(0, folder=fake.cache) as worker, pytest.raises(DeviceError, match="NO_DEVICE"):
        worker.info()


HOLD = """
import sys, time
from pathlib import Path
from kernelwright.device.real_gpu.worker import CudaWorker
with CudaWorker(folder=Path(sys.argv[1])) as worker:
    worker.info()
    print(worker._process.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(fake: Fake) -> Iterator[subprocess.Popen[str]]:
    """Another process that uses the GPU; its first line has been read: it has the lock."""
    path = os.pathsep.join(p for p in sys.path if p)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(fake.cache)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    process.worker = int(process.stdout.readline())  # type: ignore[attr-defined]
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_one_process_at_a_time_uses_a_gpu(holder: subprocess.Popen[str], fake: Fake) -> None:
    with CudaWorker(wait_s=0.3, folder=fake.cache) as worker:
        with pytest.raises(DeviceError, match=rf"in use by process {holder.pid} .*not free within 0.3 s"):
            worker.info()
        assert worker._process is None


def test_the_lock_ends_with_a_process_that_is_killed_and_so_does_its_worker(
    holder: subprocess.Popen[str], fake: Fake
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with CudaWorker(wait_s=10, folder=fake.cache) as worker:
        assert worker.info().name == "Stand-in 0"
    deadline = time.monotonic() + 5
    while _is_alive(holder.worker) and time.monotonic() < deadline:  # type: ignore[attr-defined]
        time.sleep(0.02)
    assert not _is_alive(holder.worker)  # type: ignore[attr-defined]


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def test_the_lock_is_kept_while_a_worker_is_replaced(worker: CudaWorker, fake: Fake) -> None:
    worker.run(job("bounds"), BUFFERS)
    lock = GpuLock(worker.info().uuid, wait_s=0.1, folder=fake.cache)
    with pytest.raises(DeviceError, match="in use by process"):
        lock.take()
    worker.close()
    with lock:
        assert lock.is_held


def test_different_gpus_have_different_locks(fake: Fake) -> None:
    fake.set("FAKE_CUDA_GPUS", "2")
    with CudaWorker(0, folder=fake.cache) as first, CudaWorker(1, wait_s=0.1, folder=fake.cache) as second:
        assert (first.info().name, second.info().name) == ("Stand-in 0", "Stand-in 1")
        assert first.info().uuid != second.info().uuid


def test_a_lock_that_cannot_be_made_says_where(tmp_path: Path) -> None:
    (tmp_path / "gpu").write_text("a file where a folder should be")
    with pytest.raises(DeviceError, match="cannot be locked"):
        GpuLock("x", folder=tmp_path).take()


def test_whoever_waits_is_told_for_whom(tmp_path: Path) -> None:
    said: list[str] = []
    with GpuLock("x", folder=tmp_path), pytest.raises(DeviceError):
        GpuLock("x", folder=tmp_path, wait_s=2.3, say=said.append).take()
    assert len(said) == 1
    assert said[0].startswith(f"waiting for the GPU, which process {os.getpid()}")
