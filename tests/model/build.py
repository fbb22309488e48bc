"""Launches made by hand, small enough to reckon with pencil and paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernelwright.codegen.cost.block_weights import Source, Weights
from kernelwright.codegen.cost.scoreboard_steps import Step, split_at_barriers
from kernelwright.codegen.machine.resources import Resources
from kernelwright.codegen.ptx_text import Position
from kernelwright.device.timing_model.counters import (
    REQUEST,
    AccessCount,
    BlockCount,
    BlockTrace,
    Geometry,
    Observed,
)

K = "kernel"
PIPE = {
    "fp32": "fma", "int": "alu", "fp64": "fp64", "special": "xu", "warp": "warp", "branch": "branch",
    "load_global": "lsu", "store_global": "lsu", "load_shared": "lsu", "store_shared": "lsu", "atomic": "lsu",
    "load_local": "lsu", "imad": "imad", "barrier": "",
}  # fmt: skip


def step(
    kind: str,
    *,
    stall: int = 1,
    waits: tuple[int, ...] = (),
    sets: int = -1,
    frees: int = -1,
    pipe: str | None = None,
    times: float = 1.0,
    line: int = 0,
    block: str = "entry",
    bytes: int = 0,
    guarded: bool = False,
) -> Step:
    return Step(
        kind=kind,
        pipes=((PIPE[kind] if pipe is None else pipe, times),),
        stall=stall,
        waits=waits,
        sets=sets,
        frees=frees,
        barrier=kind == "barrier",
        block=block,
        position=Position("k.cu", line, 1) if line else None,
        bytes=bytes,
        guarded=guarded,
    )


def weights(
    blocks: Mapping[str, Sequence[Step]], *, registers: int = 32, slots: int = 6, source: Source = "machine code"
) -> Weights:
    cut = {(K, label): split_at_barriers(list(steps)) for label, steps in blocks.items()}
    size = sum(len(steps) for steps in blocks.values())
    resources = Resources(K, registers, 0, 0, 0, 0, 0, 0)
    return Weights(K, source, "sm_90", cut, slots, size, 0, resources, source)


def count(label: str, executions: int, *, barriers: int = 0, starts: bool = True) -> BlockCount:
    return BlockCount(K, label, barriers, starts, executions, 32 * executions)


def access(
    kind: str = "load",
    space: str = "global",
    *,
    requests: int,
    sectors: int = 0,
    wavefronts: int = 0,
    serial: int = 0,
    label: str = "entry",
    line: int = 0,
    bytes: int = 4,
    apart: float = 1.0,
) -> AccessCount:
    shared = requests if space == "shared" else 0
    return AccessCount(
        K, label, kind, space, bytes, requests, shared, sectors, wavefronts, serial, "k.cu" if line else "", line, apart,  # type: ignore[arg-type]
    )  # fmt: skip


def observed(
    blocks: Sequence[BlockCount],
    accesses: Sequence[AccessCount] = (),
    *,
    grid: int = 1,
    block: int = 32,
    shared: int = 0,
    trace: Sequence[BlockTrace] = (),
    buffers: Sequence[tuple[int, int]] = (),
    warm: float = 0.0,
) -> Observed:
    return Observed(
        K,
        Geometry((grid, 1, 1), (block, 1, 1), shared),
        tuple(blocks),
        tuple(accesses),
        tuple(trace),
        tuple(buffers),
        warm,
    )


def paths(number: int, *warps: Sequence[int]) -> BlockTrace:
    """A watched block without requests."""
    return BlockTrace(number, tuple(np.array(w, np.int32) for w in warps))


def asked(number: int, requests: Sequence[tuple[int, Sequence[tuple[int, int]]]], *warps: Sequence[int]) -> BlockTrace:
    """A watched block whose requests are (access, [(line, mask of sectors), ...]), in order."""
    rows = np.zeros(len(requests), REQUEST)
    lines: list[int] = []
    for row, (index, parts) in zip(rows, requests, strict=True):
        row["access"], row["first_line"] = index, len(lines)
        lines += [line << 4 | mask for line, mask in parts]
        row["last_line"] = len(lines)
    return BlockTrace(number, tuple(np.array(w, np.int32) for w in warps), rows, np.array(lines, np.uint64))
