"""``kw toolkit``: builds that look for an installed toolkit find one, link with compilers of their own, and what they make runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from tests import kw_process

KERNEL = """
#include <cuda_runtime.h>
__global__ void twice(int *a) { a[threadIdx.x] = 2 * threadIdx.x; }
extern "C" int doubled(int *out, int n)
{
    int *a;
    if (cudaMalloc((void **)&a, n * sizeof *a) != cudaSuccess) return 1;
    twice<<<1, n>>>(a);
    cudaError_t status = cudaMemcpy(out, a, n * sizeof *a, cudaMemcpyDeviceToHost);
    cudaFree(a);
    return status;
}
"""
MAIN = """
#include <stdio.h>
#include <cuda_runtime.h>
int doubled(int *, int);
int main(void)
{
    int out[32], count, status = doubled(out, 32);
    cudaGetDeviceCount(&count);
    printf("%d %d %d\\n", status, out[31], count);
    return status;
}
"""
MAKEFILE = """
NVCC = $(CUDA_HOME)/bin/nvcc
app: main.o twice.o
	gcc main.o twice.o -o app -L$(CUDA_HOME)/lib64 -lcudart -lcuda
main.o: main.c
	gcc -I$(CUDA_HOME)/include -c main.c
twice.o: twice.cu
	$(NVCC) -arch=sm_20 -c twice.cu
