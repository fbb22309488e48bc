"""NVRTC's options in all their spellings, and what is taken out of a module that was asked for names."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from kernelwright.device.nvrtc.compile import Request, compile_program, without_names
from kernelwright.device.nvrtc.options import BadOption, read_options


@pytest.mark.parametrize(
    ("given", "arch", "is_machine"),
    [
        ([], "sm_80", False),
        (["--gpu-architecture=sm_90"], "sm_90", True),
        (["-arch=compute_75"], "sm_75", False),
        (["-arch", "sm_89"], "sm_89", True),
        (["--gpu-architecture sm_90a"], "sm_90a", True),
        (["-arch=sm_88"], "sm_87", True),
        (["-arch=sm_52", "-arch=sm_80"], "sm_80", True),
    ],
)
def test_architectures(given: list[str], arch: str, is_machine: bool) -> None:
    options = read_options(given)
    assert (options.compile.source.arch, options.names_machine) == (arch, is_machine)


def test_what_reaches_the_compiler() -> None:
    given = ["-Ione", "-I", "two", "--include-path=three", "-DA", "-D B=2", "--define-macro=C=x=y", "-UD", "-std=c++14",
             "--use_fast_math", "-ftz=true", "--fmad=false", "-lineinfo", "--pre-include=first.h", "-w", "-dc", "-rdc=true",
             "--maxrregcount=32", "-default-device"]  # fmt: skip
    options = read_options(given, ["zero"])
    source = options.compile.source
    assert source.include == ("zero", "one", "two", "three")
    assert source.define == ("__CUDACC_RTC__=1", "A", "B=2", "C=x=y") and source.undefine == ("D",)
    assert (source.std, source.fast_math, source.flush_denormals, source.fuse) == ("c++14", True, True, False)
    assert source.extra[-3:] == ("-include", "first.h", "-w")
    assert options.compile.line_info and options.for_both
    assert read_options([]).compile.source.std == "c++17" and not read_options([]).for_both
    assert read_options(["-G"]).compile.passes.level == 0 and read_options([]).compile.passes.level == 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--frobnicate"], "unrecognized option --frobnicate"),
        (["-arch=native"], "invalid value"),
        (["-arch"], "missing value for option -arch"),
        (["--fmad=maybe"], "neither true nor false"),
        (["-dlto"], "link-time optimisation"),
        (["wrong"], "unrecognized option wrong"),
    ],
)
def test_options_that_are_refused(given: list[str], says: str) -> None:
    with pytest.raises(BadOption, match=says):
        read_options(given)


def test_names_are_taken_out_of_the_module() -> None:
    ir = (
        "@__kw_name_0 = dso_local addrspace(4) externally_initialized constant ptr @_Z1kIfEvPT_, align 8\n"
        "@_ZL1c = internal addrspace(4) constant [4 x float] zeroinitializer, align 4\n"
        "@_ZL2cc = internal addrspace(4) constant [4 x float] zeroinitializer, align 4\n"
        "@__kw_name_1 = dso_local addrspace(4) externally_initialized constant ptr addrspacecast "
        "(ptr addrspace(4) @_ZL1c to ptr), align 8\n"
        "@llvm.compiler.used = appending global [3 x ptr] [ptr addrspacecast (ptr addrspace(4) @__kw_name_0 to ptr), "
        "ptr addrspacecast (ptr addrspace(1) @kept to ptr), ptr addrspacecast (ptr addrspace(4) @__kw_name_1 to ptr)], "
        'section "llvm.metadata"\n'
    )
    text, names = without_names(ir, ("k<float>", "c"))
    assert names == {"k<float>": "_Z1kIfEvPT_", "c": "_ZL1c"}
    assert text == (
        "@_ZL1c = dso_local addrspace(4) externally_initialized constant [4 x float] zeroinitializer, align 4\n"
        "@_ZL2cc = internal addrspace(4) constant [4 x float] zeroinitializer, align 4\n"
        "@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @kept to ptr)], "
        'section "llvm.metadata"\n'
    )
    assert without_names(ir, ()) == (ir, {})


def test_sources_lie_in_the_cache_and_nothing_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    made = compile_program(Request("one.cu", 'extern "C" __global__ void one(int *p) { *p = 1; }'))
    assert "one" in made.ptx and not list((tmp_path / "temporary").iterdir())
    assert [path.name for path in (tmp_path / "cache" / "nvrtc").rglob("*.cu")] == ["one.cu"]
