"""Building our CUDA runtime (``runtime/*.c``): a static library for what we link, shared ones that stand in for NVIDIA's.

Built by the wheel's ``zig cc`` at first use, about two seconds, and kept in the cache. The shared ones carry the names and
symbol versions of ``libcudart.so.11.0``, ``.12`` and ``.13``, so that a program built by ``nvcc -cudart shared`` takes them
when their folder comes first in ``LD_LIBRARY_PATH``; ``missing_imports`` tells beforehand whether it can.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernelwright.cache import Cache, content_key, write_atomically
from kernelwright.cuda.clang import HEADERS, ziglang_folder
from kernelwright.cuda.objects.elf import Elf, archive_members, read_elf
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.long_steps import announced

SOURCES = Path(__file__).parent / "runtime"
LIBRARIES = SOURCES / "libraries"
"""cuBLAS and the like: in the static runtime alone, since NVIDIA has other shared libraries for them."""

DRIVER = SOURCES / "driver"
"""The driver API and NVRTC, likewise."""

# The oldest C library that has all we call; programs then run wherever their own C++ library does.
TARGET = "x86_64-linux-gnu.2.17"

# What executables and shared libraries are linked for by zig: the version its C++ headers are configured for (clang.py).
ZIG_TARGET = "x86_64-linux-gnu.2.28"
_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-g0",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-sanitize=all",
    "-Wall",
    "-Wextra",
    "-Werror",
)

_FOR_NVIDIA = frozenset({"nvcc.c"})
"""Only where objects were compiled with NVIDIA's headers."""
_PUBLIC = ("cu", "__cuda", "nvrtc", "nccl")
"""How the functions begin that programs may call."""
_MANAGED_END, _LINKED_BINARY = "managed_end.c", "linked_binary.c"
_APART = frozenset({_MANAGED_END, _LINKED_BINARY})
"""Not in the archive: linked by name into programs that need them."""

SONAMES: dict[int, str] = {11: "libcudart.so.11.0", 12: "libcudart.so.12", 13: "libcudart.so.13"}

# Functions whose structures or parameters differ from ours: ours get another name, and nvcc.c has NVIDIA's.
_RENAMED: dict[int, dict[str, str]] = {
    11: {"cudaGetDeviceProperties": "kw_own_device_properties"},
    12: {"cudaGetDeviceProperties": "kw_own_device_properties"},
    13: {
        "cudaGetDeviceProperties": "kw_own_device_properties",
        "cudaMemAdvise": "kw_own_advise",
        "cudaMemPrefetchAsync": "kw_own_prefetch",
    },
}


@dataclass(frozen=True)
class StaticRuntime:
    """The runtime as a link takes it."""

    archive: bytes
    managed_end: bytes
    """An object file: see ``runtime/managed_end.c``."""
    exports: frozenset[str]
    """Every function it has for programs."""


def static_runtime(cache: Cache | None = None, nvidia: int | None = None) -> StaticRuntime:
    """The static runtime, built when the cache does not have it. Raises ``ToolError`` when it cannot be built.

    ``nvidia``: the major version of NVIDIA's headers when the objects were compiled with those instead of ours.
    """
    cache = cache or Cache()
    key = content_key(["static", str(nvidia), *_ingredients()])
    archive, end = cache.get("runtime", key), cache.get("runtime-managed", key)
    if archive is None or end is None:
        with (
            announced("compiling our CUDA runtime (once)"),
            tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch,
        ):
            folder = Path(scratch)
            objects = [
                *_compile_all(folder, nvidia),
                *_compile(sorted(LIBRARIES.rglob("*.c")), folder, ()),
                *_compile(sorted(DRIVER.glob("*.c")), folder, _renaming(nvidia)),
            ]
            made = folder / "libkwcudart.a"
            _zig(["ar", "rcsD", str(made), *map(str, objects)], "packing")
            archive = made.read_bytes()
            end = _compile([SOURCES / _MANAGED_END], folder, ())[0].read_bytes()
        cache.put("runtime", key, archive)
        cache.put("runtime-managed", key, end)
    return StaticRuntime(archive, end, exported_functions(archive))


