"""Where NVIDIA's files lie on this machine: in wheels of the package index, or in a CUDA toolkit.

Wheels come before toolkits, because their versions are the ones the project was tested with.
"""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def wheel_roots() -> list[Path]:
    """The folders called ``nvidia`` that wheels have filled, in the order Python searches them."""
    spec = PathFinder.find_spec("nvidia")
    return [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []


def toolkit_roots() -> list[Path]:
    """CUDA toolkits: ``$CUDA_HOME``, ``$CUDA_PATH``, the one whose ``nvcc`` is on the path, ``/usr/local/cuda``."""
    import shutil

    roots = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    nvcc = shutil.which("nvcc")
    if nvcc:
        roots.append(Path(nvcc).resolve().parent.parent)
    roots.append(Path("/usr/local/cuda"))
    return list(dict.fromkeys(roots))


def files(in_wheels: tuple[str, ...], in_toolkits: tuple[str, ...], cuda_path: Path | None = None) -> Iterator[Path]:
    """The files that match the glob patterns: below ``cuda_path`` alone when it is given, else wheels, then toolkits."""
    seen: set[Path] = set()
    for root, patterns in _places(in_wheels, in_toolkits, cuda_path):
        for pattern in patterns:
            for path in sorted(root.glob(pattern), reverse=True):  # newest version number first
                if path.is_file() and path.resolve() not in seen:
                    seen.add(path.resolve())
                    yield path


def _places(
    in_wheels: tuple[str, ...], in_toolkits: tuple[str, ...], cuda_path: Path | None
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    if cuda_path:
        yield cuda_path, in_toolkits
        return
    for root in wheel_roots():
        yield root, in_wheels
    for root in toolkit_roots():
        yield root, in_toolkits
