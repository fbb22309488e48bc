"""``kw doctor``: what this machine has, what is missing, and the one command that fixes each."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cache import cache_folder
from kernelwright.cli.support.tables import print_rows
from kernelwright.codegen.toolchain import Toolchain, toolchain
from kernelwright.cuda import openmp
from kernelwright.cuda.clang import HEADERS, find_clang, system_cxx
from kernelwright.cuda.toolkit import EXTRA, toolkit_headers
from kernelwright.device.real_gpu.availability import has_binding
from kernelwright.device.real_gpu.driver import INSTALL
from kernelwright.errors import KernelwrightError
from kernelwright.lazy_dataclasses import dataclass

REINSTALL = "pip install --force-reinstall kernelwright"


@dataclass(frozen=True)
class Finding:
    """One thing looked for. ``state``: ok, missing (something does not work), or absent (nothing here needs it)."""

    what: str
    state: str
    found: str
    fix: str = ""


def command(
    cuda_path: Annotated[Path | None, typer.Option(help="A CUDA toolkit to look at, too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """What this machine has, what is missing, and how to fix it. Exit code 1 when something needed is missing."""
    findings = list(examine(cuda_path))
    healthy = all(f.state != "missing" for f in findings)
    if as_json:
        print(json.dumps({"healthy": healthy, "findings": [asdict(f) for f in findings]}, indent=1))
    else:
        print_rows([asdict(f) for f in findings])
        print(
            "everything needed is here"
            if healthy
            else "something needed is missing: the last column says how to fix it"
        )
    if not healthy:
        raise typer.Exit(1)


def examine(cuda_path: Path | None = None) -> Iterator[Finding]:
    """Looks at everything, in the order a compile uses it."""
    tools = toolchain(cuda_path)
    yield from _front_end(tools)
    yield _headers()
    yield _nvidia_headers()
    yield _openmp()
    if cuda_path is not None:
        yield Finding("toolkit headers", "ok", f"CUDA {_dotted(toolkit_headers(str(cuda_path)).version)} ({cuda_path})")
    yield from _back_end(tools)
    yield _host_compiler()
    yield from _gpu(tools)
    yield _cache()


def _front_end(tools: Toolchain) -> Iterator[Finding]:
    clang = None
    try:
        clang = find_clang()
        yield Finding("clang", "ok", f"{clang.version} ({clang.origin})")
    except KernelwrightError as error:
        yield Finding("clang", "missing", error.message, error.hint or "pip install 'ziglang==0.17.*'")
    if tools.llvm is None:
        yield Finding("LLVM", "missing", "llvmlite does not load", "pip install 'llvmlite==0.50.*'")
        return
    yield Finding("LLVM", "ok", f"{tools.llvm.llvm} (llvmlite {tools.llvm.llvmlite})")
    if clang is not None:
        ours, theirs = clang.major, int(tools.llvm.llvm.split(".")[0])
        if ours <= theirs:
            yield Finding("clang and LLVM", "ok", f"LLVM {theirs} reads what clang {ours} writes")
        else:
            yield Finding(
                "clang and LLVM",
                "missing",
                f"LLVM {theirs} cannot read what clang {ours} writes",
                "pip install 'ziglang==0.17.*' 'llvmlite==0.50.*'",
            )


def _headers() -> Finding:
    main = HEADERS / "kernelwright_cuda.h"
    if main.is_file():
        return Finding("CUDA headers", "ok", f"our own, {sum(1 for p in HEADERS.rglob('*') if p.is_file())} files")
    return Finding("CUDA headers", "missing", f"{main} is not there", REINSTALL)


def _nvidia_headers() -> Finding:
    """The extra: nothing but programs that use thrust, cub and their like needs it."""
    try:
        found = find_clang(headers="nvidia")
    except KernelwrightError as error:
        return Finding("NVIDIA headers", "absent", f"{error.message}; only thrust, cub and the like need them", EXTRA)
    version = _dotted(found.nvidia.version) if found.nvidia else ""
    return Finding("NVIDIA headers", "ok", f"CUDA {version}, for --headers nvidia")


def _openmp() -> Finding:
    """An extra, too."""
    found = openmp.find_openmp()
    if found is None:
        return Finding("OpenMP", "absent", "host code with -Xcompiler -fopenmp runs on one thread", openmp.EXTRA)
    return Finding("OpenMP", "ok", f"LLVM's runtime ({found.folder}), for -Xcompiler -fopenmp")


def _dotted(version: int) -> str:
    """12090 -> 12.9"""
    return f"{version // 1000}.{version % 1000 // 10}"


def _back_end(tools: Toolchain) -> Iterator[Finding]:
    if tools.libdevice:
        yield Finding("libdevice", "ok", str(tools.libdevice))
    else:
        fix = "pip install nvidia-cuda-nvcc-cu12==12.9.86"
        yield Finding("libdevice", "missing", "kernels that call math functions cannot become PTX", fix)
    for tool in tools.assemblers:
        state = "missing" if tool.trouble else "ok"
        yield Finding(
            tool.kind, state, f"{tool.version or tool.trouble} ({tool.path})", REINSTALL if tool.trouble else ""
        )
    if not tools.assemblers:
        yield Finding("assembler", "missing", "no cubin can be made", "pip install nvidia-nvjitlink-cu12==12.9.86")


def _host_compiler() -> Finding:
    found = system_cxx()
    if found:
        return Finding("C++ linker", "ok", found)
    return Finding("C++ linker", "ok", "bundled; the first link of a C++ program builds its library (under a minute)")


def _gpu(tools: Toolchain) -> Iterator[Finding]:
    if tools.driver is None:
        yield Finding("GPU", "absent", "no NVIDIA driver: kernels are compiled and examined, not run on a GPU")
        return
    yield Finding("driver", "ok", f"CUDA {tools.driver.version or 'unknown'}")
    for number, gpu in enumerate(tools.driver.gpus):
        yield Finding("GPU", "ok", f"cuda:{number}: {gpu.name}, {gpu.arch}, {gpu.memory_bytes / 2**30:.0f} GiB")
    if tools.driver.gpus and not has_binding():
        found = "cuda-bindings is not installed: --device auto is a virtual GPU, and cuda:0 does not run"
        yield Finding("GPU binding", "absent", found, INSTALL)
    if not tools.driver.gpus:
        yield Finding("GPU", "absent", tools.driver.trouble or "the driver reports no GPU", "nvidia-smi says more")


def _cache() -> Finding:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as f:
            f.write(b"x" * 4096)
    except OSError as error:
        return Finding(
            "cache", "missing", f"{folder}: {error.strerror}", "export KERNELWRIGHT_CACHE=/a/writable/folder"
        )
    status = os.statvfs(folder)
    return Finding("cache", "ok", f"{folder}, {status.f_bavail * status.f_frsize / 2**30:.0f} GiB free")