def _compile_all(folder: Path, nvidia: int | None) -> list[Path]:
    if nvidia is None:
        return _compile([s for s in _sources() if s.name not in _FOR_NVIDIA | _APART], folder, ())
    if nvidia not in _RENAMED:
        raise ToolError(
            f"our CUDA runtime cannot be linked to programs compiled with the headers of CUDA {nvidia}",
            hint=f"use the headers of CUDA {', '.join(map(str, _RENAMED))}, or leave out --cuda-path to use ours",
        )
    sources = [s for s in _sources() if s.name not in _APART]
    return _compile(sources, folder, [f"-DKW_NVCC={nvidia}", *_renaming(nvidia)])


def _renaming(nvidia: int | None) -> list[str]:
    """For what calls our functions by their own names."""
    return [f"-D{name}={own}" for name, own in _RENAMED.get(nvidia or 0, {}).items()]


def default_settings(device: str, worker: str, folder: Path) -> Path:
    """An object file in ``folder`` that makes a program ask for ``device`` and start ``worker`` without any environment."""
    source = folder / "defaults.c"
    text = (SOURCES / "defaults.c").read_text()
    source.write_text(text.replace('"none"', _c_string(device)).replace('""', _c_string(worker)))
    return _compile([source], folder, ())[0]


def linked_binary(module: str, blob: Path, folder: Path) -> Path:
    """An object file in ``folder`` that registers ``blob`` for an object whose device code was linked later (``relocatable.py``)."""
    inside = folder / module
    inside.mkdir()
    return _compile([SOURCES / _LINKED_BINARY], inside, (f"-DKW_MODULE={module}", f"-DKW_BLOB={_c_string(str(blob))}"))[
        0
    ]


def merged(objects: Sequence[Path], folder: Path) -> Path:
    """One object file in ``folder`` with all that is in ``objects``; an empty one for none."""
    nothing = folder / "nothing.c"
    nothing.write_text("")
    made = folder / "merged.o"
    _zig(
        ["cc", "-target", ZIG_TARGET, "-r", *map(str, objects or _compile([nothing], folder, ())), "-o", str(made)],
        "linking",
    )
    return made


def archive_with_settings(device: str, worker: str) -> bytes:
    """The static runtime for linkers that do not know of ``default_settings``: with those for ``device`` and ``worker`` inside."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        folder = Path(scratch)
        made = folder / "libkwcudart.a"
        made.write_bytes(static_runtime().archive)
        settings = default_settings(device, worker, folder)  # under the name of the member that it takes the place of
        _zig(["ar", "rcsD", str(made), str(settings)], "packing")
        return made.read_bytes()


def shared_runtime(major: int, cache: Cache | None = None) -> bytes:
    """A shared library under the name of NVIDIA's for CUDA ``major`` (11, 12, 13). Raises ``ToolError`` when it fails."""
    cache = cache or Cache()
    soname = SONAMES[major]
    key = content_key(["shared", soname, *_ingredients()])
    kept = cache.get("runtime", key)
    if kept is not None:
        return kept
    with announced(f"compiling our {soname} (once)"), tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        folder = Path(scratch)
        objects = _compile_all(folder, major)
        script = folder / "versions"
        script.write_text(f"{soname} {{ global: cuda*; __cuda*; local: *; }};\n")
        made = folder / soname
        link = [
            "cc",
            "-target",
            ZIG_TARGET,
            "-O2",
            "-shared",
            f"-Wl,-soname,{soname}",
            f"-Wl,--version-script,{script}",
            "-s",
        ]
        _zig([*link, *map(str, objects), "-lpthread", "-o", str(made)], "linking")
        built = made.read_bytes()
    cache.put("runtime", key, built)
    return built


def install_shared(folder: Path, majors: Sequence[int] = tuple(SONAMES)) -> list[Path]:
    """Writes the stand-ins for ``majors`` into ``folder``, for ``LD_LIBRARY_PATH``. Raises ``ToolError`` when it cannot."""
    written = []
    for major in majors:
        path = folder / SONAMES[major]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, shared_runtime(major))
        except OSError as e:
            raise ToolError(f"cannot write {path}: {e.strerror}", hint="choose another folder") from None
        written.append(path)
    return written


