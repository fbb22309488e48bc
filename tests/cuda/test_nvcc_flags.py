"""Command lines as people paste them from nvcc: read by two readers that must agree, and said honestly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
import typer
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.cli.commands import compile as room
from kernelwright.cli.commands.compile import OWN_FLAGS
from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, CompileFlags
from kernelwright.cli.support.nvcc_flags import NVCC_FLAGS, remarks
from kernelwright.cli.support.plain_flags import Flag, quick
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.errors import KernelwrightError, Misuse
from tests.cli.conftest import Kw, kw
from tests.examples import few

__all__ = ["kw"]  # the fixture

FLAGS = (*OWN_FLAGS, *COMPILE_FLAGS)
KERNEL = "__global__ void k(float *p, float a) { p[threadIdx.x] = p[threadIdx.x] * a + NAME; }\n"


@pytest.fixture(scope="module")
def slow_reader() -> click.Command:
    app = typer.Typer()
    app.command()(room.command)
    return typer.main.get_command(app)


def read(line: str) -> CompileFlags:
    """What the quick reader and the flags' meanings make of a line."""
    found = quick(line.split(), FLAGS)
    assert found is not None, line
    return CompileFlags.of(found[1])


# ---- the two readers ----


def comparable(values: dict[str, Any]) -> dict[str, Any]:
    """click keeps several values in a tuple until it calls the command, and an empty one where we keep None."""
    return {name: (list(v) if isinstance(v, tuple) else v) or None for name, v in values.items()}


def values() -> st.SearchStrategy[str]:
    plain = st.sampled_from(
        ["1", "3", "03", "12", "x", "c++17", "a=b", "=", "true", "-", "--", "-O2", "x.cu", "a b", "arch=sm_80"]
    )
    return plain | st.text(alphabet="-=ODIgx3 .u,", max_size=5)


@st.composite
def words(draw: st.DrawFn, flag: Flag) -> list[str]:
    """A flag with a value, in one of the ways people attach values; not always a fitting one."""
    spelling = draw(st.sampled_from(flag.spellings))
    value = draw(values())
    ways = [[spelling], [spelling, value], [f"{spelling}={value}"], [spelling + value]]
    return draw(st.sampled_from(ways))


def lines() -> st.SearchStrategy[list[str]]:
    some = st.sampled_from(FLAGS).flatmap(words)
    other = st.lists(st.sampled_from(["a.cu", "b.cpp", "-", "--", "-q", "--frob", "-gG", "-wv"]) | values(), max_size=1)
    return st.lists(some | other, max_size=6).map(
        lambda parts: ["first.cu", *(word for part in parts for word in part)]
    )


