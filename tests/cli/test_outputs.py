"""Where results go: links, devices and pipes, names that collide, and names that mean nothing."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Kw

KERNEL = "__global__ void scale(float *p, float s) { p[threadIdx.x] *= s; }\n"
PROGRAM = KERNEL + "int main() { return 0; }\n"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.cu"
    path.write_text(KERNEL)
    return path


def test_a_link_stays_and_what_it_names_is_written(kw: Kw, app: Path) -> None:
    link = app.parent / "link.ptx"
    link.symlink_to("real.ptx")
    for _ in range(2):  # compiled, then recalled
        assert kw("compile", "app.cu", "-o", "link.ptx").returncode == 0
        assert link.is_symlink()
        assert ".entry" in (app.parent / "real.ptx").read_text()
        (app.parent / "real.ptx").unlink()


def test_an_executable_too_leaves_a_link_alone(kw: Kw, app: Path) -> None:
    app.write_text(PROGRAM)
    link = app.parent / "link"
    link.symlink_to("real")
    done = kw("compile", "app.cu", "-o", "link")
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()
    assert subprocess.run([app.parent / "real"], check=False).returncode == 0


@pytest.mark.parametrize("what", ["ptx", "exe"])
def test_a_pipe_takes_the_bytes_and_stays(kw: Kw, app: Path, what: str) -> None:
    """As ``/dev/null`` must: a superuser's compiler would replace it by a file."""
    app.write_text(PROGRAM)
    pipe = app.parent / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = kw("compile", "app.cu", "--emit", what, "-o", "pipe")
    reader.join(timeout=60)
    assert done.returncode == 0, done.stderr
    assert pipe.is_fifo()
    assert received[0].startswith(b"//" if what == "ptx" else b"\x7fELF")


def test_a_source_is_not_written_over(kw: Kw, app: Path) -> None:
    (app.parent / "same.ptx").symlink_to("app.cu")
    for output in ("app.cu", "same.ptx"):
        done = kw("compile", "app.cu", "--emit", "ptx", "-o", output)
        assert done.returncode == 2
        assert "written over" in done.stderr
    assert app.read_text() == KERNEL


def test_two_results_of_one_name(kw: Kw, app: Path) -> None:
    for folder in ("one", "two", "out"):
        (app.parent / folder).mkdir()
    for folder in ("one", "two"):
        (app.parent / folder / "k.cu").write_text(KERNEL)
    for extra in (["-o", "out"], []):
        done = kw("compile", "one/k.cu", "two/k.cu", *extra)
        assert done.returncode == 2
        assert "one/k.cu and two/k.cu" in done.stderr
    assert not list((app.parent / "out").iterdir())


@pytest.mark.parametrize(("output", "says"), [("", "names nothing"), ("nowhere/", "no folder")])
def test_outputs_that_mean_nothing(kw: Kw, app: Path, output: str, says: str) -> None:
    done = kw("compile", "app.cu", "-o", output)
    assert done.returncode == 2
    assert says in done.stderr
    assert [p.name for p in app.parent.iterdir() if p.name != "cache"] == ["app.cu"]


UNUSUAL = ("-x.cu", "@x.cu", "with space.cu", 'it\'s "q".cu', "ü$#%&\\.cu", "new\nline.cu", "l" * 251 + ".cu")


def test_unusual_names_of_sources(kw: Kw, app: Path) -> None:
    (app.parent / "out").mkdir()
    (app.parent / "x.cu").write_text("-nonsense")  # what @x.cu would mean to clang
    for number, name in enumerate(UNUSUAL):
        text = f"{KERNEL}static void launch(float *p) {{ scale<< <1, 1>> >(p, 1); }}\nint main{number or ''}() {{ return 0; }}\n"
        (app.parent / name).write_text(text.replace("scale", f"scale{number}"))
    for _ in range(2):
        done = kw("compile", "-o", "out", "--", *UNUSUAL)
        assert done.returncode == 0, done.stderr
    assert len(list((app.parent / "out").iterdir())) == len(UNUSUAL)
    done = kw("compile", "-o", "program", "--", *UNUSUAL)
    assert done.returncode == 0, done.stderr


def test_unusual_names_of_results(kw: Kw, app: Path) -> None:
    for name in ("x\ny.ptx", "x\n\ny.ptx", "sp ace.ptx"):
        for _ in range(2):
            done = kw("compile", "app.cu", "-o", name)
            assert (done.returncode, done.stderr) == (0, "")
            (app.parent / name).unlink()


def test_a_name_that_is_no_text(kw: Kw, app: Path) -> None:
    name = os.fsdecode(b"\xff.cu")
    (app.parent / name).write_text(KERNEL)
    done = kw("compile", name)
    assert done.returncode == 2
    assert "not UTF-8" in done.stderr


def test_kernels_whose_names_ptx_lacks_letters_for(kw: Kw, app: Path) -> None:
    app.write_text("\n__global__ void größe(int *p) { *p = 1; }\n")
    done = kw("compile", "app.cu")
    assert done.returncode == 2
    assert "app.cu:2:17: the name größe" in done.stderr
    assert not (app.parent / "app.ptx").exists()


@pytest.mark.parametrize(
    "declared",
    [
        "extern __device__ int x; __global__ void k(int *p) { *p = x; }",
        "__device__ int f(int); __global__ void k(int *p) { *p = f(1); }",
    ],
)
def test_device_code_that_no_file_defines(kw: Kw, app: Path, declared: str) -> None:
    app.write_text(declared + "\nint main() { k<<<1, 1>>>(0); return 0; }\n")
    (app.parent / "b.cu").write_text("static __device__ int x = 3;\nint f(int x) { return x; }\n")
    done = kw("compile", "app.cu", "b.cu", "-o", "program")
    assert done.returncode == 2
    assert "app.cu uses" in done.stderr and "no file of the program defines" in done.stderr
    assert not (app.parent / "program").exists()


def test_device_code_that_every_gpu_has(kw: Kw, app: Path) -> None:
    app.write_text(
        "#include <cstdio>\n#include <cassert>\n__global__ void k(int *p) {\n"
        '  printf("%d", *p);\n  assert(*p);\n  int *q = (int *)malloc(4);\n  *q = 1;\n  *p = *q;\n  free(q);\n}\n'
        "int main() { return 0; }\n"
    )
    done = kw("compile", "app.cu", "-o", "program")
    assert done.returncode == 0, done.stderr
