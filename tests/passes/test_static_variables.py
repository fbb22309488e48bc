"""Static variables of a module that is loaded while the program runs."""

from __future__ import annotations

import pytest

from kernelwright.passes.static_variables import named_by_host


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@_ZL1c = internal addrspace(4) constant [4 x float] zeroinitializer, align 4",
         "@_ZL1c = dso_local addrspace(4) externally_initialized constant [4 x float] zeroinitializer, align 4"),
        ("@_ZL5count = internal addrspace(1) global i32 7, align 4",
         "@_ZL5count = dso_local addrspace(1) externally_initialized global i32 7, align 4"),
        ("@_ZL1n = internal addrspace(4) constant i32 0, align 4",
         "@_ZL1n = dso_local addrspace(4) externally_initialized constant i32 0, align 4"),
        ("@_ZL2pi = internal addrspace(4) constant float 0x40091EB860000000, align 4", None),
        ("@_ZL1n = internal addrspace(4) constant i32 5, align 4", None),
        ("@_ZZ1kvE4tile = internal addrspace(3) global [32 x float] undef, align 4", None),
        ("@.str = private unnamed_addr constant [7 x i8] c\"v != 0\\00\", align 1", None),
        ("define internal void @_ZL1fv() {", None),
    ],
)  # fmt: skip
def test_what_the_host_may_name(before: str, after: str | None) -> None:
    assert named_by_host(f"x\n{before}\ny") == f"x\n{after or before}\ny"
