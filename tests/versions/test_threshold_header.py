"""``kernelwright_threshold.h``: guards of CUDA programs, the file they read, and what they say of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kernelwright.versions.program import INFINITE, Compared
from kernelwright.versions.running.line_protocol import comparisons, dispatch_us, unreadable_line
from kernelwright.versions.threshold_file import read_thresholds

HEADERS = Path(__file__).parents[2] / "src" / "kernelwright" / "cuda" / "include"
PROGRAM = """
#include <kernelwright_threshold.h>
int main(void)
{
    int time;
    for (time = 0; time < 2; time++)
        printf("%d%d%d ", KW_THRESHOLD("rows", 8), KW_THRESHOLD("elements", 80), KW_THRESHOLD_IF("legal", 9, time));
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import ziglang

    zig = Path(ziglang.__file__).parent / "zig"
    source = tmp_path_factory.mktemp("header") / "app.c"
    source.write_text(PROGRAM)
    made = source.with_suffix("")
    subprocess.run([zig, "cc", "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}", source, "-o", made], check=True)
    return made


@pytest.mark.parametrize(
    "flags", ["-std=c99", "-std=c11 -D_POSIX_C_SOURCE=199309L", "-x c++ -std=c++11", "-x c++ -std=c++20"]
)
def test_it_compiles_in_strict_modes(flags: str, tmp_path: Path) -> None:
    import ziglang

    source = tmp_path / "app.c"
    source.write_text(PROGRAM)
    words = [Path(ziglang.__file__).parent / "zig", "cc", *flags.split(), "-pedantic", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*words, f"-I{HEADERS}", "-c", source, "-o", tmp_path / "app.o"], check=True)


