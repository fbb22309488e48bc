"""OpenMP in host code: the runtime library that clang's code for it calls, where one is installed.

LLVM's libomp comes in a wheel of the package index (the extra ``openmp``). With it ``-Xcompiler -fopenmp`` makes several threads;
without it our ``omp.h`` and one thread are what a program gets.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from kernelwright.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FLAG = "-fopenmp=libomp"
"""Of clang, for host code."""
VERSION = 202011
"""What clang 22 says ``_OPENMP`` is with that flag."""
EXTRA = "pip install 'kernelwright[openmp]'"

# What code for OpenMP calls: clang's, gcc's, which LLVM's library has as well, and the functions of omp.h.
_CALLS = re.compile(r"__kmpc_\w+|GOMP_\w+|omp_[a-z_]+")


@frozen
class OpenMp:
    """LLVM's OpenMP runtime in ``folder``, which has include/ and lib/."""

    folder: Path

    @property
    def compile_flags(self) -> tuple[str, ...]:
        """For host code. Our own omp.h comes first and passes on to the one here."""
        return FLAG, "-idirafter", str(self.folder / "include")

    @property
    def link_flags(self) -> tuple[str, ...]:
        """The program finds the library where it lies now."""
        library = self.folder / "lib"
        return str(library / "libomp.so"), f"-Wl,-rpath,{library}"


def find_openmp() -> OpenMp | None:
    """The wheel's, wherever Python would find a package of its."""
    for entry in sys.path:
        folder = Path(entry) / "cmeel.prefix"
        if (folder / "lib" / "libomp.so").is_file() and (folder / "include" / "omp.h").is_file():
            return OpenMp(folder.resolve())
    return None


def calls_openmp(undefined: Iterable[str]) -> bool:
    """Whether objects that leave these symbols to others need the runtime."""
    return any(_CALLS.fullmatch(name) for name in undefined)
