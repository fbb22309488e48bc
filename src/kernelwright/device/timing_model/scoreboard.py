"""How long a thread block takes when nothing else is in its way: its warps, step by step, along the blocks they ran.

What a block leaves unfinished, the next block waits for: ready times live on from block to block and across barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.cost.block_weights import Weights
from kernelwright.codegen.cost.loop_copies import original
from kernelwright.codegen.cost.scoreboard_steps import Step
from kernelwright.codegen.cost.slow_paths import is_slow_label
from kernelwright.device.timing_model import native_loops
from kernelwright.device.timing_model.counters import BlockCount, BlockTrace, Observed
from kernelwright.device.timing_model.request_waits import Columns, Numbers, OwnWaits, columns_of, own_waits
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu

# Whose latency a step's result has, by class of instruction; all others take an arithmetic latency.
WAITS_FOR = {
    "load_global": "global", "load_generic": "global", "texture": "global", "async_copy": "global", "atomic": "global",
    "load_local": "local", "load_shared": "shared", "load_const": "constant", "special": "special",
    "conversion": "special", "move": "special", "uniform": "special", "tensor": "special", "warp": "warp",
    "fp64": "fp64", "barrier": "special",
}  # fmt: skip
# PTX says nothing about these that a latency would stand for: constants are operands, moves vanish.
FOLDED = frozenset({"load_parameter", "store_parameter", "address", "move", "load_const"})
OPERANDS_READ = 12
"""Cycles until a memory instruction has read its operands; an assumption."""


@dataclass(frozen=True)
class BlockTime:
    """Of one watched thread block: cycles without its barriers, barriers, what they took."""

    path: float
    barriers: int
    barrier_cycles: float


@dataclass(frozen=True)
class Scoreboard:
    """``cycles``: mean over the watched thread blocks; ``barrier_cycles`` apart. ``cost``: per step, the cycles that warps
    spent on it or waited for its result, as shares of all. ``traced`` says whether paths were followed."""

    cycles: float
    barriers: float
    barrier_cycles: float
    cost: Mapping[int, float]
    traced: bool


class Layout:
    """The steps of all blocks in one table, and the ranges of it that each counted piece of a block stands for."""

    def __init__(self, weights: Weights, observed: Observed) -> None:
        self.steps: list[Step] = []
        self.home: list[tuple[str, str]] = []
        ranges: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for key, segments in weights.blocks.items():
            parts = []
            for segment in segments:
                start = len(self.steps)
                self.steps += segment
                parts.append((start, len(self.steps)))
            ranges[key] = parts
            self.home += [key] * (len(self.steps) - parts[0][0])
        self.ranges = [self._of(each, ranges, observed) for each in observed.blocks]
        known = {(b.function, b.label) for b in observed.blocks}
        self.unmatched = sum(parts[-1][1] - parts[0][0] for key, parts in ranges.items() if key not in known)

    def _of(
        self, piece: BlockCount, ranges: Mapping[tuple[str, str], list[tuple[int, int]]], observed: Observed
    ) -> tuple[int, int]:
        key = (piece.function, piece.label)
        parts = ranges.get(key)
        if parts is None or not piece.starts:
            return (0, 0)
        if len(parts) == observed.keys[key]:
            return parts[piece.barriers]
        # The code has other barriers than the IR: all of it runs with the first piece.
        return (parts[0][0], parts[-1][1]) if not piece.barriers else (0, 0)

    def executions(self, observed: Observed) -> npt.NDArray[np.float64]:
        """Per step: how often a warp ran it in the whole launch."""
        found = np.zeros(len(self.steps))
        for piece, (start, end) in zip(observed.blocks, self.ranges, strict=True):
            found[start:end] += piece.executions
        return found


class WatchedWarps:
    """The warps of a launch's watched blocks, ready to run with one calibration or another.

    ``latency``: per access, the cycles a request waits on average (``Traffic.latency``); ``waits_of``: per logged thread block, what each
    of its requests waits (``Traffic.waits``), where that is known.
    """

    def __init__(
        self,
        layout: Layout,
        weights: Weights,
        observed: Observed,
        gpu: Gpu,
        latency: Sequence[float | None],
        waits_of: Sequence[npt.NDArray[np.float64]] = (),
    ) -> None:
        self._layout, self._observed, self._gpu, self._latency = layout, observed, gpu, latency
        self._slots, self._from_ptx = weights.slots, weights.source == "ptx"
        columns = columns_of(layout.steps, layout.home, [_loads_global(s, self._from_ptx) for s in layout.steps])
        self._first = np.array([r[0] for r in layout.ranges] or [0], np.int32)
        self._last = np.array([r[1] for r in layout.ranges] or [0], np.int32)
        self._waits, self._table = _table(layout, self._from_ptx, columns)
        self._classes, self._class_of = _classes(layout, self._from_ptx)
        self._followed = [block for block in observed.trace if any(len(path) for path in block.paths)]
        self._kept: tuple[float, npt.NDArray[np.void], Numbers | None] | None = None
        """Of the last factor on latencies: a fit changes one factor after the other."""
        self._own: OwnWaits | None = None
        if waits_of and self._followed:
            known = [wait for block, wait in zip(observed.trace, waits_of, strict=True) if any(map(len, block.paths))]
            self._own = own_waits(observed, self._followed, known, columns, gpu.sm.l1_latency)

    def run(self, on_latency: float = 1.0, on_barrier: float = 1.0) -> Scoreboard:
        """With these factors on the latencies of caches and memory, and on barriers.

        Where no thread block was logged, blocks are taken one by one, and what they leave unfinished is waited for at once.
        """
        sm = self._gpu.sm
        table, own = self._with_latencies(on_latency)
        barrier = round(sm.barrier_latency * on_barrier), max(0, round(sm.barrier_warp_cycles * on_barrier))
        cost = np.zeros(max(1, len(self._layout.steps)), np.int64)

        def run(paths: Sequence[npt.NDArray[np.int32]], own: tuple[Numbers, Numbers] | None = None) -> BlockTime:
            starts = np.cumsum([0, *(len(p) for p in paths)], dtype=np.int32)
            joined = np.ascontiguousarray(np.concatenate(paths) if paths else np.zeros(0), dtype=np.int32)
            cycles, barriers, extra = native_loops.run_block(
                starts, joined, self._first, self._last, table, self._waits, self._slots, barrier, cost, own
            )
            return BlockTime(cycles - extra, barriers, extra)

        if not self._followed:
            return _without_paths(run, self._observed, barrier, cost)
        if self._own is not None and own is not None:
            times = [run(block.paths, (at, own)) for block, at in zip(self._followed, self._own.begins, strict=True)]
        else:
            times = [run(block.paths) for block in self._followed]
        # Watched blocks may do more or less than the others: what all did is known exactly.
        n = len(times)
        return Scoreboard(
            self._scale * sum(t.path for t in times) / n + self._unseen_slow_paths,
            self._scale * sum(t.barriers for t in times) / n,
            self._scale * sum(t.barrier_cycles for t in times) / n,
            _shares(cost),
            True,
        )

    @cached_property
    def _scale(self) -> float:
        return _work(self._layout, self._observed, self._followed)

    @cached_property
    def _unseen_slow_paths(self) -> float:
        """Cycles of a warp in slow paths of divisions, beyond those of the warps that were followed: other data have others."""
        layout, observed = self._layout, self._observed
        slow = [i for i, b in enumerate(observed.blocks) if is_slow_label(b.label)]
        if not slow:
            return 0.0
        paths = [path for block in self._followed for path in block.paths if len(path)]
        whole = self._scale if observed.ends_early else 1.0
        taken = (whole * np.bincount(np.concatenate(paths), minlength=len(observed.blocks)) / len(paths)).tolist()
        more = [observed.blocks[i].executions / observed.warps - taken[i] for i in slow]
        lengths = [sum(step.stall for step in layout.steps[slice(*layout.ranges[i])]) for i in slow]
        return float(np.dot(more, lengths))

    def _with_latencies(self, factor: float) -> tuple[npt.NDArray[np.void], Numbers | None]:
        """The steps, and each execution's waits; a memory instruction waits as long as the accesses of its block do."""
        if self._kept is None or self._kept[0] != factor:
            memory = _Memory(self._observed, self._gpu, self._latency, factor)
            each = [memory.latency(step, function, self._from_ptx) for step, function in self._classes]
            table = self._table.copy()
            if each:
                table["latency"] = np.array(each, np.int32)[self._class_of]
            self._kept = factor, table, self._own.cycles(factor) if self._own is not None else None
        return self._kept[1:]


