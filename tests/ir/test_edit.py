"""Changing a module: use-lists follow, text follows, and misuse is refused with a sentence."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.ir import (
    ConstantInt,
    Function,
    Instruction,
    Module,
    Poison,
    Use,
    parse_module,
    print_module,
    types,
    verify,
)
from kernelwright.ir.types import FunctionType
from tests.examples import few
from tests.ir.llvm import parsed, read
from tests.ir.mutate import mutate
from tests.ir.uses import check_uses

TEXT = """
define i32 @f(i32 %a, i32 %b, i1 %c) {
entry:
  %x = add i32 %a, %b
  %y = mul i32 %x, %x
  br i1 %c, label %left, label %right
left:
  %z = sub i32 %y, %x
  br label %join
right:
  br label %join
join:
  %p = phi i32 [ %z, %left ], [ %y, %right ]
  ret i32 %p
}
"""


@pytest.fixture
def module() -> Module:
    return parse_module(TEXT)


def by_name(module: Module) -> dict[str, Instruction]:
    return {i.name: i for i in module.function("f").instructions() if i.name}


def test_uses(module: Module) -> None:
    v = by_name(module)
    assert v["x"].uses == [Use(v["y"], 0), Use(v["y"], 1), Use(v["z"], 1)]
    assert v["y"].users == [v["z"], v["p"]]
    assert module.function("f").arguments[0].users == [v["x"]]


def test_set_operand_and_use_set(module: Module) -> None:
    v = by_name(module)
    five = ConstantInt(types.i32, 5)
    v["y"].set_operand(1, five)
    assert v["x"].uses == [Use(v["y"], 0), Use(v["z"], 1)]
    assert five.uses == []  # plain constants keep none
    v["x"].uses[0].set(v["y"].operands[1])
    assert v["y"].operands == (five, five) and v["x"].users == [v["z"]]
    check_uses(module)


def test_assigning_operands_keeps_uses_right(module: Module) -> None:
    v = by_name(module)
    v["z"].operands = (v["x"], v["x"])
    assert v["y"].users == [v["p"]] and len(v["x"].uses) == 4
    check_uses(module)


def test_replace_all_uses(module: Module) -> None:
    v = by_name(module)
    a = module.function("f").arguments[0]
    v["x"].replace_all_uses_with(a)
    assert not v["x"].is_used
    assert v["y"].operands == (a, a) and v["z"].operands == (v["y"], a)
    with pytest.raises(ValueError, match="cannot replace a i32 by a i1"):
        v["y"].replace_all_uses_with(module.function("f").arguments[2])
    v["x"].erase()
    verify(module)
    check_uses(module)
    assert "%x" not in print_module(module)


def test_clone_insert_and_move(module: Module) -> None:
    v = by_name(module)
    copy = v["x"].clone()
    assert copy.parent is None and not copy.is_used and copy.operands == v["x"].operands
    v["z"].parent.insert(0, copy)  # type: ignore[union-attr]
    v["z"].set_operand(1, copy)
    assert print_module(module).count("add i32 %a, %b") == 2
    v["y"].move_before(v["z"])
    with pytest.raises(Exception, match="not defined on every way"):
        verify(module)
    v["p"].operands = (v["z"], v["x"])
    verify(module)
    assert [i.opcode for i in module.function("f").blocks[1]] == ["add", "mul", "sub", "br"]
    v["x"].move_before(v["x"])
    assert v["x"].index == 0
    with pytest.raises(ValueError, match="in a block already"):
        module.function("f").entry.append(v["x"])
    with pytest.raises(ValueError, match="in no block"):
        v["x"].move_before(Instruction("fence", types.void, ordering="seq_cst"))
    check_uses(module)


def test_phis_and_blocks(module: Module) -> None:
    f = module.function("f")
    entry, left, right, join = f.blocks
    phi = join.phis[0]
    assert phi.incoming == [(by_name(module)["z"], left), (by_name(module)["y"], right)]
    assert join.predecessors == [left, right] and entry.successors == (left, right)
    assert right.users == [entry.terminator, phi]
    # Thread the empty block away: entry goes straight to join.
    right.replace_all_uses_with(entry)
    assert entry.terminator is not None
    entry.terminator.replace_block(entry, join)
    right.erase()
    verify(module)
    check_uses(module)
    assert phi.incoming_value(entry) is by_name(module)["y"]
    with pytest.raises(ValueError):
        phi.remove_incoming(right)
    with pytest.raises(ValueError, match="cannot replace a block by a i32"):
        left.replace_all_uses_with(f.arguments[0])


def test_a_function_built_by_hand() -> None:
    module = Module()
    f = Function("sum", FunctionType(types.i32, (types.i32, types.i32)))
    module.add(f)
    block = f.add_block()
    added = Instruction("add", types.i32, tuple(f.arguments), ("nsw",))
    block.append(added)
    block.append(Instruction("ret", types.void, (added,)))
    late = f.add_block("late", after=block)
    late.append(Instruction("unreachable", types.void))
    verify(module)
    text = print_module(module)
    assert "define i32 @sum(i32 %0, i32 %1) {\n  %3 = add nsw i32 %0, %1\n  ret i32 %3\n\nlate:" in text
    parsed(text)
    with pytest.raises(ValueError, match="has an 'sum' already"):
        module.add(Function("sum", f.function_type))
    with pytest.raises(KeyError, match="it has: sum"):
        module.function("nothing")
    module.remove([f])
    assert not module.functions and not f.blocks


def test_fields_an_opcode_does_not_have_are_refused() -> None:
    add = Instruction("add", types.i32, (ConstantInt(types.i32, 1),) * 2)
    assert (add.successors, add.volatile, add.align, add.ordering) == ((), False, 0, "")
    for field in ("predicate", "source_type", "callee", "arguments", "blocks", "operation"):
        with pytest.raises(AttributeError, match=f"'add' has no field '{field}'"):
            getattr(add, field)


def test_fields_that_were_not_given_are_neutral() -> None:
    slot = Instruction("alloca", types.ptr, allocated_type=types.i32)
    assert (slot.address_space, slot.align, str(slot)) == (0, 0, "<badref> = alloca i32")
    call = Instruction("call", types.void, (Poison(types.ptr),), function_type=FunctionType(types.void, ()))
    call.argument_attributes = ()
    assert (call.tail, call.bundles, str(call)) == ("", (), "call void poison()")
    for field in ("tail", "bundles", "address_space"):
        with pytest.raises(AttributeError, match="'add' has no field"):
            getattr(Instruction("add", types.i32), field)


def test_calls_know_their_parts() -> None:
    module = parse_module(read("syntax"))
    calls = [i for i in module.function("f").instructions() if i.opcode == "call"]
    variadic, assume, tail = calls
    assert variadic.callee is module.function("printf") and variadic.function_type.variadic
    assert len(variadic.arguments) == 3 and variadic.arguments[0] is module.globals["t"]
    assert assume.bundles == (("align", 2), ("nonnull", 1)) and len(assume.arguments) == 1
    assert tail.tail == "musttail" and tail.callee.users[-1] is tail
    by_value = next(i for i in module.function("g").instructions() if i.opcode == "call" and "byval(%pair)" in str(i))
    assert by_value.argument_attributes == ("byval(%pair) align 8", "sret({ i32, i64 }) align 8")


def test_renaming_a_global_follows_into_metadata_and_comdats() -> None:
    module = parse_module(
        "$k = comdat any\ndefine linkonce_odr void @k() comdat {\n  ret void\n}\n"
        "define void @kk() {\n  call void @k()\n  ret void\n}\n"
        '!mine = !{!0}\n!0 = !{ptr @k, !"maxntidx", i32 256, ptr @kk}\n'
    )
    module.rename(module.function("k"), "new name")
    text = print_module(module)
    assert '!{ptr @"new name", !"maxntidx", i32 256, ptr @kk}' in text
    assert 'define linkonce_odr void @"new name"() comdat($k) {' in text and 'call void @"new name"()' in text
    assert list(module.functions) == ["new name", "kk"]
    parsed(text)
    with pytest.raises(ValueError, match="has an 'kk' already"):
        module.rename(module.function("new name"), "kk")


@settings(max_examples=few(60), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["control.o3", "reduce", "syntax"]))
def test_uses_and_text_follow_any_sequence_of_changes(seed: int, name: str) -> None:
    """Rename, replace, move, clone, erase at random: use-lists mirror operands, and what prints parses to the same."""
    rng = random.Random(seed)
    module = parse_module(read(name))
    for step in range(12):
        if rng.random() < 0.3:
            f = rng.choice(module.definitions)
            value = rng.choice([*f.arguments, *f.blocks, *f.instructions()])
            if value.type is not types.void:
                value.name = rng.choice(["", f"n{step}", f"odd {step}\\", f"é{step}"])
        elif rng.random() < 0.2:
            f = rng.choice(module.definitions)
            results = [i for i in f.instructions() if i.has_result]
            if results:
                value = rng.choice(results)
                value.replace_all_uses_with(rng.choice([v for v in results if v.type is value.type]))
        else:
            mutate(rng, module)
        check_uses(module)
    for function in module.definitions:  # what has no place in its function cannot be named in text
        inside = set(function.instructions())
        for i in function.instructions():
            for n, value in enumerate(i.operands):
                if isinstance(value, Instruction) and (value not in inside or not value.has_result):
                    i.set_operand(n, Poison(value.type if value.has_result else types.i32))
            if any(v.type is not i.operands[0].type for v in i.operands) and i.opcode in ("add", "icmp", "phi", "or"):
                i.operands = tuple(Poison(i.operands[0].type) for _ in i.operands)
    assert "<badref>" not in print_module(module)
