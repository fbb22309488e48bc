"""Kernels that launch kernels. Expected lines are the program's own arithmetic, and CUDA's order (CUDA C++ Programming Guide, "CUDA
Dynamic Parallelism"): launches of a block in one stream one after the other, each with all that it launches, and tail launches last."""

from __future__ import annotations

from pathlib import Path

from .conftest import Here, kw

PROGRAM = Path(__file__).parent / "device_launches.cu"


def expected() -> list[str]:
    data, lines = list(range(64)), []
    for _ in range(2):
        for block in range(2):
            for i in range(32 * block, 32 * block + 32):
                data[i] = 2 * (data[i] + int((block + 0.5) * 2 + 1 + 7))
        lines.append(f"0: {data[0]} {data[31]} {data[32]} {data[63]}, seen 1233")
    levels = [sum(range(1 << depth, 2 << depth)) for depth in range(5)]
    return [*lines, f"{' '.join(map(str, levels))}, 31 grids"]


def test_grids_run_when_their_parent_has_ended(run: Here) -> None:
    ran = run(PROGRAM, "--device", "h200")
    assert (ran.code, ran.err, ran.lines) == (0, "", expected())


def test_a_child_that_faults_and_one_that_cannot_be_launched(run: Here) -> None:
    ran = run(PROGRAM, "--device", "h200", "--", "bad")
    assert ran.out == "cudaErrorIllegalAddress\n" and "kernel wild" in ran.err
    ran = run(PROGRAM, "--device", "h200", "--", "bad", "more")
    assert ran.out == "cudaErrorInvalidConfiguration\n" and "block of (5000, 1, 1)" in ran.err


def test_tools_see_every_grid(tmp_path: Path) -> None:
    checked = kw("check", PROGRAM, "--device", "h200", "--schedules", "2")
    assert (checked.code, checked.lines) == (0, expected())
    assert "nothing found in 49 launches" in checked.err
    profiled = kw("profile", PROGRAM, "--device", "h200")
    rows = {line.split()[0]: line.split()[1] for line in (profiled.out + profiled.err).splitlines() if "x1x1" in line}
    assert rows["tree"] == "31" and rows["last"] == "8" and rows["twice"] == "4"


def test_an_object_for_a_later_link(tmp_path: Path) -> None:
    assert kw("compile", "-c", PROGRAM, "-o", tmp_path / "a.o").code == 0
    linked = kw("compile", tmp_path / "a.o", "-o", tmp_path / "app")
    assert linked.code == 0, linked.err
    ran = kw("run", tmp_path / "app", "--device", "h200")
    assert (ran.code, ran.lines) == (0, expected())


ENDLESS = """
#include <cstdio>
__global__ void again(int *count) { atomicAdd(count, 1); again<<<1, 1>>>(count); }
int main() {
  int *count;
  cudaMallocManaged(&count, 4);
  *count = 0;
  again<<<1, 1>>>(count);
  printf("%s %d\\n", cudaGetErrorName(cudaDeviceSynchronize()), *count);
}
"""


def test_grids_nest_so_deep_and_no_deeper(tmp_path: Path, run: Here) -> None:
    (tmp_path / "again.cu").write_text(ENDLESS)
    ran = run("again.cu", "--device", "h200")
    assert ran.out == "cudaErrorLaunchFailure 25\n", "24 levels under the first"
    assert "kernels launch kernels more than 24 levels deep" in ran.err


COPIES = """
#include <cstdio>
__global__ void fill(int *p, int by) { p[threadIdx.x] = by * threadIdx.x; }
__global__ void parent(int *from, int *to, int *large) {
    fill<<<1, 32>>>(from, 3);
    cudaMemcpyAsync(to, from, 128, cudaMemcpyDeviceToDevice);        // what the launch before it wrote
    fill<<<1, 32>>>(from, 5);
    cudaMemcpyAsync(large, large + 50000, 200000, cudaMemcpyDeviceToDevice, 0);
    if (cudaMemcpyAsync(to, from, 0, cudaMemcpyDeviceToDevice) != cudaSuccess) printf("%s\\n", cudaGetErrorString(cudaGetLastError()));
}
int main() {
    int *a, *b, *large, wrong = 0;
    cudaMallocManaged(&a, 128);
    cudaMallocManaged(&b, 128);
    cudaMallocManaged(&large, 400000);
    for (int i = 0; i < 100000; i++) large[i] = i;
    parent<<<1, 1>>>(a, b, large);
    printf("%d ", cudaDeviceSynchronize());
    for (int i = 0; i < 50000; i++) wrong += large[i] != i + 50000;
    printf("%d %d %d\\n", a[31], b[31], wrong);
}
"""


def test_copies_of_device_code_wait_for_the_launches_before_them(run: Here, tmp_path: Path) -> None:
    source = tmp_path / "copies.cu"
    source.write_text(COPIES)
    ran = run(source, "--device", "h200")
    assert (ran.code, ran.out) == (0, "0 155 93 0\n"), ran.err
    objects = kw("compile", "-rdc=true", source, "-o", tmp_path / "app")
    assert objects.code == 0, objects.err
