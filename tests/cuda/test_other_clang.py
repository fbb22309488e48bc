"""Another clang by ``--clang``: what its IR becomes here, and which clangs are refused, with what to do instead."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda import clang as room
from kernelwright.cuda.clang import LLVM_MAJOR, OLDEST_CLANG, OLDEST_CLANG_FOR_OUR_HEADERS, find_clang
from kernelwright.cuda.diagnostics import explain
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.errors import CompileError, Misuse
from kernelwright.executable import build_executable
from kernelwright.passes.llvm import binding
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program

KERNELS = """
#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
__constant__ float factor[4];
__device__ int counter;
template <class T> __global__ void scale(T *p, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= by;
}
__global__ void k(float *p, unsigned *u, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = fmaxf(p[threadIdx.x], factor[n]) + fmin(p[0], 2.0) + sqrtf(p[1]) + rint(p[2]) + fma(p[3], p[4], p[5]);
    __syncthreads();
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    float x = tile.shfl_down(s[threadIdx.x], 4) + __half2float(__float2half(p[3])) + sinf(p[6]);
    atomicAdd(&counter, __popc(__ballot_sync(~0u, x > 1)));
    atomicAdd(p + 7, x);
    int *fresh = new int(3);
    p[threadIdx.x] = x + *fresh + max(n, 3u);
    delete fresh;
}
int main() { scale<float><<<1, 32>>>(0, 2.0f, 3); k<<<1, 64>>>(0, 0, max(1, 2)); return (int)cudaDeviceSynchronize(); }
"""


def fake_clang(folder: Path, version: str) -> str:
    """A program that says it is clang."""
    path = folder / "clang-fake"
    path.write_text(f"#!/bin/sh\necho 'Some vendor clang version {version} (tags/x)'\n")
    path.chmod(0o755)
    return str(path)


def instructions(ptx: str) -> list[str]:
    """Operation of every instruction, in order."""
    return re.findall(r"^\t(?:@\S+ )?([a-z][\w.]*)[ \t;]", ptx, re.M)


def test_its_kernels_become_the_same_instructions(system_clang: str, tmp_path: Path) -> None:
    """The bundled clang is the oracle: the front end of another year may not change what the optimiser makes of a program."""
    source = tmp_path / "app.cu"
    source.write_text(KERNELS)
    theirs = compile_program(source, options=CompileOptions(clang=system_clang), cache=False)
    ours = compile_program(source, cache=False)
    assert theirs.kernels == ours.kernels
    assert len(instructions(ours.ptx())) > 100
    assert instructions(theirs.ptx()) == instructions(ours.ptx())


def test_atomics_that_it_lacks(system_clang: str, tmp_path: Path) -> None:
    source = tmp_path / "app.cu"
    source.write_text("__global__ void k(unsigned *p) { p[2] = atomicInc(p, 5) + atomicDec_block(p + 1, 7); }\n")
    made = compile_program(source, options=CompileOptions(clang=system_clang), cache=False)
    assert made.cubin().startswith(b"\x7fELF")


def test_its_ir_speaks_todays_words(system_clang: str, tmp_path: Path) -> None:
    """Kernels are told by their calling convention; an older clang told them by metadata."""
    source = tmp_path / "app.cu"
    source.write_text(KERNELS)
    unit = compile_program(source, options=CompileOptions(clang=system_clang), cache=False).units[0]
    assert unit.source.text.count("ptx_kernel") == 2
    assert "line: 9" in unit.source.text


def test_an_executable(system_clang: str, tmp_path: Path) -> None:
    source = tmp_path / "app.cu"
    source.write_text(KERNELS)
    made = compile_program(source, options=CompileOptions(clang=system_clang), cache=False)
    executable, warnings = build_executable(made, [], tmp_path / "app")
    assert warnings == ""
    ran = subprocess.run([str(executable)], capture_output=True, text=True, env={"KERNELWRIGHT_DEVICE": "none"})
    assert "no device here" in ran.stderr


def test_it_reads_nvidias_headers(extra: None, system_clang: str, tmp_path: Path) -> None:
    source = tmp_path / "app.cu"
    source.write_text(KERNELS)
    options = CompileOptions(clang=system_clang, headers="nvidia")
    assert compile_program(source, options=options, cache=False).cubin().startswith(b"\x7fELF")


# ---- clangs that are refused ----


def test_newer_than_our_llvm(tmp_path: Path) -> None:
    with pytest.raises(Misuse) as caught:
        find_clang(clang=fake_clang(tmp_path, f"{LLVM_MAJOR + 1}.0.0"))
    assert f"clang {LLVM_MAJOR + 1}" in caught.value.message
    assert f"LLVM {LLVM_MAJOR}" in caught.value.message
    assert caught.value.hint == f"give --clang one of {OLDEST_CLANG} to {LLVM_MAJOR}, or leave it out"


def test_the_llvm_that_is_meant_is_the_one_installed() -> None:
    assert binding().llvm_version_info[0] == LLVM_MAJOR


def test_a_bundled_clang_newer_than_our_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_wheel_version", lambda folder: ("23.1.0", "0.18.0"))
    with pytest.raises(
        Misuse, match=r"the ziglang 0\.18\.0 wheel is clang 23: LLVM 22 in llvmlite cannot read"
    ) as caught:
        find_clang()
    assert caught.value.hint == "pip install 'ziglang==0.17.*'"


def test_older_than_anything_works_with(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="is clang 14, and 16 is the oldest"):
        find_clang(clang=fake_clang(tmp_path, "14.0.6"))


def test_too_old_for_our_headers_but_not_for_nvidias(extra: None, tmp_path: Path) -> None:
    version = f"{OLDEST_CLANG_FOR_OUR_HEADERS - 1}.1.0"
    with pytest.raises(Misuse, match=f"need clang {OLDEST_CLANG_FOR_OUR_HEADERS} or later") as caught:
        find_clang(clang=fake_clang(tmp_path, version))
    assert caught.value.hint is not None and "--headers nvidia" in caught.value.hint
    assert find_clang(clang=fake_clang(tmp_path, version), headers="nvidia").version == version


def test_hermetic_and_another_clang_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="--hermetic means the bundled clang"):
        find_clang(clang=fake_clang(tmp_path, "20.1.0"), hermetic=True)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("<built-in>:1:10: fatal error: '__clang_cuda_runtime_wrapper.h' file not found", "libclang-common"),
        ("/x/y.h:387:10: fatal error: 'texture_fetch_functions.h' file not found", "too old for CUDA 13"),
        (
            "/x/shared_ptr_base.h:196:22: error: use of undeclared identifier 'noinline'",
            "too old for these CUDA headers",
        ),
        ("clang: error: unsupported CUDA gpu architecture: sm_121", "another --arch"),
    ],
)
def test_what_a_foreign_clang_says_comes_with_the_next_step(said: str, hint: str, tmp_path: Path) -> None:
    error = explain(said + "\n", tmp_path / "a.cu")
    assert isinstance(error, CompileError)
    assert hint in str(error.hint)


# ---- nothing of the machine's CUDA gets in by itself ----


@pytest.mark.parametrize("arch", ["sm_60", "sm_80", "sm_90a", "sm_121"])
def test_a_machine_without_cuda_compiles_all_the_same(tmp_path: Path, arch: str) -> None:
    """clang takes the PTX version, and with it the builtins it has, from a toolkit it happens to find."""
    source = tmp_path / "app.cu"
    source.write_text("__global__ void k(int *p) { *p = __shfl_sync(~0u, *p, 3); }\n")
    nowhere = SourceOptions(arch=arch, extra=(f"--cuda-path={tmp_path}",))
    text = device_pass(source, nowhere, find_clang()).text
    assert text == device_pass(source, SourceOptions(arch=arch), find_clang()).text