@dataclass(frozen=True)
class Imports:
    """What a compiled program takes from NVIDIA's runtime."""

    library: str | None
    """``libcudart.so.12``; None when the program asks for no shared one: it has none, or it was linked statically."""
    missing: tuple[str, ...]
    """The functions it takes from there that we do not have."""


def missing_imports(program: Path) -> Imports:
    """Whether ``program``, built by nvcc, would find all it needs in our stand-in. Raises ``Misuse`` for what is no program.

    A program that takes its runtime from a library of its own has to be asked about that library.
    """
    elf = read_elf(program)
    by_name = {name: major for major, name in SONAMES.items()}
    library = next((name for name in elf.needed if name.startswith("libcudart.so")), None)
    if library is None:
        return Imports(None, ())
    wanted = [s.name for s in elf.symbols(dynamic=True) if not s.is_defined and s.library in ("", library)]
    ours = _shared_exports(by_name[library]) if library in by_name else frozenset()
    return Imports(library, tuple(sorted(n for n in wanted if n.startswith(("cuda", "__cuda")) and n not in ours)))


@functools.cache
def _shared_exports(major: int) -> frozenset[str]:
    elf = Elf(shared_runtime(major), SONAMES[major])
    return frozenset(s.name for s in elf.symbols(dynamic=True) if s.is_defined)


def exported_functions(archive: bytes) -> frozenset[str]:
    """The names a program may call in a static runtime."""
    names: set[str] = set()
    for member, data in archive_members(archive, "the CUDA runtime"):
        names.update(s.name for s in Elf(data, member).symbols() if s.is_defined and s.binding == "global")
    return frozenset(n for n in names if n.startswith(_PUBLIC))


def _sources() -> list[Path]:
    return sorted(SOURCES.glob("*.c"))


def _ingredients() -> list[bytes | str]:
    """All that the built libraries depend on: our sources and the headers they include, flags, and the compiler."""
    texts: dict[Path, bytes] = {}
    queue = [*_sources(), *sorted(LIBRARIES.rglob("*.c")), *sorted(DRIVER.glob("*.c"))]
    while queue:
        path = queue.pop()
        if path not in texts and path.is_file():
            texts[path] = path.read_bytes()
            names = re.findall(rb'^#include "([^"]+)"', texts[path], re.M)
            queue += [folder / name.decode() for name in names for folder in (path.parent, SOURCES, LIBRARIES, HEADERS)]
    zig = (ziglang_folder() / "zig").stat()
    return [f"{zig.st_size} {zig.st_mtime_ns}", TARGET, *_FLAGS, *(texts[path] for path in sorted(texts))]


def _compile(sources: Sequence[Path], folder: Path, defines: Sequence[str]) -> list[Path]:
    flags = [
        "cc",
        "-target",
        TARGET,
        *_FLAGS,
        *defines,
        "-I",
        str(SOURCES),
        "-I",
        str(LIBRARIES),
        "-I",
        str(HEADERS),
        "-c",
    ]

    def compiled(source: Path) -> Path:
        # Files of the driver API are called as those of the runtime that they are made of.
        made = folder / f"{'driver-' if source.parent == DRIVER else ''}{source.stem}.o"
        _zig([*flags, str(source), "-o", str(made)], f"compiling {source.name}")
        return made

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(compiled, sources))


def _zig(arguments: Sequence[str], doing: str) -> None:
    done = subprocess.run(
        [str(ziglang_folder() / "zig"), *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ToolError(
            f"{doing} our CUDA runtime failed: {said[0] if said else 'zig was killed'}",
            hint="pip install --force-reinstall 'ziglang==0.17.*', and kw doctor",
        )


def _c_string(text: str) -> str:
    escaped = "".join(
        f"\\{byte:03o}" if byte < 32 or byte in b'"\\?' or byte > 126 else chr(byte) for byte in text.encode()
    )
    return f'"{escaped}"'
