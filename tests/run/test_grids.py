"""Programs whose blocks wait for each other: cooperative launches, as people write them, and what is refused."""

from __future__ import annotations

from pathlib import Path

from .conftest import kw

PROGRAM = r"""
#include <cooperative_groups.h>
#include <stdio.h>
#include <string.h>
namespace cg = cooperative_groups;
__global__ void prefix(int *values, int n, int meets)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = 1; step < n; step *= 2) {
        int i = grid.thread_rank();
        int sum = i < n ? values[i] + (i >= step ? values[i - step] : 0) : 0;
        if (meets) grid.sync();
        if (i < n) values[i] = sum;
        if (meets) cg::sync(grid);
    }
}
static int prefixes(const int *values, int n)
{
    int h[4096], sum = 0;
    cudaMemcpy(h, values, n * sizeof *h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) if (h[i] != (sum += i + 1)) return 0;
    return 1;
}
static void fill(int *values, int n)
{
    int h[4096];
    for (int i = 0; i < n; i++) h[i] = i + 1;
    cudaMemcpy(values, h, n * sizeof *h, cudaMemcpyHostToDevice);
}
int main(int count, char **words)
{
    int *values, n = 900, meets = count < 2 || strcmp(words[1], "apart"), fits, per;
    cudaMalloc(&values, 4096 * sizeof *values);
    void *arguments[] = {&values, &n, &meets};
    fill(values, n);
    if (count > 1 && !strcmp(words[1], "plain")) {
        prefix<<<8, 128>>>(values, n, 1);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    printf("%d", cudaLaunchCooperativeKernel(prefix, 8, 128, arguments));
    printf(" %d %d", cudaDeviceSynchronize(), prefixes(values, n));
    if (count > 1) return 0;
    cudaDeviceGetAttribute(&fits, cudaDevAttrCooperativeLaunch, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, prefix, 128, 0);
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    int most = per * properties.multiProcessorCount;
    printf(" %d %d", fits, properties.cooperativeLaunch);
    n = 1;
    printf(" %d", cudaLaunchCooperativeKernel((const void *)prefix, dim3(most), dim3(128), arguments, 0, 0));
    printf(" %d", cudaLaunchCooperativeKernel((const void *)prefix, dim3(most + 1), dim3(128), arguments, 0, 0));
    printf(" %d", cudaGetLastError());
    n = 900;
    fill(values, n);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaLaunchCooperativeKernel((const void *)prefix, dim3(8), dim3(128), arguments, 0, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    cudaGraphLaunch(exec, stream);
    printf(" %d %d\n", cudaStreamSynchronize(stream), prefixes(values, n));
}
"""

DRIVER = r"""
#include <cuda.h>
#include <stdio.h>
int main(int count, char **words)
{
    CUcontext context;
    CUmodule module;
    CUfunction turn;
    CUdeviceptr p;
    int h[64], n = 64, wrong = 0;
    cuInit(0);
    cuCtxCreate(&context, 0, 0);
    cuModuleLoad(&module, words[1]);
    cuModuleGetFunction(&turn, module, "turn");
    cuMemAlloc(&p, sizeof h);
    void *arguments[] = {&p, &n};
    printf("%d", cuLaunchCooperativeKernel(turn, 2, 1, 1, 32, 1, 1, 0, NULL, arguments));
    printf(" %d", cuMemcpyDtoH(h, p, sizeof h));
    for (int i = 0; i < 64; i++) wrong += h[i] != 63 - i;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {2, 1, 1, 32, 1, 1, 0, NULL, &attribute, 1};
    printf(" %d %d %d", wrong, cuLaunchKernelEx(&config, turn, arguments, NULL), cuCtxSynchronize());
    printf(" %d\n", cuLaunchCooperativeKernel(turn, 1 << 20, 1, 1, 32, 1, 1, 0, NULL, arguments));
}
"""
TURN = r"""
#include <cooperative_groups.h>
extern "C" __global__ void turn(int *p, int n)
{
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    p[i] = i;
    grid.sync();
    int other = p[n - 1 - i];
    grid.sync();
    p[i] = other;
}
"""


def test_a_cooperative_launch(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(PROGRAM)
    ran = kw("run", "app.cu", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "0 0 1 1 1 0 720 720 0 1\n")
    assert "launch of kernel prefix was refused: the number of blocks of a cooperative launch is 2113" in ran.err


def test_what_a_launch_that_is_not_cooperative_comes_to(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(PROGRAM)
    ran = kw("run", "app.cu", "--", "plain", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "cudaErrorLaunchFailure\n")
    assert "app.cu:12" in ran.err and "launch it with cudaLaunchCooperativeKernel" in ran.err


def test_such_launches_are_checked_recorded_and_replayed(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(PROGRAM)
    checked = kw("check", "app.cu", "--", "meet", cwd=tmp_path)
    assert checked.code == 0, checked.out + checked.err
    raced = kw("check", "app.cu", "--", "apart", cwd=tmp_path)
    assert raced.code == 1 and "app.cu:11" in raced.err and "app.cu:13" in raced.err
    captured = kw("capture", "app.cu", "-o", "app.kwcap", cwd=tmp_path)
    assert captured.code == 0, captured.err
    replayed = kw("replay", "app.kwcap", cwd=tmp_path)
    assert replayed.code == 0, replayed.out + replayed.err


def test_the_driver_launches_them_too(tmp_path: Path) -> None:
    (tmp_path / "turn.cu").write_text(TURN)
    (tmp_path / "app.c").write_text(DRIVER)
    assert kw("compile", "-ptx", "turn.cu", cwd=tmp_path).code == 0
    ran = kw("run", "app.c", "-lcuda", "--", "turn.ptx", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "0 0 0 0 0 720\n"), ran.err
