"""Which clang compiles, and with which headers.

The default is the clang inside the ``ziglang`` wheel with our own CUDA headers. C and C++ headers come from the system
when it has a C++ compiler (the link then uses that compiler's library), otherwise from the same wheel: a machine with
Python and nothing else compiles. ``--clang`` names another clang, ``--cuda-path`` a CUDA toolkit whose headers and
libdevice are used instead of ours.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernelwright.cache import cache_folder, write_atomically
from kernelwright.errors import Misuse, ToolError

HEADERS = Path(__file__).parent / "include"
MAIN_HEADER = "kernelwright_cuda.h"

# The CUDA version our headers speak for. clang wants to know it to choose the launch ABI (9.2 and later push and pop
# the call configuration; see clang's CGCUDANV.cpp).
SDK_VERSION = "12.8"

# clang's own C++ headers inside the wheel, in the order the wheel's own driver uses.
_ZIG_CXX = ("libcxx/include", "libcxxabi/include")
_ZIG_LIBC = (
    "libc/include/x86-linux-gnu",
    "libc/include/generic-glibc",
    "libc/include/x86-linux-any",
    "libc/include/any-linux-any",
)


@dataclass(frozen=True)
class Clang:
    """One clang with its flags for finding headers; a value, so that it can be part of a cache key."""

    command: tuple[str, ...]
    version: str
    origin: str
    """``ziglang 0.17.0``, or the path the user named."""
    header_flags: tuple[str, ...]
    """Resource directory and C/C++ header flags, the same for device and host passes."""
    cuda_flags: tuple[str, ...]
    """CUDA header flags."""
    system_headers: bool
    """C and C++ headers are the system's: the link must use the system's C++ library too."""

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def fingerprint(self) -> str:
        return "\0".join((self.version, self.origin, *self.header_flags, *self.cuda_flags))


def system_cxx() -> str | None:
    """The system's C++ driver, or None: ``c++``, ``g++`` or ``clang++``, whichever comes first."""
    return next((path for name in ("c++", "g++", "clang++") if (path := shutil.which(name))), None)


