"""Objects whose device code is linked with that of others: ``-dc``, ``-rdc=true -c``. What they print is what one compile of all prints."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.cuda.objects.elf import read_elf
from kernelwright.cuda.objects.relocatable import SECTION, Relocatable, pack, relocatables
from kernelwright.errors import ToolError

Kw = Callable[..., "subprocess.CompletedProcess[str]"]

MAIN = """
#include <cstdio>
#include "shared.h"
static __device__ int own = 3;
namespace { __global__ void hidden(float *p) { p[0] += own; } }
__global__ void use(float *p) { p[0] = scale(p[0]) + offset; }
int main()
{
    float h = 2, *d;
    int three = 30;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
    use<<<1, 1>>>(d);                                        // 2 * 2 + 10
    set(5);
    use<<<1, 1>>>(d);                                        // 2 * 14 + 5
    cudaMemcpyToSymbol(own, &three, sizeof three);
    hidden<<<1, 1>>>(d);                                     // + 30
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %s\\n", h, cudaGetErrorString(cudaGetLastError()));
}
"""
OTHER = """
#include "shared.h"
static __device__ int own = 1000;
__device__ int offset = 10;
static __device__ float twice(float x) { return 2 * x; }
__device__ float scale(float x) { return twice(x); }
namespace { __global__ void hidden(int to) { offset = to + own - 1000; } }
void set(int to) { hidden<<<1, 1>>>(to); }
"""
SHARED = """
extern __device__ int offset;
extern __device__ float scale(float);
void set(int to);
"""
SAID = "63 no error\n"
GONE = "__device__ float elsewhere(float);\n__global__ void k(float *p) { *p = elsewhere(*p); }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("main.cu", MAIN), ("other.cu", OTHER), ("shared.h", SHARED)):
        (tmp_path / name).write_text(text)
    return tmp_path


def ends_well(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr


def said_by(program: Path) -> str:
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_at_once_prints_the_same(kw: Kw, folder: Path) -> None:
    ends_well(kw("compile", "-rdc=true", "main.cu", "other.cu", "-o", "app"))
    assert said_by(folder / "app") == SAID


@pytest.mark.parametrize("flags", [("-dc",), ("-rdc=true", "-c"), ("--relocatable-device-code", "true", "-dc", "-c")])
def test_device_code_of_objects_is_linked(kw: Kw, folder: Path, flags: tuple[str, ...]) -> None:
    """Functions, variables, what is static in either file, kernels without a name outside."""
    ends_well(kw("compile", *flags, "main.cu", "other.cu"))
    ends_well(kw("compile", "main.o", "other.o", "-o", "app"))
    assert said_by(folder / "app") == SAID


def test_dlink_before_c_is_no_link(kw: Kw, folder: Path) -> None:
    """Build files say ``-rdc=true -dlink``, and CMake adds ``-c`` behind: nvcc takes the last."""
    for name in ("main", "other"):
        done = kw("compile", "-rdc=true", "-dlink", "-c", f"{name}.cu", "-o", f"{name}.o")
        ends_well(done)
        assert "kw: ignored: -dlink" in done.stderr
    ends_well(kw("compile", "main.o", "other.o", "-o", "app"))
    assert said_by(folder / "app") == SAID


def test_in_a_library_and_beside_sources(kw: Kw, folder: Path) -> None:
    ends_well(kw("compile", "-dc", "other.cu", "-o", "other.o"))
    subprocess.run(["ar", "rcs", str(folder / "libother.a"), str(folder / "other.o")], check=True)
    ends_well(kw("compile", "-dc", "main.cu"))
    ends_well(kw("compile", "main.o", "libother.a", "-o", "app"))
    assert said_by(folder / "app") == SAID
    ends_well(kw("compile", "main.cu", "other.o", "-o", "mixed"))
    assert said_by(folder / "mixed") == SAID


def test_files_of_one_name_in_two_folders(kw: Kw, folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "below" / "main.cu").write_text(OTHER.replace('"shared.h"', '"../shared.h"'))
    ends_well(kw("compile", "-dc", "main.cu", "-o", "one.o"))
    ends_well(kw("compile", "-dc", "main.cu", "-o", "../two.o", cwd=folder / "below"))
    ends_well(kw("compile", "one.o", "two.o", "-o", "app"))
    assert said_by(folder / "app") == SAID


def test_each_keeps_its_architecture(kw: Kw, folder: Path) -> None:
    ends_well(kw("compile", "-dc", "-arch=sm_75", "other.cu"))
    (code,) = relocatables([folder / "other.o"])
    assert (code.arch, code.source) == ("sm_75", "other.cu") and "define" in code.ir
    assert code.module and code.module in "".join(s.name for s in read_elf(folder / "other.o").symbols())


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({"gone.cu": GONE}, "uses elsewhere, which that file declares and no file of the program defines"),
        ({"again.cu": OTHER.replace("void set(int to) ", "void set_again(int to) ")}, "is defined in "),
    ],
)
def test_what_is_missing_or_twice_there(kw: Kw, folder: Path, sources: dict[str, str], said: str) -> None:
    for name, text in sources.items():
        (folder / name).write_text(text)
    ends_well(kw("compile", "-dc", "main.cu", "other.cu", *sources))
    done = kw("compile", *(f"{Path(name).stem}.o" for name in ("main", "other", *sources)), "-o", "app")
    assert done.returncode == 2 and said in done.stderr and "next: " in done.stderr, done.stderr
    assert not (folder / "app").exists()


def test_an_object_alone_says_what_would_link_it(kw: Kw, folder: Path) -> None:
    done = kw("compile", "-c", "main.cu")
    assert done.returncode == 2 and "-dc" in done.stderr, done.stderr


def test_a_flag_that_is_neither_true_nor_false(kw: Kw, folder: Path) -> None:
    done = kw("compile", "-rdc=maybe", "-c", "main.cu")
    assert done.returncode == 2 and "-rdc" in done.stderr and "maybe" in done.stderr and "next: " in done.stderr, (
        done.stderr
    )
    assert not (folder / "main.o").exists()


def test_device_code_of_another_version_is_refused(kw: Kw, folder: Path) -> None:
    ends_well(kw("compile", "-dc", "other.cu"))
    made = (folder / "other.o").read_bytes()
    content = read_elf(folder / "other.o").content(SECTION)
    assert content is not None and content.startswith(pack(Relocatable("", "", ""))[:8])
    for damaged in (content.replace(b"KWRDC1", b"KWRDC9"), content[:40] + bytes(len(content) - 40)):
        (folder / "other.o").write_bytes(made.replace(content, damaged))
        with pytest.raises(ToolError, match="another version of ours"):
            relocatables([folder / "other.o"])
        done = kw("compile", "other.o", "-o", "app")
        assert done.returncode == 3 and "compile it again with kw compile -dc" in done.stderr, done.stderr


def test_a_device_link_by_itself_is_not_done_again(kw: Kw, folder: Path) -> None:
    """``-dlink``: what it makes registers the device code of the objects, whichever linker makes the program."""
    assert kw("compile", "-dc", "main.cu", "other.cu").returncode == 0
    linked = kw("compile", "-dlink", "-shared", "-Xcompiler=-fPIC", "main.o", "other.o", "-o", "device.o")
    assert linked.returncode == 0, linked.stderr
    assert relocatables([folder / "main.o", folder / "other.o", folder / "device.o"]) == []
    assert len(relocatables([folder / "main.o", folder / "other.o"])) == 2
    assert kw("compile", "main.o", "other.o", "device.o", "-o", "app").returncode == 0
    assert said_by(folder / "app") == SAID


def test_a_device_link_of_nothing_and_of_sources(kw: Kw, folder: Path) -> None:
    (folder / "plain.c").write_text("int one(void) { return 1; }\n")
    assert kw("compile", "-c", "plain.c").returncode == 0
    assert kw("compile", "-dlink", "plain.o").returncode == 0
    assert (folder / "a_dlink.o").is_file()
    for words, says in (
        (["main.cu"], "-dlink takes objects"), (["plain.o", "main.cu"], "-dlink takes objects"), (["gone.o"], "gone.o does not exist"),
        (["plain.o", "-o", "plain.o"], "plain.o is a source"),
    ):  # fmt: skip
        done = kw("compile", "-dlink", *words)
        assert done.returncode == 2 and says in done.stderr, done.stderr


def test_a_device_link_that_lacks_a_function(kw: Kw, folder: Path) -> None:
    (folder / "gone.cu").write_text(GONE)
    assert kw("compile", "-dc", "gone.cu").returncode == 0
    done = kw("compile", "-dlink", "gone.o", "-o", "device.o")
    assert done.returncode == 2 and "elsewhere" in done.stderr and not (folder / "device.o").exists()


CHILD = """
__device__ int factor = 3;
static __device__ int more(int x) { return x + 1; }
__global__ void child(int *p) { p[threadIdx.x] = more(factor * p[threadIdx.x]); }
"""
PARENT = """
#include <cstdio>
extern __device__ int factor;
__global__ void child(int *p);
__global__ void parent(int *p) { factor = 5; child<<<1, 4>>>(p); }
int main() {
    int *p, h[4] = {1, 2, 3, 4};
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    child<<<1, 2>>>(p);
    parent<<<1, 1>>>(p);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %s\\n", h[0], h[1], h[2], h[3], cudaGetErrorString(cudaGetLastError()));
}
"""


@pytest.mark.parametrize("apart", [True, False])
def test_a_kernel_of_another_file_is_launched_from_the_device(kw: Kw, folder: Path, apart: bool) -> None:
    """With its variables and what it calls; it stays the kernel that the host launches as well."""
    (folder / "child.cu").write_text(CHILD)
    (folder / "parent.cu").write_text(PARENT)
    if apart:
        ends_well(kw("compile", "-dc", "parent.cu", "child.cu"))
    ends_well(
        kw("compile", "-rdc=true", *(("parent.o", "child.o") if apart else ("parent.cu", "child.cu")), "-o", "app")
    )
    done = subprocess.run(
        [folder / "app"], capture_output=True, text=True, timeout=120, env={**os.environ, "KERNELWRIGHT_DEVICE": "h200"}
    )
    assert done.stdout == "21 36 16 21 no error\n", done.stderr
