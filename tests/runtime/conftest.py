"""Building and running small CUDA programs with the pieces of the compiler, without its command line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelwright.cuda import blob
from kernelwright.cuda.clang import Clang, find_clang, system_cxx
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.cuda.host import HostObject, compile_host, language
from kernelwright.cuda.kernel_table import tables
from kernelwright.cuda.link import LinkOptions, link_executable


@dataclass(frozen=True)
class Builder:
    """Compiles and links in one folder; every program is named by its first source."""

    folder: Path
    clang: Clang
    hermetic: bool | None = None

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def blob(self, source: Path, options: SourceOptions | None = None) -> Path:
        ir = device_pass(source, options or SourceOptions(), self.clang).text
        kernels, variables = tables(ir)
        path = self.folder / f"{source.name}.blob"
        path.write_bytes(blob.write(blob.Blob(source.name, ir, kernels, variables)))
        return path

    def compile(self, name: str, text: str, options: SourceOptions | None = None) -> HostObject:
        source = self.write(name, text)
        embedded = self.blob(source, options) if language(source) == "cuda" else None
        return compile_host(source, embedded, self.folder / f"{name}.o", options or SourceOptions(), self.clang)

    def program(
        self, sources: Mapping[str, str], options: SourceOptions | None = None, link: LinkOptions | None = None
    ) -> Path:
        objects = [self.compile(name, text, options) for name, text in sources.items()]
        return link_executable(objects, self.folder / f"{next(iter(sources))}.exe", self.clang, link)


@dataclass(frozen=True)
class Ran:
    """What a program said and how it ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def run(program: Path, arguments: Sequence[str] = (), **environment: str) -> Ran:
    """Runs a program with no KERNELWRIGHT_ variables but these."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KERNELWRIGHT_") and k != "LD_LIBRARY_PATH"}
    done = subprocess.run(
        [str(program), *arguments],
        env=clean | environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def clang() -> Clang:
    return find_clang()


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory, clang: Clang) -> Builder:
    if system_cxx() is None:
        pytest.skip("no system C++ compiler: the first link would build one (see test_hermetic)")
    return Builder(tmp_path_factory.mktemp("programs"), clang)


@pytest.fixture
def fresh(tmp_path: Path, clang: Clang) -> Builder:
    """A builder in a folder of this test alone."""
    return Builder(tmp_path, clang)


Run = Callable[..., Ran]
