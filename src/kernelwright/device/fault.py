"""What can go wrong in a running kernel, as a value: the same for every executor and every report."""

from __future__ import annotations

from typing import Literal

from kernelwright.cuda.names import readable
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

Kind = Literal[
    "out-of-bounds",
    "misaligned",
    "use-after-free",
    "uninitialised",
    "race",
    "barrier",
    "trap",
    "assert",
    "endless",
    "stack",
]


@dataclass(frozen=True)
class Location:
    """An instruction as a person finds it: its function and block in the IR, and the source line it came from."""

    function: str
    block: str = ""
    instruction: str = ""
    """The instruction as LLVM prints it."""
    file: str = ""
    line: int = 0
    """From 1; 0 when the module has no debug information for it."""
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else f"{self.function}, block {self.block}"


@dataclass(frozen=True)
class Fault:
    """Why a launch stopped, or what a check found in one that went on.

    ``address`` is generic, ``size`` the bytes of the access, ``buffer`` the name of the memory concerned (a buffer's
    own name, "shared memory", "local memory", or empty). ``other`` is the second end of a race or divergent barrier.
    """

    kind: Kind
    message: str
    kernel: str = ""
    where: Location | None = None
    thread: Triple | None = None
    block: Triple | None = None
    address: int = 0
    size: int = 0
    write: bool = False
    buffer: str = ""
    other: Location | None = None
    other_thread: Triple | None = None
    other_block: Triple | None = None
    benign: bool = False
    """A race that cannot change any result: two writes of one value, or a write that leaves memory as it was."""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        who = f" [kernel {readable(self.kernel)}, block {self.block}, thread {self.thread}]" if self.thread else ""
        return f"{place}{self.kind}: {self.message}{who}"
