"""``kw compile -c`` and the link of what it makes, as a Makefile written for nvcc calls them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Kw

KERNEL = """
#include <cstdio>
__global__ void doubled(int *p) { p[threadIdx.x] = 2 * threadIdx.x; }
int more(int);
int main() {
  int *p, h[32];
  cudaMalloc(&p, sizeof h);
  doubled<<<1, 32>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\\n", more(h[21]));
}
"""
OTHER = """
__global__ void added(int *p, int n) { atomicAdd(p, n); }
int more(int n) {
  int *p, h = 100;
  cudaMalloc(&p, sizeof h);
  cudaMemcpy(p, &h, sizeof h, cudaMemcpyHostToDevice);
  added<<<1, 4>>>(p, n);
  cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h;
}
"""
SAID = f"{100 + 4 * 42}\n"
MAKEFILE = """
NVCC = nvcc
app: main.o lib/libother.a
\t$(NVCC) -O3 -arch=sm_80 main.o -Llib -lother -lcudart -lcuda -o $@
%.o: %.cu
\t$(NVCC) -O3 -std=c++17 -c $< -o $@
lib/libother.a: other.o
\tmkdir -p lib
\tar rcs $@ $^
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.cu").write_text(KERNEL)
    (tmp_path / "other.cu").write_text(OTHER)
    return tmp_path


def said_by(program: Path) -> str:
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_objects_with_kernels_of_their_own_are_one_program(kw: Kw, folder: Path) -> None:
    done = kw("compile", "-c", "main.cu", "other.cu")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.glob("*.o")) == ["main.o", "other.o"]
    done = kw("compile", "main.o", "other.o")
    assert done.returncode == 0, done.stderr
    assert said_by(folder / "a.out") == SAID


def test_objects_as_nvcc_names_them(kw: Kw, folder: Path) -> None:
    for source, target in (("main", "main.obj"), ("other", "other.o")):
        done = kw("compile", "-c", "-dc", f"{source}.cu", "-o", target)
        assert done.returncode == 0, done.stderr
    done = kw("compile", "-rdc=true", "main.obj", "other.o", "-o", "app")
    assert done.returncode == 0, done.stderr
    assert said_by(folder / "app") == SAID


def test_objects_sources_and_those_of_a_c_compiler(kw: Kw, folder: Path) -> None:
    (folder / "other.c").write_text("int more(int n) { return n + 1; }\n")
    (folder / "main.cu").write_text(KERNEL.replace("int more", 'extern "C" int more'))
    assert kw("compile", "--emit", "obj", "other.c", "-o", "c.o").returncode == 0
    done = kw("compile", "main.cu", "c.o", "-o", "app")
    assert done.returncode == 0, done.stderr
    assert said_by(folder / "app") == "43\n"


@pytest.mark.parametrize("name", ["app.out", "app-1.2", "app.exe"])
def test_a_program_may_have_a_suffix(kw: Kw, folder: Path, name: str) -> None:
    done = kw("compile", "main.cu", "other.cu", "-o", name)
    assert done.returncode == 0, done.stderr
    assert said_by(folder / name) == SAID


