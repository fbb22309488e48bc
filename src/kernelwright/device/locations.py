"""Where an instruction is, for people."""

from __future__ import annotations

import re

from kernelwright.device.fault import Location
from kernelwright.ir.debug import source_location
from kernelwright.ir.module import Instruction


def location_of(instruction: Instruction) -> Location:
    """The line in the user's own files where there is one, and the place in the IR."""
    function, block = instruction.function, instruction.parent
    source = source_location(instruction, skip=is_header)
    return Location(
        function.name if function else "",
        block.name if block else "",
        str(instruction).strip(),
        source.file if source else "",
        source.line if source else 0,
        source.column if source else 0,
    )


_HEADERS = re.compile(
    r"kernelwright/cuda/include|/lib/clang/|/lib/include/|/usr/include/"
    r"|/nvidia/cuda_\w+/include/"  # NVIDIA's wheels, and its toolkits
    r"|/(?:usr/local/cuda|cuda-\d[\d.]*)/(?:targets/[^/]+/)?include/"
)


def is_header(file: str) -> bool:
    """Whether a file is the compiler's, NVIDIA's or ours, not the user's."""
    return _HEADERS.search(file) is not None
