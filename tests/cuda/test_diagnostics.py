"""clang's messages, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cuda.diagnostics import explain, refuse_foreign_names
from kernelwright.errors import CompileError, ToolError


@pytest.mark.parametrize(
    ("said", "kind", "message", "hint"),
    [
        (
            "fatal error: error in backend: IO failure on output stream: No space left on device\n",
            ToolError,
            "the disk is full",
            "TMPDIR",
        ),
        (
            "zig: error: clang frontend command failed with exit code 139 (use -v)\n*****\n",
            ToolError,
            "clang crashed on a.cu",
            "split",
        ),
        ("error: invalid value 'c++99' in '-std=c++99'\n", CompileError, "c++99", "--help"),
        (
            "fatal error: UTF-16 (LE) byte order mark detected in 'a.cu', but encoding is not supported\n",
            CompileError,
            "UTF-16",
            "flags",
        ),
        ("", ToolError, "it was killed", "memory"),
        (
            "a.cu:1:2: error: use of undeclared identifier 'surface'\n",
            CompileError,
            "surface",
            "surface references are not supported",
        ),
        (
            "a.cu:1:2: error: unknown type name 'cudaGraphConditionalHandle'\n",
            CompileError,
            "cudaGraphC",
            "graphs have nodes",
        ),
        (
            "a.cu:1:2: error: use of undeclared identifier 'cudaGraphicsMapResources'\n",
            CompileError,
            "cudaGraphics",
            "fix a.cu line 1",
        ),
        ("a.cu:1:2: error: unknown type name 'CUdevice'\n", CompileError, "CUdevice", "driver API"),
        ("a.cu:1:2: error: use of undeclared identifier 'cuInit'\n", CompileError, "cuInit", "driver API"),
        ("a.cu:1:2: error: unknown type name 'CUT'\n", CompileError, "CUT", "fix a.cu line 1"),
        ("a.cu:1:2: fatal error: 'cudnn.h' file not found\n", CompileError, "cudnn.h", "not supported"),
        ("a.cu:1:2: fatal error: 'cufftw.h' file not found\n", CompileError, "cufftw.h", "there are cufft.h"),
        ("a.cu:1:2: error: unknown type name 'constexpr'\n", CompileError, "constexpr", "C++11"),
        (
            "a.cu:1:2: error: initialization is not supported for __shared__ variables\n",
            CompileError,
            "__shared__",
            "a line of its own",
        ),
    ],
)
def test_what_is_said(said: str, kind: type[Exception], message: str, hint: str) -> None:
    error = explain(said, Path("a.cu"))
    assert type(error) is kind
    assert message in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize("name", ["__shfl", "__shfl_xor", "__any", "__ballot"])
def test_shuffles_and_votes_of_before_volta(tmp_path: Path, name: str) -> None:
    error = explain(f"a.cu:1:5: error: use of undeclared identifier '{name}'\n", tmp_path / "a.cu")
    assert "takes the mask of the lanes" in (error.hint or "")


@pytest.mark.parametrize(
    ("ir", "name"),
    [
        ('define dso_local ptx_kernel void @"_Z7gr\\C3\\B6\\C3\\9FePi"(ptr %p) {\n', "größe"),
        ('@"gr\\C3\\B6" = addrspace(1) externally_initialized global i32 0\n', "grö"),
        ('define ptx_kernel void @"_Z1kI2\\C3\\84EvPT_"(ptr %p) {\n', "k<Ä>"),
    ],
)
def test_names_with_letters_that_ptx_lacks(tmp_path: Path, ir: str, name: str) -> None:
    source = tmp_path / "a.cu"
    source.write_text(f"\nint {name};\n")
    with pytest.raises(CompileError) as caught:
        refuse_foreign_names(f'target triple = "x"\n{ir}', source)
    assert f"the name {name} " in caught.value.message
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (2, 5)


@pytest.mark.parametrize(
    "ir",
    [
        "define ptx_kernel void @_Z1kPi(ptr %p) {\n",
        '@.str = constant [3 x i8] c"\\C3\\B6\\00"\n',
        '@"quoted name" = global i32 0\n',
        '  %x = call i32 asm "\\C3\\B6", "=r"()\n',
    ],
)
def test_letters_elsewhere(tmp_path: Path, ir: str) -> None:
    refuse_foreign_names(ir, tmp_path / "a.cu")


def test_a_form_feed_ends_no_line(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_bytes(b"int a;\n\x0cint b;\r\nint c = 1 2;\x0b\n")
    error = explain(f"{source}:3:11: error: expected ';'\n", source)
    assert error.place is not None and error.place.text == "int c = 1 2;\x0b"


@pytest.mark.parametrize(
    ("before", "column", "cells"),
    [
        ("int abc", 8, 7),
        ("/*\N{LATIN SMALL LETTER E WITH ACUTE}*/", 6, 5),
        ("\t/*\N{CJK UNIFIED IDEOGRAPH-4E2D}*/", 7, 7),
        ("/*e\N{COMBINING ACUTE ACCENT}*/", 7, 5),
    ],
    ids=["ASCII", "two bytes", "three bytes, two cells wide", "no cell of its own"],
)
def test_a_column_counts_characters_and_the_caret_cells(tmp_path: Path, before: str, column: int, cells: int) -> None:
    source = tmp_path / "a.cu"
    source.write_text(f"\n{before}$\n", encoding="utf-8")
    error = explain(f"{source}:2:{len(before.encode()) + 1}: error: expected an identifier\n", source)
    assert error.place is not None and error.place.column == column
    caret = str(error).splitlines()[2]
    assert caret == "    " + "\t" * before.count("\t") + " " * (cells - before.count("\t")) + "^"


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_bytes(b"\tint \x1b[31mx\x9b;\x00\x7f\n")
    said = str(explain(f"{source}:1:6: error: expected an identifier\n", source))
    assert all(character.isprintable() or character in "\t\n" for character in said)
    _, line, caret, _ = said.splitlines()
    assert line[caret.index("^")] == "\N{REPLACEMENT CHARACTER}"
