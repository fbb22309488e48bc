"""Text to objects and back: nothing is lost, LLVM agrees, and the PTX is the same."""

from __future__ import annotations

import pytest

from kernelwright.ir import parse_module, print_module, verify
from tests.ir.compare import difference
from tests.ir.llvm import RAW, canonical, optimised, parsed, ptx, read
from tests.ir.uses import check_uses

FILES = (*RAW, "stencil.o3", "control.o3", "syntax")


@pytest.mark.parametrize("name", FILES)
def test_what_prints_also_parses(name: str) -> None:
    module = parse_module(read(name), name)
    text = print_module(module)
    again = parse_module(text)
    assert difference(module, again) == ""
    assert print_module(again) == text
    verify(module)
    check_uses(module)


@pytest.mark.parametrize("name", FILES)
def test_llvm_reads_the_same_module_from_our_text(name: str) -> None:
    text = read(name)
    assert canonical(print_module(parse_module(text))) == canonical(text)


@pytest.mark.parametrize("name", FILES)
def test_canonical_text_comes_back_letter_by_letter(name: str) -> None:
    text = canonical(read(name))
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize("name", RAW)
def test_optimised_programs_too(name: str) -> None:
    text = canonical(optimised(name))
    module = parse_module(text)
    assert print_module(module) == text
    verify(module)
    check_uses(module)


@pytest.mark.parametrize("name", RAW)
@pytest.mark.parametrize("form", ["raw", "optimised"])
def test_the_ptx_is_the_same(name: str, form: str) -> None:
    text = read(name) if form == "raw" else optimised(name)
    ours = print_module(parse_module(text))
    assert ptx(ours) == ptx(text)


def test_a_module_is_read_whatever_the_spacing() -> None:
    loose = """
define   i32 @f( i32 %a ,i32 %b ){
start:
    ; a comment; with a semicolon
    %sum=add nsw i32 %a,%b      ; another
\tbr label %end
end:  ; preds = somewhere
 ret i32 %sum}
}
""".replace("%sum}\n}", "%sum\n}")
    text = print_module(parse_module(loose))
    assert "  %sum = add nsw i32 %a, %b\n  br label %end\n" in text
    parsed(text)


def test_comments_and_indentation_change_nothing() -> None:
    plain = """source_filename = "a;b"
%t = type { i32 }
@g = global [2 x i8] c"; ", align 1
declare void @h(i32)
define void @f(i32 %x) #0 {
entry:
  switch i32 %x, label %end [
    i32 1, label %end
  ]
end:
  call void @h(i32 %x), !dbg !0
  ret void
}
attributes #0 = { nounwind "k"=";" }
!0 = !{!";", i32 1}
"""
    noisy = (
        plain.replace("}\n", "} ; c, !x\n", 2).replace(" [\n", " [ ; first ]\n").replace("%end\n  ]", "%end ; ]\n  ]")
    )
    noisy = noisy.replace("entry:\n", "entry: ; label\n ; whole line\n").replace("!dbg !0\n", "!dbg !0 ; , !y !1\n")
    noisy = noisy.replace("declare", "   declare").replace("i32 1}\n", "i32 1} ; end\n")
    assert noisy.count(";") > 10
    assert difference(parse_module(plain), parse_module(noisy)) == ""


def test_a_result_may_be_named_like_its_opcode() -> None:
    text = "define i32 @f(ptr %landingpad) {\n  %resume = landingpad ptr %landingpad\n  ret i32 %resume\n}\n"
    f = parse_module(text).function("f")
    made = f.entry.instructions[0]
    assert made.opcode == "landingpad" and made.operands == (f.arguments[0],)
    assert str(made) == "%resume = landingpad ptr %landingpad"
    text = text.replace("%resume", "%landingpad.1")
    assert "  %landingpad.1 = landingpad ptr %landingpad\n" in print_module(parse_module(text))


def test_unknown_instructions_keep_their_words_and_their_uses() -> None:
    module = parse_module(read("syntax"))
    f = module.function("quoted fn")
    invoke = f.entry.instructions[0]
    assert invoke.is_opaque and invoke.is_terminator
    assert [b.name for b in invoke.successors] == ["ok", "bad"]
    assert module.function("h") in invoke.operands
    g = module.function("g")
    record = next(i for i in g.instructions() if i.opcode == "#dbg_value")
    value = record.operands[0]
    assert value.name == "cv" and record in value.users
    value.name = "renamed"
    assert "#dbg_value(i32 %renamed, !8" in print_module(module)


def test_values_are_numbered_as_llvm_numbers_them() -> None:
    text = canonical(read("control"))
    module = parse_module(text)
    f = module.functions["_Z8classifyi"]
    f.entry.instructions[0].name = "slot"  # one number less from here on
    f.blocks[2].name = "second"
    printed = print_module(module)
    assert canonical(printed).split("\n")[1:] == printed.split("\n")[1:]  # the first line names the file
    assert "%slot = alloca i32" in printed and "\nsecond:" in printed


def test_results_may_go_without_a_name() -> None:
    module = parse_module(
        "declare i32 @g()\ndefine i32 @f(i32) {\n  call i32 @g()\n  %3 = add i32 %0, %2\n  ret i32 %3\n}"
    )
    call, add, _ = module.function("f").entry.instructions
    assert add.operands == (module.function("f").arguments[0], call)


def test_numbered_globals_keep_their_numbers() -> None:
    text = "@0 = private constant i32 7\n@named = global ptr @0\n"
    module = parse_module(text)
    assert "@0 = private constant i32 7\n@named = global ptr @0" in print_module(module)
    parsed(print_module(module))


@pytest.mark.parametrize("name", ['a"b', "a b", "ünïcode", "back\\slash", "5", "-", ".x$", "tab\t"])
def test_odd_names_survive(name: str) -> None:
    module = parse_module("define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}")
    f = module.function("f")
    f.arguments[0].name = name
    f.entry.name = name + "!"
    if name != "5":
        module.rename(f, name)
    text = print_module(module)
    again = parse_module(canonical(text))
    twin = next(iter(again.functions.values()))
    assert twin.arguments[0].name == name and twin.entry.name == name + "!"
    assert twin.name == f.name
