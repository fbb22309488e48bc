"""Our ELF reader against binutils where they are, and against damaged files everywhere."""

from __future__ import annotations

import ctypes.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.cuda.objects.elf import Elf, archive_members, read_elf
from kernelwright.cuda.runtime_library import static_runtime
from kernelwright.errors import Misuse
from tests.examples import few

from .conftest import Builder

C = """
int defined = 1;
static int hidden = 2;
extern int wanted;
__attribute__((weak)) int soft(void) { return wanted + hidden; }
"""


@pytest.fixture(scope="module")
def compiled(builder: Builder) -> Path:
    return builder.compile("symbols.c", C).path


def test_symbols_of_an_object(compiled: Path) -> None:
    elf = read_elf(compiled)
    found = {s.name: (s.binding, s.is_defined) for s in elf.symbols() if not s.is_file}
    assert found["defined"] == ("global", True)
    assert found["wanted"] == ("global", False)
    assert found["soft"] == ("weak", True)
    assert [s.name for s in elf.symbols() if s.is_file] == ["symbols.c"]
    assert elf.content(".data") == b"\1\0\0\0"
    assert elf.content(".nowhere") is None


needs_nm = pytest.mark.skipif(shutil.which("nm") is None, reason="binutils are not installed")


@needs_nm
@pytest.mark.parametrize("dynamic", [False, True])
def test_like_nm(compiled: Path, builder: Builder, dynamic: bool) -> None:
    path = builder.program({"nm.c": "int main(void) { return 0; }\n"}) if dynamic else compiled
    flags = ["-D", "--with-symbol-versions"] if dynamic else []
    listed = subprocess.run(["nm", "-p", *flags, str(path)], capture_output=True, text=True, check=True).stdout
    theirs = set()
    for line in listed.splitlines():
        *_, kind, name = line.split()
        plain, _, version = name.partition("@")
        theirs.add((plain, kind not in "Uwv", version.lstrip("@")))
    ours = {(s.name, s.is_defined, s.version) for s in read_elf(path).symbols(dynamic) if not s.is_file}
    assert ours and ours == theirs


@pytest.mark.skipif(shutil.which("readelf") is None, reason="binutils are not installed")
def test_like_readelf(builder: Builder) -> None:
    library = next(
        p for p in map(Path, (ctypes.util.find_library("c") or "", "/lib/x86_64-linux-gnu/libc.so.6")) if p.is_file()
    )
    elf = read_elf(library)
    said = subprocess.run(["readelf", "-Wd", str(library)], capture_output=True, text=True, check=True).stdout
    assert elf.soname == "libc.so.6"
    assert all(f"[{name}]" in said for name in elf.needed)
    assert said.count("(NEEDED)") == len(elf.needed)


def test_archive_members() -> None:
    members = dict(archive_members(static_runtime().archive, "runtime"))
    assert {"client.o", "launch.o", "memory.o"} <= set(members)
    assert all(Elf(data, name).symbols() for name, data in members.items())
    with pytest.raises(Misuse, match="x is no static library"):
        list(archive_members(b"!<arch>", "x"))
    with pytest.raises(Misuse, match="damaged"):
        list(archive_members(b"!<arch>\n" + b"x" * 60, "x"))


def test_what_is_no_elf_file(tmp_path: Path) -> None:
    for data in (b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(60)):
        with pytest.raises(Misuse):
            Elf(data, "it")
    with pytest.raises(Misuse, match="cannot read"):
        read_elf(tmp_path / "none")


@given(st.data())
@settings(max_examples=few(80), deadline=None)
def test_damage_is_an_error_or_other_symbols_but_no_crash(data: st.DataObject) -> None:
    whole = next(d for _, d in archive_members(static_runtime().archive, "runtime"))
    at = data.draw(st.integers(4, len(whole) - 1))
    broken = data.draw(st.sampled_from([whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]]))
    try:
        elf = Elf(broken, "broken")
        elf.symbols()
        elf.symbols(dynamic=True)
        _ = elf.needed, elf.soname
    except Misuse:
        pass


def test_the_running_python_can_be_read() -> None:
    elf = read_elf(Path(sys.executable).resolve())
    assert elf.needed
