"""Programs that compile kernels while they run, as people write them; what does not compile; and what the tools see of them."""

from __future__ import annotations

from pathlib import Path

from .conftest import Here, execute, kw

RTC = r"""
#include <cuda.h>
#include <nvrtc.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <string>
#include <vector>
const char *source = R"(
#include "sub/twice.h"
namespace ours { __device__ int counter; template <int N> __global__ void fill(int *p) { p[threadIdx.x] = N; } }
__managed__ int shared = 5;
static __constant__ float factor[2];
template <class T> __global__ void scale(T *p, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = twice(p[i]) * by * SCALE;
    assert(i >= 0);
    if (i == 0) { shared += 1; ours::counter = 7; printf("from a kernel %d %d\n", shared, (int)factor[1]); }
}
)";
int main()
{
    nvrtcProgram program;
    const char *header = "template <class T> __device__ T twice(T x) { return 2 * x; }\n", *called = "sub/twice.h";
    const char *options[] = {"-arch=sm_80", "--define-macro", "SCALE=3", "--std=c++14", "-I", "."};
    nvrtcCreateProgram(&program, source, "scale.cu", 1, &header, &called);
    const char *asked[] = {"scale<float>", "&ours::counter", "ours::fill<4>", "factor", "(scale<double>)"}, *name[6];
    for (auto each : asked) nvrtcAddNameExpression(program, each);
    printf("%d", nvrtcGetLoweredName(program, asked[0], &name[0]));
    printf(" %d", nvrtcCompileProgram(program, 6, options));
    size_t size, log;
    nvrtcGetProgramLogSize(program, &log);
    nvrtcGetCUBINSize(program, &size);
    std::vector<char> cubin(size);
    nvrtcGetCUBIN(program, cubin.data());
    for (int i = 0; i < 5; i++) printf(" %d", nvrtcGetLoweredName(program, asked[i], &name[i]));
    printf(" %d %zu\n", nvrtcGetLoweredName(program, "scale<int>", &name[5]), log);
    for (int i = 0; i < 5; i++) printf("%s\n", name[i]);
    float h[4] = {1, 2, 3, 4}, *p, factors[2] = {0, 9};
    cudaMalloc(&p, sizeof h);  // the runtime's context is the driver's
    CUmodule module;
    CUfunction scale, fill;
    CUdeviceptr counter, shared, factor;
    printf("%d", cuModuleLoadData(&module, cubin.data()));
    printf(" %d %d", cuModuleGetFunction(&scale, module, name[0]), cuModuleGetFunction(&fill, module, name[2]));
    cuModuleGetGlobal(&counter, 0, module, name[1]);
    cuModuleGetGlobal(&factor, 0, module, name[3]);
    cuModuleGetGlobal(&shared, 0, module, "shared");
    cudaMemcpy((void *)factor, factors, sizeof factors, cudaMemcpyHostToDevice);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    float by = 10;
    int n = 4, seen;
    void *arguments[] = {&p, &by, &n};
    printf(" %d\n", cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0));
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    cuMemcpyDtoH(&seen, counter, sizeof seen);
    printf("%g %g %d %d\n", h[0], h[3], seen, *(int *)shared);
    void *one[] = {&p};
    cudaLaunchKernel(fill, dim3(1), dim3(4), one, 0, 0);  // a CUfunction is a kernel of the runtime's, too
    cudaMemcpy(&seen, p + 3, sizeof seen, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", seen, nvrtcDestroyProgram(&program), program == nullptr);
}
"""


