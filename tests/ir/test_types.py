"""Types are interned and spelled as LLVM spells them."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import IRError
from kernelwright.ir import parse_module, types
from kernelwright.ir.types import (
    ArrayType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    StructType,
    Type,
    VectorType,
    parse_type,
)
from tests.ir.llvm import parsed

SCALARS = st.one_of(
    st.integers(1, 200).map(IntType),
    st.sampled_from(["half", "bfloat", "float", "double", "fp128"]).map(FloatType),
    st.integers(0, 9).map(PointerType),
)
TYPES = st.recursive(
    st.one_of(SCALARS, st.builds(VectorType, st.integers(1, 9), SCALARS, st.booleans())),
    lambda inner: st.one_of(
        st.builds(ArrayType, st.integers(0, 9), inner),
        st.builds(StructType, st.lists(inner, max_size=4).map(tuple), st.booleans()),
    ),
    max_leaves=8,
)
FUNCTIONS = st.builds(FunctionType, TYPES, st.lists(TYPES, max_size=3).map(tuple), st.booleans())


@given(st.one_of(TYPES, FUNCTIONS))
def test_a_type_is_the_one_object_its_text_spells(type: Type) -> None:
    assert parse_type(str(type)) is type
    assert copy.deepcopy(type) is type
    assert pickle.loads(pickle.dumps(type)) is type


@given(TYPES)
def test_llvm_spells_types_the_same(type: Type) -> None:
    # Read back from an argument: LLVM prints the type it understood.
    assert f"@f({type})" in str(parsed(f"declare void @f({type})"))


def test_named_structs_are_one_object_per_name_and_definition() -> None:
    text = "%pair = type { i32, %inner }\n%inner = type <{ i8 }>\n@g = external global %pair"
    one, two = parse_module(text), parse_module(text)
    pair = one.named_types["pair"]
    assert pair is two.named_types["pair"] is one.globals["g"].value_type
    assert (str(pair), pair.definition) == ("%pair", "{ i32, %inner }")
    assert one.named_types["inner"].packed
    other = parse_module(text.replace("i8", "i16")).named_types["pair"]
    assert other is not pair


def test_singletons() -> None:
    assert types.i32 is IntType(32) and types.f32 is FloatType("float") and types.ptr is PointerType(0)
    assert PointerType(3) is not types.ptr


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("[4 y i32]", 4, "expected 'x', found 'y'"),
        ("<4 x>", 5, "expected a type, found '>'"),
        ("{ i32, foo }", 8, "expected a type, found 'foo'"),
        ("{ i32 float }", 7, "expected ',' or '}', found 'float'"),
        ("i32 i32", 5, "follows a complete type"),
        ("[4 x i32", 9, "ends too early"),
        ("%nowhere", 1, "no type named %nowhere"),
    ],
)
def test_bad_types_are_refused_with_their_place(text: str, column: int, message: str) -> None:
    with pytest.raises(IRError) as error:
        parse_type(text)
    assert message in str(error.value)
    assert error.value.place is not None and error.value.place.column == column
