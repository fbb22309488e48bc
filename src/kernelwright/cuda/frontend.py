"""The device pass: one CUDA translation unit in, unoptimised LLVM-IR out.

clang stops before its own optimiser (``-disable-llvm-passes``): everything after it happens in process, where it can be
read, switched off and repeated (``passes/``). Math functions stay calls of ``__nv_*``; libdevice is linked later.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from pathlib import Path

from kernelwright.architectures import DEFAULT_ARCHITECTURE, architecture, ptx_version
from kernelwright.cuda import early_clang, openmp
from kernelwright.cuda.clang import HEADERS, Clang
from kernelwright.cuda.leniency import warned_about
from kernelwright.cuda.precompiled import can_use, precompiled_header, refused, remove, use_header
from kernelwright.cuda.source_rewrites import WhatClangAsks, changed_files, write_overlay
from kernelwright.errors import Misuse
from kernelwright.values import frozen, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


@frozen
class SourceOptions:
    """How to read the source: the flags that nvcc and clang share."""

    arch: str = DEFAULT_ARCHITECTURE
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    undefine: tuple[str, ...] = ()
    std: str | None = None
    fast_math: bool = False
    flush_denormals: bool = False
    """Single-precision denormals become zero in kernels."""
    fuse: bool = True
    """A multiply and an add may become one operation in kernels."""
    extra: tuple[str, ...] = ()
    """Further flags for clang, as they are."""
    host: tuple[str, ...] = ()
    """Flags for the host side alone, as ``-Xcompiler`` gives them."""

    def flags(self) -> list[str]:
        """The command line options for clang that both passes get; ``arch`` and ``host`` are not among them."""
        flags = [f"-I{i}" for i in self.include] + [f"-D{d}" for d in self.define] + [f"-U{u}" for u in self.undefine]
        if self.std:
            flags.append(f"-std={self.std}")
        if self.fast_math:
            # nvcc's --use_fast_math: flush denormals, approximate division and square root, contract, fast intrinsics.
            flags += ["-ffast-math", "-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals"]
        if self.flush_denormals:
            flags.append("-fgpu-flush-denormals-to-zero")
        if not self.fuse:
            flags.append("-ffp-contract=off")
        return flags + list(self.extra)


@frozen
class DeviceSource:
    """What the device pass produced."""

    path: Path
    text: str
    """LLVM-IR, unoptimised, debug lines inside."""
    dependencies: tuple[str, ...]
    """Every file that was read, absolute paths, the source first."""
    warnings: str
    command: tuple[str, ...] = ()
    """clang's command line, with ``early_clang.SOURCE`` and its like for the files."""

    @property
    def launches_kernels(self) -> bool:
        """Whether its kernels launch kernels."""
        return "@__kw_device_launches = " in self.text

    def __repr__(self) -> str:
        return f"DeviceSource({str(self.path)!r}, {len(self.text)} characters)"


def device_pass(
    source: Path, options: SourceOptions, clang: Clang, meanwhile: Callable[[], object] = lambda: None
) -> DeviceSource:
    """Compiles the device side of ``source``; ``meanwhile`` is called while clang works.

    Raises ``Misuse`` for a missing file, ``CompileError`` with file, line and column for what clang refuses, ``ToolError``
    when clang itself fails.
    """
    if not source.is_file():
        what = "is a folder" if source.is_dir() else "does not exist"
        raise Misuse(f"{source} {what}", hint="give the path of a CUDA source file")
    flags = device_flags(clang, options)
    header = None
    if can_use(options.define, options.undefine, options.extra):
        header = precompiled_header(clang, device_flags(clang, replaced(options, include=(), define=())))
    made = None
    with ExitStack() as kept:
        rewritten = changed_files(source, options.include)
        asked_for = WhatClangAsks(rewritten)
        overlay = _overlay(rewritten, kept) if rewritten else []
        if header:
            made = _run([*clang.command, *overlay, *use_header(flags, header), *_FILES], source, meanwhile)
            if made.text is None and refused(made.said):
                remove(header)
                made = header = None
        if made is None:
            made = _run([*clang.command, *overlay, *flags, *_FILES], source, meanwhile)
        more: tuple[str, ...] = ()
        while made.text is None:
            if not more and _LAUNCHES in made.said:
                more, header = LAUNCH_FLAGS, None
            elif asked_for.add(made.said):
                overlay = _overlay(asked_for.texts, kept)
            else:
                break
            asked = use_header(flags, header) if header else flags
            made = _run([*clang.command, *overlay, *asked, *more, *EVERY_ERROR, *_FILES], source, lambda: None)
        if more:
            made = replaced(made, text=made.text and _with_plain_names(made.text))
    if made.text is None:
        from kernelwright.cuda.diagnostics import explain

        raise explain(asked_for.as_written(made.said), source)
    return DeviceSource(
        path=source,
        text=made.text,
        dependencies=made.dependencies,
        warnings=_warnings(asked_for.as_written(made.said)) + asked_for.remark,
        command=tuple(made.command),
    )


