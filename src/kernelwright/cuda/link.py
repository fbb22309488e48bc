"""The link: host objects and our runtime to an executable.

    objects + libkwcudart.a  --c++ of the system, else zig c++-->  a.out

The C++ library must be the one whose headers the objects were compiled with, so ``Clang.system_headers`` decides. The
wheel's own C++ library is built at its first use, which takes most of a minute; objects that need none are linked as C.
Before any linker runs, we read the objects: a call of CUDA that our runtime does not implement is refused by its name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kernelwright.cuda import openmp
from kernelwright.cuda.clang import Clang, system_cxx, ziglang_folder
from kernelwright.cuda.host import HostObject, toolkit_version
from kernelwright.cuda.objects.elf import Elf, Symbol, archive_members, read_elf
from kernelwright.cuda.runtime_library import ZIG_TARGET, default_settings, static_runtime
from kernelwright.cuda.unsupported_calls import refuse_unknown_calls
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.long_steps import announced

# Symbols that come from a C++ library: the std namespace, operator new and delete, exceptions, run-time types. What the
# C library itself has (__cxa_atexit and __cxa_finalize) does not count.
_CXX = re.compile(
    r"_ZN?K?St|_ZT[VIS](St|N?K?St|N10__cxxabiv1)|_Zn[wa]|_Zd[la]|__cxa_(?!atexit|finalize)|__gxx_|__dynamic_cast"
)

_OPENMP = ("gomp", "omp", "iomp5")
"""Libraries that our ``omp.h`` takes the place of, or LLVM's runtime where objects call it (``openmp.py``)."""

_OURS = (
    "cublas", "cublas_static", "cublasLt", "cublasLt_static", "cufft", "cufft_static", "culibos", "curand", "curand_static",
    "cusparse", "cusparse_static", "cusolver", "cusolver_static", "cusolver_lapack_static", "cusolver_metis_static", "nvToolsExt",
    "nccl", "nccl_static", "cuda", "nvrtc", "nvrtc_static", "nvrtc-builtins_static", "nvptxcompiler_static",
)  # fmt: skip
"""Libraries of NVIDIA's whose functions our runtime has. What it lacks of them is refused before: NVIDIA's own would not
know the worker's memory."""

_NO_ROOM = "the disk is full, or the file is too large for it"


@dataclass(frozen=True)
class LinkOptions:
    """What a link may be told besides its objects."""

    libraries: tuple[str, ...] = ()
    """Names as for ``-l``."""
    library_folders: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    """Further flags for the compiler driver that links; also ``.a`` and ``.so`` files."""
    device: str = "none"
    """The device the program asks for when ``KERNELWRIGHT_DEVICE`` says nothing."""
    worker: str = ""
    """The shell command that starts a device worker when ``KERNELWRIGHT_WORKER`` says nothing."""


def link_executable(
    objects: Sequence[HostObject],
    output: Path,
    clang: Clang,
    options: LinkOptions | None = None,
) -> Path:
    """Links ``objects`` with our runtime to ``output``, whole or not at all, and returns it.

    Raises ``CompileError`` for CUDA calls that we do not implement and for symbols that nothing defines, ``Misuse`` for an object
    that is none, ``ToolError`` when the linker fails or the output cannot be written.
    """
    if not objects:
        raise Misuse("there is nothing to link", hint="give at least one source file")
    options = options or LinkOptions()
    runtime = static_runtime(nvidia=toolkit_version(clang))
    tables = {o: read_elf(o.path) for o in objects}
    symbols = {o: t.symbols() for o, t in tables.items()}
    refuse_unknown_calls(symbols, runtime.exports, options.libraries, _defined_by(options.extra))
    with _scratch(output) as (folder, made):
        inputs = [str(o.path) for o in objects]
        try:
            if options.device != "none" or options.worker:
                inputs.append(str(default_settings(options.device, options.worker, folder)))
            if any("kw_managed" in t.section_names for t in tables.values()):
                inputs.append(_put(folder / "managed_end.o", runtime.managed_end))
            ours = _put(folder / "libkwcudart.a", runtime.archive)
        except OSError as e:
            raise _cannot_write(output, e) from None
        driver, slow = _driver(clang, [*symbols.values(), *_archived(options.extra)])
        # Ours comes behind libraries of the program: a linker looks into it for what they need.
        command = [*driver, *inputs, *options.extra, ours, *(f"-L{f}" for f in options.library_folders)]
        if openmp.calls_openmp(_left_to_others([*symbols.values(), *_archived(options.extra)])):
            command += _openmp_flags()
        named = [name for name in options.libraries if name not in (*_OPENMP, *_OURS)]
        command += [*(f"-l{name}" for name in named), "-lpthread", "-ldl", "-lm", "-o", str(made)]
        with announced(slow):
            status, said = _run(command)
        if status or not made.is_file():
            raise _explain(status, said, output, symbols)
        os.replace(made, output)
    return output


