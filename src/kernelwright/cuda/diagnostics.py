"""clang's messages as our errors: first the place, then what to do next."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from kernelwright.cuda.clang import HEADERS
from kernelwright.cuda.names import base_name, readable
from kernelwright.errors import CompileError, Place, ToolError

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>fatal error|error): (?P<text>.*)$", re.M
)

_INCLUDED = re.compile(r"^(?:In file included from|                 from) (?P<file>[^\n:]+):(?P<line>\d+)[:,]$", re.M)
_PLACELESS = re.compile(r"^(?:(?:clang(?:\+\+)?|zig): )?(?:fatal )?error: (?P<text>.*)$", re.M)
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|File too large")
_CRASHED = re.compile(
    r"frontend command failed with exit code|frontend command failed due to signal|PLEASE submit a bug"
)
_NOT_VIABLE = re.compile(r"note: candidate function not viable: (call to __\w+__ function from __\w+__ function)")

# What a message means for a CUDA programmer, and the next step. First match wins.
_EXTRA = "add --headers nvidia, after pip install 'kernelwright[nvidia]'"
_BUNDLED = "leave out --clang to use the bundled one"
_HINTS: tuple[tuple[str, str], ...] = (
    (r"^this part of (thrust|cub) is among NVIDIA's headers", _EXTRA),
    (r"in namespace '(thrust|cub)'", f"our own headers have a part of it: {_EXTRA}"),
    (
        r"'((thrust|cub|cuda|nv|cooperative_groups)/.*|mma\.h|cuda_(fp[468]|awbarrier|occupancy).*)' file not found",
        f"NVIDIA's headers have it: {_EXTRA}",
    ),
    (
        r"'__clang_cuda_runtime_wrapper\.h' file not found",
        f"this clang lacks its own CUDA headers (Debian: libclang-common-NN-dev); install them, or {_BUNDLED}",
    ),
    (
        r"'texture_fetch_functions\.h' file not found",
        f"this clang is too old for CUDA 13; {_BUNDLED}, or use CUDA 12",
    ),
    (r"undeclared identifier 'noinline'", f"this clang is too old for these CUDA headers; {_BUNDLED}"),
    (r"unsupported CUDA gpu architecture", f"this clang does not know it: {_BUNDLED}, or choose another --arch"),
    (
        r"'cublasXt\.h' file not found",
        "of cuBLAS there are cublas_v2.h, cublas.h and cublasLt.h; docs/libraries.md says what is in it",
    ),
    (
        r"'cufftw\.h' file not found",
        "of cuFFT there are cufft.h and cufftXt.h; docs/libraries.md says what is in them",
    ),
    (
        r"'cusolver\w+\.h' file not found",
        "of cuSOLVER there is cusolverDn.h, the dense interface; docs/libraries.md says what is in it",
    ),
    (
        r"'nccl\w+\.h' file not found",
        "of NCCL there is nccl.h; docs/libraries.md says what is in it",
    ),
    (
        r"'(cublas|cudnn|nvToolsExt|nvtx|nvml|npp).*' file not found",
        "programs that call this library are not supported",
    ),
    (r"file not found", "name the folder that holds it with -I"),
    (
        r"(undeclared identifier|unknown type name) 'cuda\w*(Graph(?!ics)|Capture)",
        "graphs have nodes for kernels, copies, fills, functions of the host and graphs; see docs/run.md",
    ),
    (
        r"undeclared identifier 'surface'",
        "surface references are not supported: cudaCreateSurfaceObject makes an object",
    ),
    (
        r"(undeclared identifier|unknown type name) '(CU(device|deviceptr|context|module|function|stream|event|result)|cu[A-Z]\w*)'",
        "cuda.h declares what there is of the driver API: include it, or call the runtime's function instead",
    ),
    (
        r"undeclared identifier '__(shfl(_up|_down|_xor)?|any|all|ballot)'",
        "CUDA has it no more: with _sync behind its name it takes the mask of the lanes that take part first, as 0xffffffff",
    ),
    (r"unknown type name 'constexpr'", "CUDA needs C++11 or later: leave out -std, or give -std=c++17"),
    (
        r"initialization is not supported for __shared__",
        "initialise it in the kernel; a type with a constructor, which is not called, needs a line of its own: `__shared__ Type name;`",
    ),
    (r"no matching function for call to 'atomic", "this type has no such atomic in CUDA; see the candidates above"),
    (
        r"reference to __host__ function|call to __host__ function",
        "mark the function __device__ or __host__ __device__",
    ),
    (r"reference to __device__ function|call to __device__ function", "device functions run in kernels only"),
    (r"expected expression", "look at the token before the caret"),
)


def explain(stderr: str, source: Path) -> CompileError | ToolError:
    """The error to raise for a failed clang whose messages are ``stderr``. clang's whole text stays available as ``notes``."""
    found = _DIAGNOSTIC.search(stderr)
    if found is None and _NO_SPACE.search(stderr):
        return ToolError(
            "clang could not write its result: the disk is full",
            hint=f"free some space in {tempfile.gettempdir()}, or set TMPDIR to another folder",
        )
    if found is None and _CRASHED.search(stderr):
        return ToolError(
            f"clang crashed on {source}",
            hint="where expressions or statements nest many thousands deep, split them; else report it with the source",
        )
    if found is None:
        placeless = _PLACELESS.search(stderr)
        if placeless:
            hint = _hint(placeless["text"]) or "check the flags; kw compile --help lists those that are known"
            return CompileError(placeless["text"], hint=hint)
        last = stderr.strip().splitlines()
        return ToolError(
            f"clang failed on {source} without naming a place: {last[-1] if last else 'it was killed'}",
            hint="kw doctor; where memory is short, free some and run it again",
        )
    total = len(_DIAGNOSTIC.findall(stderr))
    file, line, column = found["file"], int(found["line"]), int(found["column"])
    reason = found["text"]
    # "no matching function" hides the usual reason in a note: the function lives on the other side of the border.
    following = _DIAGNOSTIC.search(stderr, found.end())
    border = _NOT_VIABLE.search(stderr, found.end(), following.start() if following else len(stderr))
    if border:
        reason += f": {border[1]}"
    reason = reason.strip('"')  # of #error
    if Path(file).is_relative_to(HEADERS):
        file, line, column = _included_by(stderr[: found.start()]) or (file, line, column)
    message = reason + (f" (and {total - 1} more)" if total > 1 else "")
    shown = _line_of(file, line)
    # Clang counts bytes. Where the line is not at hand, its number stays.
    column = len(_text(shown[: column - 1])) + 1 if column and shown else column
    error = CompileError(
        message,
        place=Place(file, line, column, _text(shown)),
        hint=_hint(reason) or f"fix {file} line {line}",
    )
    error.add_note(stderr)
    return error


