"""The short description of LLVM's functions says the same as llvmlite's long one, and gives the same results."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from llvmlite.binding import ffi

from kernelwright.codegen import ptx
from kernelwright.errors import CompileError, IRError
from kernelwright.passes import libdevice, llvm, optimise, quick_llvm
from kernelwright.passes.options import PassOptions
from tests.passes.listing import example

MATH = """
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare double @__nv_sin(double)
define ptx_kernel void @k(ptr %p, i64 %n, i64 %m) {
  %x = load double, ptr %p
  %y = call double @__nv_sin(double %x)
  store double %y, ptr %p
  %q = sdiv i64 %n, %m
  %r = getelementptr i64, ptr %p, i64 1
  store i64 %q, ptr %r
  ret void
}
define ptx_kernel void @odd(ptr %"a b") optnone noinline {
"a block":
  br label %0
0:
  ret void
}
"""


def size_of(kind: Any) -> int:
    return 0 if kind is None else ctypes.sizeof(kind)


@pytest.mark.parametrize("name", quick_llvm.FUNCTIONS)
def test_llvmlite_says_the_same(name: str) -> None:
    theirs = getattr(ffi.lib, f"LLVMPY_{name}")
    returned, *taken = quick_llvm.FUNCTIONS[name]
    assert [size_of(kind) for kind in taken] == [size_of(kind) for kind in theirs.argtypes or ()]
    # ctypes takes what is not described for a number, and a C++ bool is read from the lowest byte of one.
    if theirs.restype is not ctypes.c_bool and returned is not None:
        assert size_of(returned) == size_of(theirs.restype)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    assert quick_llvm.load()
    llvm._ready(quick_llvm)
    for module in (llvm, libdevice, optimise):
        monkeypatch.setattr(module, "engine", lambda: quick_llvm)


@pytest.mark.parametrize("options", [PassOptions(), PassOptions(0), PassOptions.of(2, ["bypass", "internal"])], ids=str)
def test_results_are_the_same(
    options: PassOptions, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if libdevice.find_libdevice() is None:
        pytest.skip("no libdevice")
    texts = [MATH, *(example(name) for name in ("figure4", "figure6"))]
    want = [ptx.generate(text, "sm_80", options) for text in texts]
    linked = libdevice.linked_text(MATH)
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    libdevice._prune.cache_clear()
    request.getfixturevalue("quick")
    found = [ptx.generate(text, "sm_80", options) for text in texts]
    assert [(f.ir, f.ptx) for f in found] == [(w.ir, w.ptx) for w in want]
    assert libdevice.linked_text(MATH) == linked


@pytest.mark.usefixtures("quick")
def test_mistakes_are_told_alike() -> None:
    with pytest.raises(IRError, match="does not parse"):
        ptx.emit_ptx("define void @f( {")
    with pytest.raises(IRError, match="refuses"):
        ptx.emit_ptx("define i32 @f() {\n  ret i32 0\n}\ndeclare void @f2()\n@a = alias i32, ptr @f2")
    with pytest.raises(CompileError, match="no such device function: __nv_nothing"):
        libdevice.linked_text(MATH.replace("__nv_sin", "__nv_nothing"))


@pytest.mark.parametrize("missing", ["GetVersionInfo", "ParseAssembly"])
def test_another_library_is_not_taken(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    functions = {"No" + name if name == missing else name: kinds for name, kinds in quick_llvm.FUNCTIONS.items()}
    monkeypatch.setattr(quick_llvm, "FUNCTIONS", functions)
    assert not quick_llvm.load()


def test_another_llvm_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_llvm, "MAJOR", 23)
    assert not quick_llvm.load()
    monkeypatch.setattr(sys, "path", [])
    assert not quick_llvm.load()


def test_the_command_takes_it() -> None:
    """A command that compiles and ends never imports llvmlite."""
    script = """
import os, sys
from kernelwright.passes import command_fork
ended = command_fork.take()
if ended is not None:
    os._exit(ended)
from kernelwright.passes.llvm import engine
print(engine().__name__, "llvmlite" in sys.modules, flush=True)
os._exit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (7, "kernelwright.passes.quick_llvm False\n"), done.stderr
