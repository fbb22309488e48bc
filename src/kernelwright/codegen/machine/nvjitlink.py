"""nvJitLink, NVIDIA's assembler and linker as a shared library, through ctypes. Types and values: its header."""

from __future__ import annotations

import ctypes as c
from functools import cache
from pathlib import Path

from kernelwright.errors import ToolError

INPUT_PTX = 2
SUCCESS = 0
UNKNOWN_ARCHITECTURE = frozenset({1, 6, 16, 17})
"""What an architecture this version does not know gets, with an empty log: unrecognised option or internal error up to 12.x,
unrecognised or unsupported architecture from 13.0."""


@cache
def load(path: Path) -> c.CDLL:
    """The library at ``path``. Raises ``ToolError`` when it does not load."""
    try:
        return c.CDLL(str(path))
    except OSError as error:
        raise ToolError(f"{path} does not load: {error}", hint="pip install nvidia-nvjitlink-cu12==12.9.86") from error


def version(path: Path) -> str:
    """``12.9``."""
    major, minor = c.c_uint(), c.c_uint()
    load(path).nvJitLinkVersion(c.byref(major), c.byref(minor))
    return f"{major.value}.{minor.value}"


def assemble(path: Path, ptx: bytes, options: list[str]) -> tuple[int, bytes, str]:
    """``(status, cubin, log)``. The cubin is empty unless the status is ``SUCCESS``."""
    library = load(path)
    handle = c.c_void_p()
    arguments = (c.c_char_p * len(options))(*(o.encode() for o in options))
    status = int(library.nvJitLinkCreate(c.byref(handle), c.c_uint32(len(options)), arguments))
    if status != SUCCESS:
        return status, b"", ""
    try:
        # The size counts the terminating zero, which ctypes adds to bytes anyway.
        status = library.nvJitLinkAddData(handle, c.c_int(INPUT_PTX), ptx, c.c_size_t(len(ptx) + 1), b"ptx")
        if status == SUCCESS:
            status = library.nvJitLinkComplete(handle)
        log = "\n".join(filter(None, (_log(library, handle, "Error"), _log(library, handle, "Info"))))
        return int(status), _cubin(library, handle) if status == SUCCESS else b"", log
    finally:
        library.nvJitLinkDestroy(c.byref(handle))


def _log(library: c.CDLL, handle: c.c_void_p, kind: str) -> str:
    size = c.c_size_t()
    library[f"nvJitLinkGet{kind}LogSize"](handle, c.byref(size))
    if not size.value:
        return ""
    text = c.create_string_buffer(size.value)
    library[f"nvJitLinkGet{kind}Log"](handle, text)
    return text.value.decode(errors="replace")


def _cubin(library: c.CDLL, handle: c.c_void_p) -> bytes:
    size = c.c_size_t()
    library.nvJitLinkGetLinkedCubinSize(handle, c.byref(size))
    data = c.create_string_buffer(size.value)
    library.nvJitLinkGetLinkedCubin(handle, data)
    return data.raw
