"""Which clang compiles, and with which headers.

The default is the clang inside the ``ziglang`` wheel with our own CUDA headers. C and C++ headers come from the system
when it has a C++ compiler (the link then uses that compiler's library), otherwise from the same wheel: a machine with
Python and nothing else compiles. ``--clang`` names another clang; ``--headers nvidia`` and ``--cuda-path`` ask for
NVIDIA's CUDA headers instead of ours (``toolkit.py``).
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

from kernelwright.cache import Cache, content_key
from kernelwright.cuda.toolkit import CudaHeaders, toolkit_headers, wheel_folders, wheel_headers, wrapper_folder
from kernelwright.errors import Misuse, ToolError
from kernelwright.values import frozen

HEADERS = Path(__file__).parent / "include"
MAIN_HEADER = "kernelwright_cuda.h"

# Whose CUDA headers a program may ask for.
HEADERS_BY = ("own", "nvidia")

# clang chooses the launch ABI by the CUDA version (9.2 and later push and pop the call configuration; 10.1 and later
# end the registration with a call: clang's CGCUDANV.cpp). It takes a version it does not know for an old one.
LAUNCH_ABI = "11.8"

# The LLVM that reads what clang writes: that of the llvmlite which pyproject.toml asks for. It reads older IR, too.
LLVM_MAJOR = 22

# clang 16 is the first to know CUDA 11.8 and PTX 7.8. Our own headers are tested with 19 and later.
OLDEST_CLANG = 16
OLDEST_CLANG_FOR_OUR_HEADERS = 19

# clang's own C++ headers inside the wheel, in the order the wheel's own driver uses.
_ZIG_CXX = ("libcxx/include", "libcxxabi/include")
_ZIG_LIBC = (
    "libc/include/x86-linux-gnu",
    "libc/include/generic-glibc",
    "libc/include/x86-linux-any",
    "libc/include/any-linux-any",
)


@frozen
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
    nvidia: CudaHeaders | None = None
    """NVIDIA's headers, when they are used instead of ours."""

    @property
    def major(self) -> int:
        """The major number of its LLVM: 22 for clang 22.1."""
        return _major(self.version)

    def fingerprint(self) -> str:
        """Equal for clangs that give equal results for equal flags: version, origin and flags for headers."""
        return "\0".join((self.version, self.origin, *self.header_flags, *self.cuda_flags))


def system_cxx() -> str | None:
    """The system's C++ driver, or None: ``c++``, ``g++`` or ``clang++``, whichever comes first."""
    places = [os.path.join(folder, name) for name in ("c++", "g++", "clang++") for folder in os.get_exec_path()]
    return next((path for path in places if os.access(path, os.X_OK) and os.path.isfile(path)), None)


def ziglang_folder() -> Path:
    """Where the ``ziglang`` wheel lies, without importing it. Raises ``ToolError`` when it is not installed."""
    found = wheel_folders("ziglang")
    if not found:
        raise ToolError(
            "the ziglang wheel, which carries clang, is not installed", hint="pip install 'ziglang==0.17.*'"
        )
    return found[0]


def find_clang(
    clang: str | None = None, cuda_path: str | None = None, hermetic: bool | None = None, headers: str = "own"
) -> Clang:
    """The clang to use.

    ``clang``: path or name of another clang; ``cuda_path``: root of a CUDA toolkit; ``hermetic``: take C and C++ headers
    from the wheel even where the system has some (None: only where it has none); ``headers``: ``own``, or ``nvidia`` for
    those of NVIDIA's wheels. A toolkit is used with its own headers.
    Raises ``ToolError`` when something is missing or does not run, ``Misuse`` when a path is not what it claims, or the
    clang is too old for the headers or too new for the LLVM here.
    """
    if headers not in HEADERS_BY:
        raise Misuse(f"there are no headers {headers!r}", hint=f"--headers is one of {', '.join(HEADERS_BY)}")
    nvidia = None
    if cuda_path is not None:
        nvidia = toolkit_headers(cuda_path)
    elif headers == "nvidia":
        nvidia = wheel_headers()
    if clang is None:
        return _wheel_clang(nvidia, system_cxx() is None if hermetic is None else hermetic)
    if hermetic:
        raise Misuse("--hermetic means the bundled clang and its headers", hint="leave out --clang or --hermetic")
    return _named_clang(clang, nvidia)


