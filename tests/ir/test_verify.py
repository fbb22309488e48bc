"""The verifier: each rule broken once, and random damage judged by LLVM as well."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.errors import IRError
from kernelwright.ir import (
    ConstantInt,
    Instruction,
    Module,
    Poison,
    clone_module,
    parse_module,
    print_module,
    types,
    verify,
)
from kernelwright.ir.opcodes import BINARY, CASTS, TERMINATORS
from kernelwright.ir.rules import RULES, UNREAD
from kernelwright.ir.text.printer import PRINTERS
from kernelwright.ir.text.read_instruction import READERS
from tests.examples import few
from tests.ir.llvm import RAW, accepts, optimised, read
from tests.ir.mutate import mutate
from tests.ir.uses import check_uses

TEXT = """
%pair = type { i32, float }
@g = global i32 1
@s = addrspace(3) global [4 x i32] undef
declare float @callee(i32, float)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)
declare void @llvm.lifetime.start.p0(ptr)
define i32 @f(i32 %a, float %x, ptr %p, i1 %c, <4 x i32> %v, %pair %s) {
entry:
  %slot = alloca i32, align 4
  %add = add nsw i32 %a, 1
  %mul = fmul float %x, 2.0
  %neg = fneg float %x
  %fr = freeze i32 %a
  %cmp = icmp slt i32 %a, 3
  %fcm = fcmp olt float %x, 1.0
  %zx = zext i32 %a to i64
  %tr = trunc i32 %a to i8
  %si = sitofp i32 %a to float
  %bc = bitcast float %x to i32
  %ac = addrspacecast ptr addrspace(3) @s to ptr
  %sel = select i1 %c, i32 %a, i32 %add
  %ld = load i32, ptr %p, align 4
  %at = load atomic i32, ptr %p monotonic, align 4
  store i32 %ld, ptr %p, align 4
  %gep = getelementptr %pair, ptr %p, i64 1, i32 1
  %rmw = atomicrmw add ptr %p, i32 1 monotonic, align 4
  %cx = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic, align 4
  fence seq_cst
  %ev = extractvalue %pair %s, 1
  %iv = insertvalue %pair %s, i32 4, 0
  %ee = extractelement <4 x i32> %v, i32 1
  %ie = insertelement <4 x i32> %v, i32 %a, i32 1
  %sh = shufflevector <4 x i32> %v, <4 x i32> %v, <2 x i32> <i32 0, i32 7>
  %call = call float @callee(i32 %a, float %x)
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 4, i1 false)
  call void @llvm.lifetime.start.p0(ptr %slot)
  switch i32 %a, label %one [
    i32 1, label %two
    i32 2, label %one
  ]

one:
  %late = add i32 %a, 5
  br i1 %c, label %two, label %end

two:
  br label %end

