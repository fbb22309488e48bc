"""Programs with several GPUs: what each of them has for itself, copies between them, and peers. Expected lines are CUDA's rules
(CUDA C++ Programming Guide, "Multi-Device System") applied to the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Here, kw

PROGRAM = Path(__file__).parent / "several_gpus.cu"
N = 1000


def ramp(start: int) -> int:
    return sum(range(start, start + N))


BEGUN = [
    "3 devices",
    *(f"bus {d + 1}, memory of device {d}" for d in range(3)),
]


def test_devices_copies_and_peers(run: Here) -> None:
    ran = run(PROGRAM, "--device", "h200", "--gpus", "3")
    assert (ran.code, ran.err.splitlines()) == (
        0,
        ["kw: Buffer 'device allocation 1 of device 1' at 0x400000043000 is freed twice."],
    )
    assert ran.lines == [
        *BEGUN,
        *(f"device {d}: counter {100 + 10 * d}, sum {ramp(10 * d)}, timed" for d in (2, 1, 0)),
        "cudaEventElapsedTime(&ms, begun[0], done: cudaErrorInvalidResourceHandle",
        "cudaGetLastError(): cudaErrorInvalidResourceHandle",
        "cudaEventRecord(done[0], stream[1]): cudaErrorInvalidResourceHandle",
        f"copied by default: {ramp(10)}",
        f"copied from a peer: {ramp(20)}",
        f"copied between peers: {ramp(10)}",
        "cudaMemcpyPeer(data[0], 0, data[2], 7, B: cudaErrorInvalidDevice",
        "can 1, same 0",
        "cudaDeviceDisablePeerAccess(1): cudaErrorPeerAccessNotEnabled",
        "cudaDeviceEnablePeerAccess(0, 0): cudaErrorInvalidDevice",
        "cudaDeviceEnablePeerAccess(1, 0): cudaErrorPeerAccessAlreadyEnabled",
        f"gathered: {ramp(20) + ramp(10)}, total 10",
        "reset: counter 100, total 10",
        "cudaFree(data[1]): cudaErrorInvalidValue",
        f"again: {ramp(5)}, and of device 0: {ramp(20) + ramp(10)}",
        "total 6",
    ]


def test_there_is_one_device_unless_more_are_asked_for(run: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(PROGRAM, "--device", "h200")
    assert ran.lines == ["1 devices", "cudaSetDevice(1): cudaErrorInvalidDevice"]


def test_a_program_that_runs_by_itself_finds_as_many_as_the_environment_says(tmp_path: Path) -> None:
    assert kw("compile", PROGRAM, "--emit", "exe", "-o", tmp_path / "app").code == 0
    from .conftest import execute

    ran = execute([tmp_path / "app", "race", "waits"], KERNELWRIGHT_DEVICE="h200", KERNELWRIGHT_GPUS="3")
    assert ran.lines == [*BEGUN, f"sum {ramp(0) + ramp(10)}"]
    ran = execute([tmp_path / "app"], KERNELWRIGHT_DEVICE="h200", KERNELWRIGHT_GPUS="few")
    assert "KERNELWRIGHT_GPUS=few" in ran.err


def test_memory_of_a_peer_is_out_of_reach_without_access(run: Here) -> None:
    ran = run(PROGRAM, "--device", "h200", "--gpus", "3", "--", "fault")
    assert ran.lines[-1] == "cudaDeviceSynchronize(): cudaErrorIllegalAddress"
    assert "device allocation 2 of device 0', which is memory of device 0, and the kernel runs on device 1" in ran.err
    assert "it is the kernel's argument 'from'" in ran.err
    checked = kw("check", PROGRAM, "--device", "h200", "--gpus", "3", "--", "fault")
    assert checked.code == 1 and "which is memory of device 0, and the kernel runs on device 1" in checked.err


def test_check_sees_work_of_two_devices_that_nothing_orders(tmp_path: Path) -> None:
    found = kw("check", PROGRAM, "--device", "h200", "--gpus", "3", "--", "race")
    assert found.code == 1
    assert "kernel gather touches buffer 'device allocation 2 of device 0', which kernel fill writes" in found.err
    ordered = kw("check", PROGRAM, "--device", "h200", "--gpus", "3", "--", "race", "waits")
    assert (ordered.code, ordered.err.splitlines()[-1]) == (0, "kw: nothing found in 4 launches")


def test_capture_and_replay(tmp_path: Path) -> None:
    taken = kw("capture", PROGRAM, "-o", "all.kwc", "--device", "h200", "--gpus", "3", cwd=tmp_path)
    assert taken.code == 0, taken.err
    again = kw("replay", "all.kwc", cwd=tmp_path)
    assert again.code == 0, again.err
    assert "fill: 4 of 4 launches as recorded" in again.out and "gather: 2 of 2 launches as recorded" in again.out


def test_profile_counts_launches_of_all_devices(tmp_path: Path) -> None:
    ran = kw("profile", PROGRAM, "--device", "h200", "--gpus", "3")
    assert ran.code == 0, ran.err
    rows = {line.split()[0]: line.split()[1] for line in (ran.out + ran.err).splitlines() if "256x1x1" in line}
    assert rows == {"fill": "4", "gather": "2"}


@pytest.mark.parametrize(("gpus", "says"), [("0", "0 virtual GPUs"), ("17", "17 virtual GPUs"), ("few", "--gpus few")])
def test_numbers_that_make_no_sense(run: Here, gpus: str, says: str) -> None:
    ran = run(PROGRAM, "--device", "h200", "--gpus", gpus)
    assert ran.code and says in ran.err and "next: " in ran.err


def test_a_real_gpu_is_one(run: Here) -> None:
    ran = run(PROGRAM, "--device", "cuda:0", "--gpus", "2")
    assert ran.code and "--gpus works on a virtual GPU, not on cuda:0" in ran.err


POOLS = """
#include <cstdio>
__global__ void twice(int *to, const int *from) { to[threadIdx.x] = 2 * from[threadIdx.x]; }
int main(int argc, char **) {
    cudaMemPool_t pool;
    cudaMemAccessFlags may;
    cudaStream_t first, second;
    int *a, *b, h[4] = {1, 2, 3, 4};
    cudaSetDevice(0);
    cudaStreamCreate(&first);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemAccessDesc other = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite}, own = other, gone = other, host = other;
    own.location.id = 0, gone.location.id = 7, host.location.type = cudaMemLocationTypeHost;
    cudaMemPoolGetAccess(&may, pool, &other.location);
    printf("%d ", may);
    if (argc == 1) printf("%d %d ", cudaMemPoolSetAccess(pool, &other, 1), cudaMemPoolSetAccess(pool, &other, 1));
    printf("%d %d %d %d ", cudaMemPoolSetAccess(pool, &own, 1), cudaMemPoolSetAccess(pool, &gone, 1), cudaMemPoolSetAccess(pool, &host, 1),
           cudaMemPoolSetAccess(pool, 0, 1));
    cudaMemPoolGetAccess(&may, pool, &other.location);
    int device;
    cudaGetDevice(&device);
    printf("%d %d\\n", may, device);
    cudaMallocAsync(&a, sizeof h, first);
    cudaMemcpyAsync(a, h, sizeof h, cudaMemcpyHostToDevice, first);
    cudaStreamSynchronize(first);
    cudaGetLastError();
    cudaSetDevice(1);
    cudaStreamCreate(&second);
    cudaMallocAsync(&b, sizeof h, second);
    twice<<<1, 4, 0, second>>>(b, a);
    cudaMemcpyAsync(h, b, sizeof h, cudaMemcpyDeviceToHost, second);
    printf("%s %d\\n", cudaGetErrorName(cudaStreamSynchronize(second)), h[3]);
    if (argc == 1) {
        cudaSetDevice(0);
        other.flags = cudaMemAccessFlagsProtNone;
        own.flags = other.flags;
        printf("%d %d ", cudaMemPoolSetAccess(pool, &other, 1), cudaMemPoolSetAccess(pool, &own, 1));
        cudaMemPoolGetAccess(&may, pool, &other.location);
        printf("%d\\n", may);
    }
}
"""


def test_pools_that_another_device_may_reach(run: Here, tmp_path: Path) -> None:
    """And what is no place, no device, or a pool's own device that should not."""
    source = tmp_path / "pools.cu"
    source.write_text(POOLS)
    allowed = run(source, "--device", "h200", "--gpus", "2")
    assert allowed.lines == ["0 0 0 0 101 1 1 3 0", "cudaSuccess 8", "0 101 0"], allowed.err
    refused = run(source, "--device", "h200", "--gpus", "2", "--", "not")
    assert refused.lines[0] == "0 0 101 1 1 0 0" and "cudaErrorIllegalAddress" in refused.out
