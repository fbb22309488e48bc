"""PTX for every architecture, the same from every way of asking, and taken by ptxas."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kernelwright.architectures import ARCHITECTURES
from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.codegen.ptx import emit_ptx, generate
from kernelwright.errors import CompileError, IRError, Misuse, ToolError
from kernelwright.passes.libdevice import find_libdevice
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import PassOptions
from tests.passes.listing import DATA, example, instructions, lowered_ir

EXAMPLES = sorted(p.stem for p in DATA.glob("*.ll") if p.stem != "math" or find_libdevice())

PTXAS = next((a.path for a in find_assemblers() if a.kind == "ptxas"), None)


@pytest.mark.parametrize("name", EXAMPLES)
def test_generate_equals_optimise_then_emit(name: str) -> None:
    options = PassOptions.of(2, ["bypass"])
    best = optimise(example(name), options, arch="sm_90")
    made = generate(example(name), "sm_90", options)
    assert made.ir == best
    assert made.ptx == emit_ptx(best, "sm_90", options)


@pytest.mark.parametrize("arch", list(ARCHITECTURES))
def test_every_architecture_gets_its_target_and_version(arch: str) -> None:
    ptx = generate(example("figure4"), arch).ptx
    assert f"\n.target {arch}\n" in ptx
    version = re.search(r"\.version (\d)\.(\d)\n", ptx)
    assert version and int(version[1] + version[2]) >= ARCHITECTURES[arch].ptx


@pytest.mark.skipif(PTXAS is None, reason="no ptxas is installed")
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_ptxas_accepts_every_example(arch: str, tmp_path: Path) -> None:
    for name in EXAMPLES:
        path = tmp_path / f"{name}.ptx"
        path.write_text(generate(example(name), arch).ptx)
        command = [str(PTXAS), f"-arch={arch}", str(path), "-o", str(tmp_path / "out.cubin")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{name}: {done.stderr}"


@pytest.mark.skipif(PTXAS is None, reason="no ptxas is installed")
@pytest.mark.parametrize(
    "options", ["-O0", "-O1", "-O3 -msi -par -slsr -gra -spec", "-O3 -msaa", "-O3 -sroa -inline -unroll"]
)
def test_ptxas_accepts_what_ablation_leaves(options: str, tmp_path: Path) -> None:
    for name in ("figure4", "spaces", "calls", "general"):
        path = tmp_path / f"{name}.ptx"
        path.write_text(generate(example(name), "sm_80", PassOptions.parse(options)).ptx)
        command = [str(PTXAS), "-arch=sm_80", str(path), "-o", str(tmp_path / "out.cubin")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{name} with {options}: {done.stderr}"


def test_a_module_can_be_emitted_for_another_architecture_than_it_was_compiled_for() -> None:
    best = optimise(example("figure4"), arch="sm_75")
    assert "\n.target sm_75\n" in emit_ptx(best)
    assert "\n.target sm_90\n" in emit_ptx(best, "sm_90")


def test_labels_name_the_blocks_of_the_ir() -> None:
    """Numbered blocks too, which LLVM leaves out by itself."""
    text = """
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %0, i32 %1) {
  %3 = icmp eq i32 %1, 0
  br i1 %3, label %5, label %4

4:
  store i32 1, ptr %0
  br label %5

5:
  ret void
}
"""
    ptx = emit_ptx(text, "sm_80")
    assert re.search(r"^// %bb\.0: +// %\"2\"$", ptx, re.MULTILINE)
    assert re.search(r"^// %bb\.1: +// %\"4\"$", ptx, re.MULTILINE)
    assert re.search(r"^\$L__BB0_2: +// %\"5\"$", ptx, re.MULTILINE)


def test_block_names_that_need_quotes_are_found() -> None:
    text = 'define void @f(ptr %0) {\n  br label %"x y"\n"x y":\n  store i32 1, ptr %0\n  ret void\n}\n'
    assert "st.b32" in emit_ptx(text, "sm_80")


def test_what_llvm_aborts_on_does_not_take_the_caller_with_it() -> None:
    with pytest.raises((CompileError, ToolError), match=r"Symbol name with unsupported characters|SIGABRT"):
        emit_ptx('define void @"a b(int)"() {\n  ret void\n}\n', "sm_80", isolate=True)


def test_lowered_ir_has_spaces_and_is_ir_again() -> None:
    lowered = lowered_ir(optimise(example("figure4")))
    assert "load float, ptr addrspace(3)" in lowered
    assert emit_ptx(lowered).count("ld.shared") == 1


def test_lowering_does_not_disturb_what_follows() -> None:
    """The switch that stops code generation is taken back."""
    before = emit_ptx(example("figure5a"), "sm_80", isolate=True)
    lowered_ir(example("figure5a"))
    assert emit_ptx(example("figure5a"), "sm_80", isolate=True) == before


def test_levels() -> None:
    slow, fast = (instructions(generate(example("figure4"), "sm_80", PassOptions.of(n)).ptx) for n in (0, 3))
    assert len(slow) > len(fast)


def test_bad_input() -> None:
    with pytest.raises(IRError, match="does not parse"):
        emit_ptx("define void @f(")
    with pytest.raises(Misuse, match="unknown architecture"):
        emit_ptx(example("figure4"), "gfx90a")
