"""What is said when a program compiles device code while it runs; see ``protocol.py``."""

from __future__ import annotations

from kernelwright.cuda.wire.structures import Body, u32, u64
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Compile(Body):
    """struct kw_compile. The tail: texts, each with its NUL."""

    c_name = "kw_compile"
    headers: int = u32()
    options: int = u32()
    expressions: int = u32()
    reserved: int = u32()


@dataclass(frozen=True)
class Compiled(Body):
    """struct kw_compiled. The tail: log, PTX and names, each with its NUL, and the image."""

    c_name = "kw_compiled"
    result: int = u32()
    log_size: int = u32()
    ptx_size: int = u64()
    names_size: int = u64()
    image_size: int = u64()
