"""PTX to machine code through whatever assembler is there, and its refusals in its own words."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from kernelwright.codegen.machine import assemble as assemble_module
from kernelwright.codegen.machine.assemble import Assembler, assemble, find_assemblers
from kernelwright.codegen.machine.cubin_elf import read_elf
from kernelwright.codegen.ptx import generate
from kernelwright.errors import CompileError, Misuse, ToolError
from tests.passes.listing import example

ASSEMBLERS = find_assemblers()

needs_assembler = pytest.mark.skipif(not ASSEMBLERS, reason="neither nvJitLink nor ptxas is installed")


def ptx(name: str = "figure4", arch: str = "sm_80") -> str:
    return generate(example(name), arch).ptx


@needs_assembler
@pytest.mark.parametrize("assembler", ASSEMBLERS, ids=lambda a: f"{a.kind}-{a.version}")
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_each_assembler_makes_a_cubin_with_the_kernel(assembler: Assembler, arch: str) -> None:
    made = assemble(ptx(arch=arch), arch, assembler=assembler)
    assert made.arch == arch and made.assembler == assembler
    assert read_elf(made.data).section(".text._Z4walkPfPKfi") is not None
    assert "registers" in made.log


@needs_assembler
@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("assembler", ASSEMBLERS, ids=lambda a: f"{a.kind}-{a.version}")
def test_a_refusal_has_the_assemblers_words_and_the_line(assembler: Assembler, isolate: bool) -> None:
    good = ptx()
    line = next(i for i, text in enumerate(good.splitlines(), 1) if "mul.wide" in text)
    with pytest.raises(CompileError) as error:
        assemble(good.replace("mul.wide", "mul.wode"), "sm_80", assembler=assembler, isolate=isolate)
    assert error.value.place is not None
    assert error.value.place.line == line
    assert "mul.wode" in error.value.place.text
    assert "Unknown modifier '.wode'" in error.value.message


@needs_assembler
@pytest.mark.parametrize("text", ["", "not PTX at all", ".version 7.8\n.target sm_80\n.address_size 64\n.entry"])
def test_what_is_no_ptx_is_refused(text: str) -> None:
    with pytest.raises(CompileError, match="refuses this PTX"):
        assemble(text, "sm_80")


@needs_assembler
def test_ptx_for_a_newer_architecture_is_refused() -> None:
    with pytest.raises((CompileError, ToolError)):
        assemble(ptx(arch="sm_90"), "sm_75")


@needs_assembler
def test_line_information_is_there_when_asked_for() -> None:
    def lines(wanted: bool) -> int:
        section = read_elf(assemble(ptx(), "sm_80", line_info=wanted).data).section(".debug_line")
        return section.size if section else 0

    assert lines(True) > 0


@needs_assembler
def test_a_register_limit_is_kept() -> None:
    from kernelwright.codegen.machine.resources import resources

    text = ptx("inlining")
    free = resources(assemble(text, "sm_80"))["_Z5applyPfi"]
    tight = resources(assemble(text, "sm_80", max_registers=24))["_Z5applyPfi"]
    assert free.registers > 24 >= tight.registers


def test_an_unknown_architecture_is_misuse() -> None:
    with pytest.raises(Misuse, match="unknown architecture 'sm_99'"):
        assemble("", "sm_99")


def test_without_an_assembler_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble_module, "find_assemblers", lambda cuda_path=None: ())
    with pytest.raises(ToolError, match="pip install nvidia-nvjitlink-cu12") as error:
        assemble(ptx(), "sm_80")
    assert error.value.exit_code == 3


def script(folder: Path, name: str, body: str) -> Assembler:
    """A program in the place of ptxas."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Assembler("ptxas", path)


def test_the_next_assembler_is_tried_when_one_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = 'case "$*" in *--version*) echo "release 9.1, V9.1"; exit 0;; esac\n'
    old = script(
        tmp_path,
        "old",
        version + "echo \"ptxas fatal   : Value 'sm_80' is not defined for option 'gpu-name'\" >&2; exit 1",
    )
    new = script(tmp_path, "new", 'while [ "$1" != -o ]; do shift; done; printf cubin > "$2"; echo "info: fine" >&2')
    monkeypatch.setattr(assemble_module, "find_assemblers", lambda cuda_path=None: (old, new))
    made = assemble("", "sm_80")
    assert (made.data, made.log.strip(), made.assembler) == (b"cubin", "info: fine", new)
    monkeypatch.setattr(assemble_module, "find_assemblers", lambda cuda_path=None: (old,))
    with pytest.raises(ToolError, match=r"no installed assembler knows sm_80 \(ptxas 9\.1\)"):
        assemble("", "sm_80")


def test_a_broken_assembler_is_a_tool_error(tmp_path: Path) -> None:
    missing = Assembler("ptxas", tmp_path / "nothing")
    with pytest.raises(ToolError, match="does not run"):
        assemble("", "sm_80", assembler=missing)
    text = tmp_path / "libnvJitLink.so.12"
    text.write_text("not a library")
    with pytest.raises(ToolError, match="does not load"):
        assemble("", "sm_80", assembler=Assembler("nvJitLink", text))
    version = 'case "$*" in *--version*) echo "release 9.1, V9.1"; exit 0;; esac\n'
    dies = script(tmp_path, "dies", version + "echo cannot go on >&2; exit 139")
    with pytest.raises(CompileError, match="cannot go on"):
        assemble("", "sm_80", assembler=dies)


def test_the_order_is_nvjitlink_first() -> None:
    kinds = [a.kind for a in ASSEMBLERS]
    assert kinds == sorted(kinds, key=["nvJitLink", "ptxas"].index)
    assert all(re.fullmatch(r"\d+\.\d+", a.version) for a in ASSEMBLERS)


def test_a_toolkit_with_assemblers_is_the_only_place_searched(tmp_path: Path) -> None:
    assert find_assemblers(tmp_path) == find_assemblers()
    (tmp_path / "bin").mkdir()
    made = script(tmp_path / "bin", "ptxas", "exit 0")
    assert find_assemblers(tmp_path) == (made,)