def _wheel_clang(nvidia: CudaHeaders | None, hermetic: bool) -> Clang:
    folder = ziglang_folder()
    command = (str(folder / "zig"), "clang")
    version, release = _wheel_version(folder)
    major = _major(version)
    if major > LLVM_MAJOR:
        raise _too_new(f"the ziglang {release} wheel", major, "pip install 'ziglang==0.17.*'")
    resources = _resource_folder(folder, release) if nvidia is None else wrapper_folder(major)
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
        cuda_flags=(*_wrappers(nvidia, resources), *_cuda_flags(nvidia)),
        system_headers=not hermetic,
        nvidia=nvidia,
    )


def _named_clang(name: str, nvidia: CudaHeaders | None) -> Clang:
    import shutil

    path = shutil.which(name)
    if path is None:
        raise Misuse(
            f"there is no clang at {name}", hint="give --clang a path, or leave it out to use the bundled clang"
        )
    version = _ask_version((path,))
    major = _major(version)
    if major > LLVM_MAJOR:
        raise _too_new(path, major, f"give --clang one of {OLDEST_CLANG} to {LLVM_MAJOR}, or leave it out")
    if major < OLDEST_CLANG:
        raise Misuse(
            f"{path} is clang {major}, and {OLDEST_CLANG} is the oldest that works",
            hint="install a newer clang, or leave out --clang to use the bundled one",
        )
    if nvidia is None and major < OLDEST_CLANG_FOR_OUR_HEADERS:
        raise Misuse(
            f"{path} is clang {major}: our CUDA headers need clang {OLDEST_CLANG_FOR_OUR_HEADERS} or later",
            hint="use NVIDIA's with --headers nvidia or --cuda-path, or leave out --clang to use the bundled one",
        )
    return Clang(
        command=(path,),
        version=version,
        origin=os.path.realpath(path),
        header_flags=(),
        cuda_flags=_cuda_flags(nvidia),
        system_headers=True,
        nvidia=nvidia,
    )


def _wrappers(nvidia: CudaHeaders | None, resources: Path) -> tuple[str, ...]:
    """clang's wrappers of C++ headers. It searches them by itself, but after the C++ headers where we name those."""
    return () if nvidia is None else ("-isystem", str(resources / "include" / "cuda_wrappers"))


def _major(version: str) -> int:
    return int(version.split(".")[0])


def _too_new(what: str, major: int, hint: str) -> Misuse:
    return Misuse(f"{what} is clang {major}: LLVM {LLVM_MAJOR} in llvmlite cannot read its IR", hint=hint)


def _cuda_flags(nvidia: CudaHeaders | None) -> tuple[str, ...]:
    """Never ``--cuda-path``, and no look for a toolkit: clang finds those headers that we name, and no libdevice."""
    named = ("-isystem", str(HEADERS), "-include", MAIN_HEADER) if nvidia is None else nvidia.flags
    # Newer drivers of clang allow `f(...)` on the device by themselves.
    cc1 = ("-Xclang", f"-target-sdk-version={LAUNCH_ABI}", "-Xclang", "-fcuda-allow-variadic-functions")
    return ("-nocudainc", "-nocudalib", *named, *cc1, "-Wno-unknown-cuda-version")


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
    kept = f"version-{release}"
    with_version = _read(kept)
    if with_version is None:
        with_version = _ask_version((str(folder / "zig"), "clang"))
        _keep(kept, with_version)
    return with_version, release


def _ask_version(command: tuple[str, ...]) -> str:
    import subprocess

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
    kept = f"libcxx-{release}"
    flags = _read(kept)
    if flags is None:
        import subprocess
        import tempfile

        # A macro that was never used before: what zig has compiled already, it does not compile, nor say how, again.
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


def _read(name: str) -> str | None:
    found = Cache().get("clang", content_key([name]))
    return found.decode() if found else None


def _keep(name: str, text: str) -> None:
    Cache().put("clang", content_key([name]), text.encode())