def _hint(reason: str) -> str | None:
    return next((text for pattern, text in _HINTS if re.search(pattern, reason)), None)


def _included_by(before: str) -> tuple[str, int, int] | None:
    """The line of the user's that included one of our headers: the innermost of the chain above the message."""
    chain = []
    for text in reversed(before.splitlines()):
        found = _INCLUDED.match(text)
        if not found:
            break
        chain.append((found["file"], int(found["line"]), 0))
    return next((place for place in chain if place[0][0] != "<" and not Path(place[0]).is_relative_to(HEADERS)), None)


def _line_of(file: str, line: int) -> bytes:
    try:
        whole = Path(file).read_bytes()
    except OSError:
        return b""
    # Not splitlines: for compilers a form feed ends no line.
    lines = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return lines[line - 1] if 0 < line <= len(lines) else b""


def _text(line: bytes) -> str:
    return line.decode(errors="replace")


_FOREIGN = re.compile(
    r'^(?:define [^@\n]*)?@"((?:[^"\\\n]|\\[0-9A-F]{2})*\\[89A-F][0-9A-F](?:[^"\\\n]|\\[0-9A-F]{2})*)"', re.M
)


def refuse_foreign_names(ir: str, source: Path) -> None:
    """Raises ``CompileError`` for a kernel, device function or variable whose name has letters that PTX lacks."""
    found = _FOREIGN.search(ir)
    if found is None:
        return
    escaped = re.sub(rb"\\([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), found[1].encode())
    # Lengths in mangled names count bytes.
    mangled = escaped.decode("latin-1")
    whole = base_name(mangled) if not base_name(mangled).isascii() else readable(mangled)
    name = whole.encode("latin-1", "replace").decode("utf-8", "replace")
    lines = source.read_text(encoding="utf-8", errors="replace").split("\n")
    number, column = next(((n, line.find(name) + 1) for n, line in enumerate(lines, 1) if name in line), (0, 0))
    raise CompileError(
        f"the name {name} cannot be used on the device: PTX knows ASCII letters alone",
        place=Place(str(source), number, column, lines[number - 1] if number else ""),
        hint="give it another name",
    )


def warnings_in(stderr: str) -> str:
    """clang's warnings, without its closing count."""
    return re.sub(r"^\d+ warnings? generated.*\n?", "", stderr, flags=re.M)
