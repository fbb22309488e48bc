"""CUDA graphs: captured from streams, built node by node, launched again and again, changed; and what may not be captured."""

from __future__ import annotations

from pathlib import Path

from .conftest import Here

COMMON = r"""
#include <cublas_v2.h>
#include <cstdio>
__global__ void add(int *x, int n) { atomicAdd(x, n); }
__global__ void times(int *x, int n) { *x *= n; }
static void twice(void *at) { *(int *)at *= 2; }
static int value(int *x) { int v; cudaMemcpy(&v, x, sizeof v, cudaMemcpyDeviceToHost); return v; }
"""

CAPTURED = (
    COMMON
    + r"""
int main()
{
    int *x, *y, start = 5, back = 0;
    cudaStream_t a, b;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t count;
    cudaMalloc(&x, sizeof *x);
    cudaMalloc(&y, sizeof *y);
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaStreamIsCapturing(a, &status);
    cudaMemcpyAsync(x, &start, sizeof start, cudaMemcpyHostToDevice, a);
    cudaMemsetAsync(y, 0, sizeof *y, a);
    cudaEventRecord(forked, a);
    cudaStreamWaitEvent(b, forked, 0);
    add<<<1, 3, 0, a>>>(x, 10);
    add<<<1, 2, 0, b>>>(y, 1);
    cudaEventRecord(joined, b);
    cudaStreamWaitEvent(a, joined, 0);
    cudaMemcpyAsync(&back, x, sizeof back, cudaMemcpyDeviceToHost, a);
    cudaLaunchHostFunc(a, twice, &back);
    printf("%d %d", status, cudaStreamEndCapture(a, &graph));
    cudaGraphGetNodes(graph, NULL, &count);
    printf(" %zu, before %d\n", count, back);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    for (int i = 0; i < 3; i++) {
        start = i;
        cudaGraphLaunch(exec, a);
        cudaStreamSynchronize(a);
        printf("%d %d\n", back, value(y));
    }
    // Replaced in the same shape, then refused in another.
    cudaGraph_t other;
    cudaGraphExecUpdateResultInfo told;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed);
    add<<<1, 1, 0, a>>>(x, 1);
    cudaStreamEndCapture(a, &other);
    printf("%d %d\n", cudaGraphExecUpdate(exec, other, &told), told.result);
    cudaGraphExec_t small;
    cudaGraphInstantiate(&small, other, 0);
    cudaGraphDestroy(other);
    cudaGraphLaunch(small, a);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed);
    times<<<1, 1, 0, a>>>(x, 100);
    cudaStreamEndCapture(a, &other);
    printf("%d", cudaGraphExecUpdate(small, other, &told));
    cudaGraphLaunch(small, a);
    printf(" %d\n", value(x));
    return cudaGraphExecDestroy(exec) + cudaGraphExecDestroy(small) + cudaGraphDestroy(graph) + cudaGraphDestroy(other);
}
"""
)

