"""Device functions of other files, linked in as IR."""

from __future__ import annotations

import pytest

from kernelwright.errors import CompileError
from kernelwright.passes.device_link import defined_variables, linked_with, missing_functions

HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'
KERNEL = (
    HEAD
    + """
@table = external addrspace(1) global [2 x i32], align 4
define ptx_kernel void @look(ptr %p) {
  %x = call i32 @scale(i32 3)
  store i32 %x, ptr %p
  ret void
}
declare i32 @scale(i32)
declare i32 @vprintf(ptr, ptr)
"""
)
SCALE = (
    HEAD
    + """
%pair = type { i32, float }
@table = dso_local addrspace(1) externally_initialized global [2 x i32] [i32 1, i32 2], align 4
@pairs = dso_local addrspace(4) externally_initialized constant [1 x %pair] zeroinitializer, align 4
@other = dso_local addrspace(1) externally_initialized global i32 7, align 4
@once = internal addrspace(1) global i32 7, align 4
@words = private addrspace(1) constant [2 x i8] c"a\\00"
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @other to ptr)], section "llvm.metadata"
define dso_local i32 @scale(i32 %x) {
  %a = call i32 @helper(i32 %x)
  %b = load i32, ptr addrspace(1) @table
  %c = load i32, ptr addrspace(4) @pairs
  %d = load i8, ptr addrspace(1) @words
  %e = add i32 %a, %b
  %f = call i32 @third(i32 %e)
  ret i32 %f
}
define internal i32 @helper(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
define dso_local i32 @count() {
  %v = load i32, ptr addrspace(1) @once
  ret i32 %v
}
define ptx_kernel void @unrelated() {
  ret void
}
declare i32 @third(i32)
"""
)
THIRD = HEAD + "define i32 @third(i32 %x) {\n  ret i32 %x\n}\n"


def test_what_a_kernel_needs_comes_along_and_nothing_else() -> None:
    text, files = linked_with(KERNEL, {"b.cu": SCALE, "c.cu": THIRD})
    assert files == ("b.cu", "c.cu")
    for name in ("scale", "helper", "third"):
        assert f"define internal i32 @{name}(" in text
    assert "@unrelated" not in text and "@other" not in text and "@count" not in text
    assert missing_functions(text) == ()
    # The variables stay where they are defined: one of each, whoever uses it. What nobody changes is copied.
    assert "@table = external addrspace(1) global [2 x i32]" in text
    assert "@pairs = external addrspace(4) global [1 x %pair]" in text
    assert "@words = private addrspace(1) constant" in text
    assert defined_variables(SCALE) == {"table", "pairs", "other"}


def test_a_module_that_lacks_nothing_stays_as_it_is() -> None:
    assert linked_with(THIRD, {"b.cu": SCALE}) == (THIRD, ())
    assert linked_with(KERNEL, {"c.cu": THIRD}) == (KERNEL, ())
    assert missing_functions(KERNEL) == ("scale",)


def test_two_definitions_are_one_too_many() -> None:
    with pytest.raises(CompileError, match=r"third is defined in b\.cu and in c\.cu"):
        linked_with(SCALE, {"b.cu": THIRD, "c.cu": THIRD})


def test_a_static_variable_would_be_there_twice() -> None:
    asks = HEAD + "define ptx_kernel void @k() {\n  %x = call i32 @count()\n  ret void\n}\ndeclare i32 @count()\n"
    with pytest.raises(CompileError, match=r"a device function of b\.cu .* uses once, which is static there"):
        linked_with(asks, {"b.cu": SCALE})
