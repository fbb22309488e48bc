"""Static device variables that a program names when it loads the module (``cuModuleGetGlobal``), as nvcc's modules have them."""

from __future__ import annotations

import re

_STATIC = re.compile(r"^(@_ZL\d+\w+ = )internal (addrspace\([14]\)) (global|constant) ([^\n]*)$", re.MULTILINE)
_NUMBER = re.compile(r"(i\d+|half|bfloat|float|double) (?!0\b|0\.0|zeroinitializer|undef)")


def named_by_host(ir_text: str) -> str:
    """The module with its static variables as the host may write them: LLVM takes the value of an internal one for known.

    before   ``@_ZL5table = internal addrspace(4) constant [8 x float] zeroinitializer, align 4``
    after    ``@_ZL5table = dso_local addrspace(4) externally_initialized constant [8 x float] zeroinitializer, align 4``

    A constant that is one number and not zero stays as it is: ``static const float pi = 3.14f`` looks the same to the device.
    """
    return _STATIC.sub(_visible, ir_text)


def _visible(found: re.Match[str]) -> str:
    start, space, kind, rest = found.groups()
    if kind == "constant" and _NUMBER.match(rest):
        return found[0]
    return f"{start}dso_local {space} externally_initialized {kind} {rest}"
