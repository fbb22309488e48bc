"""Programs that call the driver API and NVRTC, as people write them: modules from files and from memory, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.cuda.toolkit import wheel_headers
from kernelwright.errors import ToolError

from .conftest import Here, Ran, execute, kw

KERNELS = r"""
#include "helper.h"
extern "C" __constant__ float factor[2];
__constant__ float factor[2];
static __device__ int counter = 3;
extern "C" __global__ void scale(float *p, char wide, double by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = TWICE(p[i]) * (float)by * factor[1] + wide;
    if (i == 0) counter += 1;
}
"""

LOADS = r"""
#include <cuda.h>
#include <stdio.h>
#include <string.h>
#define TRY(call) do { CUresult r_ = call; const char *n_ = ""; cuGetErrorName(r_, &n_); if (r_) { printf("%s: %s\n", #call, n_); return 1; } } while (0)
int main(int count, char **words)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction scale;
    CUdeviceptr p, factor, counter;
    size_t size;
    float h[40], factors[2] = {0, 3};
    char one = 1;
    double by = 10;
    int n = 40, seen, registers;
    for (int i = 0; i < n; i++) h[i] = i;
    TRY(cuInit(0));
    TRY(cuDeviceGet(&device, 0));
    TRY(cuCtxCreate(&context, 0, device));
    TRY(cuModuleLoad(&module, words[1]));
    TRY(cuModuleGetFunction(&scale, module, "scale"));
    TRY(cuModuleGetGlobal(&factor, &size, module, "factor"));
    TRY(cuModuleGetGlobal(&counter, NULL, module, "counter"));
    TRY(cuMemAlloc(&p, sizeof h));
    TRY(cuMemcpyHtoD(factor, factors, size));
    TRY(cuMemcpyHtoD(p, h, sizeof h));
    void *arguments[] = {&p, &one, &by, &n};
    TRY(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    /* The other form: where the kernel has its parameters. */
    char packed[28] = {0};
    size_t bytes = sizeof packed;
    memcpy(packed, &p, 8);
    packed[8] = 2;
    memcpy(packed + 16, &by, 8);
    memcpy(packed + 24, &n, 4);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    TRY(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    bytes = 27;
    CUresult small = cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra);
    TRY(cuMemcpyDtoH(h, p, sizeof h));
    TRY(cuMemcpyDtoH(&seen, counter, sizeof seen));
    TRY(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
    CUfunction none = NULL;
    CUresult unknown = cuModuleGetFunction(&none, module, "scales"), nothing = cuModuleGetGlobal(&p, &size, module, "factors");
    TRY(cuModuleUnload(module));
    CUresult gone = cuModuleUnload(module), stale = cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL);
    printf("%g %g %zu %d, %d %d %d %d %d, %d\n", h[0], h[39], size, seen, small, unknown, nothing, gone, stale, registers > 31);
    return cuCtxDestroy(context);
}
"""
TWICE_SCALED = [(2 * (2 * x * 10 * 3 + 1)) * 10 * 3 + 2 for x in (0, 39)]


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, and beside it its kernels in every form that the compiler writes."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "loads.c").write_text(LOADS)
    (folder / "kernels.cu").write_text(KERNELS)
    (folder / "more").mkdir()
    (folder / "more" / "helper.h").write_text("#define TWICE(x) (2 * (x))\n")
    assert kw("compile", "loads.c", "-o", "loads", "-lcuda", cwd=folder).code == 0
    for kind in ("ptx", "fatbin", "cubin") if find_assemblers() else ("ptx", "fatbin"):
        made = kw("compile", f"-{kind}", "-I", "more", "kernels.cu", "-o", f"kernels.{kind}", cwd=folder)
        assert (made.code, made.err) == (0, "")
    return folder


@pytest.mark.parametrize("kind", ["ptx", "fatbin", "cubin"])
def test_modules_from_files(loader: Path, kind: str) -> None:
    if not (loader / f"kernels.{kind}").exists():
        pytest.skip("no assembler")
    ran = kw("run", "loads", "--", f"kernels.{kind}", cwd=loader)
    # Invalid value, not found twice, invalid handle twice.
    answers = "1 500 500 400 400"
    assert (ran.out, ran.err) == (f"{TWICE_SCALED[0]:g} {TWICE_SCALED[1]:g} 8 5, {answers}, 1\n", "")


def test_the_files_are_what_they_are_called(loader: Path) -> None:
    ptx = (loader / "kernels.ptx").read_text()
    assert ".visible .entry scale(" in ptx and all(line.startswith("//") for line in ptx.split("}\n")[-1].splitlines())
    if (loader / "kernels.cubin").exists():
        from kernelwright.codegen.machine.resources import resources

        assert "scale" in resources((loader / "kernels.cubin").read_bytes(), "")


def test_a_file_that_is_not_there(loader: Path) -> None:
    ran = kw("run", "loads", "--", "none.ptx", cwd=loader)
    assert "CUDA_ERROR_FILE_NOT_FOUND" in ran.out and ran.code == 1


def refused(loader: Path, name: str, data: bytes) -> Ran:
    (loader / name).write_bytes(data)
    return kw("run", "loads", "--", name, cwd=loader)


def test_ptx_of_another_compiler(loader: Path) -> None:
    ran = refused(
        loader, "other.ptx", b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry scale() { ret; }\n"
    )
    assert "CUDA_ERROR_NO_BINARY_FOR_GPU" in ran.out and ran.code == 1
    assert "PTX or machine code of another compiler" in ran.err and "kw compile -ptx" in ran.err


def test_ptx_that_was_changed(loader: Path) -> None:
    made = (loader / "kernels.ptx").read_bytes()
    ran = refused(loader, "changed.ptx", made.replace(b"mul.f32", b"add.f32").replace(b"mul.rn.f32", b"add.rn.f32"))
    assert "CUDA_ERROR_INVALID_IMAGE" in ran.out and "was changed after it was made" in ran.err


@pytest.mark.parametrize("kind", ["ptx", "fatbin", "cubin"])
def test_damaged_files(loader: Path, kind: str) -> None:
    if not (loader / f"kernels.{kind}").exists():
        pytest.skip("no assembler")
    made = (loader / f"kernels.{kind}").read_bytes()
    for name, data in (("cut", made[: len(made) // 2]), ("tiny", made[:3]), ("empty", b"")):
        ran = refused(loader, f"{name}.{kind}", data)
        assert ran.code == 1 and "cuModuleLoad" in ran.out, (name, ran)


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
    found = ran.lines
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


CONTEXTS = r"""
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
int main(void)
{
    CUdevice device;
    CUcontext a, b, c, primary;
    CUdeviceptr p;
    CUarray array;
    int count, can;
    unsigned flags;
    size_t free_bytes, total;
    printf("%d", cuDeviceGetCount(&count));
    printf(" %d %d", cuInit(1), cuInit(0));
    printf(" %d %d %d\n", cuDeviceGet(&device, 7), cuDeviceGet(&device, 0), device);
    printf("%d", cuMemAlloc(&p, 16));
    printf(" %d %d", cuCtxGetCurrent(&c), c == NULL);
    printf(" %d %d", cuCtxCreate(&a, CU_CTX_SCHED_SPIN, 0), cuCtxCreate(&b, 0, 0));
    printf(" %d", cuCtxGetCurrent(&c) || c != b);
    printf(" %d", cuCtxPopCurrent(&c) || c != b);
    printf(" %d", cuCtxGetCurrent(&c) || c != a);
    printf(" %d %u", cuCtxGetFlags(&flags), flags);
    printf(" %d %d\n", cuCtxDestroy(b), cuCtxPushCurrent(b));
    printf("%d %d", cuMemAlloc(&p, 0), cuMemAlloc(&p, 64));
    printf(" %d", cuCtxSetCurrent(NULL));
    printf(" %d", cuMemFree(p));
    printf(" %d %d", cuDevicePrimaryCtxRetain(&primary, 0), cuCtxSetCurrent(primary));
    printf(" %d", cuMemFree(p)); /* the same device has the same memory */
    printf(" %d", cuMemFree(p));
    printf(" %d", cuDevicePrimaryCtxRelease(0));
    printf(" %d %d\n", cuDevicePrimaryCtxRelease(0), cudaGetLastError()); /* the runtime's last error is its own */
    printf("%d %d", cuMemGetInfo(&free_bytes, &total), free_bytes <= total);
    short s[6];
    unsigned char rows[3][8];
    cuMemAllocPitch(&p, &total, 8, 3, 4);
    cuMemsetD2D8(p, total, 1, 8, 3);
    cuMemsetD16(p + total, 0x0203, 2);
    cuMemsetD32(p + 2 * total, 0x04050607, 1);
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = total, .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = rows, .dstPitch = 8, .WidthInBytes = 6, .Height = 2};
    printf(" %d", cuMemcpy2D(&copy));
    printf(" %d %d %d %d %d", rows[0][0], rows[0][1], rows[0][5], rows[1][0], rows[1][3]);
    printf(" %d %d", cuMemsetD32(p + 2, 1, 1), cuMemcpyDtoH(s, p + 3 * total, 12));
    CUDA_ARRAY_DESCRIPTOR of = {.Width = 4, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}, told;
    printf(" %d %d %d", cuArrayCreate(&array, &of), cuArrayGetDescriptor(&told, array), told.Height == 2 && told.Format == 32);
    printf(" %d %d\n", cuArrayDestroy(array), cuArrayDestroy(array));
    CUmemorytype kind;
    int *managed, *pinned, managing;
    cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL);
    printf("%d %d", cuPointerGetAttribute(&managing, CU_POINTER_ATTRIBUTE_IS_MANAGED, p), managing);
    cuMemHostAlloc((void **)&pinned, 64, 0);
    printf(" %d %d", cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned), kind);
    printf(" %d", cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 16));
    printf(" %d %d", cuMemGetAddressRange(&p, &total, p + 8), total == 64);
    int (*looked_up)(int *) = NULL;
    CUdriverProcAddressQueryResult found;
    cuGetProcAddress("cuDeviceGetCount", (void **)&looked_up, 12000, 0, &found);
    printf(" %d %d %d", looked_up(&count), count, found);
    void *missing;
    printf(" %d %d", cuGetProcAddress("cuNothing", &missing, 12000, 0, &found), found);
    cuGetProcAddress("cuMemAlloc", &missing, 12000, 0, &found);
    printf(" %d\n", missing == (void *)cuMemAlloc);
    return 0;
}
"""


def test_contexts_memory_and_errors(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.c").write_text(CONTEXTS)
    ran = run("app.c", "-lcuda")
    assert ran.code == 0
    assert ran.lines == [
        "3 1 0 101 0 0",
        "201 0 1 0 0 0 0 0 0 1 0 201",
        "1 0 0 201 0 0 0 1 0 201 0",
        "0 1 0 3 2 1 7 4 1 1 0 0 1 0 400",
        "0 1 0 1 1 0 1 0 1 0 500 1 1",
    ]
    assert "is freed twice" in ran.err and ran.err.count("\n") == 1


LIBRARY = r"""
#include <cuda.h>
#include <stdio.h>
int main(int count, char **words)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUmodule module;
    CUcontext context;
    CUdeviceptr p;
    int threads, n = 4, h[4];
    cuInit(0);
    printf("%d", cuLibraryLoadFromFile(&library, words[1], NULL, NULL, 0, NULL, NULL, 0));
    printf(" %d %d", cuLibraryGetKernel(&kernel, library, "fill"), cuLibraryGetKernel(&kernel, library, "none"));
    printf(" %d %d", cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0), threads);
    cuCtxCreate(&context, 0, 0);
    printf(" %d %d\n", cuKernelGetFunction(&function, kernel), cuLibraryGetModule(&module, library));
    cuMemAlloc(&p, sizeof h);
    void *arguments[] = {&p, &n};
    CUlaunchAttribute attributes[] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 1},
                                      {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 0}};
    CUlaunchConfig config = {1, 1, 1, 4, 1, 1, 0, NULL, attributes, 2};
    printf("%d", cuLaunchKernelEx(&config, function, arguments, NULL));
    cuMemcpyDtoH(h, p, sizeof h);
    printf(" %d %d", h[0], h[3]);
    n = 5;
    printf(" %d", cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL));
    cuMemcpyDtoH(h, p, sizeof h);
    printf(" %d", h[3]);
    attributes[1].value.cooperative = 1;
    printf(" %d", cuLaunchKernelEx(&config, function, arguments, NULL));
    printf(" %d %d\n", cuLibraryUnload(library), cuLibraryUnload(library));
    CUlinkState link;
    void *image;
    size_t size;
    char log[8] = "garbage";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_MAX_REGISTERS};
    void *values[] = {(void *)8, log, (void *)32};
    cuLinkCreate(3, options, values, &link);
    printf("[%s] ", log);
    printf("%d", cuLinkAddFile(link, CU_JIT_INPUT_PTX, words[1], 0, NULL, NULL));
    printf(" %d %d", cuLinkComplete(link, &image, &size), cuModuleLoadData(&module, image));
    printf(" %d", cuModuleGetFunction(&function, module, "fill"));
    printf(" %d", cuLinkAddFile(link, CU_JIT_INPUT_PTX, words[1], 0, NULL, NULL));
    printf(" %d %d\n", cuLinkAddFile(link, CU_JIT_INPUT_OBJECT, words[1], 0, NULL, NULL), cuLinkDestroy(link));
    return 0;
}
"""


def test_libraries_and_links(tmp_path: Path, run: Here) -> None:
    (tmp_path / "fill.cu").write_text(
        'extern "C" __global__ void __launch_bounds__(96) fill(int *p, int n) { p[threadIdx.x] = n * threadIdx.x; }\n'
    )
    assert kw("compile", "-ptx", "fill.cu", cwd=tmp_path).code == 0
    (tmp_path / "app.c").write_text(LIBRARY)
    ran = run("app.c", "-lcuda", "--", "fill.ptx")
    assert ran.lines == ["0 0 500 0 96 0 0", "0 0 12 0 15 801 0 400", "[] 0 0 0 0 801 801 0"]
    assert (
        "clusters of blocks" in ran.err and "give all sources to one kw compile" in ran.err and "no objects" in ran.err
    )


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


def test_functions_that_are_not_there(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.c").write_text(
        "int cuGraphCreate(void **, unsigned);\nint main(void) { void *g; return cuGraphCreate(&g, 0); }\n"
    )
    ran = run("app.c", "-lcuda")
    assert (
        ran.code == 2
        and "app.c:1:5: app.c uses cuGraphCreate, of the CUDA driver" in ran.err
        and "cuda.h declares" in ran.err
    )


def test_with_nvidias_headers(loader: Path) -> None:
    """Functions and structures are called by NVIDIA's declarations, which have the same names in the library."""
    try:
        wheel_headers()
    except ToolError:
        pytest.skip("NVIDIA's header wheels are not installed")
    made = kw("compile", "--headers", "nvidia", "loads.c", "-o", "theirs", "-lcuda", cwd=loader)
    assert made.code == 0, made.err
    ran = kw("run", "theirs", "--", "kernels.fatbin", cwd=loader)
    assert ran.out.startswith(f"{TWICE_SCALED[0]:g} {TWICE_SCALED[1]:g} 8 5, ") and ran.err == ""