@pytest.mark.skipif(shutil.which("make") is None or shutil.which("ar") is None, reason="there is no make here")
def test_a_makefile_for_nvcc(kw: Kw, folder: Path, tmp_path: Path) -> None:
    """Objects, an archive of one, libraries by name: nothing changed but the compiler's name."""
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "kw").write_text(f'#!/bin/sh\nexec {kw_command()} "$@"\n')
    (folder / "kw").chmod(0o755)
    cache = str(tmp_path / "cache")
    done = subprocess.run(
        ["make", f"NVCC={folder / 'kw'} compile"], cwd=folder, capture_output=True, text=True, timeout=300,
        env={**environment(), "KERNELWRIGHT_CACHE": cache},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert said_by(folder / "app") == SAID


def kw_command() -> str:
    import sys

    return f"{sys.executable} -m kernelwright"


def environment() -> dict[str, str]:
    import os

    from tests.cli.conftest import SRC

    return {**os.environ, "PYTHONPATH": SRC}


def test_a_dependency_file_names_what_was_read(kw: Kw, folder: Path) -> None:
    (folder / "size.h").write_text("#define SIZE 4\n")
    (folder / "main.cu").write_text('#include "size.h"\n' + KERNEL)
    assert kw("compile", "-c", "-MMD", "-MP", "main.cu", "-o", "out.o").returncode == 0
    rule = (folder / "out.d").read_text()
    assert rule.startswith("out.o:") and "main.cu" in rule and "\nsize.h:" in rule and "kernelwright" not in rule
    assert kw("compile", "-c", "-MD", "-MF", "deps", "-MT", "x", "main.cu").returncode == 0
    rule = (folder / "deps").read_text()
    assert rule.startswith("x:") and "size.h" in rule and "kernelwright_cuda.h" in rule
    done = kw("compile", "-MD", "main.cu", "other.cu", "-o", "app")
    assert done.returncode == 0 and "ignored: -MD" in done.stderr
    done = kw("compile", "-c", "-MF", "deps", "main.cu")
    assert done.returncode == 0 and "ignored: -MF" in done.stderr
    done = kw("compile", "-c", "-MD", "-MF", "deps", "main.cu", "other.cu")
    assert done.returncode == 2 and "have one -MF deps" in done.stderr


@pytest.mark.parametrize("command", ["run", "check", "profile"])
def test_an_object_is_no_program(kw: Kw, folder: Path, command: str) -> None:
    (folder / "app.o").write_bytes(b"\x7fELF")
    done = kw(command, "app.o")
    assert (
        done.returncode == 2 and "app.o is no whole program" in done.stderr and "next: kw compile app.o" in done.stderr
    )


def test_functions_of_the_driver_that_are_not_there_are_refused(kw: Kw, folder: Path) -> None:
    (folder / "main.cu").write_text(
        KERNEL.replace("int more(int);", 'int more(int); extern "C" int cuGraphInstantiate(unsigned);').replace(
            "int *p, h", "cuGraphInstantiate(0); int *p, h"
        )
    )
    done = kw("compile", "main.cu", "other.cu", "-o", "app", "-lcuda")
    assert done.returncode == 2, done.stderr
    assert "main.cu uses cuGraphInstantiate, of the CUDA driver" in done.stderr and "cuda.h declares" in done.stderr


@pytest.mark.parametrize("flag", ["-I", "-isystem"])
def test_headers_of_an_installed_toolkit_are_not_mixed_with_ours(kw: Kw, folder: Path, flag: str) -> None:
    """Makefiles name them, as Rodinia's do; other folders are searched as ever."""
    for name, text in (
        ("toolkit/cuda_runtime.h", "#error mixed\n"),
        ("toolkit/crt/host_config.h", ""),
        ("mine/size.h", ""),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "main.cu").write_text("#include <size.h>\n#include <cuda_runtime.h>\n" + KERNEL)
    done = kw("compile", "-c", "main.cu", flag, "toolkit", flag, "mine")
    assert done.returncode == 0, done.stderr
    assert f"ignored: {flag} toolkit (our own headers take its place" in done.stderr and "mine" not in done.stderr


DEVICE = "__device__ int elsewhere(int);\n__global__ void k(int *p) { *p = elsewhere(*p); }\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-c", "main.cu", "other.cu", "-o", "x.o"), "2 files do not fit into one x.o"),
        (("-c", "main.cu", "-o", "-"), "an object is not printed"),
        (("-c", "main.cu", "-ptx"), "one compile makes one thing"),
        (("gone.o", "-o", "app"), "gone.o does not exist"),
        (("-c", "junk.o"), "junk.o is compiled already"),
        (("junk.o", "-o", "app"), "junk.o is neither an object file nor a program"),
        (("-c", "main.cu", "-o", "main.cu"), "would be written over"),
        (("-c", "main.cu", "-o", "nowhere/main.o"), "there is no folder"),
        (("-c", "far.cu"), "uses elsewhere, which that file declares"),
        (("main.cu", "-o", "main.o"), "does not say what to make"),
        (("main.cu", "-o", "libmain.so"), "does not say what to make"),
        (("main.cu", "-o", "main.bc"), "does not say what to make"),
    ],
)
def test_what_cannot_be(kw: Kw, folder: Path, words: tuple[str, ...], said: str) -> None:
    (folder / "junk.o").write_text("not an object\n")
    (folder / "far.cu").write_text(DEVICE)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = kw("compile", *words)
    assert done.returncode == 2, done.stderr or done.stdout
    assert said in done.stderr and "next: " in done.stderr and "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
