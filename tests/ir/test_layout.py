"""Sizes and offsets: LLVM's own target data is the oracle."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.ir import DataLayout, StructType, Type, parse_module, parse_type, types
from kernelwright.ir.types import ArrayType, FloatType, IntType, PointerType, VectorType
from tests.examples import few
from tests.ir.llvm import parsed, read

DEVICE = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
HOST = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

SCALARS = st.one_of(
    st.sampled_from([1, 8, 16, 24, 32, 33, 64, 65, 128]).map(IntType),
    st.sampled_from(["half", "float", "double", "fp128", "x86_fp80"]).map(FloatType),
    st.sampled_from([0, 1, 3, 6]).map(PointerType),
)
LANES = st.sampled_from([types.i1, types.i8, types.i16, types.i32, types.f32, types.f64, types.f16])
SIZED = st.recursive(
    st.one_of(SCALARS, st.builds(VectorType, st.sampled_from([1, 2, 3, 4, 8]), LANES)),
    lambda inner: st.one_of(
        st.builds(ArrayType, st.integers(0, 4), inner),
        st.builds(StructType, st.lists(inner, max_size=4).map(tuple), st.booleans()),
    ),
    max_leaves=6,
)


@settings(max_examples=few(150), deadline=None)
@given(SIZED, st.sampled_from([DEVICE, HOST]))
def test_sizes_and_offsets_are_llvms(type: Type, text: str) -> None:
    ours = DataLayout(text)
    module = parsed(f'target datalayout = "{text}"\n@g = external global {type}')
    theirs = llvm.create_target_data(text)
    found = module.get_global_variable("g").global_value_type
    assert ours.size(type) == theirs.get_abi_size(found)
    assert ours.alignment(type) == theirs.get_abi_alignment(found)
    if isinstance(type, StructType):
        offsets = [theirs.get_element_offset(found, n) for n in range(len(type.fields or ()))]
        assert list(ours.offsets(type)) == offsets


def test_offsets_through_indices() -> None:
    layout = DataLayout(DEVICE)
    struct = parse_type("{ i8, [3 x { i16, double }], <2 x float> }")
    assert layout.constant_offset(struct, (0, 1, 2, 1)) == 8 + 2 * 16 + 8
    assert layout.constant_offset(struct, (2, 2, 1)) == 2 * 64 + 56 + 4
    with pytest.raises(ValueError, match="nothing inside i8"):
        layout.constant_offset(struct, (0, 0, 0))


def test_types_without_a_size_are_refused() -> None:
    layout = DataLayout()
    for type in (types.void, types.label, StructType(None, False, "opaque")):
        with pytest.raises(ValueError):
            layout.size(type)


def test_a_program_says_its_own_layout() -> None:
    module = parse_module(read("structs"))
    layout = DataLayout(module.data_layout)
    assert layout.size(module.named_types["struct.Particle"]) == 44
    assert layout.size(module.named_types["struct.Packed"]) == 7
