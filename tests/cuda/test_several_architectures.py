"""A program compiled for several architectures carries the code of each, and runs that of the newest that its GPU knows (paper 002,
section 2.1)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kernelwright.architectures import runs_on
from kernelwright.cuda import blob
from kernelwright.cuda.blob import Blob
from tests.kw_process import kw

SOURCE = """
#include <cstdio>
__device__ int other(int x);
__global__ void which(int *out) {
#if __CUDA_ARCH__ >= 900
  *out = 900 + other(1);
#elif __CUDA_ARCH__ >= 800
  *out = 800 + other(1);
#else
  *out = 600 + other(1);
#endif
}
int main() {
  int *out, found = 0;
  cudaMalloc(&out, sizeof found);
  which<<<1, 1>>>(out);
  cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost);
  printf("%d\\n", found);
}
"""
OTHER = """
__device__ int other(int x) {
#if __CUDA_ARCH__ >= 900
  return x + 9;
#else
  return x + 8;
#endif
}
"""
THREE = [word for n in (60, 80, 90) for word in ("-gencode", f"arch=compute_{n},code=sm_{n}")]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("architectures")
    (folder / "app.cu").write_text(SOURCE)
    (folder / "other.cu").write_text(OTHER)
    done = kw("compile", *THREE, "app.cu", "other.cu", "-o", "app", cwd=folder)
    assert done.returncode == 0 and "not for" not in done.stderr, done.stderr
    return folder / "app"


@pytest.mark.parametrize(
    ("device", "found"), [("h200", "910"), ("a100", "809"), ("rtx3090", "809"), ("t4", "609"), ("p100", "609")]
)
def test_a_gpu_runs_the_newest_code_that_it_knows(program: Path, device: str, found: str) -> None:
    done = kw("run", "--device", device, "./app", cwd=program.parent)
    assert done.stdout == f"{found}\n", done.stderr


def test_an_object_and_a_fatbin_have_all_of_it(program: Path) -> None:
    folder = program.parent
    (folder / "alone.cu").write_text(
        SOURCE.replace("other(1)", "1").replace("__device__ int 1;", "").replace("__device__ int other(int x);", "")
    )
    done = kw("compile", *THREE, "-fatbin", "alone.cu", "-o", "alone.fatbin", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = blob.read((folder / "alone.fatbin").read_bytes())
    assert list(found.ptx) == ["sm_60", "sm_80", "sm_90"] and list(found.irs) == ["sm_80", "sm_90"]
    assert all(f".target {arch}" in text for arch, text in found.ptx.items())
    done = kw("compile", *THREE, "-c", "alone.cu", "-o", "alone.o", cwd=folder)
    assert done.returncode == 0, done.stderr
    done = kw("compile", "alone.o", "-o", "alone", cwd=folder)
    assert done.returncode == 0, done.stderr
    ran = kw("run", "--device", "h200", "./alone", cwd=folder)
    assert ran.stdout == "901\n", ran.stderr


def test_what_has_one_architecture_says_so(program: Path) -> None:
    folder = program.parent
    done = kw("compile", *THREE, "-ptx", "other.cu", "-o", "other.ptx", cwd=folder)
    assert done.returncode == 0 and "kw: ptx for sm_60 alone, not for sm_80, sm_90: --arch chooses" in done.stderr
    done = kw("compile", *THREE, "-dc", "other.cu", "-o", "other.o", cwd=folder)
    assert done.returncode == 0 and "kw: compiled for sm_60 alone, not for sm_80, sm_90" in done.stderr


def test_code_for_a_gpu() -> None:
    one = Blob("a.cu", "ir 80", ptx={"sm_80": "ptx 80"})
    assert one.for_arch("sm_90") is one and one.for_arch("sm_75") is one
    some = Blob(
        "a.cu",
        "ir 75",
        ptx={"sm_75": "p75", "sm_90": "p90", "sm_90a": "p90a"},
        irs={"sm_90": "ir 90", "sm_90a": "ir 90a"},
    )
    assert blob.read(blob.write(some)) == some
    assert [some.for_arch(arch).ir for arch in ("sm_70", "sm_75", "sm_89", "sm_90", "sm_100")] == [
        "ir 75", "ir 75", "ir 75", "ir 90a", "ir 90",
    ]  # fmt: skip
    assert some.for_arch("sm_100").ptx == {"sm_90": "p90"}
    assert runs_on("sm_80", "sm_90") and not runs_on("sm_90", "sm_80")
    assert runs_on("sm_90a", "sm_90") and not runs_on("sm_90a", "sm_100")


def test_an_error_in_the_code_of_one_architecture_is_told(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(
        "__global__ void k() {\n#if __CUDA_ARCH__ >= 900\n  nothing();\n#endif\n}\nint main() {}\n"
    )
    done = kw("compile", *THREE, "app.cu", "-o", "app", cwd=tmp_path)
    assert done.returncode == 2 and "nothing" in done.stderr and "app.cu:3" in done.stderr
    assert not (tmp_path / "app").exists()
    done = kw("compile", *THREE[:4], "app.cu", "-o", "app", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    subprocess.run([tmp_path / "app"], check=True, cwd=tmp_path)
