"""Values computed again are the same values: both texts are expanded to what every instruction computes, and compared."""

from __future__ import annotations

import re
from functools import cache

import pytest

from kernelwright.codegen import rematerialisation
from kernelwright.codegen.machine.assemble import assemble, find_assemblers
from kernelwright.codegen.ptx_text import PtxFunction, PtxInstruction, read_ptx
from kernelwright.codegen.rematerialisation import rematerialised
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import load

REGISTER = re.compile(r"%(?:rd|rs|r|f|fd|p)\d+\b")


@cache
def plain_ptx(name: str) -> str:
    """The PTX of a suite program without any of this."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kernelwright.codegen.ptx.rematerialised", lambda ptx: ptx)
        program = load(name)
        include = tuple(f[2:] for f in program.flags if f.startswith("-I"))
        define = tuple(f[2:] for f in program.flags if f.startswith("-D"))
        options = CompileOptions(source=SourceOptions(arch="sm_80", include=include, define=define))
        path = next(path for path in program.source_paths if path.suffix == ".cu")
        return compile_program(path, options=options, cache=False).ptx()


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that may be computed again is."""
    monkeypatch.setattr(rematerialisation, "ROOM", 0)
    monkeypatch.setattr(rematerialisation, "WORTH", 1)


def result_of(instruction: PtxInstruction) -> str:
    return instruction.operands.partition(",")[0].strip()


def expansions(function: PtxFunction, known: set[str]) -> dict[str, str]:
    """What each register that is not ``known`` stands for, in terms of those that are."""
    found: dict[str, str] = {}
    for instruction in function.instructions():
        name = result_of(instruction)
        if REGISTER.fullmatch(name) and name not in known:
            assert name not in found and not instruction.guard
            _, _, operands = instruction.operands.partition(",")
            found[name] = f"({instruction.opcode} {expanded(operands.strip(), found)})"
    return found


def expanded(text: str, meanings: dict[str, str]) -> str:
    return REGISTER.sub(lambda found: meanings.get(found[0], found[0]), text)


def check_same(before: str, after: str) -> int:
    """Compares kernel by kernel and block by block; how many instructions came in addition."""
    added = 0
    for old, new in zip(read_ptx(before), read_ptx(after), strict=True):
        known = {name for each in old.instructions() for name in REGISTER.findall(each.operands)}
        fresh = expansions(new, known)
        written = [result_of(each) for each in old.instructions()]
        pure = {
            result_of(each): f"({each.opcode} {each.operands.partition(',')[2].strip()})"
            for each in old.instructions()
            if written.count(result_of(each)) == 1
        }

        def meaning(text: str, pure: dict[str, str] = pure, fresh: dict[str, str] = fresh) -> str:
            """The text with everything that is written once expanded as far as it goes."""
            text = expanded(text, fresh)
            for _ in range(40):
                further = expanded(text, {r: e for r, e in pure.items() if e.startswith(PURE)})
                if further == text or len(further) > 20_000:
                    return text
                text = further
            return text

        for block, its in zip(old.blocks, new.blocks, strict=True):
            kept = [each for each in its.instructions if result_of(each) not in fresh]
            added += len(its.instructions) - len(kept)
            for a, b in zip(block.instructions, kept, strict=True):
                assert (a.guard, a.opcode) == (b.guard, b.opcode)
                if a.operands != b.operands:
                    assert meaning(a.operands) == meaning(b.operands)
    return added


PURE = tuple(
    f"({name}" for name in ("add", "sub", "shl", "shr", "and", "or", "xor", "mul", "mad", "cvt", "mov", "ld.param")
)


@pytest.mark.parametrize("name", ["lud", "nw", "streamcluster", "hotspot"])
def test_every_instruction_computes_what_it_did(name: str, eager: None) -> None:
    before = plain_ptx(name)
    after = rematerialised(before)
    assert check_same(before, after) > 0
    if find_assemblers():
        assemble(after, "sm_80")


@pytest.mark.skipif(not find_assemblers(), reason="no assembler is installed")
def test_rows_that_are_read_and_written_back_do_not_wait_in_registers() -> None:
    before = plain_ptx("lud")
    after = rematerialised(before)
    assert check_same(before, after) >= 16
    kernel = "_Z15factor_diagonalPfii"
    from kernelwright.codegen.machine.resources import resources

    registers = [resources(assemble(text, "sm_80"))[kernel].registers for text in (before, after)]
    assert registers[1] <= 40 < registers[0]


def test_few_waiting_registers_are_left_alone() -> None:
    assert rematerialised(plain_ptx("hotspot")) == plain_ptx("hotspot")


LOOP = """
.visible .entry k(
	.param .u64 k_param_0
)
{{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<5>;
// %bb.0:
	ld.param.b64 	%rd1, [k_param_0];
	{first}
	mov.b32 	%r8, 0;
$L__BB0_1:
	add.s32 	%r2, %r1, 4;
$L__BB0_2:
	add.s32 	%r8, %r8, 1;
	setp.lt.s32 	%p1, %r8, 9;
	@%p1 bra 	$L__BB0_2;
$L__BB0_3:
	{between}
	setp.lt.s32 	%p1, %r8, 30;
	@%p1 bra 	$L__BB0_5;
$L__BB0_4:
	st.b32 	[%rd1], %r8;
$L__BB0_5:
	st.b32 	[%rd1], %r2;
	setp.lt.s32 	%p0, %r8, 20;
	@%p0 bra 	$L__BB0_1;
	ret;
}}
"""


def test_a_register_that_changes_between_is_not_believed(eager: None) -> None:
    """Written once in the text, but behind its use in the loop: a value of the last time round, as LLVM leaves undefined ones."""
    sound = LOOP.format(first="ld.b32 \t%r1, [%rd1];", between="mov.b32 \t%r3, 1;")
    assert "%r9, %r1, 4" in rematerialised(sound)
    unsound = LOOP.format(first="mov.b32 \t%r3, 1;", between="ld.b32 \t%r1, [%rd1];")
    assert "%r9, %r1, 4" not in rematerialised(unsound)


def test_registers_of_inline_ptx_keep_everything_as_it_is(eager: None) -> None:
    text = LOOP.format(first="ld.b32 \t%r1, [%rd1];", between="{ .reg .b32 %r2; mov.b32 %r2, 1; }")
    assert rematerialised(text) == text