@settings(max_examples=few(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(line=lines())
@example(line=["first.cu", "-O12"])
@example(line=["first.cu", "-I=here", "-D=1", "-O=1"])
@example(line=["first.cu", "--arch", "-O2", "-wv"])
def test_the_quick_reader_agrees_with_typer_or_stands_back(slow_reader: click.Command, line: list[str]) -> None:
    found = quick(line, FLAGS)
    if found is None:
        return
    try:
        typers: dict[str, Any] = slow_reader.make_context("kw", list(line)).params
    except click.UsageError as error:
        pytest.fail(f"typer refuses {line}: {error.format_message()}")
    positional, quicks = found
    assert list(typers.pop("sources")) == positional
    assert comparable(typers) == comparable(quicks)


def test_the_quick_reader_knows_what_is_pasted() -> None:
    """Were it to stand back always, it would agree as well."""
    positional, found = quick(
        ["a.cu", "-O2", "-Ifoo", "-I", "bar", "-arch=sm_90", "-DN=3", "-Xptxas", "-v"], FLAGS
    ) or ([], {})
    assert positional == ["a.cu"]
    assert (found["level"], found["include"], found["arch"]) == (2, ["foo", "bar"], "sm_90")
    assert found["define"] == ["N=3"]


def test_no_two_flags_share_a_name_or_a_spelling() -> None:
    spellings = [spelling for flag in FLAGS for spelling in flag.spellings]
    assert len(spellings) == len(set(spellings))
    assert len({flag.name for flag in FLAGS}) == len(FLAGS)


def test_every_flag_of_nvccs_is_explained() -> None:
    for flag in NVCC_FLAGS:
        assert flag.why or flag.usual, flag.spellings
        assert flag.kind in ("switch", "text", "texts")


# ---- what they mean ----


def test_a_whole_pasted_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.cuda.openmp.find_openmp", lambda: None)
    flags = read(
        "a.cu -arch=sm_90 -O2 -std=c++17 -lineinfo -Iinc -I more -DNAME=1 -D OTHER -UGONE --use_fast_math "
        "--ptxas-options=-v -Xcompiler -fopenmp -Xptxas -v -ccbin g++ -m64 -G -g -v "
        "--expt-relaxed-constexpr --extended-lambda -rdc=true --default-stream legacy"
    )
    assert flags.options.source == SourceOptions(
        arch="sm_90",
        include=("inc", "more"),
        define=("NAME=1", "OTHER"),
        undefine=("GONE",),
        std="c++17",
        fast_math=True,
    )
    assert (flags.options.passes.level, flags.options.line_info) == (2, True)
    ignored, end = flags.remarks.split("\n")
    assert end == ""
    assert ignored.startswith("kw: ignored: ")
    for flag in (" -Xptxas -v (", " -Xcompiler -fopenmp (", " -ccbin g++ (", " -G (", " -g (", ", -v ("):
        assert ignored.count(flag) == 1, flag
    for flag in ("-m64", "constexpr", "lambda", "rdc", "stream", "-O"):
        assert flag not in ignored


@pytest.mark.parametrize(
    ("line", "arch", "also", "others"),
    [
        ("a.cu", DEFAULT_ARCHITECTURE, (), []),
        ("a.cu -gencode arch=compute_90,code=sm_90", "sm_90", (), []),
        ("a.cu -gencode=arch=compute_90,code=compute_90", "sm_90", (), []),
        ("a.cu --generate-code arch=compute_86", "sm_86", (), []),
        ('a.cu -gencode arch=compute_75,code=\\"sm_75,compute_75\\"', "sm_75", (), []),
        ("a.cu -gencode arch=compute_75,code=[sm_75,compute_75]", "sm_75", (), []),
        ("a.cu -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=sm_80", "sm_80", ("sm_90",), []),
        ("a.cu -gencode arch=compute_35,code=sm_35 -gencode arch=compute_80,code=sm_80", "sm_80", (), ["sm_35"]),
        (
            "a.cu -gencode arch=compute_35,code=sm_35 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90",
            "sm_80", ("sm_90",), ["sm_35"],
        ),
        ("a.cu -gencode arch=compute_75,code=sm_75 -arch=sm_90", "sm_90", (), []),
        ("a.cu -arch=compute_75", "sm_75", (), []),
        ("a.cu -arch=compute_75 -code=sm_86", "sm_86", (), []),
        ("a.cu -arch compute_75 -code sm_90,sm_86", "sm_86", ("sm_90",), []),
        ("a.cu -gencode arch=compute_120a,code=sm_120 -gencode arch=compute_100,code=sm_100a", "sm_100a", ("sm_120",), []),
    ],
)  # fmt: skip
def test_architectures(line: str, arch: str, also: tuple[str, ...], others: list[str]) -> None:
    flags = read(line.replace("\\", ""))
    assert flags.options.source.arch == arch and flags.names_arch == (line != "a.cu")
    assert flags.options.also == also
    alone = f" and {', '.join(also)}" if also else " alone"
    said = f"kw: compiling for {arch}{alone}, not for {', '.join(others)}: --arch chooses\n" if others else ""
    assert flags.remarks == said


@pytest.mark.parametrize(
    ("line", "gpu", "arch"),
    [
        ("a.cu", "sm_90", "sm_90"),
        ("a.cu -arch sm_75", "sm_90", "sm_75"),
        ("a.cu -code sm_60,sm_80,sm_90", "sm_89", "sm_80"),
        ("a.cu -code sm_60,sm_80,sm_90", "sm_120", "sm_90"),
        ("a.cu -code sm_80,sm_90", "sm_70", "sm_80"),
    ],
)
def test_where_the_gpu_is_known_one_architecture_is_compiled_for(line: str, gpu: str, arch: str) -> None:
    flags = read(line).for_arch(gpu)
    assert (flags.options.source.arch, flags.options.also) == (arch, ())


@pytest.mark.parametrize(
    "line", ["-arch=sm_20", "-arch sm_13", "-gencode arch=compute_35,code=sm_35", "-arch=compute_30 -code=sm_52"]
)
def test_architectures_that_nobody_makes_code_for_any_longer(line: str) -> None:
    flags = read(f"a.cu {line}")
    assert flags.options.source.arch == "sm_60"
    asked = line[-5:]
    assert flags.remarks == f"kw: compiling for sm_60, the oldest there is, not for {asked}: --arch chooses\n"


@pytest.mark.parametrize("line", ["-arch=native", "-arch=all-major", "--gpu-architecture all"])
def test_whatever_architecture_there_is(line: str) -> None:
    flags = read(f"a.cu {line}")
    assert flags.options.source.arch == DEFAULT_ARCHITECTURE
    assert flags.remarks.startswith(f"kw: compiling for {DEFAULT_ARCHITECTURE} alone, not for ")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("-gencode arch=compute_99,code=sm_99", "unknown architecture 'sm_99'"),
        ("-arch=sm_20 -code=sm_99", "unknown architecture 'sm_99'"),
        ("-gencode sm_80", "-gencode sm_80 is not arch=...,code=..."),
        ("-dw", "-dw is not supported"),
        ("-shared", "no libraries are made"),
        ("-m32", "-m32 is not supported"),
        ("-x c++", "-x=c++ is not supported"),
        ("-E", "-E is not supported"),
        ("-ftz=maybe", "-ftz=maybe is neither true nor false"),
        ("--default-stream mine", "--default-stream mine is not known"),
        ("-Xcompiler -D", "-Xcompiler -D lacks its value"),
        ("--headers amd", None),
    ],
)
def test_what_is_refused_is_refused_by_name(line: str, says: str | None) -> None:
    if says is None:
        assert read(f"a.cu {line}").options.headers == "amd"  # refused where the headers are looked for
        return
    with pytest.raises(Misuse) as caught:
        read(f"a.cu {line}")
    assert says in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-ftz=true", {"flush_denormals": True}),
        ("--ftz=false --fmad true", {}),
        ("-fmad=false", {"fuse": False}),
        ("-w", {"extra": ("-w",)}),
        ("-isystem sys -include first.h", {"extra": ("-isystem", "sys", "-include", "first.h")}),
        ("-Xcompiler -DA=1,-Iinc,-UB", {"define": ("A=1",), "include": ("inc",), "undefine": ("B",)}),
        ("-Xcompiler=-D,A", {"define": ("A",)}),
        ("-Xcompiler -O3,-Wall -Xcompiler -march=native", {"host": ("-O3", "-Wall", "-march=native")}),
        ("-Xcompiler=-include,first.h", {"host": ("-include", "first.h")}),
    ],
)
def test_flags_with_a_meaning(line: str, expected: dict[str, Any]) -> None:
    flags = read(f"a.cu {line}")
    assert flags.options.source == SourceOptions(**expected)
    assert flags.remarks == ""


