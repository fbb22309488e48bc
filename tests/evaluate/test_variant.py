"""Variants: when two programs are the same, and kernels by themselves."""

from __future__ import annotations

import pytest

from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.variant import alone
from kernelwright.ir import parse_module
from kernelwright.ir.text.canonical import canonical
from tests.evaluate import kernels


def test_names_and_debug_information_do_not_count() -> None:
    text = (
        "define void @f(i32 %a, i32 %b) !dbg !3 {\nentry:\n  %c = add i32 %a, %b, !dbg !7\n  ret void\n}\n\n!0 = !{}\n"
    )
    other = "define void @f(i32 %x, i32 %y) {\nstart:\n  %z = add i32 %x, %y\n  ret void\n}\n\n!5 = !{i32 1}\n"
    assert canonical(text) == canonical(other)
    assert canonical(text) != canonical(other.replace("add i32 %x, %y", "add i32 %y, %x"))
    assert canonical(text) != canonical(other.replace("@f", "@g"))


def test_a_kernel_by_itself() -> None:
    module = parse_module(kernels.text())
    assert [kernel.name for kernel in alone(module, "add").kernels] == ["add"] != [k.name for k in module.kernels]
    with pytest.raises(Misuse, match="does not define a kernel 'other'"):
        alone(module, "other")
