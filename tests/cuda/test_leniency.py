"""What nvcc's host compiler accepts with a warning compiles; what it rejects as well stays an error; flags for it reach the host side."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.cuda.host import compile_host
from kernelwright.cuda.leniency import warned_about
from kernelwright.errors import CompileError
from kernelwright.executable import build_executable
from kernelwright.pipeline import compile as compile_program

KERNEL = "__global__ void k(float *p) { register int i = threadIdx.x; p[i] = i; }\n"

OLD_C = """
int main_part(x) int x; { return later(x) + strlen("abc"); }
int later(x) int x; { return x; }
untyped() { int *p = 3; int (*f)(void) = later; return p != 0 && f != 0; }
"""

OLD_CPP = """
#include <cstdio>
#define UNIT "m"
template <class T> struct A { template <class U> int f(U); int g(A<T> &b) { return b.template f(1); } };
int narrow(int n) { unsigned char c[] = {n}; register int i = c[0]; printf("%d"UNIT, i); return i; }
char *text = "literal";
"""

# `at` and `Of` are templates of a type that is not known yet: C++ asks for `.template at<2>`. One comes from a macro.
WITHOUT_KEYWORD = """
struct Array { template <int N> __device__ int at(int i) { return N * i; } template <int N> struct Of { typedef int type; }; };
#define FIRST(x) /* ü */ x.at<0>(7)
template <class A> __device__ int sum(A a, A *b) { typename A::Of<3>::type c = 1; return c + a.at<1>(2) + b->at<3>(10) + FIRST(a); }
template <class A> __global__ void k(A a, int *p) { *p = sum(a, &a); }
void launch(int *p) { k<<<1, 1>>>(Array(), p); }
"""


def host(tmp_path: Path, name: str, text: str, *flags: str, std: str | None = None) -> str:
    """The host side compiled; its warnings."""
    source = tmp_path / name
    source.write_text(text)
    options = SourceOptions(std=std, host=flags)
    return compile_host(source, None, tmp_path / "out.o", options, find_clang()).warnings


@pytest.mark.parametrize(
    ("name", "text", "std", "warning"),
    [
        ("old.c", OLD_C, None, "-Wimplicit-function-declaration"),
        ("old.cpp", OLD_CPP, "c++17", "-Wregister"),
        ("old.cu", KERNEL + OLD_CPP, "c++17", "-Wregister"),
    ],
)
def test_what_its_maker_compiled_compiles_with_a_warning(
    tmp_path: Path, name: str, text: str, std: str | None, warning: str
) -> None:
    assert warning in host(tmp_path, name, text, std=std)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
@pytest.mark.parametrize(("name", "text"), [("old.c", OLD_C), ("old.cpp", OLD_CPP.replace(".template f(1)", ".f(1)"))])
def test_gcc_is_as_lenient(tmp_path: Path, name: str, text: str) -> None:
    """The oracle: these are warnings of gcc, not of our taste."""
    source = tmp_path / name
    source.write_text(text)
    flags = [] if name.endswith(".c") else ["-std=c++17"]
    done = subprocess.run(
        ["gcc", *flags, "-c", str(source), "-o", str(tmp_path / "x.o")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "warning" in done.stderr


def test_device_code_may_say_register(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text(KERNEL)
    made = device_pass(source, SourceOptions(std="c++17"), find_clang())
    assert "-Wregister" in made.warnings and "define" in made.text


@pytest.mark.parametrize("text", ["void f() throw(int);", "int f( {"])
def test_what_gcc_rejects_stays_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(CompileError):
        host(tmp_path, "bad.cpp", text, std="c++17")


def test_every_name_is_one_that_clang_knows(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int x;")
    clang = find_clang()
    for kind in ("c", "c++"):
        names = [*warned_about(kind), "-Werror=unknown-warning-option"]
        done = subprocess.run(
            [*clang.command, *names, "-c", str(source), "-o", str(tmp_path / "a.o")], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_host_flags_reach_the_host_side_alone(tmp_path: Path) -> None:
    asks = "#if !defined(__CUDA_ARCH__) && !defined(__AVX2__)\n#error without AVX2\n#endif\n"
    with pytest.raises(CompileError, match="without AVX2"):
        host(tmp_path, "a.cu", asks + KERNEL, std="c++14")
    host(tmp_path, "a.cu", asks + KERNEL, "-mavx2", std="c++14")
    device_pass(tmp_path / "a.cu", SourceOptions(std="c++14", host=("-mavx2",)), find_clang())


def test_sums_of_the_host_wrap(tmp_path: Path) -> None:
    """As they do where nobody optimises, which is what nvcc does of itself. Without it the loop compares with 64 bits."""
    (tmp_path / "a.cu").write_text("""