def said(program: Path, **environment: str) -> tuple[str, list[str]]:
    """What it decided, and what it said of that."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("KW_")}
    done = subprocess.run([program], env={**own, **environment}, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip(), done.stderr.splitlines()


@pytest.fixture
def tuning(program: Path) -> Path:
    """The file that it reads."""
    file = Path(f"{program}.tuning")
    file.unlink(missing_ok=True)
    return file


def test_a_program_without_a_file_takes_nothing_and_is_quiet(program: Path, tuning: Path) -> None:
    assert said(program) == ("000 000", [])
    tuning.write_text("-- thresholds of app.cu\n")
    assert said(program) == ("000 000", [])


def test_thresholds_are_read(program: Path, tuning: Path) -> None:
    tuning.write_text(f"-- of app.cu=1\n\n  rows = 8 \r\nelements={INFINITE}\nlegal=-3\n")
    assert said(program) == ("100 101", [])
    other = tuning.with_name("other")
    other.write_text("rows=9\nelements=80\nlegal=10\n")
    assert said(program, KW_THRESHOLDS=str(other)) == ("010 010", [])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("rows=many", "this is no whole number, and its guard is not taken: rows=many"),
        ("rows=", "this is no whole number, and its guard is not taken: rows="),
        ("rows=1.5", "this is no whole number, and its guard is not taken: rows=1.5"),
        ("rows=4 rows", "this is no whole number, and its guard is not taken: rows=4 rows"),
        (
            "rows=9223372036854775808",
            "this is no number of 64 bits, and its guard is not taken: rows=9223372036854775808",
        ),
        ("rows", "this is no threshold, which is NAME=NUMBER: rows"),
        ("=4", "this is no threshold, which is NAME=NUMBER: =4"),
    ],
)
def test_a_line_that_is_no_threshold_is_told_and_leaves_its_guard_untaken(
    program: Path, tuning: Path, line: str, why: str
) -> None:
    tuning.write_text(f"elements=80\n{line}\nlegal=4\n")
    decided, (first, second) = said(program)
    assert decided == "010 011"
    assert first == f"kernelwright: {tuning}, line 2: {why}"
    assert second == (
        f"kernelwright: {tuning} has no threshold for guard rows, which is not taken; it has legal, elements"
    )


def test_a_threshold_that_stands_twice_counts_once(program: Path, tuning: Path) -> None:
    tuning.write_text("rows=8\nrows=9\nelements=81\nlegal=10\n")
    decided, (line,) = said(program)
    assert decided == "100 100" and "line 2: this threshold stands here twice, and the first one counts: rows" in line


def test_a_wrong_name_shows_at_the_guard_that_lacks_its_own(program: Path, tuning: Path) -> None:
    tuning.write_text("row=1\nelements=80\nlegal=10\n")
    decided, (line,) = said(program)
    assert decided == "010 010"
    assert "no threshold for guard rows, which is not taken; it has legal, elements, row" in line
    assert not any("no threshold for" in line for line in said(program, KW_TUNING="1")[1]), "tuning knows"


def test_a_file_that_cannot_be_read_is_told_where_it_was_asked_for(program: Path, tuning: Path) -> None:
    decided, (line,) = said(program, KW_THRESHOLDS=str(tuning))
    assert decided == "000 000" and f"names {tuning}, which cannot be read (No such file" in line


def test_a_folder_and_a_path_that_is_too_long_cannot_be_read(program: Path, tuning: Path) -> None:
    decided, (line,) = said(program, KW_THRESHOLDS=str(tuning.parent))
    assert decided == "000 000" and f"{tuning.parent} cannot be read (Is a directory): no guard is taken" in line
    decided, (line,) = said(program, KW_THRESHOLDS="a" * 5000)
    assert decided == "000 000" and "cannot be read (File name too long): no guard is taken" in line


def test_lines_of_any_length_and_a_byte_order_mark(program: Path, tuning: Path) -> None:
    """A long command in a comment does not spill into thresholds; editors put marks before the first line."""
    tuning.write_text(f"\ufeffrows=8\n-- thresholds of {'x ' * 4000}=1\nelements=80\nlegal=10", encoding="utf-8")
    assert said(program) == ("110 110", [])
    assert read_thresholds(tuning) == {"rows": 8, "elements": 80, "legal": 10}
    tuning.write_text(f"rows=8\n{'long' * 2000}=4\nelements=80\nlegal=10\n")
    decided, (line,) = said(program)
    assert decided == "110 110" and "line 2: this is no threshold, which is NAME=NUMBER: longlong" in line


def test_comparisons_and_what_a_guard_costs_are_printed(program: Path, tuning: Path) -> None:
    """Each guard's cost once, however often it is met; the tuner adds them up."""
    tuning.write_text("rows=8\n")
    text = "\n".join(said(program, KW_TUNING="dispatch")[1])
    assert set(comparisons(text, {})) == {
        Compared("rows", 8, True), Compared("elements", 80, False), Compared("legal", 9, False, legal=False), Compared("legal", 9, False),
    }  # fmt: skip
    assert text.count("Dispatch ") == 3
    cost = dispatch_us(text)
    assert cost is not None and 0 < cost < 100
    assert dispatch_us("Dispatch a 0.5 us.\nDispatch b 0.25 us.\nDispatch a 9 us.\n") == 0.75
    assert dispatch_us(text.replace("Dispatch", "Told")) is None and dispatch_us("Dispatch 2.5 us.\n") == 2.5


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("Compared my rows <= 4: false.\n", "Compared my rows <= 4: false."),
        ("Compared rows <= 4: no.\n", "Compared rows <= 4: no."),
        ("Compared rows <= 4: never.\n", ""),
        ("Compared rows <= 4.5: true.", "Compared rows <= 4.5: true."),
        ("Took 5 us.\nTook about 5 us.\n", "Took about 5 us."),
        ("Took -5 us.\n", "Took -5 us."),
        ("Dispatch my rows 5 us.\n", "Dispatch my rows 5 us."),
        ("Compared rows <= -4\nTook 1.5e+3 us\nDispatch 0.1 us\nCompared 4 files\nTook all of us home\nTooka 1 us", ""),
    ],
)
def test_a_line_that_is_nearly_one_is_noticed(said: str, line: str) -> None:
    assert unreadable_line(said) == line