def _without_paths(
    run: Callable[[Sequence[npt.NDArray[np.int32]]], BlockTime],
    observed: Observed,
    barrier: tuple[int, int],
    cost: native_loops.Integers,
) -> Scoreboard:
    path = 0.0
    barriers = 0.0
    weighted = np.zeros(len(cost))
    for index, piece in enumerate(observed.blocks):
        if not piece.executions or not piece.starts:
            continue
        cost[:] = 0
        time = run([np.array([index], np.int32)])
        path += time.path * piece.executions
        barriers += time.barriers * piece.executions
        weighted += cost * float(piece.executions)
    warps = max(1, observed.warps)
    per_barrier = barrier[0] + barrier[1] * observed.geometry.warps
    return Scoreboard(path / warps, barriers / warps, per_barrier * barriers / warps, _shares(weighted), False)


def _shares(cost: npt.NDArray[np.float64] | native_loops.Integers) -> dict[int, float]:
    total = float(cost.sum())
    return {i: c / total for i, c in enumerate(cost.tolist()) if c} if total else {}


def _work(layout: Layout, observed: Observed, trace: Sequence[BlockTrace]) -> float:
    """Steps of the mean warp of the launch over steps of the mean warp that was followed, slow paths of divisions left out.

    By warp, not by block: a log that is full ends in the middle of a block.
    """
    pieces = zip(layout.ranges, observed.blocks, strict=True)
    size = np.array([0 if is_slow_label(b.label) else end - start for (start, end), b in pieces] or [0], np.float64)
    every = sum(size[i] * b.executions for i, b in enumerate(observed.blocks)) / observed.warps
    paths = [path for block in trace for path in block.paths if len(path)]
    seen = sum(float(size[path].sum()) for path in paths) / len(paths)
    return float(every / seen) if seen else 1.0


