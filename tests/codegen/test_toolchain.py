"""What ``kw doctor`` is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kernelwright.codegen import toolchain as room
from kernelwright.codegen.machine.assemble import Assembler
from kernelwright.codegen.toolchain import Tool, find_llvm, find_tools, toolchain
from kernelwright.errors import Misuse
from kernelwright.passes import llvm


def test_llvm_is_named_with_both_versions() -> None:
    found = find_llvm()
    assert found is not None
    assert found.llvmlite.count(".") >= 1
    assert found.llvm.split(".")[0] == "22"


def test_everything_at_once() -> None:
    found = toolchain()
    assert found.llvm == find_llvm()
    assert found.libdevice is None or found.libdevice.name == "libdevice.10.bc"
    assert all(tool.version or tool.trouble for tool in found.assemblers)


def test_llvmlite_missing_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    llvm.binding.cache_clear()
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    try:
        assert find_llvm() is None
    finally:
        llvm.binding.cache_clear()


def test_a_tool_that_does_not_run_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = Assembler("ptxas", tmp_path / "ptxas")
    monkeypatch.setattr(room, "find_assemblers", lambda cuda_path=None: (broken,))
    (found,) = find_tools()
    assert isinstance(found, Tool) and found.version == ""
    assert "does not run" in found.trouble


def test_a_wrong_toolkit_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(Misuse):
        toolchain(tmp_path)
