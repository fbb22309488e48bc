"""Compiles snippets against our CUDA headers with the clang of the ``ziglang`` wheel, without our own driver."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import llvmlite.binding as llvm
import pytest
import ziglang

from kernelwright.architectures import ptx_version

from .promises import GROUPS, source

HEADERS = Path(__file__).parents[2] / "src" / "kernelwright" / "cuda" / "include"
ZIG = Path(ziglang.__file__).parent

Pass = Literal["device", "host"]
Library = Literal["system", "libc++"]


@dataclass(frozen=True)
class Compiled:
    ok: bool
    ir: str
    errors: str


@functools.cache
def _libcxx_defines(scratch: Path) -> tuple[str, ...]:
    """The configuration zig builds its libc++ with. zig prints it only for a source it has not in its cache."""
    source = scratch / "fresh.cpp"
    source.write_text(f"int fresh_{os.getpid()}_{os.urandom(8).hex()};\n")
    command = [str(ZIG / "zig"), "c++", "-c", str(source), "-o", str(scratch / "fresh.o")]
    told = subprocess.run(command, env=os.environ | {"ZIG_VERBOSE_CC": "1"}, capture_output=True, text=True, check=True)
    return tuple(sorted(set(re.findall(r"-D(?:_LIBCPP|_LIBCXXABI|__GLIBC_MINOR__)\S*", told.stderr))))


def _library_flags(library: Library, scratch: Path) -> list[str]:
    if library == "system":
        return []
    folders = ["libcxx/include", "libcxxabi/include", "include"]
    folders += [f"libc/include/{f}" for f in ("x86-linux-gnu", "generic-glibc", "x86-linux-any", "any-linux-any")]
    system = [flag for folder in folders for flag in ("-isystem", str(ZIG / "lib" / folder))]
    return ["-nostdinc", "-nostdinc++", *_libcxx_defines(scratch), *system]


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("headers")
    resources = folder / "resources"
    resources.mkdir()
    (resources / "include").symlink_to(ZIG / "lib" / "include")
    return folder


CudaCompiler = Callable[..., Compiled]


@pytest.fixture(scope="session")
def compile_cuda(scratch: Path) -> CudaCompiler:
    """``compile_cuda(text, side="device", library="system", std="c++17", arch="sm_80", *flags)``."""
    uses: Counter[tuple[str, ...]] = Counter()
    headers: dict[tuple[str, ...], Path] = {}
    """Our main header precompiled, by the command line without input and output."""

    def compile_text(
        text: str,
        *flags: str,
        side: Pass = "device",
        library: Library = "libc++",
        std: str = "c++17",
        arch: str = "sm_80",
    ) -> Compiled:
        source, output = scratch / "snippet.cu", scratch / "snippet.ll"
        source.write_text(text)
        output.unlink(missing_ok=True)
        command = [str(ZIG / "zig"), "clang", "--target=x86_64-linux-gnu", "-resource-dir", str(scratch / "resources")]
        command += ["-x", "cuda", f"--cuda-gpu-arch={arch}", f"--cuda-{side}-only", "-nocudainc", "-nocudalib"]
        # Else clang takes the PTX version from a toolkit it happens to find, and has few builtins where there is none.
        command += [f"--cuda-feature=+ptx{ptx_version(arch)}"] if side == "device" else []
        command += _library_flags(library, scratch)
        command += [
            "-isystem",
            str(HEADERS),
            "-include",
            "kernelwright_cuda.h",
            f"-std={std}",
            "-O2",
            "-S",
            "-emit-llvm",
        ]
        command += ["-Xclang", "-target-sdk-version=12.8", "-Wno-unknown-cuda-version", "-Wall", "-Werror"]
        command += ["-Wno-unused", "-ferror-limit=30", "-fno-caret-diagnostics"]
        command += ["-Xclang", "-disable-llvm-passes", *flags]
        key = tuple(command)
        uses[key] += 1
        if uses[key] == 2:  # most of these programs is what our main header brings: from now on it is read already
            headers[key] = scratch / f"{len(headers)}.pch"
            making = [*command, "-Xclang", "-emit-pch", os.devnull, "-o", str(headers[key])]
            subprocess.run(making, capture_output=True, check=True)
        if key in headers:
            place = command.index("-include")
            command[place : place + 2] = ["-Xclang", "-include-pch", "-Xclang", str(headers[key])]
        done = subprocess.run([*command, str(source), "-o", str(output)], capture_output=True, text=True)
        return Compiled(done.returncode == 0, output.read_text() if output.exists() else "", done.stderr)

    return compile_text


@pytest.fixture(scope="session")
def promised_ir(compile_cuda: CudaCompiler) -> str:
    """The device IR of every promised call, as clang writes it."""
    compiled = compile_cuda(source(*GROUPS))
    assert compiled.ok, compiled.errors
    return compiled.ir


def optimised(ir: str) -> str:
    """Device IR with every function of ours inlined (``-O2``), so that each user function shows what it comes to."""
    module = llvm.parse_assembly(ir)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu="sm_80", opt=2)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return str(module)


def bodies(ir: str) -> dict[str, str]:
    """Function name to the text of its definition."""
    found = re.findall(r'^define [^\n]*@"?([^\s"(]+)"?\([^\n]*\{\n(.*?)^\}', ir, re.M | re.S)
    return dict(found)
