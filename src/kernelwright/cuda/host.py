"""The host pass: one source file in, one object file out, with our blob where nvcc would put its fat binary.

    app.cu + app.blob  --clang, host side-->  app.o      registers its kernels when the program starts
    main.cpp           --clang----------->    main.o     the same headers, hence the same C++ library

clang writes the blob's bytes into the section ``.nv_fatbin`` as they are, and a constructor that hands them to
``__cudaRegisterFatBinary``, one ``__cudaRegisterFunction`` per kernel and one ``__cudaRegisterVar`` per variable.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelwright.cache import write_atomically
from kernelwright.cuda.clang import HEADERS, Clang
from kernelwright.cuda.diagnostics import explain, warnings_in
from kernelwright.cuda.early_clang import as_argument
from kernelwright.cuda.frontend import EVERY_ERROR, SourceOptions
from kernelwright.cuda.leniency import warned_about
from kernelwright.cuda.precompiled import can_use, precompiled_header, refused, remove, use_header
from kernelwright.cuda.source_rewrites import WhatClangAsks, changed_files, write_overlay
from kernelwright.cuda.toolkit import PRELUDE
from kernelwright.errors import Misuse, ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.values import replaced

LANGUAGES: dict[str, str] = {
    ".cu": "cuda",
    ".c": "c",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
    ".C": "c++",
}


@dataclass(frozen=True)
class HostObject:
    """An object file, and what it was compiled from."""

    path: Path
    source: Path | None = None
    warnings: str = ""


def language(source: Path) -> str:
    """``cuda``, ``c`` or ``c++``, by the file's suffix. Raises ``Misuse`` for a suffix we do not know."""
    found = LANGUAGES.get(source.suffix)
    if found is None:
        raise Misuse(f"{source} is neither CUDA, C nor C++", hint=f"known suffixes are {', '.join(LANGUAGES)}")
    return found


def compile_host(
    source: Path,
    blob: Path | None,
    output: Path,
    options: SourceOptions,
    clang: Clang,
    optimise: str = "-O2",
    listing: Sequence[str] = (),
) -> HostObject:
    """Compiles the host side of ``source`` to ``output``, whole or not at all.

    ``blob`` holds the device code of a CUDA source (``blob.write``); None leaves out all registration, so that kernels
    cannot be launched, and is right for C and C++. ``optimise`` is clang's ``-O`` flag,
    ``listing`` are its flags that write a dependency file.
    Raises ``Misuse`` for a file that is missing or of an unknown kind, ``CompileError`` with file, line and column for what
    clang refuses, ``ToolError`` when clang fails or the output cannot be written.
    """
    if not source.is_file():
        what = "is a folder" if source.is_dir() else "does not exist"
        raise Misuse(f"{source} {what}", hint="give the path of a CUDA, C or C++ source file")
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        made = Path(scratch) / "host.o"
        flags = [optimise, *host_flags(clang, options, language(source), blob)]
        header = _precompiled(options, clang, optimise) if language(source) == "cuda" else None
        changed = changed_files(source, options.include)
        asked_for = WhatClangAsks(changed)
        overlay = ["-ivfsoverlay", str(write_overlay(changed, Path(scratch)))] if changed else []
        ends = [*overlay, *listing, as_argument(str(source)), "-o", str(made)]
        done = _run([*clang.command, *(use_header(flags, header) if header else flags), *ends], scratch)
        if header and done.returncode and refused(done.stderr):
            remove(header)
            done = _run([*clang.command, *flags, *ends], scratch)
        while done.returncode and asked_for.add(done.stderr):
            overlay = ["-ivfsoverlay", str(write_overlay(asked_for.texts, Path(scratch)))]
            asked = use_header(flags, header) if header else flags
            done = _run([*clang.command, *asked, *EVERY_ERROR, *overlay, *ends], scratch)
        if done.returncode or not made.is_file():
            raise explain(asked_for.as_written(done.stderr), source)
        try:
            write_atomically(output, made.read_bytes())
        except OSError as e:
            raise ToolError(f"cannot write {output}: {e.strerror}", hint="choose another place with -o") from None
    remark = "" if language(source) == "cuda" else asked_for.remark  # the device pass has said it
    return HostObject(output, source, warnings_in(asked_for.as_written(done.stderr)) + remark)


def _precompiled(options: SourceOptions, clang: Clang, optimise: str) -> Path | None:
    """Our main header for this pass, which makes it five times as fast; None where it may mean something else."""
    if not can_use(options.define, options.undefine, (*options.extra, *options.host)):
        return None
    plain = replaced(options, include=(), define=())
    return precompiled_header(clang, [optimise, *host_flags(clang, plain, "cuda")])


def _run(command: list[str], scratch: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, "TMPDIR": scratch},  # what clang leaves behind when it crashes goes with the folder
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )


def host_flags(clang: Clang, options: SourceOptions, kind: str, blob: Path | None = None) -> list[str]:
    """clang's command line for the host pass, without input and output."""
    # nvcc's math flags are about device code, and -std names one language where a program may have several.
    std = options.std if options.std and ("++" in options.std) == (kind != "c") else None
    user = replaced(options, fast_math=False, flush_denormals=False, fuse=True, std=std).flags()
    if kind == "cuda":
        embedded = [] if blob is None else ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(blob)]
        cuda = ["-x", "cuda", f"--cuda-gpu-arch={options.arch}", "--cuda-host-only", *clang.cuda_flags, *embedded]
    else:
        cuda = ["-x", kind, *_api_headers(clang)]
    # Of the host compiler's standards one names C where the program has C++, too.
    host = [flag for flag in options.host if not flag.startswith("-std=") or ("++" in flag) == (kind != "c")]
    # nvcc does not optimise host code unless it is asked to: a sum that overflows wraps there, and programs compare with it.
    return [*cuda, *clang.header_flags, "-fPIC", "-fwrapv", "-c", *warned_about(kind), *user, *host]


def _api_headers(clang: Clang) -> list[str]:
    """Where a C or C++ file finds <cuda_runtime.h>, and the headers of libraries, which are always ours."""
    if clang.nvidia is None:
        return ["-isystem", str(HEADERS)]
    return [*(word for folder in clang.nvidia.folders for word in ("-isystem", folder)), "-idirafter", str(PRELUDE)]


def toolkit_version(clang: Clang) -> int | None:
    """The major version of NVIDIA's headers that this clang compiles with; None when it takes ours."""
    return clang.nvidia.version // 1000 if clang.nvidia else None
