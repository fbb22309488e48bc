"""Parameters, shared variables and fused products: the answers that every executor shares."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from kernelwright.codegen.fused_products import contractions
from kernelwright.codegen.memory_layout import (
    align_of,
    alloc_size,
    field_offsets,
    parameter_layout,
    reachable_functions,
    reachable_globals,
    shared_layout,
    store_size,
)
from kernelwright.errors import IRError
from kernelwright.ir import parse_module, parse_type
from kernelwright.ir.types import StructType

HEADER = """target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"""

TYPES = (
    *(
        "i1",
        "i8",
        "i16",
        "i24",
        "i32",
        "i48",
        "i64",
        "i128",
        "half",
        "bfloat",
        "float",
        "double",
        "ptr",
        "ptr addrspace(3)",
    ),
    *("<2 x float>", "<3 x float>", "<4 x i8>", "<2 x half>", "<8 x i64>", "<32 x i1>", "[3 x i16]", "[0 x float]"),
    *(
        "{ i8, double }",
        "<{ i8, double }>",
        "{ i8, [3 x i16], i64, i1 }",
        "{ <2 x float>, i8 }",
        "{ { i8, i32 }, i16 }",
    ),
)


@pytest.mark.parametrize("text", TYPES)
def test_sizes_are_those_of_llvm(text: str) -> None:
    module = llvm.parse_assembly(f"{HEADER}@g = external addrspace(1) global {text}\n")
    target = llvm.create_target_data("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64")
    pointee = module.get_global_variable("g").global_value_type
    type = parse_type(text)
    assert alloc_size(type) == target.get_abi_size(pointee)
    assert align_of(type) == target.get_abi_alignment(pointee)
    assert store_size(type) <= alloc_size(type)


def test_offsets_of_fields() -> None:
    struct = parse_type("{ i8, [3 x i16], i64, i1 }")
    assert isinstance(struct, StructType)
    assert field_offsets(struct) == (0, 2, 8, 16, 24)


def test_types_without_a_size_are_refused() -> None:
    for type in (parse_type("void"), StructType(None, name="opaque")):
        with pytest.raises(IRError):
            store_size(type)


def test_parameters_lie_at_their_own_alignment() -> None:
    module = parse_module(
        HEADER
        + """
%S = type { i8, double }
define ptx_kernel void @k(i8 %a, ptr %b, i16 %c, ptr byval(%S) align 8 %d, float %e, <4 x float> %f, ptr byval({ i8, i8 }) %g) {
  ret void
}
"""
    )
    layout = parameter_layout(module.function("k"))
    assert [(p.offset, p.size, p.byval) for p in layout.parameters] == [
        (0, 1, False), (8, 8, False), (16, 2, False), (24, 16, True), (40, 4, False), (48, 16, False), (64, 2, True),
    ]  # fmt: skip
    assert layout.size == 66
    assert str(layout.parameters[3].type) == "%S" and layout.parameters[3].align == 8


SHARED = (
    HEADER
    + """
@one = internal addrspace(3) global i8 undef, align 1
@other_kernels = internal addrspace(3) global [64 x i64] undef, align 8
@two = internal addrspace(3) global [2 x double] undef, align 16
@helper_only = internal addrspace(3) global i32 undef, align 4
@dynamic_a = external addrspace(3) global [0 x i8], align 1
@dynamic_b = external addrspace(3) global [0 x double], align 8
@table = internal addrspace(1) global ptr addrspacecast (ptr addrspace(1) @value to ptr)
@value = internal addrspace(1) global i32 7
define internal void @helper(i32 %x) {
  store i32 %x, ptr addrspace(3) @helper_only
  ret void
}
define ptx_kernel void @k() {
  store i8 1, ptr addrspacecast (ptr addrspace(3) @one to ptr)
  store double 1.0, ptr addrspace(3) getelementptr (double, ptr addrspace(3) @two, i64 1)
  %p = load ptr, ptr addrspace(1) @table
  call void @helper(i32 1)
  ret void
}
define ptx_kernel void @d() {
  store i8 1, ptr addrspace(3) @one
  store i8 1, ptr addrspace(3) @dynamic_a
  store double 1.0, ptr addrspace(3) @dynamic_b
  ret void
}
define ptx_kernel void @l() {
  store i64 1, ptr addrspace(3) @other_kernels
  ret void
}
"""
)


def test_shared_variables_of_a_kernel() -> None:
    module = parse_module(SHARED)
    k = module.function("k")
    assert {f.name for f in reachable_functions(k)} == {"k", "helper"}
    assert reachable_globals(k) == {"one", "two", "helper_only", "table", "value"}
    layout = shared_layout(k)
    assert layout.offsets == {"one": 0, "two": 16, "helper_only": 32} and layout.static_bytes == 36
    dynamic = shared_layout(module.function("d"))
    assert dynamic.offsets == {"one": 0, "dynamic_a": 8, "dynamic_b": 8}
    assert dynamic.static_bytes == 1 and dynamic.total(0) == 1 and dynamic.total(100) == 108
    assert shared_layout(module.function("l")).offsets == {"other_kernels": 0}


FUSING = """
define float @f(float %a, float %b, float %c, i1 %p) {{
entry:
  %m = fmul {mul} float %a, %b
{between}
  %r = {op} {add} float {left}, {right}
  ret float %r
}}
"""


def fused(mul: str = "contract", add: str = "contract", op: str = "fadd", left: str = "%m", right: str = "%c",
          between: str = "") -> str:  # fmt: skip
    text = FUSING.format(mul=mul, add=add, op=op, left=left, right=right, between=between)
    found = contractions(parse_module(HEADER + text).function("f"))
    if not found:
        return ""
    ((_, f),) = found.items()
    product = f"{'-' * f.negate_product}{f.left.name}*{f.right.name}"
    return f"{product} {'-' if f.negate_addend else '+'} {f.addend.name}"


def test_which_products_are_fused() -> None:
    assert fused() == "a*b + c" and fused(left="%c", right="%m") == "a*b + c"
    assert fused(op="fsub") == "a*b - c" and fused(op="fsub", left="%c", right="%m") == "-a*b + c"
    assert fused(mul="fast", add="nnan contract") == "a*b + c"
    assert fused(mul="") == "" and fused(add="nnan") == "" and fused(right="%m") == ""
    assert fused(between="  %u = fadd contract float %m, 1.0") == ""
    assert fused(between="  br label %next\nnext:") == ""


def test_of_two_products_the_left_one_is_fused() -> None:
    between = "  %n = fmul contract float %b, %c"
    assert fused(between=between, right="%n") == "a*b + n"
    assert fused(between=between, left="%n", right="%m") == "b*c + m"