def test_what_is_the_linkers_is_not_for_the_host_compiler() -> None:
    flags = read("a.cu -Xcompiler -rdynamic,-Wl,-s")
    assert flags.options.source.host == ()
    assert "-rdynamic" in flags.remarks and "-Xlinker" in flags.remarks


def test_each_threads_own_stream_needs_nvidias_headers() -> None:
    ours = read("a.cu --default-stream per-thread")
    assert ours.options.source.extra == ()
    assert "--default-stream per-thread (with our headers" in ours.remarks
    theirs = read("a.cu --default-stream=per-thread --headers nvidia")
    assert theirs.options.source.extra == ("-Xclang", "-fgpu-default-stream=per-thread")
    assert theirs.remarks == ""


@given(st.lists(st.sampled_from(NVCC_FLAGS).flatmap(words), max_size=4))
def test_remarks_name_what_was_given_or_refuse(parts: list[list[str]]) -> None:
    """Whatever of nvcc's is on a line, each flag ends as a remark, a refusal or a value that holds anyway."""
    found = quick([word for part in parts for word in part], FLAGS)
    if found is None:
        return
    given_names = {flag.name for flag in NVCC_FLAGS if found[1][flag.name]}
    try:
        said = list(remarks(found[1]))
    except KernelwrightError as error:
        assert "is not supported" in str(error)
        return
    silent = {f.name for f in NVCC_FLAGS if f.usual and f.name in given_names}
    assert len(said) >= len(given_names - silent)


# ---- as a user meets them ----


def test_the_command_takes_a_pasted_line(kw: Kw, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(KERNEL)
    line = "compile -arch=sm_80 -O3 -std=c++17 -DNAME=1 -Xptxas -v -w -ftz=true -fmad=false app.cu -o app.ptx"
    first = kw(*line.split())
    assert first.returncode == 0, first.stderr
    assert first.stderr == "kw: ignored: -Xptxas -v (the assembler runs with its defaults)\n"
    ptx = (tmp_path / "app.ptx").read_text()
    assert "mul.rn.ftz.f32" in ptx and "add.rn.ftz.f32" in ptx and "fma" not in ptx
    again = kw(*line.split())
    assert (again.returncode, again.stderr) == (0, first.stderr)
    assert kw("compile", "-shared", "app.cu").returncode == 2


def test_nvccs_ways_to_say_what_to_make(kw: Kw, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(KERNEL)
    done = kw("compile", "-cubin", "-DNAME=1", "app.cu")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "app.cubin").read_bytes().startswith(b"\x7fELF")
    both = kw("compile", "-cubin", "-ptx", "app.cu")
    assert (both.returncode, "cubin and ptx" in both.stderr) == (2, True)


def test_nvccs_libraries_are_ours(kw: Kw, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(KERNEL + "int main() { k<<<1, 1>>>(0, 1); }\n")
    line = "compile app.cu -o app -DNAME=1 --emit exe -lcudart -lcudadevrt -lm -Xlinker -rpath,/nowhere -Xlinker -z -Xlinker now"
    done = kw(*line.split())
    assert done.returncode == 0, done.stderr
    assert done.stderr == "kw: ignored: -lcudart -lcudadevrt (our CUDA runtime takes its place)\n"
    assert b"/nowhere" in (tmp_path / "app").read_bytes()
