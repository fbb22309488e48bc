"""The lenient launch spelling: what changes, and everything that must not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.cuda.source_rewrites import changed_files, escape_registers, normalise_launches


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k<< <g, b>> >(x);", "k<<< g, b>>> (x);"),
        ("k<<<g, b>> >(x);", "k<<<g, b>>> (x);"),
        ("k << < g , b >> > (x);", "k <<<  g , b >>>  (x);"),
        ("k<<\n<g,\n b>>\n>(x);", "k<<<\ng,\n b>>>\n(x);"),
        ("k<< <g, f<int>(b)>> >(x);", "k<<< g, f<int>(b)>>> (x);"),
        ("k<< <1'024, 3'2>> >(x); c = 'x';", "k<<< 1'024, 3'2>>> (x); c = 'x';"),
        ("n = 0x1'ff; k<< <1, 2>> >(u8'a');", "n = 0x1'ff; k<<< 1, 2>>> (u8'a');"),
    ],
)
def test_launches_become_tight(before: str, after: str) -> None:
    assert normalise_launches(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "std::vector<std::vector<std::vector<int>> > v;",
        "A<B<C<int>> > (3);",
        '"k<< <1, 2>> >(x)"',
        "// k<< <1, 2>> >(x)",
        "/* k<< <1,\n 2>> >(x) */",
        'R"x(k<< <1, 2>> >)x"',
        "friend std::ostream& operator<< <T>(std::ostream&, A<B<T>> >);",
        "x = a << 2 < b;",
        "#include <<weird> >",
        "k<<<g, b>>>(x);",
        "c = '<'; d = '\\''; e = a >> 1 > 2;",
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert normalise_launches(text) == text


@given(st.text(alphabet="k<>( )\n\"'/*x;", max_size=60))
def test_length_and_lines_are_kept(text: str) -> None:
    result = normalise_launches(text)
    assert len(result) == len(text)
    assert result.count("\n") == text.count("\n")


@given(st.text(alphabet="k<>( )\n\"'/*x;", max_size=60))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalise_launches(text)
    assert normalise_launches(once) == once


def test_included_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "main.cu").write_text('#include "kernel.cu"\n#include "far.cuh"\n#include "main.cu"\n')
    (tmp_path / "kernel.cu").write_text("void f() { k<< <1, 2>> >(); }\n")
    (tmp_path / "inc" / "far.cuh").write_text("void g() { k<< <1, 2>> >(); }\n")
    found = changed_files(tmp_path / "main.cu", (str(tmp_path / "inc"),))
    assert sorted(p.name for p in found) == ["far.cuh", "kernel.cu"]


def test_files_in_angle_brackets_are_found_in_the_users_folders(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "main.cu").write_text("#include <far.cuh>\n#include <near.cuh>\n")
    (tmp_path / "near.cuh").write_text("void f() { k<< <1, 2>> >(); }\n")  # not searched for angle brackets
    (tmp_path / "inc" / "far.cuh").write_text("void g() { k<< <1, 2>> >(); }\n")
    found = changed_files(tmp_path / "main.cu", (str(tmp_path / "inc"),))
    assert [p.name for p in found] == ["far.cuh"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('asm("mov.u32 %0, %laneid;" : "=r"(r));', 'asm("mov.u32 %0, %%laneid;" : "=r"(r));'),
        ('asm volatile ("mov.u64 %0, %globaltimer;"', 'asm volatile ("mov.u64 %0, %%globaltimer;"'),
        (
            '__asm__ __volatile__("a %tid.x;"\n    "b %ctaid.y;" : )',
            '__asm__ __volatile__("a %%tid.x;"\n    "b %%ctaid.y;" : )',
        ),
    ],
)
def test_registers_get_their_second_percent_sign(before: str, after: str) -> None:
    assert escape_registers(before) == after


@pytest.mark.parametrize(
    "text",
    [
        'asm("mov.u32 %0, %%laneid;" : "=r"(r));',
        'asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(s), "r"(n));',
        'printf("%clock %tid %pm1");',
        'asm("x;"); printf("%laneid");',
        'asm("mov %0, %tidal;");',
    ],
)
def test_other_percent_signs_stay(text: str) -> None:
    assert escape_registers(text) == text


@pytest.mark.parametrize("unit", ["1.", "1'2", "/*", "'", '"', "asm("])
def test_long_nonsense_is_read_in_one_go(unit: str) -> None:
    started = time.monotonic()
    text = unit * 100_000
    escape_registers(normalise_launches(text))
    assert time.monotonic() - started < 2
