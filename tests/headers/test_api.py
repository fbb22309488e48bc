"""The host side: types, numbers and every function of the runtime API, in C, in plain C++ and in CUDA."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from .conftest import HEADERS, ZIG, CudaCompiler

_PREAMBLE = """
__global__ void kernel(float *p) { *p = 1; }
__device__ float device_value[4]; __constant__ int constant_value; __managed__ int managed_value = 5;
texture<float, 2> reference;
void callback(cudaStream_t, cudaError_t, void *) {}
void host_function(void *) {}
void use() {
  float *p; void *v; size_t n, m; int i, j; unsigned u; float f; const char *s; char text[32];
  cudaStream_t stream; cudaEvent_t event; cudaArray_t array; cudaMemPool_t pool; cudaTextureObject_t object;
  cudaDeviceProp properties; cudaFuncAttributes attributes; cudaPointerAttributes pointer; cudaChannelFormatDesc format;
  cudaResourceDesc resource; cudaTextureDesc description; cudaPitchedPtr pitched; cudaMemcpy3DParms copy; cudaExtent extent;
  cudaFuncCache cache; cudaSharedMemConfig banks; const textureReference *found; void *arguments[] = {&p};
"""

CALLS = """
cudaGetLastError() cudaPeekAtLastError() s = cudaGetErrorName(cudaSuccess) s = cudaGetErrorString(cudaErrorAssert)
cudaDriverGetVersion(&i) cudaRuntimeGetVersion(&i) cudaGetDeviceCount(&i) cudaGetDevice(&i) cudaSetDevice(0)
cudaSetValidDevices(&i, 1) cudaInitDevice(0, 0, 0) cudaGetDeviceFlags(&u) cudaSetDeviceFlags(cudaDeviceMapHost)
cudaChooseDevice(&i, &properties) cudaGetDeviceProperties(&properties, 0)
cudaDeviceGetAttribute(&i, cudaDevAttrWarpSize, 0) cudaDeviceGetP2PAttribute(&i, cudaDevP2PAttrAccessSupported, 0, 1)
cudaDeviceGetByPCIBusId(&i, "0") cudaDeviceGetPCIBusId(text, 32, 0) cudaDeviceSynchronize() cudaDeviceReset()
cudaDeviceGetLimit(&n, cudaLimitStackSize) cudaDeviceSetLimit(cudaLimitMallocHeapSize, n) cudaDeviceGetCacheConfig(&cache)
cudaDeviceSetCacheConfig(cudaFuncCachePreferL1) cudaDeviceGetSharedMemConfig(&banks)
cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte) cudaDeviceGetStreamPriorityRange(&i, &j)
cudaDeviceCanAccessPeer(&i, 0, 1) cudaDeviceEnablePeerAccess(1, 0) cudaDeviceDisablePeerAccess(1) cudaProfilerStart()
cudaProfilerStop() cudaThreadSynchronize() cudaThreadExit() cudaThreadGetLimit(&n, cudaLimitStackSize)
cudaThreadSetLimit(cudaLimitStackSize, n) cudaThreadGetCacheConfig(&cache) cudaThreadSetCacheConfig(cache)
cudaMalloc(&v, n) cudaMalloc(&p, n) cudaMalloc((void **)&p, n) cudaFree(p) cudaMallocHost(&v, n) cudaMallocHost(&p, n)
cudaMallocHost(&p, n, cudaHostAllocPortable) cudaFreeHost(p) cudaHostAlloc(&p, n, cudaHostAllocMapped)
cudaHostRegister(p, n, cudaHostRegisterPortable) cudaHostUnregister(p) cudaHostGetDevicePointer(&p, v, 0)
cudaHostGetDevicePointer(&v, p, 0) cudaHostGetFlags(&u, p) cudaMallocManaged(&p, n) cudaMallocManaged(&v, n)
cudaMallocManaged(&p, n, cudaMemAttachHost) cudaMallocPitch(&p, &n, 64, 4) cudaMalloc3D(&pitched, extent)
cudaMallocArray(&array, &format, 64) cudaMallocArray(&array, &format, 64, 4) cudaMalloc3DArray(&array, &format, extent)
cudaFreeArray(array) cudaArrayGetInfo(&format, &extent, &u, array) cudaMallocAsync(&p, n, stream) cudaFreeAsync(p, stream)
cudaDeviceGetDefaultMemPool(&pool, 0) cudaDeviceGetMemPool(&pool, 0) cudaDeviceSetMemPool(0, pool)
cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &n) cudaMemPoolTrimTo(pool, 0)
cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &n) cudaMemGetInfo(&n, &m) cudaPointerGetAttributes(&pointer, p)
cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, 0) cudaMemPrefetchAsync(p, n, cudaCpuDeviceId)
cudaMemPrefetchAsync(p, n, 0, stream) cudaMemRangeGetAttribute(&i, 4, cudaMemRangeAttributeReadMostly, p, n)
cudaMemcpy(p, v, n, cudaMemcpyHostToDevice) cudaMemcpyAsync(p, v, n, cudaMemcpyDeviceToHost)
cudaMemcpyAsync(p, v, n, cudaMemcpyDefault, stream) cudaMemcpyPeer(p, 0, v, 1, n) cudaMemcpyPeerAsync(p, 0, v, 1, n, stream)
cudaMemcpy2D(p, 64, v, 64, 32, 4, cudaMemcpyDeviceToDevice) cudaMemcpy2DAsync(p, 64, v, 64, 32, 4, cudaMemcpyDefault, stream)
cudaMemcpy3D(&copy) cudaMemcpy3DAsync(&copy, stream) cudaMemcpyToArray(array, 0, 0, p, n, cudaMemcpyHostToDevice)
cudaMemcpyFromArray(p, array, 0, 0, n, cudaMemcpyDeviceToHost)
cudaMemcpy2DToArray(array, 0, 0, p, 64, 64, 4, cudaMemcpyHostToDevice)
cudaMemcpy2DToArrayAsync(array, 0, 0, p, 64, 64, 4, cudaMemcpyHostToDevice, stream)
cudaMemcpy2DFromArray(p, 64, array, 0, 0, 64, 4, cudaMemcpyDeviceToHost) cudaMemset(p, 0, n) cudaMemsetAsync(p, 0, n)
cudaMemsetAsync(p, 0, n, stream) cudaMemset2D(p, 64, 0, 32, 4) cudaMemset2DAsync(p, 64, 0, 32, 4, stream)
cudaMemset3D(pitched, 0, extent) cudaGetSymbolAddress(&v, device_value) cudaGetSymbolSize(&n, constant_value)
cudaMemcpyToSymbol(device_value, p, n) cudaMemcpyToSymbol(constant_value, &i, 4, 0, cudaMemcpyHostToDevice)
cudaMemcpyFromSymbol(p, device_value, n) cudaMemcpyFromSymbol(p, device_value, 4, 4, cudaMemcpyDeviceToHost)
cudaMemcpyToSymbolAsync(device_value, p, n, 0, cudaMemcpyDefault, stream)
cudaMemcpyFromSymbolAsync(p, device_value, n, 0, cudaMemcpyDefault, stream) managed_value = managed_value + 1
cudaStreamCreate(&stream) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)
cudaStreamCreateWithPriority(&stream, cudaStreamDefault, -1) cudaStreamDestroy(stream) cudaStreamSynchronize(stream)
cudaStreamSynchronize(cudaStreamPerThread) cudaStreamQuery(stream) cudaStreamWaitEvent(stream, event)
cudaStreamWaitEvent(stream, event, 0) cudaStreamGetFlags(stream, &u) cudaStreamGetPriority(stream, &i)
cudaStreamSetAttribute(stream, cudaStreamAttributePriority, (cudaStreamAttrValue *)p) cudaCtxResetPersistingL2Cache()
cudaStreamGetAttribute(stream, cudaStreamAttributePriority, (cudaStreamAttrValue *)p) cudaStreamCopyAttributes(stream, stream)
cudaStreamAddCallback(stream, callback, p, 0) cudaStreamAttachMemAsync(stream, p)
cudaLaunchHostFunc(stream, host_function, p) cudaEventCreate(&event) cudaEventCreate(&event, cudaEventBlockingSync)
cudaEventCreateWithFlags(&event, cudaEventDisableTiming) cudaEventDestroy(event) cudaEventRecord(event)
cudaEventRecord(event, stream) cudaEventRecordWithFlags(event, stream, 0) cudaEventSynchronize(event) cudaEventQuery(event)
cudaEventElapsedTime(&f, event, event) cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments)
cudaLaunchKernel((const void *)kernel, 1, 32, arguments, 0, stream)
cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(32), arguments)
cudaFuncGetAttributes(&attributes, kernel)
cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)
cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferShared) cudaFuncSetSharedMemConfig(kernel, banks)
cudaOccupancyMaxActiveBlocksPerMultiprocessor(&i, kernel, 256, 0)
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&i, kernel, 256, 0, cudaOccupancyDefault)
cudaOccupancyAvailableDynamicSMemPerBlock(&n, kernel, 2, 256) cudaOccupancyMaxPotentialBlockSize(&i, &j, kernel)
cudaOccupancyMaxPotentialBlockSize(&i, &j, kernel, 0, 512)
cudaOccupancyMaxPotentialBlockSizeVariableSMem(&i, &j, kernel, [](int block) { return block * sizeof(float); })
format = cudaCreateChannelDesc<float4>() format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat)
cudaGetChannelDesc(&format, array) cudaCreateTextureObject(&object, &resource, &description, nullptr)
cudaDestroyTextureObject(object) cudaGetTextureObjectResourceDesc(&resource, object) cudaCreateSurfaceObject(&object, &resource)
cudaDestroySurfaceObject(object) cudaGetSurfaceObjectResourceDesc(&resource, object)
cudaGetTextureObjectTextureDesc(&description, object) cudaBindTexture(&n, reference, p, n)
cudaBindTexture(nullptr, reference, p, format) cudaBindTexture2D(&n, reference, p, format, 4, 4, 64)
cudaBindTexture2D(&n, reference, p, 4, 4, 64) cudaBindTextureToArray(reference, array)
cudaBindTextureToArray(reference, array, format) cudaUnbindTexture(reference) cudaGetTextureAlignmentOffset(&n, reference)
cudaGetTextureReference(&found, &reference) extent = make_cudaExtent(1, 2, 3) copy.srcPos = make_cudaPos(1, 2, 3)
pitched = make_cudaPitchedPtr(p, 1, 2, 3) kernel<<<1, 32>>>(p) kernel<<<dim3(1, 2), dim3(8, 8), 64, stream>>>(p)
resource.resType = cudaResourceTypePitch2D description.addressMode[0] = cudaAddressModeWrap copy.kind = cudaMemcpyDefault
"""

# A call may hold spaces, so a new one begins only where the parentheses of the last are closed.
_CALL = re.compile(
    r"(?:\w[\w.\[\]]* = )?[\w.]+(?:<[\w<, ()]*>+)?(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?(?: \+ 1)?"
)


def _calls() -> list[str]:
    return [c.group().strip() for c in _CALL.finditer(CALLS)]


def test_every_function_of_the_api_can_be_called(compile_cuda: CudaCompiler) -> None:
    text = _PREAMBLE + "".join(f"  {call};\n" for call in _calls()) + "}\n"
    for side, library in (("host", "libc++"), ("host", "system"), ("device", "libc++")):
        compiled = compile_cuda(
            text, "-Wno-uninitialized", "-Wno-uninitialized-const-pointer", side=side, library=library
        )
        assert compiled.ok, compiled.errors


def test_the_calls_above_leave_no_function_out() -> None:
    header = re.sub(r"/\*.*?\*/", "", (HEADERS / "cuda_runtime_api.h").read_text(), flags=re.S)
    declared = set(re.findall(r"\b(cuda[A-Z]\w*)\(", header))
    called = {m for call in _calls() for m in re.findall(r"\bcuda[A-Z]\w*", call)}
    assert len(declared) > 120
    assert declared - called == set()


def test_the_overloads_choose_the_right_function(compile_cuda: CudaCompiler) -> None:
    text = _PREAMBLE + "  cudaMemcpyToSymbol(device_value, p, 4); cudaMallocHost(&p, 4); kernel<<<1, 32>>>(p);\n}\n"
    compiled = compile_cuda(text, "-Wno-uninitialized", side="host")
    assert compiled.ok, compiled.errors
    assert "@device_value" in compiled.ir
    assert re.search(r"call i32 @cudaMemcpyToSymbol\(", compiled.ir)
    assert re.search(r"call i32 @__cudaPushCallConfiguration\(", compiled.ir)
    assert re.search(r"call (noundef )?i32 @cudaLaunchKernel\(", compiled.ir)


def test_a_managed_variable_lies_in_its_section_on_both_sides(compile_cuda: CudaCompiler) -> None:
    text = "__device__ __managed__ int m = 5; __global__ void k() { m++; } int main() { k<<<1, 1>>>(); return m; }"
    for side in ("device", "host"):
        compiled = compile_cuda(text, side=side)
        assert compiled.ok, compiled.errors
        assert re.search(r'^@m = .*section "kw_managed"', compiled.ir, re.M), side


# Size and alignment of every vector type: CUDA C++ Programming Guide, "Built-in Vector Types".
_ELEMENTS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "longlong": 8,
             "ulonglong": 8, "float": 4, "double": 8}  # fmt: skip


@pytest.mark.parametrize("side", ["device", "host"])
def test_vector_types_have_cudas_layout(side: str, compile_cuda: CudaCompiler) -> None:
    lines = []
    for name, size in _ELEMENTS.items():
        for n in (1, 2, 3, 4):
            align = {1: size, 2: 2 * size, 3: size, 4: min(4 * size, 16)}[n]
            lines.append(
                f'static_assert(sizeof({name}{n}) == {n * size} && alignof({name}{n}) == {align}, "{name}{n}");'
            )
            values = ", ".join("1234"[:n])
            lines.append(
                f"__host__ __device__ int sum_{name}{n}() {{ {name}{n} v = make_{name}{n}({values}); return (int)v.x; }}"
            )
    lines += ['static_assert(sizeof(dim3) == 12 && alignof(dim3) == 4, "dim3");', "dim3 d(2); uint3 u = dim3(1, 2, 3);"]
    compiled = compile_cuda("\n".join(lines), side=side)
    assert compiled.ok, compiled.errors


@pytest.mark.parametrize(
    "flags", [["cc", "-std=c11", "-pedantic"], ["cc", "-std=gnu99"], ["c++", "-std=c++11"], ["c++", "-std=c++20"]]
)
def test_plain_c_and_cpp_can_include_us(flags: list[str], tmp_path: Path) -> None:
    headers = ["vector_types.h", "texture_types.h", "cuda_runtime_api.h", "cuda_runtime.h", "cuComplex.h"]
    if flags[0] == "c++":
        headers += ["cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "helper_cuda.h", "helper_functions.h"]
    for n, header in enumerate(headers):  # each on its own: the file it comes first in needs nothing before it
        body = "float *p; cudaMalloc((void **)&p, 4);" if "cuda" in header else ""
        ordered = [header, *headers[:n]]
        text = (
            "".join(f"#include <{h}>\n" for h in ordered) + f"int f{n}(void) {{ {body} return (int)sizeof(float4); }}\n"
        )
        (tmp_path / f"plain{n}.{'c' if flags[0] == 'cc' else 'cpp'}").write_text(text)
    sources = [str(p) for p in tmp_path.glob("plain*")]
    command = [str(ZIG / "zig"), *flags, "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}", "-c", *sources]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def _nvidia_header(name: str) -> Path | None:
    return next((p for p in sorted(Path("/usr/local").glob(f"cuda*/include/{name}"))), None)


@pytest.mark.skipif(_nvidia_header("driver_types.h") is None, reason="no CUDA toolkit to compare with")
def test_numbers_are_cudas() -> None:
    path = _nvidia_header("driver_types.h")
    assert path
    theirs = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    enumerators = {n: int(v, 0) for n, v in re.findall(r"\b(cuda\w+)\s*=\s*(-?(?:0x)?[0-9a-fA-F]+)\b", theirs)}
    macros = {n: int(v, 0) for n, v in re.findall(r"#define\s+(cuda\w+)\s+((?:0x)?[0-9a-fA-F]+)\b", theirs)}
    own = ""
    for header in (
        "driver_types.h",
        "kernelwright/device_attributes.h",
        "texture_types.h",
        "kernelwright/error_table.h",
    ):
        own += re.sub(r"/\*.*?\*/", "", (HEADERS / header).read_text(), flags=re.S)
    ours = {n: int(v, 0) for n, v in re.findall(r"\b(cuda\w+)\s*=\s*(-?(?:0x)?[0-9a-fA-F]+)\b", own)}
    ours |= {n: int(v) for n, v in re.findall(r"KW_ERROR\((\w+), (\d+),", own)}
    ours_macros = {n: int(v, 0) for n, v in re.findall(r"#define\s+(cuda\w+)\s+((?:0x)?[0-9a-fA-F]+)\b", own)}
    common = ours.keys() & enumerators.keys()
    assert len(common) > 250
    assert {n: (ours[n], enumerators[n]) for n in common if ours[n] != enumerators[n]} == {}
    assert {n: v for n, v in ours_macros.items() if macros.get(n, v) != v} == {}


@pytest.mark.skipif(_nvidia_header("driver_types.h") is None, reason="no CUDA toolkit to compare with")
def test_device_properties_have_every_field() -> None:
    path = _nvidia_header("driver_types.h")
    assert path

    def fields(text: str) -> set[str]:
        body = re.search(r"struct (?:__device_builtin__ )?cudaDeviceProp\s*\{(.*?)\n\}", text, re.S)
        assert body
        plain = re.sub(r"/\*.*?\*/|\[[^\]]*\]", "", body[1], flags=re.S)
        return {n for line in plain.split(";") for n in re.findall(r"\b(\w+)\s*(?:,|$)", line.strip())}

    theirs = {f for f in fields(path.read_text()) if not f.startswith("reserved")}
    ours = fields((HEADERS / "driver_types.h").read_text())
    # CUDA 13 took the clocks and modes out and put newer fields in; ours is CUDA 12's list.
    newer = {"deviceNumaConfig", "deviceNumaId", "mpsEnabled", "hostNumaId", "gpuPciDeviceID", "gpuPciSubsystemID",
             "hostNumaMultinodeIpcSupported"}  # fmt: skip
    assert theirs - ours - newer == set()
    assert {"clockRate", "memoryClockRate", "computeMode", "deviceOverlap", "kernelExecTimeoutEnabled"} <= ours
