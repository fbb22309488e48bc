"""Running ``kw`` as people do, in a process of its own, and programs that it has built."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelwright.cuda.clang import system_cxx

SOURCES = Path(__file__).parents[2] / "src"
MISBEHAVING = Path(__file__).parent / "misbehaving.cu"


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
    return Ran(done.returncode, done.stdout, done.stderr)


def kw(*arguments: str | Path, cwd: Path | None = None, stdin: str = "", **more: str) -> Ran:
    return execute(command(*arguments), cwd, stdin, **more)


@pytest.fixture(scope="session", autouse=True)
def _a_compiler_to_link_with() -> None:
    if system_cxx() is None:
        pytest.skip("no system C++ compiler: the first link would build one")


@pytest.fixture(scope="session")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of that name, as ``kw compile`` builds it."""
    path = tmp_path_factory.mktemp("built") / "misbehaving"
    made = kw("compile", MISBEHAVING, "--emit", "exe", "-o", path)
    assert made.code == 0, made.err
    return path


Build = Callable[[str], Path]
