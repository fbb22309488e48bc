"""Objects in shared memory whose types have constructors: nvcc calls none and warns, and so do we."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.cuda.host import compile_host
from kernelwright.errors import CompileError
from tests.nvidia_extra import needs_nvidias_headers
from tests.run.conftest import kw

COUNTER = "struct Counter { int n; __device__ Counter() : n(7) {} __device__ ~Counter() { n = 0; } __device__ void set(int x) { n = x; } };\n"
NOT_CALLED = "warning: the constructor of a __shared__ variable is not called"

# NVIDIA's barrier and the state of its pipeline have constructors and destructors, ours have none; Counter has both.
PROGRAM = (
    COUNTER
    + """
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cstdio>
using barrier = cuda::barrier<cuda::thread_scope_block>;
template <int stages> __global__ void sums(const int *in, int *out) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ int stage[stages][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ barrier copied; __shared__ barrier passed[2];
    __shared__ barrier alone; __shared__ Counter counter;
    __shared__ Counter more[2][3];
    if (threadIdx.x == 0) {
        init(&copied, blockDim.x), init(&alone, blockDim.x), init(passed, blockDim.x), init(passed + 1, blockDim.x);
        counter.set(3), more[1][2].set(4);
    }
    block.sync();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, stage[i % stages], in + 32 * i, sizeof(int) * 32, pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        sum += stage[i % stages][31 - threadIdx.x];
        pipe.consumer_release();
        passed[i % 2].arrive_and_wait();
    }
    alone.arrive_and_wait();
    cuda::memcpy_async(block, stage[0], in, sizeof(int) * 32, copied);
    copied.arrive_and_wait();
    out[threadIdx.x] = sum + counter.n + more[1][2].n + 1000 * stage[0][threadIdx.x];
}
int main() {
    int h[128], *in, *out, wrong = 0;
    for (int i = 0; i < 128; i++) h[i] = i;
    cudaMalloc(&in, sizeof h), cudaMalloc(&out, 128);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    sums<2><<<1, 32>>>(in, out);
    printf("%d", cudaMemcpy(h, out, 128, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) wrong += h[i] != 7 + 1000 * i + 32 * (0 + 1 + 2 + 3) + 4 * (31 - i);
    printf(" %d wrong\\n", wrong);
}
"""
)


@pytest.mark.parametrize("headers", ["own", "nvidia"])
def test_a_program_with_barriers_and_pipelines(headers: str, tmp_path: Path) -> None:
    if headers == "nvidia":
        needs_nvidias_headers()
    (tmp_path / "app.cu").write_text(PROGRAM)
    ran = kw("run", "--headers", headers, "app.cu", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "0 0 wrong\n"), ran.err
    line = 1 + PROGRAM[: PROGRAM.index("Counter counter;")].count("\n")
    column = PROGRAM.split("\n")[line - 1].index("counter;") + 1
    assert f"app.cu:{line}:{column}: {NOT_CALLED}" in ran.err
    assert (ran.err.count(NOT_CALLED) > 2) == (headers == "nvidia")


@pytest.mark.parametrize(
    "declared",
    [
        "__shared__ Counter x;",
        "__shared__  Counter   x ;",
        "int before = 1; __shared__ Counter x; x.set(before);",
        "__shared__ Counter x [ 4 ] [N+1];  x[1][2].set(N);",
        "__shared__ Two<int, Counter> x; x.b.set(3);",
        "static __shared__ ns::Counter x; x.set(1);",
        "__shared__ const Counter x;",
        "__shared__ Counter x; __shared__ Counter y; x.set(1), y.set(2);",
    ],
)
def test_declarations(declared: str, tmp_path: Path) -> None:
    """Each of both passes gives them room, and names them at their place."""
    source = tmp_path / "a.cu"
    types = "namespace ns { using ::Counter; }\ntemplate <class A, class B> struct Two { A a; B b; };\nconstexpr int N = 3;\n"
    source.write_text(COUNTER + types + f"__global__ void k() {{\n{declared}\n}}\n")
    made = device_pass(source, SourceOptions(), find_clang())
    assert f"a.cu:6:{declared.index(' x') + 2}: {NOT_CALLED}" in made.warnings
    assert made.warnings.count(NOT_CALLED) == declared.count("__shared__")
    compile_host(source, None, tmp_path / "a.o", SourceOptions(), find_clang())


@pytest.mark.parametrize(
    "declared",
    [
        "__shared__ Counter x, y;",
        "__shared__ Two<int, Counter> x, y;",
        "__shared__ Counter x = Counter();",
        "__shared__ Counter x{};",
        "__shared__\nCounter x;",
        "__shared__ int x = 3;",
        "__device__ static Counter x;",
    ],
)
def test_what_stays_an_error(declared: str, tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    types = "template <class A, class B> struct Two { A a; B b; };\n"
    source.write_text(COUNTER + types + f"__global__ void k() {{ {declared} }}\n")
    with pytest.raises(CompileError, match=r"initialization is not supported for __shared__|dynamic initialization"):
        device_pass(source, SourceOptions(), find_clang())


def test_what_else_is_wrong_is_still_told(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text(COUNTER + "__global__ void k() {\n__shared__ Counter x;\n  missing(x);\n}\n")
    with pytest.raises(CompileError, match="undeclared identifier 'missing'") as caught:
        device_pass(source, SourceOptions(), find_clang())
    assert caught.value.place is not None and (caught.value.place.line, caught.value.place.column) == (4, 3)
