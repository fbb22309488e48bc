"""PTX read back: no instruction lost, no edge to nowhere, lines with their inlined calls."""

from __future__ import annotations

import pytest

from kernelwright.codegen.ptx import generate
from kernelwright.codegen.ptx_text import PtxFunction, read_ptx
from tests.passes.listing import example, instructions

EXAMPLES = ("calls", "division", "figure4", "figure5a", "figure6", "figure7", "general", "inlining", "spaces")


def functions(name: str) -> dict[str, PtxFunction]:
    return {f.name: f for f in read_ptx(generate(example(name), "sm_80").ptx)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_instruction_is_read_once(name: str) -> None:
    """Against a reader that only looks at indentation and semicolons; inline assembly hides its own from neither."""
    ptx = generate(example(name), "sm_80").ptx
    read = [i for f in read_ptx(ptx) for i in f.instructions()]
    assert [f"{i.guard} {i.opcode} {i.operands}".split() for i in read] == [
        line.rstrip(";").split() for line in instructions(ptx)
    ]
    for each in read:
        assert each.opcode in ptx.splitlines()[each.line - 1]


@pytest.mark.parametrize("name", EXAMPLES)
def test_edges_lead_to_blocks_and_every_block_is_reached(name: str) -> None:
    for function in functions(name).values():
        labels = {b.label for b in function.blocks}
        reached = {function.blocks[0].label}
        for block in function.blocks:
            assert set(block.successors) <= labels
            reached |= set(block.successors)
        assert reached == labels


def test_kernels_functions_and_calls() -> None:
    found = functions("calls")
    assert {name: f.kernel for name, f in found.items()} == {
        "_Z6helperi": False,
        "_Z9factoriali": False,
        "_Z5callsPiPfi": True,
    }
    opcodes = [i.opcode for i in found["_Z5callsPiPfi"].instructions()]
    assert opcodes.count("call.uni") == 2
    assert opcodes.count("brx.idx") == 1
    assert opcodes.count("vote.sync.ballot.b32") == 1  # from inline assembly
    (table,) = [b for b in found["_Z5callsPiPfi"].blocks if b.instructions and b.instructions[-1].opcode == "brx.idx"]
    assert len(table.successors) == 6


def test_a_brace_of_inline_assembly_on_its_own_line_ends_no_function() -> None:
    """As NVIDIA's cuda_fp16.hpp writes them."""
    text = """
.visible .entry k(
)
{
	@%p1 bra 	$L__BB0_2;
// %bb.1:                               // %for.body
	// begin inline asm
	{add.f16x2 %r22,%r20,%r21;
}
	// end inline asm
	mov.b32 	{%rs1, %rs2}, %r22; // }
$L__BB0_2:                              // %for.end
	ret;
}
.visible .entry other(
)
{
	ret;
}
"""
    first, second = read_ptx(text)
    assert [block.label for block in first.blocks] == ["bb.0", "bb.1", "$L__BB0_2"]
    assert [each.opcode for each in first.instructions()] == ["bra", "add.f16x2", "mov.b32", "ret"]
    assert second.name == "other" and [each.opcode for each in second.instructions()] == ["ret"]


def test_a_block_falls_through_unless_it_leaves() -> None:
    text = """
.visible .entry k(
)
{
// %bb.0:
\t@%p1 bra $L__BB0_2;
// %bb.1:
\tbra.uni $L__BB0_3;
$L__BB0_2:
\tadd.s32 %r1, %r1, 1;
$L__BB0_3:
\t@%p1 ret;
$L__BB0_4:
\ttrap;
$L__BB0_5:
\texit;
}
"""
    (function,) = read_ptx(text)
    assert [(b.label, b.successors) for b in function.blocks] == [
        ("bb.0", ("$L__BB0_2", "bb.1")),
        ("bb.1", ("$L__BB0_3",)),
        ("$L__BB0_2", ("$L__BB0_3",)),
        ("$L__BB0_3", ("$L__BB0_4",)),
        ("$L__BB0_4", ()),
        ("$L__BB0_5", ()),
    ]


def test_guards() -> None:
    (branch,) = [i for i in functions("figure4")["_Z4walkPfPKfi"].instructions() if i.opcode == "bra"][:1]
    assert branch.guard.startswith("@%p")
    assert branch.operands.startswith("$L__BB")


def test_lines_carry_the_calls_they_were_inlined_through() -> None:
    (function,) = (
        functions("inlining").values() if len(functions("inlining")) == 1 else [functions("inlining")["_Z5applyPfi"]]
    )
    divisions = [i for i in function.instructions() if i.opcode.startswith("div")]
    assert divisions
    for each in divisions:
        inner, outer = each.source
        assert (inner.file.rpartition("/")[2], inner.line) == ("inlining.cu", 4)
        assert (outer.file.rpartition("/")[2], outer.line) == ("inlining.cu", 9)
        assert inner.file == outer.file


@pytest.mark.parametrize(
    ("body", "opcodes"),
    [
        ("\tadd.s32 %r1, %r2, %r3; sub.s32 %r4, %r1, %r2;", ["add.s32", "sub.s32"]),
        ("\t{ .reg .pred p; setp.ne.s32 p, %r1, 0; @p bra DONE; DONE: }", ["setp.ne.s32", "bra"]),
        ("\tmma.sync.aligned.m16n8k8\n\t{%r1, %r2},\n\t{%r3};\n\tret;", ["mma.sync.aligned.m16n8k8", "ret"]),
        ("\tld.global.v2.b32 {%r1, %r2}, [%rd1]; // a {comment; with} marks", ["ld.global.v2.b32"]),
        ("", []),
    ],
)  # fmt: skip
def test_statements_however_they_are_laid_out(body: str, opcodes: list[str]) -> None:
    ptx = f".version 7.8\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n{{\n\t.reg .b32 \t%r<9>;\n// %bb.0:\n{body}\n}}\n"
    (function,) = read_ptx(ptx)
    assert [i.opcode for i in function.instructions()] == opcodes


def test_declarations_and_an_empty_module_have_no_functions() -> None:
    assert read_ptx("") == ()
    assert read_ptx(".version 7.8\n.extern .func (.param .b32 r) f\n(\n\t.param .b32 a\n)\n;\n") == ()


def test_names_with_other_letters_are_read_as_they_are() -> None:
    """Names stand as octal bytes in ``.file`` and in the comment of an inlined call alike."""
    ir = example("inlining").replace("inlining.cu", "größe.cu")
    assert "größe.cu" in ir
    found = read_ptx(generate(ir, "sm_80").ptx)
    files = {position.file for f in found for i in f.instructions() for position in i.source}
    assert any(file.endswith("größe.cu") for file in files) and not any("\\" in file for file in files)
