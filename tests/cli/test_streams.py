"""Streams that are closed or full, signals, and places that are not there: exit codes stay right, nothing is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import SRC, Kw
from tests.warm_cache import WarmCache

KERNEL = "__global__ void scale(float *p, float s) { p[threadIdx.x] *= s; }\n"
KW = f"{sys.executable} -m kernelwright"


@pytest.fixture
def app(tmp_path: Path, warm_cache: WarmCache) -> Iterator[Path]:
    path = tmp_path / "app.cu"
    path.write_text(KERNEL)
    with warm_cache.at(tmp_path / "cache"):
        yield path


@pytest.fixture
def cold(app: Path) -> Path:
    """The same where nothing was ever compiled."""
    shutil.rmtree(app.parent / "cache", ignore_errors=True)
    return app


def environment(folder: Path) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    return {
        **os.environ,
        "PYTHONPATH": SRC,
        "KERNELWRIGHT_CACHE": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
    }


def shell(folder: Path, line: str, **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**environment(folder), **more},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    assert "defect" not in done.stderr
    assert list((folder / "tmp").iterdir()) == []
    return done


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("compile app.cu -o x.ptx >&-", 0),
        ("compile app.cu -o x.ptx >&- 2>&- <&-", 0),
        ("compile app.cu -o x.ptx --no-cache 2>&-", 0),
        ("compile app.cu -o - >&-", 3),
        ("compile app.cu -o - >/dev/full", 3),
        ("compile nowhere.cu 2>/dev/full", 2),
        ("compile warns.cu -o x.ptx 2>/dev/full", 0),
        ("compile warns.cu -o x.ptx 2>&-", 0),
        ("passes >&-", 3),
        ("passes >/dev/full", 3),
        ("passes | true; exit ${PIPESTATUS[0]}", 0),
        ("compile app.cu -o - | true; exit ${PIPESTATUS[0]}", 0),
        ("--version", 0),
    ],
)
def test_closed_and_full_streams(app: Path, line: str, code: int) -> None:
    (app.parent / "warns.cu").write_text(f'#warning "mind the gap"\n{KERNEL}')
    if "2>&-" in line:  # the first compile on a machine must hold without streams, too
        shutil.rmtree(app.parent / "cache", ignore_errors=True)
    for _ in range(2):  # compiled, then recalled
        assert shell(app.parent, f"{KW} {line}").returncode == code


def test_version_is_printed(app: Path) -> None:
    assert shell(app.parent, f"{KW} --version").stdout.startswith("kernelwright ")


def test_a_terminal_that_lacks_letters(app: Path) -> None:
    assert shell(app.parent, f"{KW} passes", PYTHONIOENCODING="ascii").returncode == 0


@pytest.mark.parametrize("folder", ["/nonexistent", "/proc", "", "."])
def test_an_unusable_tmpdir_is_passed_over(app: Path, folder: str) -> None:
    done = subprocess.run(
        [*KW.split(), "compile", "app.cu", "--no-cache"],
        cwd=app.parent,
        env={**environment(app.parent), "TMPDIR": folder},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_working_folder_that_is_gone(app: Path) -> None:
    done = shell(app.parent, f"mkdir gone; cd gone; rmdir ../gone; {KW} compile {app}")
    assert done.returncode == 2
    assert "folder has been removed" in done.stderr


def test_an_empty_environment(cold: Path) -> None:
    """No home, no path, no terminal: a program still links."""
    cold.write_text(KERNEL + "int main() { return 0; }\n")
    kept = f"PYTHONPATH={SRC} KERNELWRIGHT_CACHE={cold.parent}/cache TMPDIR={cold.parent}/tmp"
    done = shell(cold.parent, f"env -i {kept} {KW} compile app.cu -o app && ./app")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_end_it_tidily(cold: Path, number: signal.Signals, code: int) -> None:
    """At several moments of a compile; one that came too early or too late for us proves nothing."""
    seen = 0
    for moment in (0.12, 0.2, 0.3, 0.4, 0.5):
        running = subprocess.Popen(
            [*KW.split(), "compile", "app.cu", "-o", "x.ptx", "--no-cache"],
            cwd=cold.parent,
            env=environment(cold.parent),
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(moment)
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
        if running.returncode == code:
            seen += 1
            assert "Traceback" not in said
            assert list((cold.parent / "tmp").iterdir()) == []
            assert not list(cold.parent.glob(".x*"))
    assert seen


def test_a_crash_of_clang_says_so_and_leaves_nothing(app: Path) -> None:
    app.write_text("__global__ void k(int *p) { *p = " + "- " * 300_000 + "1; }\n")
    done = shell(app.parent, f"{KW} compile app.cu")
    assert done.returncode == 3
    assert "clang crashed on app.cu" in done.stderr


def test_mistakes_in_the_suites_inputs(kw: Kw, app: Path) -> None:
    for arguments, says in ((["f", "--seed", "-1"], "negative"), (["app.cu"], "not a folder")):
        done = kw("suite", "generate", "nn", *arguments)
        assert done.returncode == 2
        assert says in done.stderr


@pytest.mark.parametrize("value", ["²", "1000001", "99999999999999999999"])
def test_thresholds_that_llvm_cannot_take(kw: Kw, app: Path, value: str) -> None:
    assert kw("compile", "app.cu", "--threshold", f"inline={value}").returncode == 2


def test_level_0_without_alias_analysis(kw: Kw, app: Path) -> None:
    done = kw("compile", "app.cu", "-O0", "--without", "msaa")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [("space", "size", "matmul", "1024", "1024", "1024", "--walks", "9000000"), ("bench", "ir")],
    ids=lambda words: words[0],
)
def test_ctrl_c_is_said_in_a_word(words: tuple[str, ...], tmp_path: Path) -> None:
    """Of commands that typer runs: it makes an exit of it without one."""
    running = subprocess.Popen(
        [*KW.split(), *words],
        cwd=tmp_path,
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert (
        running.stderr is not None and running.stderr.readline()
    )  # it has begun: nothing is silent for longer than two seconds
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said.endswith("kw: interrupted\n") and "Traceback" not in said