EXPLICIT = (
    COMMON
    + r"""
int main()
{
    int *x, ten = 10, two = 2, back = 0;
    cudaMalloc(&x, 2 * sizeof *x);
    cudaGraph_t graph, child;
    cudaGraphNode_t set, first, second, copy, host, nodes[8];
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams fill = {x, 0, 0x01020304, 4, 2, 1};
    void *plus[] = {&x, &ten}, *by[] = {&x, &two};
    cudaKernelNodeParams add_ten = {(void *)add, dim3(1), dim3(1), 0, plus, NULL}, double_it = {(void *)times, dim3(1), dim3(1), 0, by, NULL};
    cudaHostNodeParams on_host = {twice, &back};
    // Made against their order, which the dependencies say.
    printf("%d", cudaGraphAddHostNode(&host, graph, NULL, 0, &on_host));
    printf("%d", cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, &back, x, sizeof back, cudaMemcpyDeviceToHost));
    printf("%d", cudaGraphAddKernelNode(&second, graph, NULL, 0, &double_it));
    printf("%d", cudaGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    printf("%d", cudaGraphAddKernelNode(&first, graph, &set, 1, &add_ten));
    cudaGraphNode_t from[] = {first, second, copy}, to[] = {second, copy, host};
    printf("%d", cudaGraphAddDependencies(graph, from, to, 3));
    printf(" %d", cudaGraphAddDependencies(graph, &host, &set, 1));
    size_t count = 8;
    cudaGraphGetRootNodes(graph, nodes, &count);
    cudaGraphNodeType type;
    cudaGraphNodeGetType(nodes[0], &type);
    printf(" %zu %d %d\n", count, nodes[0] == set, type);
    cudaGraphExec_t exec, outer;
    cudaGraphInstantiate(&exec, graph, 0);
    ten = 1000; // arguments were copied
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    printf("%d %d\n", back == 4 * (0x01020304 + 10), value(x + 1) == 0x01020304);
    fill.value = 7;
    add_ten.blockDim = dim3(4);
    ten = 5;
    cudaGraphExecMemsetNodeSetParams(exec, set, &fill);
    cudaGraphExecKernelNodeSetParams(exec, first, &add_ten);
    cudaKernelNodeParams asked;
    cudaGraphKernelNodeGetParams(first, &asked);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    printf("%d, %u %d\n", back, asked.blockDim.x, *(int *)asked.kernelParams[1]);
    cudaGraphCreate(&child, 0);
    cudaGraphNode_t inner, empty;
    cudaGraphAddEmptyNode(&empty, child, NULL, 0);
    cudaGraphAddChildGraphNode(&inner, child, &empty, 1, graph);
    cudaGraphDestroy(graph);
    cudaGraphInstantiate(&outer, child, 0);
    cudaGraphLaunch(outer, 0);
    cudaDeviceSynchronize();
    printf("%d\n", back == 4 * (0x01020304 + 10));
    printf("%d %d %d\n", cudaGraphLaunch(NULL, 0), cudaGraphAddEmptyNode(&empty, NULL, NULL, 0), cudaGraphAddKernelNode(&first, child, NULL, 0, NULL));
    return 0;
}
"""
)

NOT_CAPTURED = (
    COMMON
    + r"""
int main()
{
    int *x;
    float *f, zero = 0, one = 1, result;
    cudaMalloc(&x, sizeof *x);
    cudaMemset(x, 0, sizeof *x);
    cudaMalloc(&f, 16);
    cudaMemset(f, 0, 16);
    cudaStream_t a, b;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&event);
    printf("%s\n", cudaGetErrorName(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)));
    printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(a, &graph)));
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(a)));
    printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(a, &graph)));
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    add<<<1, 1>>>(x, 1);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    cudaStreamEndCapture(a, &graph);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    add<<<1, 1, 0, a>>>(x, 1);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    add<<<1, 1, 0, b>>>(x, 1);
    printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(a, &graph)));
    // A library's routine is captured, one whose result the host wants is not.
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetStream(handle, a);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cublasSaxpy(handle, 4, &one, f, 1, f, 1);
    cublasSscal(handle, 4, &zero, f, 1);
    printf("%d\n", cudaStreamEndCapture(a, &graph));
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    printf("%d\n", cudaGraphLaunch(exec, a));
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    printf("%d\n", cublasSdot(handle, 4, f, 1, f, 1, &result));
    printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(a, &graph)));
    printf("%d\n", value(x));
}
"""
)


def test_captured(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(CAPTURED)
    ran = run("app.cu")
    assert (ran.code, ran.err) == (0, "")
    # After the last launch of the first graph x is 32; one more, then times 100.
    assert ran.lines == ["1 0 6, before 0", "60 2", "62 2", "64 2", "910 2", "0 3300"]


def test_explicit(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(EXPLICIT)
    ran = run("app.cu")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines == ["000000 1 1 1 2", "1 1", f"{4 * (7 + 4 * 5)}, 1 10", "1", "1 1 1"]


def test_what_may_not_be_captured(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(NOT_CAPTURED)
    ran = run("app.cu")
    assert ran.code == 0
    assert ran.lines == [
        "cudaErrorStreamCaptureUnsupported",
        "cudaErrorIllegalState",
        "cudaErrorStreamCaptureUnsupported",
        "cudaErrorStreamCaptureInvalidated",
        "cudaErrorStreamCaptureImplicit",
        "cudaErrorStreamCaptureUnjoined",
        "0",
        "0",
        "13",
        "cudaErrorStreamCaptureInvalidated",
        "0",
    ]