def test_runtime_compilation(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cpp").write_text(RTC)
    ran = run("app.cpp", "-lnvrtc", "-lcuda")
    assert ran.err == "" and ran.lines == [
        "9 0 0 0 0 0 0 10 1",
        "_Z5scaleIfEvPT_S0_i",
        "_ZN4ours7counterE",
        "_ZN4ours4fillILi4EEEvPi",
        "_ZL6factor",
        "_Z5scaleIdEvPT_S0_i",
        "0 0 0 0",
        "from a kernel 6 9",
        f"{1 * 2 * 10 * 3} {4 * 2 * 10 * 3} 7 6",
        "4 0 1",
    ]


WRONG = r"""
#include <nvrtc.h>
#include <stdio.h>
#include <string.h>
static void attempt(const char *source, const char *option, const char *expression)
{
    nvrtcProgram program;
    char log[20000];
    size_t size, ptx = 99;
    nvrtcCreateProgram(&program, source, "wrong.cu", 0, NULL, NULL);
    if (expression) nvrtcAddNameExpression(program, expression);
    int result = nvrtcCompileProgram(program, option != NULL, &option);
    nvrtcGetProgramLogSize(program, &size);
    nvrtcGetProgramLog(program, log);
    char *end = strchr(log, '\n');
    if (end) *end = 0;
    printf("%s, %d, %d: %s\n", nvrtcGetErrorString(result), strlen(log) < size, nvrtcGetPTXSize(program, &ptx), log);
    nvrtcDestroyProgram(&program);
}
int main(void)
{
    int major, minor;
    attempt("typedef long long int int64_t;\ntypedef unsigned long long uint64_t; __global__ void k(int64_t *p, uint64_t n) { *p = n; }", NULL, NULL);
    attempt("__global__ void k(int *p) { *p = nobody; }", NULL, NULL);
    attempt("__global__ void k() {}", "--gpu-architecture=sm_1x", NULL);
    attempt("__global__ void k() {}", "--frobnicate", NULL);
    attempt("__global__ void k() {}", "-dlto", NULL);
    attempt("__global__ void k() {}", NULL, "nowhere<int>");
    attempt("#include \"nowhere.h\"\n", NULL, NULL);
    attempt("__device__ void gone(); __global__ void k() { gone(); }", NULL, NULL);
    printf("%d %d %d\n", nvrtcCreateProgram(NULL, "", "", 0, NULL, NULL), nvrtcCompileProgram(NULL, 0, NULL), nvrtcVersion(&major, &minor));
    return 0;
}
"""


def test_programs_that_do_not_compile(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.c").write_text(WRONG)
    ran = run("app.c", "-lnvrtc")
    assert ran.code == 0 and ran.err == ""
    assert ran.lines[0] == "NVRTC_SUCCESS, 1, 0: "
    found = ran.lines[1:]
    assert found[0] == "NVRTC_ERROR_COMPILATION, 1, 3: wrong.cu:1:34: error: use of undeclared identifier 'nobody'"
    assert found[1].startswith("NVRTC_ERROR_INVALID_OPTION, 1, 3: ") and "sm_1x" in found[1]
    assert found[2].startswith("NVRTC_ERROR_INVALID_OPTION, 1, 3: ") and "unrecognized option --frobnicate" in found[2]
    assert found[3].startswith("NVRTC_ERROR_INVALID_OPTION, 1, 3: ") and "-dlto" in found[3]
    assert found[4].startswith("NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, 1, 3: ") and "nowhere" in found[4]
    assert found[5].startswith("NVRTC_ERROR_COMPILATION, 1, 3: wrong.cu:1:10: ") and "file not found" in found[5]
    assert found[6].startswith("NVRTC_ERROR_COMPILATION, 1, 3: ") and "gone" in found[6]
    assert found[7] == "3 4 0"


def test_compiling_without_a_device(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(WRONG)
    assert kw("compile", "app.c", "-o", "app", cwd=tmp_path).code == 0
    ran = execute([tmp_path / "app"], KERNELWRIGHT_DEVICE="none")
    assert "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE" in ran.out and "kw run" in ran.err


def test_what_the_tools_see(tmp_path: Path) -> None:
    """A kernel that the program compiles is checked and profiled as its own, by its lines."""
    kernel = 'extern \\"C\\" __global__ void over(int *p, int n)\\n{\\n    p[threadIdx.x + n] = 1;\\n}\\n'
    (tmp_path / "app.cpp").write_text(
        f"""#include <cuda.h>
#include <nvrtc.h>
#include <vector>
int main() {{
    nvrtcProgram program;
    size_t size;
    nvrtcCreateProgram(&program, "{kernel}", "over.cu", 0, 0, 0);
    nvrtcCompileProgram(program, 0, 0);
    nvrtcGetPTXSize(program, &size);
    std::vector<char> ptx(size);
    nvrtcGetPTX(program, ptx.data());
    CUcontext context; CUmodule module; CUfunction over; CUdeviceptr p; int n = 8;
    cuInit(0); cuCtxCreate(&context, 0, 0);
    cuModuleLoadData(&module, ptx.data()); cuModuleGetFunction(&over, module, "over");
    cuMemAlloc(&p, 128);
    void *arguments[] = {{&p, &n}};
    cuLaunchKernel(over, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0);
    return cuCtxSynchronize();
}}
"""
    )
    checked = kw("check", "app.cpp", cwd=tmp_path)
    assert checked.code == 1 and "over.cu:3: out-of-bounds" in checked.err and "1 finding in 1 launch" in checked.err
    profiled = kw("profile", "app.cpp", cwd=tmp_path)
    assert "over" in profiled.out
