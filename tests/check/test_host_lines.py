"""Lines of host code: the table that clang leaves, against what binutils read in it, and damaged tables."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda.objects.elf import Elf
from kernelwright.device.checking.findings import End
from kernelwright.device.checking.host_lines import LINES_FLAG, HostLines, line_rows
from tests.check.conftest import check, kw

SOURCE = """#include <cstdio>
__global__ void store(int *p) { p[threadIdx.x] = 1; }
static void copy(int *p)
{
    cudaMemcpy(p, p + 1000000, 1 << 20,
               cudaMemcpyDeviceToDevice);
}
int main(int count, char **words)
{
    int *p, *q;
    cudaMalloc(&p, 4096);
    cudaMalloc(&q,
               1ull << 60);
    if (count > 1)
        store<<<1, 2000>>>(p);
    store<<<dim3(1, 70000), 32>>>(p);
    copy(p);
    for (int i = 0; i < count; i++)
        printf("%d %s\\n", i, words[i]);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lines")
    (folder / "app.cu").write_text(SOURCE)
    done = kw("compile", "-Xcompiler", LINES_FLAG, "app.cu", "-o", "app", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "app"


def tables(program: Path) -> tuple[bytes, bytes]:
    elf = Elf(program.read_bytes(), str(program))
    return elf.content(".debug_line") or b"", elf.content(".debug_line_str") or b""


def test_rows_are_those_of_binutils(program: Path) -> None:
    tool = shutil.which("addr2line")
    if tool is None:
        pytest.skip("addr2line is not installed")
    rows = [row for row in line_rows(*tables(program)) if row.file]
    assert len({row.line for row in rows if row.file.endswith("app.cu")}) > 8
    # Of several rows at one address the last one counts; without -f, addr2line tells lines alone.
    last = {row.address: row for row in rows}
    done = subprocess.run([tool, "-e", str(program), *map(hex, last)], capture_output=True, text=True, check=True)
    for row, said in zip(last.values(), done.stdout.splitlines(), strict=True):
        file, _, line = said.partition(" ")[0].rpartition(":")
        assert line.strip("?") in ("", str(row.line)) and (
            not row.line or os.path.basename(file) == os.path.basename(row.file)
        )


def test_calls_that_fail_are_told_with_their_line(program: Path) -> None:
    done = check(program.parent / "app.cu", arguments=("again",))
    found = {f["line"]: f for f in done.findings}
    assert sorted(found) == [5, 12, 15, 16], done.findings
    assert all(f["file"] == str(program.parent / "app.cu") and f["kind"] == "launch" for f in done.findings)
    assert found[15]["also"]["line"] == found[16]["also"]["line"] == 2, "the kernel"
    assert "in x is 2000" in found[15]["message"] and found[5]["also"] is None


def test_a_program_without_the_table_has_the_kernels_line(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(SOURCE)
    assert kw("compile", "app.cu", "-o", "app", cwd=tmp_path).returncode == 0
    done = check(Path("app"), cwd=tmp_path)
    assert sorted(f["line"] for f in done.findings) == [0, 0, 2]


def test_what_is_no_address_or_no_program_has_no_line(program: Path, tmp_path: Path) -> None:
    lines = HostLines()
    (tmp_path / "text").write_text("hello")
    for stack in ("", "nonsense", f"{program}+zz", "/nowhere+0x10", f"{tmp_path}/text+0x10", f"{program}+0xffffffff"):
        assert lines.first_of(stack) is None
    row = next(r for r in line_rows(*tables(program)) if r.file.endswith("app.cu") and r.line == 9)
    assert lines.first_of(f"/nowhere+0x10 {program}+{row.address + 1:#x}") == End(row.file, 9)


def test_damaged_tables_are_refused_or_read_but_never_more_than_that(program: Path) -> None:
    data, strings = tables(program)
    drawn = random.Random(1)
    for _ in range(300):
        damaged = bytearray(data[: drawn.randrange(len(data))] if drawn.random() < 0.3 else data)
        for _ in range(drawn.randrange(4)):
            if damaged:
                damaged[drawn.randrange(len(damaged))] = drawn.randrange(256)
        try:
            line_rows(bytes(damaged), strings)
        except (ValueError, IndexError):
            pass
