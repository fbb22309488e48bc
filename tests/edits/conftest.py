"""The kernels of the suite, numbered once per session, and small ones written by hand."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from kernelwright.cuda.frontend import SourceOptions
from kernelwright.device.arena import Arena
from kernelwright.edits import Edit, Original, apply
from kernelwright.ir import Module, parse_module, verify
from kernelwright.passes.llvm import check
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, load


@functools.cache
def modules() -> tuple[Module, ...]:
    """The optimised modules of all suite programs."""
    found = []
    for name in NAMES:
        program = load(name)
        options = CompileOptions(
            source=SourceOptions(
                arch="sm_80",
                include=tuple(f[2:] for f in program.flags if f.startswith("-I")),
                define=tuple(f[2:] for f in program.flags if f.startswith("-D")),
            )
        )
        sources = [p for p in program.source_paths if p.suffix == ".cu"]
        found += [unit.module for unit in compile_program(sources, options=options).units]
    return tuple(found)


@functools.cache
def suite_kernels() -> tuple[Original, ...]:
    return tuple(Original(module, kernel.name) for module in modules() for kernel in module.kernels)


@pytest.fixture(scope="session")
def kernels() -> tuple[Original, ...]:
    return suite_kernels()


HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'


def kernel(body: str, more: str = "", parameters: str = "ptr %p, ptr %q, i32 %n, float %x") -> Original:
    """A kernel ``k`` with this body."""
    text = f"{HEAD}{more}\ndefine ptx_kernel void @k({parameters}) {{\n{body}\n}}\n"
    return Original(parse_module(text), "k")


STRAIGHT = """
  %a = load float, ptr %p, align 4, !tbaa !0
  %b = fadd nnan contract float %a, %x
  %c = add nsw i32 %n, 1
  %d = add nuw nsw i32 %c, %n
  store float %b, ptr %q, align 4
  ret void
"""

DIAMOND = """
entry:
  %s = add i32 %n, 1
  %t = icmp slt i32 %s, 9
  br i1 %t, label %left, label %right
left:
  %l = mul i32 %s, 3
  %l2 = xor i32 %l, %n
  br label %join
right:
  %r = mul i32 %s, 5
  br label %join
join:
  %m = phi i32 [ %l2, %left ], [ %r, %right ]
  %w = add i32 %m, %s
  store i32 %w, ptr %p, align 4
  ret void
"""


def body(text: str) -> list[str]:
    """The lines of ``@k`` in a module's text, without indentation, labels and blank lines."""
    inside = text.split("@k(")[1].split("{\n", 1)[1].split("\n}")[0]
    return [line.strip() for line in inside.split("\n") if line.startswith("  ")]


GEOMETRY = "".join(
    f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.{axis}()\n"
    for name in ("tid", "ntid", "ctaid", "nctaid")
    for axis in "xy"
)
LOOP = """
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %o = mul i32 %b, %w
  %i = add i32 %o, %t
  %in = icmp slt i32 %i, %n
  br i1 %in, label %loop, label %out
loop:
  %k = phi i32 [ 0, %entry ], [ %k2, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s2, %loop ]
  %at = getelementptr float, ptr %p, i32 %k
  %v = load float, ptr %at, align 4
  %d = fdiv float %v, %x
  %s2 = fadd float %s, %d
  %k2 = add i32 %k, 1
  %more = icmp slt i32 %k2, %n
  br i1 %more, label %loop, label %end
end:
  %y = fmul float %s2, %x
  %to = getelementptr float, ptr %q, i32 %i
  store float %y, ptr %to, align 4
  br label %out
out:
  ret void
"""
"""Sums ``n`` numbers of ``p`` in every thread below ``n``, and stores the sum in ``q``."""


def loop_kernel() -> Original:
    return kernel(LOOP, GEOMETRY)


def after(original: Original, *edits: Edit) -> list[str]:
    """The lines of the kernel after edits that all apply; LLVM accepts the module."""
    applied = apply(original, edits)
    assert applied.inert == ()
    verify(applied.module)
    check(applied.text)
    return body(applied.text)


def refusal(original: Original, *edits: Edit) -> str:
    """Why the last edit is inert."""
    inert = apply(original, edits).inert
    assert [i.index for i in inert] == [len(edits) - 1]
    return inert[0].reason


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made
