"""PTX to machine code: in process through nvJitLink where it is installed, else through ``ptxas``."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from kernelwright.architectures import architecture
from kernelwright.cache import Cache, content_key, installation
from kernelwright.codegen.machine import nvjitlink
from kernelwright.errors import CompileError, Place, ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes import isolation
from kernelwright.passes.nvidia_files import files
from kernelwright.passes.options import DEFAULT

INSTALL = "pip install nvidia-nvjitlink-cu12==12.9.86, or nvidia-cuda-nvcc-cu12==12.9.86 for ptxas"
TIMEOUT_S = 300.0

_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")
_TOO_NEW = re.compile(r"not defined for option 'gpu-name'|[Uu]nsupported gpu architecture|Unsupported \.version")


@dataclass(frozen=True)
class Assembler:
    """One tool that turns PTX into a cubin."""

    kind: Literal["nvJitLink", "ptxas"]
    path: Path

    @property
    def version(self) -> str:
        """CUDA's ``major.minor``, which decides the architectures it knows. Asks the tool: loads or runs it."""
        return nvjitlink.version(self.path) if self.kind == "nvJitLink" else ptxas_version(self.path)


@dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture (an ELF file), with what the assembler said about it."""

    data: bytes
    arch: str
    log: str
    assembler: Assembler


def find_assemblers(cuda_path: Path | None = None) -> tuple[Assembler, ...]:
    """Those installed, best first: nvJitLink before ptxas, wheels before toolkits; of a toolkit that has its own, only those."""
    libraries = files(
        ("nvjitlink/lib/libnvJitLink.so.*", "cu1?/lib/libnvJitLink.so.*"), ("lib64/libnvJitLink.so",), cuda_path
    )
    programs = files(("cuda_nvcc/bin/ptxas", "cu1?/bin/ptxas"), ("bin/ptxas",), cuda_path)
    found = (*(Assembler("nvJitLink", path) for path in libraries), *(Assembler("ptxas", path) for path in programs))
    return found if found or cuda_path is None else find_assemblers()


@cache
def ptxas_version(path: Path) -> str:
    """``12.9``. Raises ``ToolError`` when the program does not run."""
    try:
        text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolError(f"{path} does not run: {error}", hint=INSTALL) from error
    found = re.search(r"release (\d+\.\d+)", text)
    return found[1] if found else "unknown"


def assemble(
    ptx: str,
    arch: str,
    *,
    line_info: bool = False,
    max_registers: int | None = None,
    cuda_path: Path | None = None,
    assembler: Assembler | None = None,
    isolate: bool = False,
    kept: bool = False,
) -> Cubin:
    """The cubin of ``ptx`` for ``arch``, from the first assembler that knows this architecture (or the one given).

    ``isolate`` calls nvJitLink in a worker process. ``kept``: the cubin may come from the cache on disk, and goes there: for a
    program's own kernels, which many processes weigh; a variant of a search is assembled once.

    Raises ``CompileError`` with the assembler's words and the PTX line, ``ToolError`` when no assembler is installed or none knows
    ``arch``, ``Misuse`` for an unknown architecture.
    """
    name = architecture(arch).name
    options = _options(name, line_info, max_registers)
    candidates = (assembler,) if assembler else find_assemblers(cuda_path)
    if not candidates:
        raise ToolError("no assembler for PTX is installed", hint=INSTALL)
    entry = _Entry.of(ptx, name, options, candidates) if kept else None
    if entry and (found := entry.read()):
        return found
    for each in candidates:
        if each.kind == "nvJitLink":
            arguments = (each.path, ptx.encode(), ["-verbose", *options])
            status, data, log = isolation.run(nvjitlink.assemble, *arguments, options=DEFAULT, isolate=isolate)
            refused = status in nvjitlink.UNKNOWN_ARCHITECTURE and not log
        else:
            status, data, log = run_ptxas(each.path, ptx, ["-v", *options])
            refused = False
        if not status:
            made = Cubin(data, name, log, each)
            if entry:
                entry.write(made)
            return made
        if not refused and not _TOO_NEW.search(log):
            raise _error(log, ptx, each)
    tried = ", ".join(f"{a.kind} {a.version}" for a in candidates)
    raise ToolError(f"no installed assembler knows {name} ({tried})", hint=INSTALL)


@dataclass(frozen=True)
class _Entry:
    """A cubin in the cache on disk. What an assembler makes depends on its input and on nothing else."""

    key: str
    arch: str
    assemblers: tuple[Assembler, ...]

    @staticmethod
    def of(ptx: str, arch: str, options: Sequence[str], assemblers: tuple[Assembler, ...]) -> _Entry:
        stamps = ((tool.path, tool.path.stat() if tool.path.is_file() else None) for tool in assemblers)
        tools = [f"{path} {status and (status.st_size, status.st_mtime_ns)}" for path, status in stamps]
        return _Entry(content_key([installation(), *tools, ptx, "kept", *options]), arch, assemblers)

    def read(self) -> Cubin | None:
        number, _, rest = (Cache().get("cubin", self.key) or b"").partition(b"\0")
        log, _, data = rest.partition(b"\0")
        return Cubin(data, self.arch, log.decode(), self.assemblers[int(number)]) if number else None

    def write(self, made: Cubin) -> None:
        log = made.log.replace("\0", "").encode()
        Cache().put("cubin", self.key, b"%d\0%b\0%b" % (self.assemblers.index(made.assembler), log, made.data))


def _options(arch: str, line_info: bool, max_registers: int | None) -> list[str]:
    return [
        f"-arch={arch}",
        *(["-lineinfo"] if line_info else []),
        *([f"-maxrregcount={max_registers}"] if max_registers else []),
    ]


def run_ptxas(path: Path, ptx: str, options: list[str]) -> tuple[int, bytes, str]:
    """Exit status, the cubin's bytes (none when it failed), and what ptxas said. Raises ``ToolError`` when it does not run."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        source, target = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        source.write_text(ptx)
        try:
            ran = subprocess.run(
                [path, *options, source, "-o", target], capture_output=True, text=True, timeout=TIMEOUT_S
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ToolError(f"{path} does not run: {error}", hint=INSTALL) from error
        data = target.read_bytes() if ran.returncode == 0 else b""
        return ran.returncode, data, ran.stderr + ran.stdout


def _error(log: str, ptx: str, assembler: Assembler) -> CompileError | ToolError:
    found = _ERROR.search(log)
    if found:
        line, lines = int(found[1]), ptx.splitlines()
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        return CompileError(
            f"{assembler.kind} {assembler.version} refuses this PTX: {found[2].strip()}",
            place=Place("<ptx>", line, 0, text),
        )
    first = next(
        (each.strip() for each in log.splitlines() if "fatal" in each or "error" in each), log.strip() or "no reason"
    )
    return CompileError(f"{assembler.kind} {assembler.version} refuses this PTX: {first}")
