"""The device pass on real files: what comes out, and what each mistake says."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cuda.clang import find_clang, system_cxx
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.pipeline import compile as compile_program

KERNEL = "__global__ void k(float *p) { p[threadIdx.x] = 1; }\n"


def compile_text(folder: Path, text: str, options: SourceOptions | None = None, hermetic: bool | None = None) -> str:
    path = folder / "app.cu"
    path.write_text(text)
    return device_pass(path, options or SourceOptions(), find_clang(hermetic=hermetic)).text


@pytest.mark.parametrize("hermetic", [True, False])
def test_a_kernel_becomes_ir(tmp_path: Path, hermetic: bool) -> None:
    if not hermetic and system_cxx() is None:
        pytest.skip("no system C++ compiler")
    text = compile_text(tmp_path, KERNEL, hermetic=hermetic)
    assert "define dso_local ptx_kernel void @_Z1kPf" in text
    assert 'target triple = "nvptx64-nvidia-cuda"' in text


def test_debug_lines_are_those_of_the_users_file(tmp_path: Path) -> None:
    text = compile_text(tmp_path, "\n\n" + KERNEL)
    assert "line: 3" in text
    assert "app.cu" in text


def test_lenient_launch_compiles(tmp_path: Path) -> None:
    assert "ptx_kernel" in compile_text(tmp_path, KERNEL + "void f(float *p) { k<< <1, 2>> >(p); }\n")


def test_lenient_launch_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "launch.cuh").write_text("void f(float *p) { k<< <1, 2>> >(p); }\n")
    assert "ptx_kernel" in compile_text(tmp_path, KERNEL + '#include "launch.cuh"\n')


def test_templates_cross_the_border(tmp_path: Path) -> None:
    """Paper 002, Figure 2: host code instantiates a device template."""
    text = compile_text(
        tmp_path,
        """
        template <int N> __global__ void kernel(float *y) { y[threadIdx.x] = N; }
        template <int N> void host(float *y) { kernel<N><<<1, 128>>>(y); }
        void run(float *y) { host<4>(y); }
        """,
    )
    assert "_Z6kernelILi4EEvPf" in text


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("__global__ void k() {\n  int x = ;\n}\n", 2, 11, "expected expression"),
        ("__global__ void k() { undefined_thing(); }\n", 1, 23, "undeclared identifier"),
        ('#include "nowhere.h"\n', 1, 10, "file not found"),
        ("int h();\n__global__ void k() { h(); }\n", 2, 23, "__host__ function"),
    ],
)
def test_mistakes_name_their_place(tmp_path: Path, text: str, line: int, column: int, says: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_text(tmp_path, text)
    place = caught.value.place
    assert place is not None
    assert (place.line, place.column) == (line, column)
    assert says in caught.value.message
    assert caught.value.hint
    assert place.text == text.splitlines()[line - 1]


def test_columns_are_right_after_a_lenient_launch(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        compile_text(tmp_path, KERNEL + "void f(float *p) { k<< <1, 2>> >(p); oops; }\n")
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (2, 38)


@pytest.mark.parametrize("name", ["missing.cu", "."])
def test_what_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(Misuse):
        device_pass(tmp_path / name, SourceOptions(), find_clang())


def test_unknown_architecture_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="sm_90"):
        compile_text(tmp_path, KERNEL, SourceOptions(arch="sm_91"))


def test_unknown_clang() -> None:
    with pytest.raises(Misuse, match="no clang"):
        find_clang(clang="/nowhere/clang")


def test_a_clang_that_is_none() -> None:
    with pytest.raises(ToolError, match="does not answer like clang"):
        find_clang(clang="true")


def test_a_toolkit_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="no CUDA toolkit"):
        find_clang(cuda_path=str(tmp_path))


def test_dependencies_hold_every_file(tmp_path: Path) -> None:
    (tmp_path / "with space.h").write_text("#define N 3\n")
    path = tmp_path / "app.cu"
    path.write_text('#include "with space.h"\n' + KERNEL)
    found = device_pass(path, SourceOptions(), find_clang()).dependencies
    assert str(path) in found
    assert str(tmp_path / "with space.h") in found
    assert all(Path(f).is_file() for f in found)


def test_lanes_without_a_value_take_no_branch(tmp_path: Path) -> None:
    """The idiom of every warp-aggregated atomic: only lane 0 has a value, the others get it from there."""
    path = tmp_path / "app.cu"
    path.write_text(
        """
        __device__ int first(int v) { return __shfl_sync(~0u, v, 0); }
        __global__ void k(int *n, int *o) {
            int base;
            if ((threadIdx.x & 31) == 0) base = atomicAdd(n, 1);
            o[threadIdx.x] = first(base);
        }
        """
    )
    ptx = compile_program(path, cache=False).ptx()
    before, _, _ = ptx.partition("atom.global.add")
    assert "bra" in before


def test_names_that_are_no_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("-x.cu", "@y.cu"):
        Path(name).write_text(KERNEL)
        assert "ptx_kernel" in device_pass(Path(name), SourceOptions(), find_clang()).text