def _openmp_flags() -> tuple[str, ...]:
    found = openmp.find_openmp()
    if found is None:
        raise CompileError("the objects call the runtime of OpenMP, which is not installed", hint=openmp.EXTRA)
    return found.link_flags


def _put(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def _cannot_write(output: Path, error: OSError) -> ToolError:
    if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return ToolError(f"cannot write {output}: {_NO_ROOM}", hint="free some space")
    return ToolError(f"cannot write {output}: {error.strerror}", hint="choose another place with -o")


def needs_cxx(symbols: Iterable[Iterable[Symbol]]) -> bool:
    """Whether objects with these symbol tables have to be linked with a C++ library."""
    return any(_CXX.match(name) for name in _left_to_others(symbols))


def _left_to_others(symbols: Iterable[Iterable[Symbol]]) -> list[str]:
    """What none of the objects defines."""
    flat = [s for table in symbols for s in table]
    defined = {s.name for s in flat if s.is_defined}
    return [s.name for s in flat if not s.is_defined and s.name not in defined]


def _driver(clang: Clang, symbols: Iterable[Iterable[Symbol]]) -> tuple[list[str], str]:
    """The command that links, and why it may take long."""
    if clang.system_headers:
        found = system_cxx()
        if found is None:
            raise ToolError(
                "there is no C++ compiler to link with, and the objects were compiled with the system's C++ headers",
                hint="install g++, or leave out --clang to use the bundled headers and linker",
            )
        return [found], "linking"
    # Without -O2 zig builds its own support library unoptimised, by a slower way: seven times as long at first use.
    zig = [str(ziglang_folder() / "zig")]
    if needs_cxx(symbols):
        return [*zig, "c++", "-target", ZIG_TARGET, "-O2"], "building the C++ library of ziglang (once)"
    return [*zig, "cc", "-target", ZIG_TARGET, "-O2"], "preparing the linker of ziglang (once)"


def _defined_by(extra: Sequence[str]) -> frozenset[str]:
    """What the static and shared libraries among the extra flags define."""
    names: set[str] = set()
    for path in map(Path, extra):
        if path.suffix == ".a" and path.is_file():
            for member, data in archive_members(path.read_bytes(), str(path)):
                with contextlib.suppress(Misuse):
                    names.update(s.name for s in Elf(data, member).symbols() if s.is_defined)
        elif ".so" in path.suffixes and path.is_file():
            names.update(s.name for s in read_elf(path).symbols(dynamic=True) if s.is_defined)
    return frozenset(names)


def _archived(extra: Sequence[str]) -> list[list[Symbol]]:
    """The symbols of every object in the archives among the extra flags."""
    found = []
    for path in map(Path, extra):
        if path.suffix == ".a" and path.is_file():
            for member, data in archive_members(path.read_bytes(), str(path)):
                with contextlib.suppress(Misuse):
                    found.append(list(Elf(data, member).symbols()))
    return found


@contextlib.contextmanager
def _scratch(output: Path) -> Iterator[tuple[Path, Path]]:
    """A scratch folder, and a name beside ``output`` to link to; both are gone afterwards, whatever happened."""
    if output.is_dir():
        raise Misuse(f"cannot write {output}: it is a folder", hint="name a file with -o")
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelwright-"))
            # On the same file system, so that a rename puts the finished file in place.
            beside = tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name[:40]}.")
        except OSError as e:
            raise _cannot_write(output, e) from None
        stack.callback(shutil.rmtree, beside, ignore_errors=True)
        yield Path(folder), Path(beside) / output.name