def ziglang_folder() -> Path:
    """Where the ``ziglang`` wheel lies, without importing it. Raises ``ToolError`` when it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        raise ToolError(
            "the ziglang wheel, which carries clang, is not installed", hint="pip install 'ziglang==0.17.*'"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def find_clang(clang: str | None = None, cuda_path: str | None = None, hermetic: bool | None = None) -> Clang:
    """The clang to use.

    ``clang``: path or name of another clang (16 or later); ``cuda_path``: root of a CUDA toolkit; ``hermetic``: take C
    and C++ headers from the wheel even where the system has some (None: only where it has none).
    Raises ``ToolError`` when it is missing or does not run, ``Misuse`` when a path is not what it claims.
    """
    if cuda_path is not None and not (Path(cuda_path) / "include" / "cuda_runtime.h").is_file():
        raise Misuse(
            f"{cuda_path} is no CUDA toolkit: it has no include/cuda_runtime.h",
            hint="give --cuda-path the folder that holds include/, bin/ and nvvm/",
        )
    if clang is not None:
        return _named_clang(clang, cuda_path)
    return _wheel_clang(cuda_path, system_cxx() is None if hermetic is None else hermetic)


def _wheel_clang(cuda_path: str | None, hermetic: bool) -> Clang:
    folder = ziglang_folder()
    command = (str(folder / "zig"), "clang")
    version, release = _wheel_version(folder)
    resources = _resource_folder(folder, release)
    flags = ["--target=x86_64-linux-gnu", "-resource-dir", str(resources)]
    if hermetic:
        lib = folder / "lib"
        flags += ["-nostdinc", "-nostdinc++", "-D_ALLOW_UNSUPPORTED_LIBCPP", *_libcxx_defines(folder, release)]
        for name in _ZIG_CXX:
            flags += ["-isystem", str(lib / name)]
        flags += ["-isystem", str(resources / "include")]
        for name in _ZIG_LIBC:
            flags += ["-isystem", str(lib / name)]
    return Clang(
        command=command,
        version=version,
        origin=f"ziglang {release}",
        header_flags=tuple(flags),
        cuda_flags=_cuda_flags(cuda_path),
        system_headers=not hermetic,
    )


def _named_clang(name: str, cuda_path: str | None) -> Clang:
    path = shutil.which(name)
    if path is None:
        raise Misuse(
            f"there is no clang at {name}", hint="give --clang a path, or leave it out to use the bundled clang"
        )
    version = _ask_version((path,))
    return Clang(
        command=(path,),
        version=version,
        origin=os.path.realpath(path),
        header_flags=(),
        cuda_flags=_cuda_flags(cuda_path),
        system_headers=True,
    )


def _cuda_flags(cuda_path: str | None) -> tuple[str, ...]:
    if cuda_path is not None:
        # The toolkit's own headers; its libdevice is linked later, by us, as ours is.
        return (f"--cuda-path={cuda_path}", "-nocudalib", "-Wno-unknown-cuda-version")
    return (
        "-nocudainc",
        "-nocudalib",
        "-isystem",
        str(HEADERS),
        "-include",
        MAIN_HEADER,
        "-Xclang",
        f"-target-sdk-version={SDK_VERSION}",
        "-Wno-unknown-cuda-version",
    )


@functools.cache
def _wheel_version(folder: Path) -> tuple[str, str]:
    """clang's version and the wheel's. Asking clang costs a process start, so the answer is kept per wheel release."""
    # The name of the wheel's metadata folder tells its release; reading it through importlib.metadata costs 8 ms.
    named = next(iter(folder.parent.glob("ziglang-*.dist-info")), None)
    release = (
        named.name.removeprefix("ziglang-").removesuffix(".dist-info")
        if named
        else str((folder / "zig").stat().st_mtime_ns)
    )
    kept = cache_folder() / "clang" / f"version-{release}"
    with_version = _read(kept)
    if with_version is None:
        with_version = _ask_version((str(folder / "zig"), "clang"))
        _keep(kept, with_version)
    return with_version, release


def _ask_version(command: tuple[str, ...]) -> str:
    try:
        said = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise ToolError(f"{' '.join(command)} does not run: {e}", hint="kw doctor") from None
    found = re.search(r"clang version (\d+\.\d+\.\d+)", said.stdout)
    if said.returncode or not found:
        raise ToolError(
            f"{' '.join(command)} --version does not answer like clang: {said.stdout[:80]!r}", hint="kw doctor"
        )
    return found.group(1)


def _resource_folder(folder: Path, release: str) -> Path:
    """clang looks for its builtin headers in ``<resource dir>/include``; the wheel keeps them in ``lib/include``."""
    lib = folder / "lib"
    # `lib` already has the one thing a resource directory needs.
    if (lib / "include" / "stddef.h").is_file():
        return lib
    raise ToolError(
        f"the ziglang {release} wheel has no builtin headers", hint="pip install --force-reinstall 'ziglang==0.17.*'"
    )


def _libcxx_defines(folder: Path, release: str) -> list[str]:
    """The ``-D_LIBCPP_...`` flags that the wheel's libc++ is configured with; they differ per release, so we ask."""
    kept = cache_folder() / "clang" / f"libcxx-{release}"
    flags = _read(kept)
    if flags is None:
        # A macro nobody has used before: what zig has compiled already, it does not compile, nor say how, again.
        fresh = f"-DKERNELWRIGHT_ASKS={os.urandom(8).hex()}"
        target = ["-target", "x86_64-linux-gnu.2.28"]
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
            said = subprocess.run(
                [str(folder / "zig"), "c++", *target, fresh, "-c", "-x", "c++", os.devnull, "-o", "nothing.o"],
                capture_output=True,
                text=True,
                cwd=scratch,
                env={**os.environ, "ZIG_VERBOSE_CC": "1"},
                timeout=120,
            )
        found = dict.fromkeys(
            re.findall(r"-D_?_?(?:LIBCPP|LIBCXX|GLIBC_MINOR)\S*|-D_LIB\S*", said.stderr + said.stdout)
        )
        flags = " ".join(found)
        if "-D_LIBCPP_ABI_VERSION" not in flags:
            raise ToolError(
                f"the ziglang {release} wheel does not tell how its C++ library is configured",
                hint="pip install 'ziglang==0.17.*', or install a system C++ compiler",
            )
        _keep(kept, flags)
    return flags.split()


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def _keep(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())
    except OSError:
        return  # a cache that cannot be written costs time, nothing else
