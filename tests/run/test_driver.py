"""Programs that call the driver API, as people write them: modules from files and from memory, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.cuda.clang import HEADERS
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
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[1].value.clusterDim.x = 2, attributes[1].value.clusterDim.y = attributes[1].value.clusterDim.z = 1;
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


def with_zeros() -> str:
    """A program that calls every function with arguments that are all zero; with an argument, after making a context."""
    text = re.sub(r"/\*.*?\*/", "", (HEADERS / "kernelwright/driver/functions.h").read_text(), flags=re.S)
    lines = []
    for name, given in re.findall(r"^CUresult (cu\w+)\(([^;]*)\);", text, re.M):
        parameters = [] if given == "void" else [p.strip() for p in given.split(",")]
        names = ", ".join(re.findall(r"\w+$", p)[0] for p in parameters)
        declared = "".join(f" {p} = {{0}};" for p in parameters)
        lines.append(f'    {{{declared} begin(n); printf("{name} %d\\n", {name}({names})); fflush(stdout); }}')
    return "\n".join(
        [
            "#include <cuda.h>",
            "#include <stdio.h>",
            "static void begin(int n) {",
            "    CUcontext c = NULL;",
            "    if (n > 1 && (cuInit(0) || cuCtxGetCurrent(&c) || !c)) cuCtxCreate(&c, 0, 0);",
            "}",
            "int main(int n, char **words) {",
            *lines,
            "}",
        ]
    )


def test_every_function_with_arguments_that_are_zero(tmp_path: Path) -> None:
    """Where there is no device they say so; where there is one they refuse what they cannot use, and nothing crashes."""
    (tmp_path / "zeros.c").write_text(with_zeros())
    assert kw("compile", "zeros.c", "-o", "zeros", cwd=tmp_path).code == 0
    alone = dict(line.split() for line in execute([tmp_path / "zeros"], KERNELWRIGHT_DEVICE="none").lines)
    assert alone.pop("cuInit") == "100" and len(alone) > 160
    without_device = ("cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetProcAddress")
    assert {alone.pop(name) for name in without_device} == {"1"}
    assert set(alone.values()) == {"3"}
    ran = kw("run", "zeros", "--", "context", cwd=tmp_path)
    assert ran.code == 0 and len(ran.lines) == len(alone) + 5
    refused = {name for name, result in map(str.split, ran.lines) if result != "0"}
    wanted = (
        "cuDeviceGet",
        "cuMemAlloc",
        "cuModuleLoadData",
        "cuLaunchKernel",
        "cuStreamCreate",
        "cuMemcpy2D",
        "cuMemCreate",
    )
    assert len(refused) > 115 and refused > set(wanted)


OWNED = r"""
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
int main(void)
{
    CUcontext a, b, primary;
    CUdeviceptr of_a, of_b;
    void *of_runtime, *of_device;
    size_t before, between, after, total;
    cuInit(0);
    cudaMalloc(&of_device, 1 << 20);
    cudaMemGetInfo(&before, &total);
    cuCtxCreate(&a, 0, 0);
    cuMemAlloc(&of_a, 1 << 20);
    cudaMalloc(&of_runtime, 1 << 20);
    cuCtxCreate(&b, 0, 0);
    cuMemAlloc(&of_b, 1 << 20);
    cuDevicePrimaryCtxRetain(&primary, 0);
    cuMemGetInfo(&between, &total);
    printf("%d", (int)((before - between) >> 20));
    printf(" %d", cuCtxDestroy(a));
    cuMemGetInfo(&after, &total);
    printf(" %d", (int)((before - after) >> 20));
    printf(" %d %d", cuMemsetD8(of_a, 0, 16), cuMemsetD8(of_b, 0, 16));
    printf(" %d", cuCtxDestroy(b));
    cuCtxSetCurrent(primary);
    printf(" %d %d", cuMemsetD8(of_b, 0, 16), cudaFree(of_runtime) != cudaSuccess);
    cuMemGetInfo(&after, &total);
    printf(" %d %d\n", before == after, cudaFree(of_device));
    return 0;
}
"""


def test_memory_goes_with_its_context(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.c").write_text(OWNED)
    assert run("app.c", "-lcuda").lines == ["3 0 1 1 0 0 1 1 1 0"]


THREADS = r"""
#include <cuda.h>
#include <cstdio>
#include <thread>
__global__ void add(int *p, int n) { *p += n; }
int main()
{
    int *p, h, one = 1;
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    CUcontext context;
    CUdeviceptr q;
    printf("%d %d", cuCtxGetCurrent(&context), context != nullptr);
    std::thread([&] {
        printf(" %d", cuMemAlloc(&q, 4)); // this thread has no context yet
        printf(" %d %d", cuCtxSetCurrent(context), cuMemAlloc(&q, 4));
        add<<<1, 1>>>(p, 2);
        printf(" %d\n", cuCtxSynchronize());
    }).join();
    void *arguments[] = {&p, &one};
    printf("%d", cuLaunchKernel((CUfunction)(void *)add, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0)); // a kernel of the program's own
    printf(" %d", cuMemcpyDtoH(&h, (CUdeviceptr)p, 4));
    printf(" %d\n", h);
    CUdeviceptr none = 16;
    void *wrong[] = {&none, &one};
    printf("%d", cuLaunchKernel((CUfunction)(void *)add, 1, 1, 1, 1, 1, 1, 0, 0, wrong, 0));
    printf(" %d %d", cuCtxSynchronize(), cuMemFree(q));
    printf(" %d %d %d\n", cuDevicePrimaryCtxReset(0), cuMemAlloc(&q, 4), cudaGetLastError());
}
"""


def test_threads_and_faults(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(THREADS)
    ran = run("app.cu", "-lcuda")
    assert ran.lines == ["0 1 201 0 0 0", "0 0 3", "0 700 700 0 0 0"]
    assert ran.code == 0 and "app.cu:5" in ran.err and "kernel add" in ran.err


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
