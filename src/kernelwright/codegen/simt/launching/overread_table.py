"""The runtime's table of reads past a buffer (``runtime/overread.c``): made when a launch first may have some, read after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt.launching.launch_result import HostOverread
from kernelwright.codegen.simt.launching.runtime_library import runtime
from kernelwright.codegen.simt.launching.runtime_structs import NO_OVERREAD, OVERREAD, OVERREAD_HEAD, Context
from kernelwright.codegen.simt.lower import HostKernel


class OverreadTable:
    """Of one kernel's launches, one after another."""

    def __init__(self) -> None:
        self._table: npt.NDArray[np.uint8] | None = None
        self._count: npt.NDArray[Any] | None = None
        """The table's head, which is all that most launches are asked for."""
        self._context: Context | None = None
        """The one that has the table."""
        self._is_used = False

    def prepare(self, overread: int | None, context: Context) -> int:
        """What the launch is asked: the byte that a read past a buffer gives, or ``NO_OVERREAD``. Puts the table into the
        context, which the runtime empties."""
        self._is_used = overread is not None
        if overread is None:
            return NO_OVERREAD
        if self._table is None:
            self._table = np.zeros(runtime().simt_overreads_bytes(), np.uint8)
            self._count = self._table[: OVERREAD_HEAD.itemsize].view(OVERREAD_HEAD)
        if self._context is not context:
            self._context, context.overreads = context, self._table.ctypes.data
        return overread

    def found(self, kernel: HostKernel) -> tuple[HostOverread, ...]:
        """What the last launch noted, by place, side and address of the buffer: nothing depends on what was met first."""
        if not self._is_used or self._table is None or self._count is None:
            return ()
        count = int(self._count[0])
        if not count:
            return ()
        rows = np.frombuffer(self._table, OVERREAD, count, OVERREAD_HEAD.itemsize)
        return tuple(_overread(row, kernel) for row in np.sort(rows, order=("place", "before", "buffer")))


def _overread(row: Any, kernel: HostKernel) -> HostOverread:
    place = int(row["place"])
    origin = kernel.notes[~place & 0xFFFFFFFF].origin if place >> 31 else kernel.accesses[place].origin
    return HostOverread(
        origin=origin,
        buffer=int(row["buffer"]),
        before=bool(row["before"]),
        count=int(row["count"]),
        farthest=int(row["farthest"]),
        block=int(row["block"]),
        thread=int(row["thread"]),
        address=int(row["address"]),
        size=int(row["size"]),
    )
