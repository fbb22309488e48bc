"""The types of buffers as loads and stores tell them."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.evaluate.workload.element_types import parameter_types, scalar_type, variable_type
from kernelwright.ir import parse_module, parse_type
from tests.evaluate import kernels


def types_of(body: str, parameters: str = "ptr %p, ptr %q", more: str = "") -> list[str | None]:
    module = parse_module(f"{more}\ndefine ptx_kernel void @k({parameters}) {{\n{body}\n  ret void\n}}\n")
    return [None if t is None else t.name for t in parameter_types(module.functions["k"])]


def test_of_whole_kernels() -> None:
    module = kernels.module()
    assert [t and t.name for t in parameter_types(module.functions["_Z5scalePKfPffi"])] == [
        "float32",
        "float32",
        None,
        None,
    ]
    assert [t and t.name for t in parameter_types(module.functions["add"])] == ["int32", None]
    # Pointers are no elements to compare by size.
    assert [t and t.name for t in parameter_types(module.functions["follow"])] == [None, "float32"]
    assert variable_type(module.globals["table"]) == np.float32
    assert variable_type(module.globals["launches"]) == np.int32


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("store double 1.0, ptr %p", "float64"),
        ("store ptr %p, ptr %q", None),  # it is stored, not stored to
        ("%v = load <4 x float>, ptr %p", "float32"),
        ("%g = getelementptr i8, ptr %p, i64 8\n %c = addrspacecast ptr %g to ptr addrspace(1)\n"
         " %v = load half, ptr addrspace(1) %c", "float16"),
        ("%s = select i1 true, ptr %p, ptr %q\n store i16 1, ptr %s", "int16"),
        ("%a = atomicrmw add ptr %p, i32 1 monotonic, align 4", "int32"),
        ("%a = cmpxchg ptr %p, i64 0, i64 1 monotonic monotonic, align 8", "int64"),
        ("%a = load float, ptr %p\n %b = load i32, ptr %p", None),
        ("%v = load { float, float }, ptr %p", "float32"),
        ("%v = load { float, i32 }, ptr %p", None),
        ("%v = load bfloat, ptr %p", None),
        ("", None),
    ],
)  # fmt: skip
def test_of_accesses(body: str, found: str | None) -> None:
    assert types_of(body)[0] == found


def test_through_loops_and_calls() -> None:
    more = """
define internal void @put(ptr %to) {
  store float 1.0, ptr %to
  ret void
}
"""
    assert types_of("call void @put(ptr %p)", more=more) == ["float32", None]
    loop = """
  br label %again
again:
  %r = phi ptr [ %p, %0 ], [ %n, %again ]
  %v = load i8, ptr %r
  %n = getelementptr i8, ptr %r, i64 1
  %more = icmp ne i8 %v, 0
  br i1 %more, label %again, label %done
done:"""
    assert types_of(loop)[0] == "int8"


def test_of_types() -> None:
    assert scalar_type(parse_type("[3 x [4 x double]]")) == np.float64
    assert scalar_type(parse_type("i128")) is None and scalar_type(parse_type("i1")) is None
