"""A launch of a kernel, as one value from the program's connection to the compiled kernel.

    Launch("_Z5saxpyifPKfPf", (64, 1, 1), (256, 1, 1), parameters, shared_bytes=1024)

Other forms of it are codecs: ``cuda/wire/launch_codec.py`` (what a program sends), ``codegen/simt/launching/compiled_kernel.py``
(the struct of the runtime), ``device/real_gpu/driver.py`` (the driver's call) and ``evaluate/capture`` (recordings). What else is
known of a launch is in a value that holds this one: its code and order (``device/execution.py``), its memory
(``evaluate/capture``, ``guards``).
"""

from __future__ import annotations

from kernelwright.lazy_dataclasses import dataclass

STACK_BYTES = 16 << 10
"""Of a thread whose functions call themselves, where nothing says more."""
Triple = tuple[int, int, int]
"""x, y, z."""


@dataclass(frozen=True, init=False)
class Launch:
    """A kernel by its mangled name, and what it is launched with."""

    kernel: str
    grid: Triple
    """In blocks."""
    block: Triple
    """In threads."""
    parameters: bytes = b""
    """The packed parameter buffer: every parameter at its natural alignment."""
    shared_bytes: int = 0
    """Of dynamic shared memory."""
    is_cooperative: bool = False
    """Whether all blocks run at the same time, so that they may wait for each other."""
    stack_bytes: int = STACK_BYTES
    """Of each thread, for functions that call themselves."""

    def __init__(
        self,
        kernel: str,
        grid: Triple,
        block: Triple,
        parameters: bytes = b"",
        shared_bytes: int = 0,
        is_cooperative: bool = False,
        stack_bytes: int = STACK_BYTES,
    ) -> None:
        # One is made for each launch of a program: as ``dataclass`` writes it, this takes three times as long.
        fields = self.__dict__
        fields["kernel"], fields["grid"], fields["block"] = kernel, grid, block
        fields["parameters"], fields["shared_bytes"], fields["is_cooperative"] = (
            parameters,
            shared_bytes,
            is_cooperative,
        )
        fields["stack_bytes"] = stack_bytes

    @property
    def geometry(self) -> tuple[str, Triple, Triple, int]:
        """All but the parameters: what launches of one shape have in common."""
        return self.kernel, self.grid, self.block, self.shared_bytes
