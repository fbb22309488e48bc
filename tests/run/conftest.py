"""Running ``kw`` as people do, in a process of its own, and programs that it has built."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import kernelwright
from kernelwright.cli.commands.run import read_line
from kernelwright.cuda.clang import system_cxx
from kernelwright.errors import KernelwrightError
from tests.announced_lines import without_announced

SOURCES = Path(kernelwright.__file__).parents[1]
MISBEHAVING = Path(__file__).parent / "misbehaving.cu"


OF_A_WORKER = tuple(
    f"kernelwright.device.{name}"
    for name in ("serving.session", "serving.virtual_device", "virtual_gpu.gpu", "load_module")
)
"""Modules that a worker loads behind its fork. With them come the others."""


@dataclass(frozen=True)
class Ran:
    """What a program said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def environment(**more: str) -> dict[str, str]:
    """Ours without settings of devices, with the working tree in reach."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KERNELWRIGHT_") or k == "KERNELWRIGHT_CACHE"}
    return clean | {"PYTHONPATH": str(SOURCES)} | more


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "kernelwright", *map(str, arguments)]


def execute(
    words: Sequence[str | Path], cwd: Path | None = None, stdin: str = "", timeout_s: float = 60, **more: str
) -> Ran:
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env=environment(**more), input=stdin, capture_output=True, text=True,
        errors="replace", timeout=timeout_s,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, without_announced(done.stderr))


def kw(*arguments: str | Path, cwd: Path | None = None, stdin: str = "", **more: str) -> Ran:
    return execute(command(*arguments), cwd, stdin, **more)


@pytest.fixture(scope="session", autouse=True)
def _a_compiler_to_link_with() -> None:
    if system_cxx() is None:
        pytest.skip("no system C++ compiler: the first link would build one")


@pytest.fixture(scope="session")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of that name, as ``kw compile`` builds it. It has run once: what a first run builds is there."""
    path = tmp_path_factory.mktemp("built") / "misbehaving"
    made = kw("compile", MISBEHAVING, "--emit", "exe", "-o", path)
    assert made.code == 0, made.err
    assert kw("run", path, "--", "null").code == 7
    return path


Here = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Here:
    """``kw run`` in this process, in the folder of the test: what it needs is loaded already, and so is what its worker needs,
    which is a copy of it, so that a run takes a quarter of the time. The program and its worker are processes of their own all
    the same."""
    for module in OF_A_WORKER:
        importlib.import_module(module)
    for name in [n for n in os.environ if n.startswith("KERNELWRIGHT_") and n != "KERNELWRIGHT_CACHE"]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def go(*arguments: str | Path) -> Ran:
        capfd.readouterr()
        read = read_line(list(map(str, arguments)))
        assert read is not None, "an unusual command line: run it in a process"
        try:
            code = read()
        except KernelwrightError as error:
            print(f"kw: {error}", file=sys.stderr)
            code = error.exit_code
        sys.stdout.flush()
        sys.stderr.flush()
        said = capfd.readouterr()
        return Ran(code, said.out, said.err)

    return go