int main(int argc, char **argv) {
    const int count = 100000 * argc;
    int *array = new int[count];
    for (int i = 0; i < count; i++) array[i] = (int)((unsigned)i * (unsigned)i);
    for (int i = 0; i < count; i++) if (array[i] != i * i || i + argc < i) return 1;
    return 0;
}
""")
    build_executable(compile_program(tmp_path / "a.cu"), [], tmp_path / "a")
    assert subprocess.run([tmp_path / "a"]).returncode == 0


def test_a_standard_for_cpp_says_nothing_of_c(tmp_path: Path) -> None:
    host(tmp_path, "a.c", "int x;", "-std=c++14")
    with pytest.raises(CompileError, match="unknown argument: '-fno-such'"):
        host(tmp_path, "a.c", "int x;", "-fno-such")


def test_a_source_with_other_letters_in_its_path(tmp_path: Path) -> None:
    """The name is in comments of the PTX, which assemblers take in ASCII alone, and is read back from them."""
    folder = tmp_path / "größe 大"
    folder.mkdir()
    source = folder / "prögram.cu"
    source.write_text("__global__ void k(float *p) {\n    p[threadIdx.x] = 1;\n}\n")
    program = compile_program(source)
    assert program.ptx().isascii()
    (kernel,) = program.kernels
    assert program.resources(kernel).registers > 0


def test_a_template_without_its_keyword_is_taken_for_one(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text(WITHOUT_KEYWORD)
    made = device_pass(source, SourceOptions(), find_clang())
    column = WITHOUT_KEYWORD.splitlines()[4 - 1].index("Of<3>") + 1
    asks = "is taken for a template; C++ asks for the keyword 'template' before it"
    assert made.warnings == f"{source}:4:{column}: warning: 'Of' {asks} (and 3 more)\n"
    assert all(f"_ZN5Array2atILi{n}EEEii(" in made.text for n in (0, 1, 3))
    host_side = compile_host(source, None, tmp_path / "a.o", SourceOptions(), find_clang())
    assert host_side.warnings == ""  # the device side has said it
    assert source.read_text() == WITHOUT_KEYWORD


def test_host_code_may_leave_the_keyword_out_as_well(tmp_path: Path) -> None:
    text = "struct A { template <int N> struct Of { typedef int type; }; };\n"
    use = "template <class T> int f(T) { typename T::Of<3>::type c = 1; return c; }\nint g() { return f(A()); }\n"
    assert "a.cpp:2:43: warning: 'Of' is taken for a template" in host(tmp_path, "a.cpp", text + use)


QUALIFIED = """
template <class S> struct Cast { template <int N> static __device__ void to(int *p) { for (int i = 0; i < N; i++) p[i] = i; } };
template <> struct Cast<int> {
    template <int N> static __device__ void to(int *p) { p[N] = 7; }
    template <int N> static __device__ void to(float *p) { p[N] = 7; }
};
template <class T, int M> __device__ void fill(int *p) { Cast<T>::to<M>(
    p); }
template <class T> __device__ void plain(int *p) { T::to<3>(p + 1), T::to<2>(p); }
__global__ void k(int *p) { fill<int, 4>(p), fill<Cast<int>, 5>(p), plain<Cast<float>>(p); }
"""


def test_static_templates_are_taken_for_templates_as_well(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text(QUALIFIED)
    made = device_pass(source, SourceOptions(), find_clang())
    assert "(and 2 more)" in made.warnings and "'to' is taken for a template" in made.warnings
    assert all(f"2toILi{n}E" in made.text for n in (2, 3, 4, 5))
    if shutil.which("nvcc"):
        done = subprocess.run(["nvcc", "-ptx", source, "-o", tmp_path / "a.ptx"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")
@pytest.mark.parametrize(("call", "accepted"), [("at<1>(2)", True), ("as<int>(2)", False)])
def test_nvcc_does_without_the_keyword_where_we_do(tmp_path: Path, call: str, accepted: bool) -> None:
    """The oracle: nvcc reads `a.at < 1 > (2)` first and asks what it was when the type is known; of a type it cannot."""
    source = tmp_path / "a.cu"
    more = "{ template <class T> __device__ T as(int i) { return i; } "
    source.write_text(WITHOUT_KEYWORD.replace("a.at<1>(2)", f"a.{call}").replace("{", more, 1))
    done = subprocess.run(["nvcc", "-c", source, "-o", tmp_path / "a.o"], capture_output=True, text=True)
    assert (done.returncode == 0) == accepted, done.stdout + done.stderr
    if accepted:
        device_pass(source, SourceOptions(), find_clang())
    else:
        with pytest.raises(CompileError, match="use 'template' keyword to treat 'as' as a dependent template name"):
            device_pass(source, SourceOptions(), find_clang())


def test_kernels_may_leave_the_keyword_out_in_headers_as_well(tmp_path: Path) -> None:
    header = tmp_path / "array.cuh"
    header.write_text("#pragma once\n" + WITHOUT_KEYWORD)
    source = tmp_path / "a.cu"
    source.write_text('#include "array.cuh"\n')
    assert f"{header}:5:" in device_pass(source, SourceOptions(), find_clang()).warnings
    assert "template at" not in header.read_text()


def test_what_else_is_wrong_is_told_where_it_is_written(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    line = "template <class A> __device__ void f() { typename A::Of<1> a; typename A::Of<2> b; missing; }"
    source.write_text(line + "\n")
    with pytest.raises(CompileError, match="undeclared identifier 'missing'") as caught:
        device_pass(source, SourceOptions(), find_clang())
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (1, line.index("missing") + 1)


def test_a_member_function_that_is_compared_stays_what_it_is(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text("struct A { __device__ int size(int); };\n__device__ bool f(A a) { return a.size < 3; }\n")
    with pytest.raises(CompileError, match="reference to non-static member function must be called\n") as caught:
        device_pass(source, SourceOptions(), find_clang())
    assert caught.value.place is not None and (caught.value.place.line, caught.value.place.column) == (2, 35)


def test_an_overloaded_function_that_is_no_member_stays_an_error(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    overloads = "template <int N> __device__ int f(int); template <int N> __device__ int f(float);\n"
    source.write_text(overloads + "__device__ void g() { f<3>; }\n")
    with pytest.raises(CompileError, match="overloaded function") as caught:
        device_pass(source, SourceOptions(), find_clang())
    assert caught.value.place is not None and (caught.value.place.line, caught.value.place.column) == (2, 23)


def test_a_program_may_leave_out_more_keywords_than_clang_names_at_once(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    uses = "\n".join(f"    typename A::Of<{i}> a{i};" for i in range(80))
    source.write_text(f"template <class A> __device__ void f() {{\n{uses}\n}}\n")
    assert "(and 79 more)" in device_pass(source, SourceOptions(), find_clang()).warnings
