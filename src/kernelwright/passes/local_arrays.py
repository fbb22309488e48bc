"""Local arrays begin at a multiple of 16 bytes, so that neighbouring elements are read and written together.

    before   %v = alloca [64 x double], align 8
    after    %v = alloca [64 x double], align 16

C asks for no more than an element's alignment, and two accesses become one only where the address is known to allow it. nvcc's
local arrays begin so, too.
"""

from __future__ import annotations

import re

ALIGNMENT = 16

_BYTES = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}
_ARRAY = re.compile(
    rf"(= alloca ((?:\[\d+ x )+)({'|'.join(_BYTES)})\]+(?:, addrspace\(\d+\))?, align )(\d+)\b", re.MULTILINE
)


def aligned(ir_text: str) -> str:
    """The module with its local arrays of numbers aligned, those that are smaller than that left alone."""
    return _ARRAY.sub(_aligned, ir_text) if " alloca [" in ir_text else ir_text


def _aligned(found: re.Match[str]) -> str:
    size = _BYTES[found[3]]
    for count in re.findall(r"\d+", found[2]):
        size *= int(count)
    if size < ALIGNMENT or int(found[4]) >= ALIGNMENT:
        return found[0]
    return f"{found[1]}{ALIGNMENT}"
