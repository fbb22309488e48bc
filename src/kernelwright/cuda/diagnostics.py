"""clang's messages as our errors: first the place, then what to do next."""

from __future__ import annotations

import re
from pathlib import Path

from kernelwright.errors import CompileError, Place, ToolError

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>fatal error|error): (?P<text>.*)$", re.M
)

# What a message means for a CUDA programmer, and the next step. First match wins.
_PLACELESS = re.compile(r"^(?:clang(?:\+\+)?: )?error: (?P<text>.*)$", re.M)
_NOT_VIABLE = re.compile(r"note: candidate function not viable: (call to __\w+__ function from __\w+__ function)")

_HINTS: tuple[tuple[str, str], ...] = (
    (
        r"'(thrust|cub|cuda/std)/.*' file not found",
        "thrust and cub come with NVIDIA's headers: pip install 'kernelwright[nvidia]'",
    ),
    (
        r"'(cublas|cusparse|cufft|cudnn|cusolver|nccl|mpi).*' file not found",
        "programs that call this library are not supported",
    ),
    (r"file not found", "name the folder that holds it with -I"),
    (r"undeclared identifier 'cuda\w*Graph", "CUDA graphs are not supported"),
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
    if found is None:
        placeless = _PLACELESS.search(stderr)
        if placeless:
            return CompileError(placeless["text"], hint="check the flags; kw compile --help lists those that are known")
        last = stderr.strip().splitlines()
        return ToolError(
            f"clang failed on {source} without naming a place: {last[-1] if last else 'it was killed'}",
            hint="kw doctor, and --print-command shows the command line",
        )
    total = len(_DIAGNOSTIC.findall(stderr))
    file, line, column = found["file"], int(found["line"]), int(found["column"])
    reason = found["text"]
    # "no matching function" hides the usual reason in a note: the function lives on the other side of the border.
    following = _DIAGNOSTIC.search(stderr, found.end())
    border = _NOT_VIABLE.search(stderr, found.end(), following.start() if following else len(stderr))
    if border:
        reason += f": {border[1]}"
    hint = next((text for pattern, text in _HINTS if re.search(pattern, reason)), None)
    message = reason + (f" (and {total - 1} more)" if total > 1 else "")
    error = CompileError(
        message,
        place=Place(file, line, column, _line_of(file, line)),
        hint=hint or f"mend {file} line {line}",
    )
    error.add_note(stderr)
    return error


def _line_of(file: str, line: int) -> str:
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""


def warnings_in(stderr: str) -> str:
    """clang's warnings, without its closing count."""
    return re.sub(r"^\d+ warnings? generated.*\n?", "", stderr, flags=re.M)
