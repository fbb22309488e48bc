"""What the runtime is told of the accesses and suspension points of a kernel: arrays of its structs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt.emission.warp_cooperation import MODES
from kernelwright.codegen.simt.emission.warp_cooperation import OPERATIONS as WARP_OPERATIONS
from kernelwright.codegen.simt.launching.runtime_structs import ACCESS, FLOATS, KINDS, OPERATIONS, POINT
from kernelwright.codegen.simt.lower import HostKernel


def access_table(kernel: HostKernel) -> npt.NDArray[Any]:
    """Written column by column: a row of NumPy's is slow to reach."""
    accesses, table = kernel.accesses, np.zeros(len(kernel.accesses), ACCESS)
    operations = [a.operation.partition(".") for a in accesses]
    types = [(packed or a.type).partition("x") for a, (_, _, packed) in zip(accesses, operations, strict=True)]
    table["kind"] = [KINDS[a.kind] for a in accesses]
    for name in ("space", "size", "components", "align"):
        table[name] = [getattr(a, name) for a in accesses]
    table["operation"] = [OPERATIONS.index(operation) if operation else 0 for operation, _, _ in operations]
    table["is_float"] = [FLOATS.get(type, 0) for type, _, _ in types]
    table["several"] = [int(several or 1) for _, _, several in types]
    table["is_volatile"] = [a.volatile for a in accesses]
    seen: set[int] = set()
    for number, a in enumerate(accesses):
        if a.origin.opcode in ("load", "store") and id(a.origin) not in seen:
            stated = min(a.origin.align, 16)
            table["stated"][number] = stated if stated > a.align else 0
        seen.add(id(a.origin))
    table["is_constant"] = [a.constant for a in accesses]
    for name in {name for a in accesses for name in a.form}:
        table[name] = [a.form.get(name, 0) for a in accesses]
    return table


def point_table(kernel: HostKernel) -> npt.NDArray[Any]:
    """Suspension points as the runtime reads them: a row each, the first unused."""
    table = np.zeros(len(kernel.points) + 1, POINT)
    kinds: dict[str, int] = {}
    for row, point in zip(table[1:], kernel.points, strict=True):
        row["checked"], row["number"], row["threads"] = point.checked, point.number, point.threads
        row["is_grid"], row["reduces"] = point.is_grid, point.reduces
        if point.operation:
            name, _, mode = point.operation.partition(" ")
            row["is_gather"], row["operation"], row["mode"] = 1, WARP_OPERATIONS.index(name), MODES.index(mode)
            row["kind"] = kinds.setdefault(point.operation, len(kinds))
    return table
