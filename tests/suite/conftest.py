"""Inputs and executables of suite programs, made once per session."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.cuda.clang import Clang, find_clang, ziglang_folder
from kernelwright.suite import load

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def clang() -> Clang:
    return find_clang()


@pytest.fixture(scope="session")
def host_program(clang: Clang, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``host_program("bfs")``: the program's executable on a machine without a device (see ``no_device.c``).

    Linked as C, so a program that needed the C++ library would fail here.
    """
    folder = tmp_path_factory.mktemp("host")
    # zig's first link builds its C library, which takes 15 s; a system compiler saves them.
    linker = ["cc"] if shutil.which("cc") else [str(ziglang_folder() / "zig"), "cc", "-target", "x86_64-linux-gnu"]
    built: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name in built:
            return built[name]
        program = load(name)
        objects = []
        for source in program.source_paths:
            objects.append(folder / f"{name}-{source.name}.o")
            language = ["-x", "cuda", "--cuda-gpu-arch=sm_80", "--cuda-host-only", *clang.cuda_flags]
            command = [
                *clang.command,
                *(language if source.suffix == ".cu" else ["-x", "c"]),
                *clang.header_flags,
                *program.flags,
                "-Wall",
                "-Wextra",
                "-Werror",
                "-O1",
                "-fPIC",
                "-c",
                str(source),
                "-o",
                str(objects[-1]),
            ]
            subprocess.run(command, check=True)
        built[name] = folder / name
        subprocess.run(
            [*linker, *map(str, objects), str(HERE / "no_device.c"), "-lm", "-o", str(built[name])], check=True
        )
        return built[name]

    return build