def _table(layout: Layout, from_ptx: bool, columns: Columns) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.void]]:
    """The steps as the loops in C take them, but for their latencies."""
    waits: list[int] = []
    rows = []
    for step, own in zip(layout.steps, columns.of_step, strict=True):
        start = len(waits)
        waits += step.waits
        # The assembler moves what waits behind what does not, up to the end of its block; machine code is as it is.
        blocks = not from_ptx or step.kind in ("branch", "barrier")
        rows.append(
            (
                step.stall,
                0,
                OPERANDS_READ,
                step.sets,
                step.frees,
                start,
                len(waits),
                int(step.barrier),
                int(blocks),
                own,
            )
        )
    return np.array(waits or [0], np.int32), np.array(rows or [(0,) * 10], native_loops.STEP)


def _classes(layout: Layout, from_ptx: bool) -> tuple[list[tuple[Step, str]], npt.NDArray[np.intp]]:
    """Steps that have one latency whatever it is: one of each class with its function, and the class of each step."""
    known: dict[tuple[str, str, str, int], int] = {}
    classes: list[tuple[Step, str]] = []
    of_step = []
    for step, (function, _) in zip(layout.steps, layout.home, strict=True):
        kind = step.kind if from_ptx or step.kind == "atomic" else WAITS_FOR.get(step.kind, "alu")
        key = (function, original(step.block), kind, step.stall if from_ptx else 0)
        if key not in known:
            known[key] = len(classes)
            classes.append((step, function))
        of_step.append(known[key])
    return classes, np.array(of_step, np.intp)


def _loads_global(step: Step, from_ptx: bool) -> bool:
    """Whether its result comes from global memory; atomics have waits of their own."""
    return WAITS_FOR.get(step.kind) == "global" and step.kind != "atomic" and not (from_ptx and step.kind in FOLDED)


class _Memory:
    """Mean waits by kind of memory, per IR block and over all."""

    def __init__(self, observed: Observed, gpu: Gpu, latency: Sequence[float | None], factor: float) -> None:
        sm = gpu.sm
        self.fixed = {
            "global": factor * gpu.l2_latency,
            "local": factor * sm.l1_latency,
            "shared": float(sm.shared_latency),
            "constant": float(sm.constant_latency),
            "special": float(sm.special_latency),
            "warp": float(sm.warp_latency),
            "fp64": float(sm.fp64_latency),
            "alu": float(sm.alu_latency),
        }
        sums: dict[tuple[str, str, str], list[float]] = {}
        for access, known in zip(observed.accesses, latency, strict=True):
            if not access.requests or access.kind == "store":
                continue
            wait = factor * known if known is not None else self.fixed[access.space]
            if access.space == "shared":
                wait = self.fixed["shared"] + max(0, access.wavefronts / access.requests - 1)
            elif access.space == "constant":
                wait += access.serial / access.requests
            elif access.kind == "atomic":
                wait = self.fixed["global"] + access.serial / access.requests
            key = "atomic" if access.kind == "atomic" else access.space
            for place in ((access.function, access.label, key), ("", "", key)):
                entry = sums.setdefault(place, [0.0, 0.0])
                entry[0] += wait * access.requests
                entry[1] += access.requests
        self.means = {place: total / n for place, (total, n) in sums.items()}

    def latency(self, step: Step, function: str, from_ptx: bool) -> int:
        if from_ptx and step.kind in FOLDED:
            return 0
        kind = WAITS_FOR.get(step.kind, "alu")
        wanted = "atomic" if step.kind == "atomic" else kind
        for place in ((function, original(step.block), wanted), ("", "", wanted)):
            if place in self.means:
                return round(self.means[place])
        if from_ptx and kind == "alu":
            return max(round(self.fixed[kind]), step.stall)
        return round(self.fixed[kind])
