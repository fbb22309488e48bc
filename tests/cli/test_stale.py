"""A result of before is repeated only where compiling anew would give the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import SRC, Kw

QUOTED = '#include "n.h"\n__global__ void k(int *p) { *p = N; }\n'
ANGLED = "#include <n.h>\n__global__ void k(int *p) { *p = N; }\n"
ASKED = (
    '#if __has_include("n.h")\n#include "n.h"\n#else\n#define N 1111\n#endif\n__global__ void k(int *p) { *p = N; }\n'
)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def define(value: int) -> str:
    return f"#define N {value}\n"


@pytest.mark.parametrize(
    ("first", "then", "flags"),
    [
        ({"app.cu": QUOTED, "b/n.h": define(1111)}, {"a/n.h": define(2222)}, ["-Ia", "-Ib"]),
        ({"app.cu": ANGLED, "b/n.h": define(1111), "a/x.h": ""}, {"a/n.h": define(2222)}, ["-Ia", "-Ib"]),
        ({"app.cu": QUOTED, "b/n.h": define(1111)}, {"n.h": define(2222)}, ["-Ib"]),
        (
            {"app.cu": QUOTED.replace("n.h", "s/n.h"), "b/s/n.h": define(1111), "a/s/x.h": ""},
            {"a/s/n.h": define(2222)},
            ["-Ia", "-Ib"],
        ),
        (
            {"app.cu": QUOTED, "b/n.h": '#include "m.h"\n', "c/m.h": define(1111)},
            {"b/m.h": define(2222)},
            ["-Ib", "-Ic"],
        ),
        (
            {"app.cu": "#include <math.h>\n#ifndef N\n#define N 1111\n#endif\n__global__ void k(int *p) { *p = N; }\n"},
            {"a/math.h": define(2222)},
            ["-Ia"],
        ),
        ({"app.cu": ASKED}, {"n.h": define(2222)}, []),
        ({"app.cu": QUOTED, "n.h": define(1111)}, {"n.h": define(2222)}, []),
    ],
    ids=[
        "new folder",
        "-I order",
        "beside the source",
        "subfolder",
        "nested",
        "system header",
        "__has_include",
        "edited",
    ],
)
def test_a_header_that_comes_first(
    kw: Kw, tmp_path: Path, first: dict[str, str], then: dict[str, str], flags: list[str]
) -> None:
    write(tmp_path, first)
    command = ("compile", "app.cu", "-o", "-", *flags)
    assert "1111" in kw(*command).stdout
    assert "1111" in kw(*command).stdout
    write(tmp_path, then)
    assert "2222" in kw(*command).stdout
    assert "2222" in kw(*command).stdout


def test_a_header_that_goes_away(kw: Kw, tmp_path: Path) -> None:
    write(tmp_path, {"app.cu": QUOTED, "a/n.h": define(1111), "b/n.h": define(2222)})
    command = ("compile", "app.cu", "-o", "-", "-Ia", "-Ib")
    assert "1111" in kw(*command).stdout
    (tmp_path / "a" / "n.h").unlink()
    assert "2222" in kw(*command).stdout


def test_the_same_command_in_two_folders(kw: Kw, tmp_path: Path) -> None:
    write(tmp_path, {"app.cu": QUOTED, "a/inc/n.h": define(1111), "b/inc/n.h": define(2222)})
    source = str(tmp_path / "app.cu")
    for folder, value in (("a", "1111"), ("b", "2222"), ("a", "1111")):
        assert value in kw("compile", source, "-o", "-", "-Iinc", cwd=tmp_path / folder).stdout


@pytest.mark.parametrize("variable", ["CPATH", "CPLUS_INCLUDE_PATH"])
def test_folders_of_the_environment(kw: Kw, tmp_path: Path, variable: str) -> None:
    write(tmp_path, {"app.cu": ANGLED, "a/n.h": define(1111), "b/n.h": define(2222)})
    for folder, value in (("a", "1111"), ("b", "2222")):
        assert value in kw("compile", "app.cu", "-o", "-", **{variable: folder}).stdout


def test_a_link_to_another_source(kw: Kw, tmp_path: Path) -> None:
    write(tmp_path, {"one.cu": define(1111) + ANGLED[15:], "two.cu": define(2222) + ANGLED[15:]})
    link = tmp_path / "app.cu"
    for target, value in (("one.cu", "1111"), ("two.cu", "2222")):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        assert value in kw("compile", "app.cu", "-o", "-").stdout


def test_a_file_whose_time_was_set_back(kw: Kw, tmp_path: Path) -> None:
    for value in ("1111", "2222"):
        write(tmp_path, {"site-packages/app.cu": define(int(value)) + ANGLED[15:]})
        os.utime(tmp_path / "site-packages" / "app.cu", (1, 1))
        assert value in kw("compile", "site-packages/app.cu", "-o", "-").stdout


def test_a_source_that_tells_the_time(kw: Kw, tmp_path: Path) -> None:
    write(
        tmp_path,
        {"app.cu": "__device__ const char t[] = __TIME__;\n__global__ void k(char *p) { *p = t[threadIdx.x]; }\n"},
    )
    first = kw("compile", "app.cu", "-o", "-").stdout
    time.sleep(1.1)
    assert kw("compile", "app.cu", "-o", "-").stdout != first


@pytest.mark.slow
def test_a_header_changed_while_clang_reads(tmp_path: Path) -> None:
    """Whenever the change comes, the next compile must notice it."""
    environment = {**os.environ, "PYTHONPATH": SRC, "KERNELWRIGHT_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "kernelwright", "compile", "app.cu", "-o", "x.ptx"]
    for number in range(10):
        write(tmp_path, {"app.cu": f"{QUOTED}// {number}\n", "n.h": define(1111)})
        running = subprocess.Popen(command, cwd=tmp_path, env=environment)
        time.sleep(0.04 + 0.03 * number)
        write(tmp_path, {"n.h": define(2222)})
        running.wait()
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
        assert "2222" in (tmp_path / "x.ptx").read_text()


def damage(change: Callable[[bytes], bytes], folder: Path) -> int:
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        damaged = change(path.read_bytes())
        path.unlink()  # other tests have the same file under other names
        path.write_bytes(damaged)
    return len(files)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[: len(data) // 2] + b"\xff" * 64 + data[len(data) // 2 + 64 :],
        lambda data: b"\xff\xfe nonsense",
    ],
    ids=["empty", "cut", "damaged inside", "foreign"],
)
def test_damage_of_every_entry(kw: Kw, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    """Also of what is kept about clang, and of the precompiled header, which clang itself would believe."""
    write(tmp_path, {"app.cu": "__global__ void k(float *p) { *p = sinf(*p); }\n", "tmp/keep": ""})
    command = ("compile", "app.cu", "-o", "-", "--hermetic")
    first = kw(*command).stdout
    assert ".entry" in first
    assert damage(change, tmp_path / "cache") >= 8
    done = kw(*command, TMPDIR=str(tmp_path / "tmp"))
    assert (done.returncode, done.stdout, done.stderr) == (0, first, "")
    assert [p.name for p in (tmp_path / "tmp").iterdir()] == ["keep"]
