"""Counts per IR block: nothing lost, nothing twice, every class where it belongs."""

from __future__ import annotations

import pytest

from kernelwright.codegen.cost.ptx_counts import (
    count_instructions,
    instruction_class,
)
from kernelwright.codegen.ptx import generate
from kernelwright.codegen.ptx_text import read_ptx
from kernelwright.ir import local_names, parse_module
from tests.codegen.counting import PTX_CLASSES, ptx_counts
from tests.passes.listing import example, instructions

EXAMPLES = ("calls", "division", "figure4", "figure6", "figure7", "general", "inlining", "spaces")


def labels(ir: str) -> dict[str, list[str]]:
    module = parse_module(ir)
    found = {}
    for name, function in module.functions.items():
        names = local_names(function)
        found[name] = [names[block].lstrip("%").strip('"') for block in function.blocks]
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_counts_land_on_blocks_of_the_ir_and_add_up(name: str) -> None:
    made = generate(example(name), "sm_80")
    known = labels(made.ir)
    found = ptx_counts(made.ptx, known)
    assert set(found) == {f for f, blocks in known.items() if blocks}
    total = 0
    for function, counts in found.items():
        assert set(counts.blocks) <= set(known[function])
        total += sum(counts.total().values())
    assert total == count_instructions(made.ptx) == len(instructions(made.ptx))


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("add.s32", "int"),
        ("mad.lo.s64", "int"),
        ("setp.lt.s32", "int"),
        ("shl.b64", "int"),
        ("selp.b32", "int"),
        ("fma.rn.f32", "fp32"),
        ("setp.gt.f32", "fp32"),
        ("add.ftz.f32", "fp32"),
        ("add.rn.f64", "fp64"),
        ("fma.rn.f16x2", "fp16"),
        ("add.rn.bf16", "fp16"),
        ("sin.approx.f32", "special"),
        ("rsqrt.approx.ftz.f32", "special"),
        ("rcp.approx.ftz.f64", "special"),
        ("sqrt.approx.f32", "special"),
        ("div.full.f32", "special"),
        ("div.rn.f32", "divide_fp"),
        ("sqrt.rn.f64", "divide_fp"),
        ("rcp.rn.f32", "divide_fp"),
        ("div.s64", "divide_int"),
        ("rem.u32", "divide_int"),
        ("ld.global.nc.v4.f32", "load_global"),
        ("ld.volatile.global.u32", "load_global"),
        ("ld.relaxed.gpu.global.b32", "load_global"),
        ("ld.shared.b32", "load_shared"),
        ("ld.local.b8", "load_local"),
        ("ld.const.f32", "load_const"),
        ("ld.param.b64", "load_parameter"),
        ("ld.b32", "load_generic"),
        ("st.global.v2.b32", "store_global"),
        ("st.shared.b32", "store_shared"),
        ("st.local.b32", "store_local"),
        ("st.param.b32", "store_parameter"),
        ("st.b32", "store_generic"),
        ("atom.global.add.u32", "atomic"),
        ("red.shared.add.f32", "atomic"),
        ("bra.uni", "branch"),
        ("brx.idx", "branch"),
        ("ret", "branch"),
        ("call.uni", "branch"),
        ("bar.sync", "barrier"),
        ("barrier.sync.aligned", "barrier"),
        ("membar.gl", "barrier"),
        ("fence.acq_rel.gpu", "barrier"),
        ("bar.warp.sync", "barrier"),
        ("cvt.rn.f32.s32", "conversion"),
        ("cvta.to.global.u64", "address"),
        ("mov.b32", "move"),
        ("shfl.sync.down.b32", "warp"),
        ("vote.sync.ballot.b32", "warp"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor"),
        ("cp.async.ca.shared.global", "async_copy"),
        ("tex.2d.v4.f32.f32", "texture"),
        ("setmaxnreg.inc.sync.aligned.u32", "other"),
        ("nonsense", "other"),
    ],
)
def test_classes(opcode: str, name: str) -> None:
    assert name in PTX_CLASSES
    assert instruction_class(opcode) == name


@pytest.mark.parametrize("name", [*EXAMPLES, "math"])
def test_nothing_our_kernels_use_is_other(name: str) -> None:
    for arch in ("sm_75", "sm_90"):
        for function in ptx_counts(generate(example(name), arch).ptx).values():
            assert function.total()["other"] == 0


def test_a_kernel_by_name() -> None:
    ptx = generate(example("figure4"), "sm_80").ptx
    counts = ptx_counts(ptx)["_Z4walkPfPKfi"]
    assert counts.total()["barrier"] == 1
    loop = [c for c in counts.blocks.values() if c.get("load_shared")]
    assert len(loop) == 1


BLOCKS = """
.visible .entry k(
)
{
// %bb.0:                               // %entry
\tsetp.ne.s32 %p1, %r1, 0;
\t@%p1 bra $L__BB0_4;
// %bb.1:
\tadd.s32 %r1, %r1, 1;
\tbra.uni $L__BB0_5;
$L__BB0_5:                              // %loop.preheader
\tcvt.u64.u32 %rd1, %r1;
$L__BB0_2:                              // %loop
\tadd.s32 %r2, %r2, 1;
\t@%p2 bra $L__BB0_2;
\tret;
$L__BB0_4:                              // %entry.loop_crit_edge
\tmov.b32 %r2, %r3;
\tmov.b32 %r3, %r4;
\tbra.uni $L__BB0_2;
}
"""


def test_blocks_that_code_generation_made_inherit() -> None:
    """The nameless one has one predecessor, the split edge is named after where it leaves, the new preheader is not the
    loop it is named after but what comes before it."""
    counts = ptx_counts(BLOCKS, {"k": ["entry", "loop"]})["k"]
    assert {label: dict(c) for label, c in counts.blocks.items()} == {
        "entry": {"int": 2, "branch": 3, "conversion": 1, "move": 2},
        "loop": {"int": 1, "branch": 2},
    }
    assert sum(ptx_counts(BLOCKS)["k"].total().values()) == sum(counts.total().values()) == 11


def test_the_short_division_belongs_to_the_divisions_block() -> None:
    made = generate(example("division"), "sm_80")
    assert len(read_ptx(made.ptx)[0].blocks) > 1
    (counts,) = ptx_counts(made.ptx, labels(made.ir)).values()
    assert list(counts.blocks) == ["entry"]
