"""Straight runs of vector operations become functions that kernels share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.emission.emitter import ENTRY
from kernelwright.codegen.simt.launching import host_code
from kernelwright.codegen.simt.launching.vector_runs import cut
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from kernelwright.lru import LruCache
from tests.simt.harness import Case

Compile = Callable[[str], Module]

TEXT = """declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
define i64 @kernelwright_warp(ptr noalias %c, ptr noalias %f) {
entry:
  %s = alloca <4 x float>
  br label %body
body:
  %t1 = load <4 x float>, ptr %s
  %t2 = fneg <4 x float> %t1
  %t3 = load float, ptr %c
  %t4 = insertelement <4 x float> poison, float %t3, i64 0
  %t5 = fadd <4 x float> %t2, %t4
  %t6 = icmp slt <4 x i32> zeroinitializer, splat (i32 3)
  %t7 = bitcast <4 x i1> %t6 to i4
  call void @simt_store(ptr %c)
  store <4 x float> %t5, ptr %s, align 16
  ret i64 0
}
"""


def test_runs_are_functions_of_what_they_are_given() -> None:
    found = cut(TEXT)
    assert found is not None
    body = found.text.partition("entry:\n")[2]
    assert body.split("\n") == [
        "  %w0 = alloca [16 x i8], align 64",
        "  %s = alloca <4 x float>",
        "  br label %body",
        "body:",
        "  call void @run_0(ptr %s, ptr %w0)",
        "  %t3 = load float, ptr %c",
        "  %t7 = call i4 @run_1(float %t3, ptr %w0, ptr %w0)",
        "  call void @simt_store(ptr %c)",
        "  call void @run_2(ptr %w0, ptr %s)",
        "  ret i64 0",
        "}",
        "",
    ]
    assert found.runs["@run_1"].split("\n") == [
        "define i4 @run(float %a0, ptr %a1.p, ptr %v1.p) nounwind {",
        "%a1 = load <4 x float>, ptr %a1.p, align 64",
        "%v0 = insertelement <4 x float> poison, float %a0, i64 0",
        "%v1 = fadd <4 x float> %a1, %v0",
        "%v2 = icmp slt <4 x i32> zeroinitializer, splat (i32 3)",
        "%v3 = bitcast <4 x i1> %v2 to i4",
        "store <4 x float> %v1, ptr %v1.p, align 64",
        "ret i4 %v3",
        "}",
    ]


def test_what_changes_one_operation_shares_the_other_runs() -> None:
    one, other = cut(TEXT), cut(TEXT.replace("fneg <4 x float> %t1", "fadd <4 x float> %t1, %t1"))
    assert one is not None and other is not None
    assert len({*one.runs.values(), *other.runs.values()}) == 4
    assert len(one.runs) == len(other.runs) == 3


def test_a_value_that_another_block_uses_keeps_its_memory() -> None:
    """Also where that block stands before the one that makes it."""
    moved = TEXT.replace(
        "  br label %body\nbody:", "  br label %body\nlate:\n  store <4 x float> %t2, ptr %s\n  ret i64 1\nbody:"
    )
    found = cut(moved)
    assert found is not None
    assert found.text.count("alloca [16 x i8]") == 2
    assert "call void @run_0(ptr %w0, ptr %s)" in found.text


def test_a_vector_phi_leaves_the_text_as_it_is() -> None:
    assert cut(TEXT.replace("%t2 = fneg <4 x float> %t1", "%t2 = phi <4 x float> [ %t1, %entry ]")) is None


SOURCE = """extern "C" __global__ void k(float* a, int* b, int n) {
    __shared__ double s[64];
    int i = threadIdx.x;
    double x = a[i] * 1.5f + i;
    s[i] = x;
    __syncthreads();
    for (int j = 0; j < b[i] % 5; ++j) x = fma(x, s[(i + j) % 64], (double)__popc(j + n));
    long long q = (long long)b[i] * n / (i + 1);
    a[i] = x > 3.0 ? (float)x : -(float)q;
    b[i] = __reduce_max_sync(~0u, (int)q) + (q > 7);
}"""


@pytest.mark.parametrize("split", [False, True])
def test_only_calls_and_numbers_are_left_of_a_kernel(cuda: Compile, split: bool) -> None:
    text = lower(cuda(SOURCE), "k", SimtOptions(block=(64, 1, 1), split=split, level=0)).text
    found = cut(text)
    assert found is not None
    body = found.text.partition("entry:\n")[2]
    left = [line for line in body.split("\n") if "<" in line and " = alloca " not in line]
    assert not left
    assert f"@{ENTRY}" in found.text


def test_functions_that_were_dropped_live_as_long_as_the_code_that_calls_them(
    cuda: Compile, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: LruCache[str, host_code.Run] = LruCache(1)
    monkeypatch.setattr(host_code, "_kept", lambda: kept)
    case = Case(cuda(SOURCE), "k", 1, 64, np.linspace(-4, 9, 64, dtype=np.float32), np.arange(64, dtype=np.int32), 7)
    case.agree(arena)
    assert len(kept) == 1