"""
NEEDED = [tool for tool in ("gcc", "make") if shutil.which(tool) is None]


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a place") / "cuda"
    done = kw_process.kw("toolkit", str(folder), cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    assert f"CUDA_HOME='{folder}'" in done.stdout
    return folder


def run(*command: str, at: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=at, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )


def test_makefiles_ask_for_the_number_of_the_architecture(toolkit: Path, tmp_path: Path) -> None:
    asked = run(str(toolkit / "bin" / "__nvcc_device_query"), at=tmp_path)
    assert (asked.returncode, f"sm_{asked.stdout}") == (0, f"{DEFAULT_ARCHITECTURE}\n")


@pytest.mark.skipif(bool(NEEDED), reason=f"{' and '.join(NEEDED)} not installed")
def test_a_makefile_that_links_with_gcc(toolkit: Path, tmp_path: Path) -> None:
    plain = tmp_path / "cuda"  # a Makefile's words end at a space
    assert kw_process.kw("toolkit", str(plain), cwd=tmp_path).returncode == 0
    for name, text in (("twice.cu", KERNEL), ("main.c", MAIN), ("Makefile", MAKEFILE)):
        (tmp_path / name).write_text(text)
    built = run("make", f"CUDA_HOME={plain}", at=tmp_path)
    assert built.returncode == 0, built.stderr
    assert "compiling for sm_60, the oldest there is, not for sm_20" in built.stderr
    ran = run("./app", at=tmp_path, KERNELWRIGHT_DEVICE="h200")
    assert (ran.returncode, ran.stdout) == (0, "0 62 1\n"), ran.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_static_libraries_several_of_them_in_a_folder_with_a_space(toolkit: Path, tmp_path: Path) -> None:
    for name, text in (("twice.cu", KERNEL), ("main.c", MAIN)):
        (tmp_path / name).write_text(text)
    assert run(str(toolkit / "bin" / "nvcc"), "-c", "twice.cu", at=tmp_path).returncode == 0
    compiled = run("gcc", f"-I{toolkit / 'include'}", "-c", "main.c", at=tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    libraries = (
        "-lcublas_static",
        "-lcudart_static",
        "-lcufft",
        "-lcusparse",
        "-lcusolver",
        "-lnccl",
        "-lcurand",
        "-lcuda",
    )
    linked = run("g++", "main.o", "twice.o", "-o", "app", f"-L{toolkit / 'lib'}", *libraries, at=tmp_path)
    assert linked.returncode == 0, linked.stderr
    assert run("./app", at=tmp_path, KERNELWRIGHT_DEVICE="h200").stdout == "0 62 1\n"


def test_what_builds_ask_nvcc(toolkit: Path, tmp_path: Path) -> None:
    nvcc = str(toolkit / "bin" / "nvcc")
    version = run(nvcc, "--version", at=tmp_path)
    assert version.returncode == 0 and "release 12." in version.stdout and "Kernelwright" in version.stdout
    (tmp_path / "app.cu").write_text('#include <cstdio>\nint main() { puts("made"); }\n')
    assert run(nvcc, "app.cu", at=tmp_path).returncode == 0
    assert run("./a.out", at=tmp_path).stdout == "made\n"
    missing = run(nvcc, "nothing.cu", at=tmp_path)
    assert missing.returncode == 2 and "nothing.cu does not exist" in missing.stderr


def test_it_is_made_anew_where_it_is_one_already(toolkit: Path) -> None:
    again = kw_process.kw("toolkit", str(toolkit), cwd=toolkit.parent)
    assert again.returncode == 0, again.stderr
    assert (toolkit / "include" / "cuda_runtime.h").is_file()


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    refused = kw_process.kw("toolkit", "mine", cwd=tmp_path)
    assert refused.returncode == 2 and "mine holds something else already" in refused.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    (tmp_path / "file").write_text("x")
    assert kw_process.kw("toolkit", "file", cwd=tmp_path).returncode == 2
    nowhere = kw_process.kw("toolkit", "/proc/cuda", cwd=tmp_path)
    assert nowhere.returncode == 3 and "cannot be written" in nowhere.stderr


LISTS = """
cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(kernels STATIC twice.cu scale.cu)
set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_executable(app main.cpp)
target_link_libraries(app kernels CUDA::cudart CUDA::cublas)
"""
SCALED = KERNEL.replace("__global__", "extern __device__ int scaled(int);\n__global__").replace(
    "2 * thread", "scaled(thread"
)
SCALED = SCALED.replace("threadIdx.x; }", "threadIdx.x); }", 1)
SCALE = "__device__ int scaled(int x) { return 2 * x; }\n"


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("g++") is None, reason="cmake or g++ not installed")
@pytest.mark.parametrize("separable", ["ON", "OFF"])
def test_a_project_of_cmake(tmp_path: Path, separable: str) -> None:
    """Its libraries are found, device code of two files is linked by ``nvcc -dlink``, host code by g++ and CMake's own command line."""
    plain = tmp_path / "cuda"
    assert kw_process.kw("toolkit", str(plain), cwd=tmp_path).returncode == 0
    lists = LISTS.replace("COMPILATION ON", f"COMPILATION {separable}")
    together = separable == "OFF"
    files = {
        "CMakeLists.txt": lists.replace(" scale.cu", "") if together else lists, "scale.cu": SCALE,
        "twice.cu": SCALED.replace("extern __device__ int scaled(int);", SCALE) if together else SCALED,
        "main.cpp": MAIN.replace("int doubled", 'extern "C" int doubled').replace("printf", "std::printf").replace("stdio.h", "cstdio"),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    nvcc = f"-DCMAKE_CUDA_COMPILER={plain / 'bin' / 'nvcc'}"
    made = run("cmake", "-B", "build", nvcc, f"-DCUDAToolkit_ROOT={plain}", ".", at=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    built = run("cmake", "--build", "build", at=tmp_path)
    assert built.returncode == 0, built.stdout + built.stderr
    ran = run("./build/app", at=tmp_path, KERNELWRIGHT_DEVICE="h200")
    assert (ran.returncode, ran.stdout) == (0, "0 62 1\n"), ran.stderr


def test_what_cmake_reads_of_verbose_output(toolkit: Path, tmp_path: Path) -> None:
    said = run(str(toolkit / "bin" / "nvcc"), "-v", "--dryrun", "app.cu", at=tmp_path)
    assert said.returncode == 0 and f"#$ TOP={toolkit}\n" in said.stderr
    assert f'#$ LIBRARIES= "-L{toolkit}/lib64"\n' in said.stderr
