"""Text that is no IR: one sentence, the line and column, a caret."""

from __future__ import annotations

import random

import pytest

from kernelwright.errors import IRError
from kernelwright.ir import parse_module
from tests.ir.llvm import read


def body(*lines: str) -> str:
    return "declare i32 @g(i32)\ndefine i32 @f(i32 %a, ptr %p) {\n" + "\n".join(lines) + "\n}\n"


CASES = [
    # text, line, column, message
    (body("  %x = add i32 %a, %y", "  ret i32 %x"), 3, 20, "%y is used but never defined in @f"),
    (body("  %x = fadd float %a, 1.0", "  ret i32 0"), 3, 19, "%a has type i32 but is used as float"),
    (body("  %x = load i32 ptr %p", "  ret i32 %x"), 3, 17, "expected ',', found 'ptr'"),
    (body("  br label %q"), 3, 12, "there is no block %q in @f"),
    (body("  br label %a"), 3, 12, "%a is no block"),
    (body("  %x = add i32 1", "  ret i32 %x"), 3, 17, "the line ends before it is complete"),
    (body("  %x = add i32 1, 2 3", "  ret i32 %x"), 3, 21, "'3' follows a complete 'add'"),
    (body("  %x = add i32 1, 2", "  %x = add i32 1, 2", "  ret i32 %x"), 4, 3, "%x is defined twice"),
    (body("  %x = icmp lt i32 %a, 2", "  ret i32 %a"), 3, 13, "'lt' is no predicate of icmp"),
    (body("  %x = add i3x2 1, 2", "  ret i32 %a"), 3, 12, "expected a type, found 'i3x2'"),
    (body("  %x = add i32 1.5, 2", "  ret i32 %a"), 3, 16, "expected a constant of type i32, found '1.5'"),
    (body("  %x = call i32 @h(i32 1)", "  ret i32 %a"), 3, 17, "no global or function named @h"),
    (body("  %x = store i32 1, ptr %p", "  ret i32 %a"), 3, 3, "'store' has no result to name %x"),
    (body("  store i32 1, ptr %p, align 4, 5", "  ret i32 %a"), 3, 31, "',' follows a complete 'store'"),
    (body("  %x = load i32, ptr %p, alig 4", "  ret i32 %a"), 3, 26, "expected an alignment, found 'alig'"),
    (body("  fence fast", "  ret i32 %a"), 3, 9, "expected a memory ordering, found 'fast'"),
    (body("  ret i32 %a", "b:", "  ret i32 0", "b:", "  ret i32 1"), 6, 1, "the block %b is defined twice"),
    (
        body("  switch i32 %a, label %b [ i64 1, label %b ]", "b:", "  ret i32 0"),
        3,
        33,
        "must be an integer of type i32",
    ),
    (body("  %x = extractvalue { i32 } undef, 1", "  ret i32 0"), 3, 36, "{ i32 } has no element 1"),
    (body("  %x = extractvalue [2 x i32] undef, 2", "  ret i32 0"), 3, 38, "[2 x i32] has no element 2"),
    (body("  %x = extractelement i32 %a, i32 1", "  ret i32 0"), 3, 27, "expected a vector, found a i32"),
    (body("  %x = phi i32 [ 1, %p ]", "  ret i32 0"), 3, 21, "%p is no block"),
    (body("  %x = bitcast ptr blockaddress(@f, %b) to ptr", "  ret i32 0"), 3, 20, "'blockaddress' is not supported"),
    (body(), 3, 1, "the body of @f is empty"),
    ("@x = global i32 foo", 1, 17, "expected a constant of type i32, found 'foo'"),
    ("@x = global %s zeroinitializer", 1, 13, "no type named %s"),
    ("@x = global i32 0\n@x = global i32 1", 2, None, "@x is defined twice"),
    ("@x = global ptr @y", 1, 17, "no global or function named @y"),
    ("@x = global i32 extractelement (i32 1, i32 0)", 1, None, "expected a vector, found a i32"),
    ("@x = global i32 ptrtoint (ptr null to i64)", 1, None, "this 'ptrtoint' has type i64 but is used as i32"),
    ("hello", 1, 1, "expected a top level entity, found 'hello'"),
    ("define void @f() {\n  ret void\n", 1, 1, "this function has no closing '}'"),
    ("define voi @f() {\n  ret void\n}", 1, 12, "expected a type, found '@f'"),
    ("define void @f(i32 %x, i32 %x) {\n  ret void\n}", 1, 28, "%x is defined twice"),
    ("declare void @f(i32 [ y)", 1, 21, "expected ',' or ')', found '['"),
    ("%t = type { %t }\n@x = global %t zeroinitializer", 1, 11, "the type %t contains itself"),
    ("%t = type { i32, foo }", 1, 11, "expected a type, found 'foo'"),
    ("!3 !{}", 1, 1, "expected '!name = node'"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), CASES)
def test_bad_text_is_refused_at_its_place(text: str, line: int | None, column: int | None, message: str) -> None:
    with pytest.raises(IRError) as error:
        parse_module(text, "bad.ll")
    assert message in error.value.message
    place = error.value.place
    assert place is not None and place.file == "bad.ll"
    assert line is None or place.line == line
    assert column is None or place.column == column


def test_the_message_shows_line_and_caret() -> None:
    with pytest.raises(IRError) as error:
        parse_module(body("  %x = load i32 ptr %p", "  ret i32 %x"), "bad.ll")
    shown = str(error.value).split("\n")
    assert shown[0] == "bad.ll:3:17: expected ',', found 'ptr'"
    assert shown[1] == "      %x = load i32 ptr %p"
    assert shown[2].index("^") == shown[1].index("ptr")


def test_damaged_text_never_ends_in_a_traceback() -> None:
    """Words taken out, doubled or exchanged: the text is read or refused with a place, and nothing else happens."""
    lines = read("syntax").split("\n")
    rng = random.Random(7)
    refused = 0
    for _ in range(600):
        damaged = list(lines)
        n = rng.choice([i for i, line in enumerate(lines) if line.strip()])
        words = damaged[n].split(" ")
        k = rng.randrange(len(words))
        words[k : k + 1] = rng.choice([[], [words[k]] * 2, [rng.choice(words)], [words[k][:-1]], [words[k] + "("]])
        damaged[n] = " ".join(words)
        try:
            parse_module("\n".join(damaged))
        except IRError as error:
            refused += 1
            assert error.place is not None and error.place.line
    assert refused > 200


def test_cut_off_text_never_ends_in_a_traceback() -> None:
    """Every prefix of a program is read or refused; nothing else may happen."""
    text = read("reduce")
    for end in range(0, 9000, 61):
        try:
            parse_module(text[:end])
        except IRError as error:
            assert error.place is not None