def _run(command: list[str]) -> tuple[int, str]:
    """Runs the linker, which ends with us."""
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said) as running,
    ):
        try:
            running.wait()
        except BaseException:
            running.kill()
            raise
        said.seek(0)
        return running.returncode, said.read().decode("utf-8", "replace")


# GNU ld, then lld, in C++ and plain names.
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<gnu>[^']+)'|undefined symbol: (?P<lld>[^\n]+)")
_DUPLICATE = re.compile(r"multiple definition of [`'](?P<gnu>[^']+)'|duplicate symbol(?: definition)?: (?P<lld>[^\n]+)")
_NO_LIBRARY = re.compile(
    r"cannot find -l(?P<gnu>[^\s:]+)|unable to find (?:library -l|dynamic system library ')(?P<lld>[^\s']+)"
)
_NO_SPACE = re.compile(
    r"No space left on device|NoSpaceLeft|File too large|FileTooBig|signal (?:25|7)\b|SIGXFSZ|Disk quota exceeded"
)

_NVIDIA_LIBRARIES = frozenset(
    {
        "cublas",
        "cublasLt",
        "cudnn",
        "curand",
        "npp",
        "nppc",
        "nvidia-ml",
        "nvjpeg",
    }
)


def _explain(
    status: int, said: str, output: Path, symbols: Mapping[HostObject, Sequence[Symbol]]
) -> CompileError | ToolError:
    """The linker's complaint in one sentence."""
    if _NO_SPACE.search(said) or status in (-signal.SIGXFSZ, -signal.SIGBUS):
        return ToolError(f"cannot write {output}: {_NO_ROOM}", hint="free some space")
    missing = [(m["gnu"] or m["lld"]).strip() for m in _NO_LIBRARY.finditer(said)]
    if theirs := next((name for name in missing if name.removesuffix("_static") in _NVIDIA_LIBRARIES), ""):
        return CompileError(
            f"{theirs} is one of NVIDIA's libraries, which have no place on a virtual GPU",
            hint="call kernels of your own in its place, or name its folder with -L; docs/limits.md has what is not supported",
        )
    for pattern, sentence, hint in (
        (_NO_LIBRARY, "there is no library called {0}", "name the folder that holds it with -L"),
        (_UNDEFINED, "{0} is used{1} and defined nowhere", "add the source file or the library (-l) that defines it"),
        (_DUPLICATE, "{0} is defined more than once{1}", "make it static, or leave out one of the files"),
    ):
        found = list(dict.fromkeys((m["gnu"] or m["lld"]).strip() for m in pattern.finditer(said)))
        if found:
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            return CompileError(sentence.format(f"{found[0]}{more}", _users(found[0], symbols)), hint=hint)
    lines = (
        [line for line in said.strip().splitlines() if "error" in line] or said.strip().splitlines() or ["no message"]
    )
    return ToolError(f"the link of {output} failed: {lines[0]}", hint="kw doctor")


def _users(name: str, symbols: Mapping[HostObject, Sequence[Symbol]]) -> str:
    """`` in a.cu and b.cu``: the sources whose objects know a symbol that the linker printed, perhaps demangled."""
    plain = re.split(r"[(<]", name)[0].split("::")[-1].split()[-1]
    files = [str(o.source or o.path) for o, table in symbols.items() if any(plain and plain in s.name for s in table)]
    return f" in {' and '.join(files)}" if files else ""
