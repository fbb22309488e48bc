"""CUDA C through NVRTC, in process: the paper's way, for any grammar that derives CUDA C. Types and values: its header.

Since CUDA 12.4 it no longer serialises the threads of a process; the assembler inside it takes most of the time.
"""

from __future__ import annotations

import ctypes as c
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kernelwright.architectures import DEFAULT_ARCHITECTURE, architecture
from kernelwright.errors import ToolError
from kernelwright.farm.backends.assembling import refused
from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.bundle import Bundle, Frame, Language, bundle
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.nvidia_files import files

INSTALL = "pip install 'kernelwright[nvidia]'"
FAST_COMPILE = (12, 9)
"""The first version with ``--Ofast-compile`` that we have tried."""

SUCCESS, COMPILATION = 0, 6

_ERROR = re.compile(r"^population\.cu\((\d+)\): error: (.*)", re.MULTILINE)


@dataclass(frozen=True)
class Nvrtc:
    """Individuals are CUDA C statements."""

    arch: str = DEFAULT_ARCHITECTURE
    language: Language = "cuda"
    batch: tuple[int, int] = (50, 150)

    def missing(self) -> str:
        path = find_nvrtc()
        if path is None:
            return f"NVRTC is not installed: {INSTALL}"
        try:
            version(path)
        except ToolError as error:
            return str(error)
        return ""

    def fingerprint(self) -> str:
        path = find_nvrtc()
        return f"{architecture(self.arch).name} NVRTC {version(path) if path else None}"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        """Raises ``ToolError`` where NVRTC is not installed."""
        path = find_nvrtc()
        if path is None:
            raise ToolError("NVRTC is not installed", hint=INSTALL)
        made = bundle(frame, population)
        # As the other back ends: no multiply and add in one operation.
        options = [f"--gpu-architecture={self.arch}", "--fmad=false"]
        if level == "quick" and version(path) >= FAST_COMPILE:
            options.append("--Ofast-compile=max")
        return Image("cubin", compiled(path, made, options), made.places, self.arch)


def find_nvrtc() -> Path | None:
    """The library, from a wheel before a toolkit."""
    wheels = ("cuda_nvrtc/lib/libnvrtc.so.1?", "cu1?/lib/libnvrtc.so.1?")
    return next(files(wheels, ("lib64/libnvrtc.so",)), None)


@cache
def load(path: Path) -> c.CDLL:
    """Raises ``ToolError`` when the library does not load."""
    try:
        # It looks for its own headers by a bare name, which it finds among what is loaded.
        for each in sorted(path.parent.glob("libnvrtc-builtins.so.*")):
            c.CDLL(str(each), mode=c.RTLD_GLOBAL)
        return c.CDLL(str(path))
    except OSError as error:
        raise ToolError(f"{path} does not load: {error}", hint=INSTALL) from error


@cache
def version(path: Path) -> tuple[int, int]:
    """CUDA's ``(major, minor)``."""
    major, minor = c.c_int(), c.c_int()
    load(path).nvrtcVersion(c.byref(major), c.byref(minor))
    return major.value, minor.value


def compiled(path: Path, made: Bundle | str, options: list[str]) -> bytes:
    """The cubin of a text. Raises ``Refused``, ``ToolError``."""
    if isinstance(made, str):
        made = Bundle(made, ())
    library = load(path)
    program = c.c_void_p()
    status = library.nvrtcCreateProgram(c.byref(program), made.text.encode(), b"population.cu", 0, None, None)
    if status != SUCCESS:
        raise ToolError(f"NVRTC does not take the program: {_said(library, status)}")
    try:
        arguments = (c.c_char_p * len(options))(*(each.encode() for each in options))
        status = library.nvrtcCompileProgram(program, len(options), arguments)
        if status == COMPILATION:
            log = _text(library, program, "ProgramLog")
            errors = [(int(line), message) for line, message in _ERROR.findall(log)]
            first = errors[0][1] if errors else (log.strip().splitlines() or ["no reason"])[0]
            raise refused(f"NVRTC refuses this program: {first}", made, errors)
        if status != SUCCESS:
            raise ToolError(
                f"NVRTC fails: {_said(library, status)}", hint="kw doctor shows which versions are installed"
            )
        return _bytes(library, program, "CUBIN")
    finally:
        library.nvrtcDestroyProgram(c.byref(program))


def _said(library: c.CDLL, status: int) -> str:
    library.nvrtcGetErrorString.restype = c.c_char_p
    return str((library.nvrtcGetErrorString(status) or b"").decode())


def _bytes(library: c.CDLL, program: c.c_void_p, what: str) -> bytes:
    size = c.c_size_t()
    library[f"nvrtcGet{what}Size"](program, c.byref(size))
    data = c.create_string_buffer(size.value)
    library[f"nvrtcGet{what}"](program, data)
    return data.raw


def _text(library: c.CDLL, program: c.c_void_p, what: str) -> str:
    return _bytes(library, program, what).rstrip(b"\0").decode(errors="replace")
