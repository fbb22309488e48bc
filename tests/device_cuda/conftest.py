"""A stand-in for the driver's library, and whether there is a real one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.warm_cache import WarmCache

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ``libcuda.so.1`` that knows a few kernels; see libcuda.c."""
    pytest.importorskip("cuda.bindings.driver", reason="needs cuda-bindings")
    ziglang = pytest.importorskip("ziglang")
    folder = tmp_path_factory.mktemp("libcuda")
    zig = Path(ziglang.__file__).parent / "zig"
    flags = ["-shared", "-fPIC", "-O1", "-w", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([zig, "cc", *flags, HERE / "libcuda.c", "-o", folder / "libcuda.so.1"], check=True)
    return folder


class Fake:
    """Processes started while this is in force meet the stand-in; ``calls`` are what it was asked."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = folder / "calls"
        self.cache = folder / "cache"
        self.set = monkeypatch.setenv

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def named(self, *names: str) -> list[str]:
        """The calls of these names, in order."""
        return [call for call in self.calls if call.split()[0] in names]


@pytest.fixture
def fake(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_cache: WarmCache) -> Iterator[Fake]:
    made = Fake(tmp_path, monkeypatch)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    monkeypatch.setenv("FAKE_CUDA_LOG", str(made.log))
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(made.cache))
    with warm_cache.at(made.cache):
        yield made


@pytest.fixture
def python(fake: Fake) -> Callable[[str], str]:
    """Runs code in a Python that finds the stand-in where NVIDIA's library would be; returns what it printed."""

    def run(code: str) -> str:
        path = os.pathsep.join(p for p in sys.path if p)
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def real_gpu() -> Iterator[None]:
    """Skips where there is no GPU, saying why."""
    from kernelwright.codegen.toolchain import find_driver

    found = find_driver()
    if found is None or not found.gpus:
        pytest.skip("no NVIDIA GPU")
    pytest.importorskip("cuda.bindings.driver", reason="needs cuda-bindings")
    yield