end:
  %phi = phi i32 [ %late, %one ], [ %sel, %two ]
  ret i32 %phi
}
"""


def named(module: Module, name: str) -> Instruction:
    return next(i for i in module.function("f").instructions() if i.name == name)


def at(module: Module, opcode: str) -> Instruction:
    return next(i for i in module.function("f").instructions() if i.opcode == opcode)


def operand(name: str, index: int, other: str) -> Callable[[Module], None]:
    """Operand ``index`` of ``%name`` (or of the first instruction of this opcode) becomes ``%other``."""

    def change(m: Module) -> None:
        f = m.function("f")
        pool = {v.name: v for v in (*f.arguments, *f.instructions())}
        user = named(m, name) if name in pool else at(m, name)
        user.set_operand(index, pool[other])

    return change


def field(name: str, **changes: object) -> Callable[[Module], None]:
    def change(m: Module) -> None:
        f = m.function("f")
        user = named(m, name) if any(i.name == name for i in f.instructions()) else at(m, name)
        for key, value in changes.items():
            setattr(user, key, value)

    return change


def two_terminators(m: Module) -> None:
    f = m.function("f")
    f.blocks[2].append(Instruction("unreachable", types.void))


def no_terminator(m: Module) -> None:
    m.function("f").blocks[2].instructions[-1].erase()


def phi_after_others(m: Module) -> None:
    m.function("f").blocks[3].insert(0, Instruction("fence", types.void, ordering="seq_cst"))


def phi_in_entry(m: Module) -> None:
    phi = named(m, "phi")
    phi.unlink()
    m.function("f").entry.insert(0, phi)


def back_to_entry(m: Module) -> None:
    f = m.function("f")
    f.blocks[2].instructions[-1].successors = (f.entry,)


def phi_without_an_edge(m: Module) -> None:
    phi = named(m, "phi")
    phi.remove_incoming(phi.blocks[0])


def phi_from_elsewhere(m: Module) -> None:
    f = m.function("f")
    named(m, "phi").add_incoming(f.arguments[0], f.entry)


def two_values_for_a_block(m: Module) -> None:
    f = m.function("f")
    f.blocks[2].instructions[-1].erase()
    f.blocks[2].append(Instruction("br", types.void, (f.arguments[3],), successors=(f.blocks[3], f.blocks[3])))
    named(m, "phi").add_incoming(f.arguments[0], f.blocks[2])


def erased_operand(m: Module) -> None:
    named(m, "late").erase()


def other_function(m: Module) -> None:
    other = parse_module(TEXT).function("f")
    named(m, "add").set_operand(0, other.arguments[0])


def other_module(m: Module) -> None:
    other = parse_module(TEXT)
    named(m, "ld").set_operand(0, other.globals["g"])


def same_name_twice(m: Module) -> None:
    named(m, "add").name = "mul"


def unknown_opcode(m: Module) -> None:
    named(m, "add").opcode = "ad"


def wrong_initializer(m: Module) -> None:
    m.globals["g"].initializer = ConstantInt(types.i64, 1)


def listed_elsewhere(m: Module) -> None:
    m.function("f").blocks[2].instructions.insert(0, at(m, "store"))


def stray_argument(m: Module) -> None:
    m.function("f").arguments.pop()


BROKEN: list[tuple[Callable[[Module], None], str]] = [
    (operand("add", 1, "x"), "this operand of 'add' must have type i32 but has type float"),
    (operand("add", 0, "x"), "must be an integer but has type float"),
    (operand("mul", 0, "a"), "must be a floating point number"),
    (operand("neg", 0, "a"), "must be a floating point number"),
    (operand("fr", 0, "x"), "the result of this 'freeze' must have type float"),
    (operand("cmp", 0, "x"), "must be an integer or a pointer"),
    (field("cmp", predicate="olt"), "'olt' is no predicate of 'icmp'"),
    (operand("fcm", 1, "a"), "must have type float but has type i32"),
    (operand("zx", 0, "zx"), "'zext' turns an integer to a wider one, not i64 into i64"),
    (operand("tr", 0, "c"), "'trunc' turns an integer to a narrower one, not i1 into i8"),
    (operand("si", 0, "x"), "'sitofp' turns an integer to a floating point number, not float into float"),
    (operand("bc", 0, "zx"), "'bitcast' keeps the bits"),
    (operand("ac", 0, "p"), "a pointer to one in another address space"),
    (operand("sel", 0, "a"), "the condition of 'select' must be i1"),
    (operand("sel", 2, "x"), "must have type i32 but has type float"),
    (operand("ld", 0, "a"), "this operand of 'load' must be a pointer"),
    (field("ld", align=3), "an alignment is a power of two, not 3"),
    (field("at", ordering="release"), "an atomic 'load' cannot be 'release'"),
    (field("at", align=0), "must state its alignment"),
    (operand("store", 1, "a"), "this operand of 'store' must be a pointer"),
    (field("gep", source_type=types.i32), "there is nothing inside i32 to index"),
    (operand("gep", 2, "a"), "is selected by a constant"),
    (operand("gep", 0, "a"), "'getelementptr' starts at a pointer"),
    (operand("gep", 1, "x"), "an index of 'getelementptr' must be an integer"),
    (field("rmw", operation="fadd"), "'atomicrmw fadd' cannot work on i32"),
    (field("rmw", operation="plus"), "'plus' is no operation"),
    (field("rmw", ordering="unordered"), "'atomicrmw' cannot be 'unordered'"),
    (operand("cx", 2, "zx"), "must have type i32 but has type i64"),
    (field("cx", failure_ordering="release"), "cannot be 'release' when it fails"),
    (field("fence", ordering="monotonic"), "a fence cannot be 'monotonic'"),
    (field("ev", indices=(7,)), "%pair has no element 7"),
    (operand("ev", 0, "v"), "works on structs and arrays"),
    (operand("iv", 1, "x"), "must have type i32 but has type float"),
    (operand("ee", 0, "a"), "must be a vector"),
    (operand("ie", 1, "x"), "must have type i32"),
    (operand("sh", 2, "v"), "the mask of 'shufflevector' must be a constant"),
    (operand("call", 0, "x"), "must have type i32 but has type float"),
    (field("alloca", allocated_type=types.void), "needs a type with a size"),
    (operand("ret", 0, "x"), "must have type i32 but has type float"),
    (field("add", flags=("exact",)), "'add' has no flag 'exact'"),
    (field("sel", flags=("fast",)), "is for floating point results"),
    (field("switch", cases=(ConstantInt(types.i32, 1), ConstantInt(types.i32, 1))), "the case 1 appears twice"),
    (field("switch", cases=(ConstantInt(types.i32, 1),)), "1 cases for 2 blocks"),
    (operand("switch", 0, "x"), "'switch' chooses by an integer"),
    (operand("add", 0, "fr"), "is not defined on every way that leads here"),
    (operand("call", 0, "late"), "is not defined on every way that leads here"),
    (
        lambda m: m.function("f").entry.instructions[-2].set_operand(0, m.function("f").arguments[2]),
        "result of an 'alloca'",
    ),
    (
        lambda m: m.function("f").entry.instructions[-3].set_operand(3, m.function("f").arguments[3]),
        "must be a constant",
    ),
    (two_terminators, "'br' ends a block, but instructions follow it"),
    (no_terminator, "this block does not end in a terminator"),
    (phi_after_others, "a phi must come before the other instructions"),
    (phi_in_entry, "the entry block has no predecessors"),
    (back_to_entry, "no branch may lead back to the entry block"),
    (phi_without_an_edge, "this phi has 0 values for one, from which 1 edges come"),
    (phi_from_elsewhere, "this phi has 1 values for entry, from which 0 edges come"),
    (two_values_for_a_block, "two different values for the same block"),
    (erased_operand, "is an instruction that is not in @f"),
    (other_function, "is an argument of another function"),
    (other_module, "@g is not in this module"),
    (same_name_twice, "the name %mul is taken twice"),
    (unknown_opcode, "'ad' is no instruction of LLVM"),
    (wrong_initializer, "the initializer must have type i32"),
    (listed_elsewhere, "is listed in a block that is not its parent"),
    (stray_argument, "has arguments that differ from its type"),
]


def test_the_text_is_good_before_it_is_broken() -> None:
    module = parse_module(TEXT)
    verify(module)
    check_uses(module)
    assert accepts(print_module(module))


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_each_rule_refuses_what_breaks_it(change: Callable[[Module], None], message: str) -> None:
    module = parse_module(TEXT)
    change(module)
    with pytest.raises(IRError) as error:
        verify(module)
    assert message in error.value.message
    assert error.value.place is not None


def test_the_message_shows_the_line_and_points_at_the_operand() -> None:
    module = parse_module(TEXT)
    operand("call", 1, "a")(module)
    with pytest.raises(IRError) as error:
        verify(module)
    place = error.value.place
    assert place is not None
    printed = print_module(module).split("\n")
    assert printed[place.line - 1] == place.text == "  %call = call float @callee(i32 %a, i32 %a)"
    assert place.column == place.text.rindex("%a") + 1
    assert "IR of @f" in place.file


def test_every_opcode_has_a_reader_a_printer_and_a_rule() -> None:
    words = {"tail", "musttail", "notail"}
    assert set(READERS) - words == set(PRINTERS) == set(RULES)
    assert set(RULES) >= BINARY | CASTS and not set(RULES) & UNREAD
    assert set(RULES) | UNREAD >= TERMINATORS


@settings(max_examples=few(60), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(RAW), st.booleans(), st.integers(1, 3))
def test_what_we_accept_llvm_accepts(seed: int, name: str, optimise: bool, changes: int) -> None:
    rng = random.Random(seed)
    module, _ = clone_module(parse_module(optimised(name) if optimise else read(name)))
    for _ in range(changes):
        mutate(rng, module)
    check_uses(module)
    try:
        verify(module)
    except IRError:
        return  # we may be stricter: text cannot carry every inconsistency that objects can
    assert accepts(print_module(module))


def test_what_llvm_refuses_we_refuse_and_the_damage_is_worth_the_name() -> None:
    """The random damage above breaks IR often enough, and is harmless often enough, to mean something."""
    verdicts = Counter()
    for seed in range(80):
        module, _ = clone_module(parse_module(read("control")))
        mutate(random.Random(seed), module)
        try:
            verify(module)
            verdicts["good"] += 1
        except IRError:
            verdicts["bad"] += 1
    assert verdicts["good"] > 15 and verdicts["bad"] > 15, verdicts


def test_use_lists_out_of_step_are_noticed() -> None:
    module = parse_module(TEXT)
    add = named(module, "add")
    assert add._uses is not None
    add._uses.append(add)
    with pytest.raises(AssertionError, match="uses of"):
        check_uses(module)
    module = parse_module(TEXT)
    named(module, "add")._operands = (Poison(types.i32), Poison(types.i32))
    with pytest.raises(AssertionError, match="uses of"):
        check_uses(module)
