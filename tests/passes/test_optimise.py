"""Text in, text out: what optimising promises whatever the module."""

from __future__ import annotations

import re

import pytest

from kernelwright.architectures import ARCHITECTURES, ptx_version
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import IRError, Misuse
from kernelwright.passes.llvm import architecture_of, check, retarget
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import PassOptions
from tests.passes.listing import example

REFLECT = """
target triple = "nvptx64-nvidia-cuda"
@arch = private constant [12 x i8] c"__CUDA_ARCH\\00"
declare i32 @__nvvm_reflect(ptr)
define ptx_kernel void @k(ptr %p) {
  %a = call i32 @__nvvm_reflect(ptr @arch)
  store i32 %a, ptr %p
  ret void
}
"""


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_output_is_a_valid_module_that_optimises_again(level: int) -> None:
    once = optimise(example("figure4"), PassOptions.of(level))
    check(once)
    check(optimise(once, PassOptions.of(level)))
    assert "ptx_kernel void @_Z4walkPfPKfi" in once


def test_levels_differ() -> None:
    plain, best = (optimise(example("figure4"), PassOptions.of(level)) for level in (0, 3))
    assert plain.count("alloca") > 0
    assert best.count("alloca") == 0


def test_the_same_text_gives_the_same_text() -> None:
    assert optimise(example("math")) == optimise(example("math"))


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_121"])
def test_questions_about_the_architecture_are_answered_for_the_target(arch: str) -> None:
    number = ARCHITECTURES[arch].number * 10
    for level in (0, 3):
        assert f"store i32 {number}, ptr %p" in optimise(REFLECT, PassOptions.of(level), arch=arch)


def test_the_target_is_the_one_asked_for_else_the_one_the_ir_names() -> None:
    text = example("figure7")
    assert architecture_of(text) == "sm_80"
    assert '"target-cpu"="sm_80"' in optimise(text)
    for arch in ARCHITECTURES:
        assert architecture_of(optimise(text, PassOptions.of(1), arch=arch)) == arch
    assert architecture_of("define void @f() { ret void }") == "sm_80"


def test_ptx_versions() -> None:
    """Not below what LLVM needs, not above what drivers since CUDA 11.8 read, unless the architecture is newer."""
    assert {a: ptx_version(a) for a in ("sm_60", "sm_75", "sm_90", "sm_90a", "sm_121")} == {
        "sm_60": 78,
        "sm_75": 78,
        "sm_90": 78,
        "sm_90a": 80,
        "sm_121": 88,
    }
    assert retarget('"target-cpu"="sm_80" "target-features"="+ptx88,+sm_80"', "sm_100") == (
        '"target-cpu"="sm_100" "target-features"="+ptx86,+sm_100"'
    )


def test_an_unknown_architecture_is_misuse() -> None:
    with pytest.raises(Misuse, match="unknown architecture 'sm_91'"):
        optimise(example("figure7"), arch="sm_91")


@pytest.mark.parametrize("isolate", [False, True])
def test_broken_ir_is_told_with_its_line(isolate: bool) -> None:
    text = "define void @f() {\n  %x = add i32 1, %missing\n  ret void\n}\n"
    with pytest.raises(IRError) as error:
        optimise(text, isolate=isolate)
    assert error.value.place is not None
    assert (error.value.place.line, error.value.place.text) == (2, "  %x = add i32 1, %missing")
    assert "%missing" in error.value.message


def test_ir_that_parses_but_does_not_verify_is_an_ir_error() -> None:
    text = (
        "define i32 @f(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\n"
        "a:\n  %x = add i32 1, 2\n  br label %b\nb:\n  ret i32 %x\n}"
    )
    with pytest.raises(IRError, match="does not dominate all uses"):
        optimise(text)


def test_empty_and_absurd_input() -> None:
    assert "define" not in optimise("")
    with pytest.raises(IRError):
        optimise("this is no IR")
    with pytest.raises(IRError):
        optimise("\x00\x01")


def test_device_functions_are_private_to_their_file() -> None:
    """And are gone once inlined; what is called all the same stays."""
    best = optimise(example("inlining"))
    assert "@_Z5blendffi" not in best
    assert "@_Z5blendffi" in optimise(example("inlining"), PassOptions.of(3, ["internal"]))
    assert re.search(r"^define internal .*@_Z6helperi\(", optimise(example("calls")), re.MULTILINE)
    assert re.search(r"^define dso_local ptx_kernel .*@_Z5callsPiPfi\(", optimise(example("calls")), re.MULTILINE)


def test_a_module_without_kernels_is_a_library() -> None:
    assert "define i32 @f(" in optimise("define i32 @f(i32 %x) {\n  ret i32 %x\n}")


STATIC_TEXTURE = """
@_ZL4rows = internal addrspace(1) global i64 undef, align 8
define ptx_kernel void @k(ptr %out) {
  %d = load i64, ptr addrspace(1) @_ZL4rows
  store i64 %d, ptr %out
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr addrspace(1) @_ZL4rows, !"texture", i32 1}
"""


@pytest.mark.parametrize("level", [0, 3])
def test_texture_references_are_variables_that_the_host_writes(level: int) -> None:
    text = optimise(STATIC_TEXTURE, PassOptions.of(level))
    assert re.search(r"@_ZL4rows = dso_local .*addrspace\(1\) externally_initialized global i64 undef", text)
    assert re.search(r"load i64, ptr addrspace\(1\) @_ZL4rows", text), "its value is not undefined"
    ptx = emit_ptx(text, "sm_80", PassOptions())
    assert ".texref" not in ptx and ".visible .global .align 8 .u64 _ZL4rows" in ptx