def _overlay(rewritten: dict[Path, str], kept: ExitStack) -> list[str]:
    """clang's flags for the files that it shall see as ``rewritten``, which are ``kept`` so long."""
    import tempfile

    folder = kept.enter_context(tempfile.TemporaryDirectory(prefix="kernelwright-"))
    return ["-ivfsoverlay", str(write_overlay(rewritten, Path(folder)))]


def _warnings(said: str) -> str:
    if not said:
        return ""
    from kernelwright.cuda.diagnostics import warnings_in

    return warnings_in(said)


EVERY_ERROR = ("-ferror-limit=0",)
"""clang names no more than twenty errors by itself."""
_LAUNCHES = "kernel launch from __device__ or __global__ function requires relocatable device code"
"""clang's words where kernels launch kernels."""
LAUNCH_FLAGS = ("-fgpu-rdc", "-D__CUDACC_RDC__", "-include", str(HEADERS / "kernelwright" / "device_launches.h"))
"""Of clang, for either side of such a file."""
_STATIC = re.compile(r"(@[\w.$]+?)__(?:static|intern)__[0-9a-f_]{8,}")
"""The name of a static variable with what clang then puts behind it (``CodeGenModule::printPostfixForExternalizedDecl``)."""
_FILES = ("-MD", "-MF", early_clang.LISTED, early_clang.SOURCE, "-o", early_clang.OUTPUT)


def _with_plain_names(ir: str) -> str:
    """Static variables under the names that the host registers. clang 22 defines them under others, and uses these."""
    for name in dict.fromkeys(found[1] for found in _STATIC.finditer(ir)):
        ir = re.sub(rf"^{re.escape(name)} = external [^\n]*\n", "", ir, count=1, flags=re.M)
    return _STATIC.sub(r"\1", ir)


@frozen
class _Run:
    """One run of clang: its command, what it wrote (None when it failed), what it read, what it said on stderr."""

    command: list[str]
    text: str | None
    dependencies: tuple[str, ...]
    said: str


def _run(command: list[str], source: Path, meanwhile: Callable[[], object]) -> _Run:
    running = early_clang.adopt(command, str(source)) or early_clang.Started(command, str(source))
    try:
        meanwhile()
        failed, said = running.wait()
        folder = Path(running.folder)
        output, listed = folder / "device.ll", folder / "device.d"
        if failed or not output.is_file():
            return _Run(command, None, (), said)
        # Bytes that are no text stand only in the comment that repeats the file's name.
        text = output.read_text(encoding="utf-8", errors="replace")
        rule = listed.read_text(encoding="utf-8", errors="surrogateescape")
        return _Run(command, text, prerequisites(rule, folder), said)
    except BaseException:
        running.stop()
        raise
    finally:
        running.remove()


def device_flags(clang: Clang, options: SourceOptions) -> list[str]:
    """clang's command line for the device pass, without input and output."""
    return [
        "-x",
        "cuda",
        f"--cuda-gpu-arch={architecture(options.arch).name}",
        # clang would take the PTX version, which decides the builtins there are, from a toolkit it happens to find.
        f"--cuda-feature=+ptx{ptx_version(options.arch)}",
        "--cuda-device-only",
        *clang.cuda_flags,  # before the C++ headers: ours wrap some of those
        *clang.header_flags,
        "-gline-tables-only",
        "-fno-discard-value-names",
        # `int v; if (lane == 0) v = f(); v = __shfl_sync(~0u, v, 0);` is how CUDA is written. With arguments marked noundef,
        # LLVM would conclude that every lane takes the branch.
        "-Xclang",
        "-no-enable-noundef-analysis",
        "-O2",
        "-Xclang",
        "-disable-llvm-passes",
        "-S",
        "-emit-llvm",
        *warned_about("cuda"),
        *options.flags(),
        # For the host side alone, but both sides must see the same program.
        *([f"-D_OPENMP={openmp.VERSION}"] if openmp.FLAG in options.host else []),
    ]


def prerequisites(rule: str, scratch: Path) -> tuple[str, ...]:
    """The prerequisites of a make rule, as absolute paths in order; scratch files are left out."""
    names = re.findall(r"(?:[^\s\\]+|\\[ #]|\\(?!\n))+", rule.split(":", 1)[1])
    paths = (name.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$") for name in names)
    absolute = (p if p.startswith("/usr/") else str(Path(p).absolute()) for p in paths)
    return tuple(dict.fromkeys(p for p in absolute if p != os.devnull and not p.startswith(str(scratch))))
