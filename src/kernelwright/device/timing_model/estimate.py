"""Counters → time: how long each part of the machine would be busy, and what that makes together.

work of the busiest multiprocessor ─ the largest of issue, pipes, L1 and shared memory       ┐
work of the chip                   ─ the largest of L2, memory, atomics, blocks to start ┐    ├─ (Σ cyclesⁿ)^(1/n), and the launch
rounds of blocks × time of a block ─ latency and barriers                                ┴────┘
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.calibration import Calibration
from kernelwright.codegen.cost.block_weights import Weights
from kernelwright.device.timing_model.atomics import sector_operations
from kernelwright.device.timing_model.caches import Traffic, traffic
from kernelwright.device.timing_model.counters import SECTOR, AccessCount, Observed
from kernelwright.device.timing_model.machine_accesses import machine_accesses
from kernelwright.device.timing_model.occupancy import Occupancy, occupancy
from kernelwright.device.timing_model.scoreboard import Layout, Scoreboard, WatchedWarps
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import PIPES, WARP, Gpu

UNKNOWN_LINE = ("", 0)


@dataclass(frozen=True)
class Term:
    """A part of the machine: the cycles it alone would take, and its share of the result."""

    name: str
    cycles: float
    share: float


@dataclass(frozen=True)
class LineCost:
    """A source line and its part of the estimate. ``line`` 0: what no line is known for."""

    file: str
    line: int
    cycles: float
    share: float


@dataclass(frozen=True)
class Estimate:
    """``time_us`` is what two events around the launch would measure: ``kernel_us``, the kernel alone, and what launching costs.

    ``terms`` largest first, ``lines`` dearest first. ``instructions``: warp instructions by class. ``sources`` says what the
    figures were read from: weights, registers, paths, caches, calibration.
    """

    kernel: str
    gpu: str
    time_us: float
    kernel_us: float
    cycles: float
    terms: tuple[Term, ...]
    occupancy: Occupancy
    waves: int
    barriers: float
    """Per thread block."""
    registers: int
    """Per thread."""
    simt_efficiency: float
    """Lanes that took part in the warp instructions, of 32."""
    instructions: Mapping[str, float]
    static_instructions: int
    l1_hit_rate: float
    l2_hit_rate: float
    dram_bytes: float
    lines: tuple[LineCost, ...]
    sources: Mapping[str, str]

    @property
    def bound_by(self) -> str:
        """The name of the largest term; ``launch`` when there is none."""
        return self.terms[0].name if self.terms else "launch"

    def as_json(self) -> dict[str, Any]:
        """Its fields and ``bound_by`` by name; values of values are objects, too."""
        return {**asdict(self), "bound_by": self.bound_by}


@dataclass(frozen=True)
class Parts:
    """A launch before calibration: what keeps each part of the machine busy, and everything the estimate says besides."""

    observed: Observed
    weights: Weights
    gpu: Gpu
    resident: Occupancy
    work: Work
    board: Scoreboard
    busy: Mapping[str, float]
    """Cycles by part: ``latency`` and ``barriers`` with their factors, all others without."""

    @property
    def waves(self) -> int:
        """Rounds of blocks on the busiest multiprocessor."""
        return -(-_busiest(self.observed, self.gpu) // self.resident.blocks)


def estimate(
    observed: Observed, weights: Weights, gpu: Gpu, calibration: Calibration | None = None, *, by_line: bool = True
) -> Estimate:
    """The time of a launch on ``gpu``, with the GPU's calibration or another. The same arguments give the same figures, bit for bit.

    ``by_line``: whether ``lines`` are wanted, which takes as long as the rest. Raises ``DeviceError`` for a block that does not
    fit on a multiprocessor.
    """
    calibration = calibration or gpu.calibration
    parts = take_apart(observed, weights, gpu, calibration.latency, calibration.barrier)
    return finish(parts, calibration, by_line=by_line)


def take_apart(observed: Observed, weights: Weights, gpu: Gpu, latency: float = 1.0, barrier: float = 1.0) -> Parts:
    """Everything that depends on the launch; ``latency`` and ``barrier`` are those factors of a calibration."""
    return LaunchWork(observed, weights, gpu).parts(latency, barrier)


class LaunchWork:
    """A launch without its waits: what no calibration changes, reckoned once. Raises ``DeviceError`` as ``estimate``."""

    def __init__(self, observed: Observed, weights: Weights, gpu: Gpu) -> None:
        resident = occupancy(
            gpu, observed.geometry.threads, weights.resources.registers, observed.geometry.shared_bytes
        )
        observed = machine_accesses(observed, weights)
        layout = Layout(weights, observed)
        moved = traffic(observed, gpu, resident)
        self._warps = WatchedWarps(layout, weights, observed, gpu, moved.latency, moved.waits)
        self._work = Work(layout, layout.executions(observed), observed, moved)
        self._busy = _busy(self._work, moved, gpu, _busiest(observed, gpu) / observed.geometry.blocks)
        self._given = observed, weights, gpu, resident

    def parts(self, latency: float = 1.0, barrier: float = 1.0) -> Parts:
        """With these factors of a calibration."""
        board = self._warps.run(latency, barrier)
        parts = Parts(*self._given, self._work, board, self._busy)
        waiting = {"latency": parts.waves * board.cycles, "barriers": parts.waves * board.barrier_cycles}
        return replace(parts, busy={**parts.busy, **waiting})


def total_us(busy: Mapping[str, float], gpu: Gpu, calibration: Calibration) -> float:
    """The estimated time alone, from ``Parts.busy``."""
    cycles = _together(_calibrated(busy, calibration), calibration.norm, gpu.wait_norm)
    return calibration.launch * gpu.launch_us + calibration.scale * cycles / gpu.clock_mhz


def finish(parts: Parts, calibration: Calibration, *, by_line: bool = True) -> Estimate:
    """The estimate from its parts; their factors on latencies and barriers must be the calibration's."""
    observed, weights, gpu, work, board = parts.observed, parts.weights, parts.gpu, parts.work, parts.board
    busy = _calibrated(parts.busy, calibration)
    cycles = _together(busy, calibration.norm, gpu.wait_norm)
    shares = _shares(busy, calibration.norm, gpu.wait_norm)
    terms = sorted((Term(n, c, shares[n]) for n, c in busy.items() if c > 0), key=lambda t: (-t.share, t.name))
    return Estimate(
        kernel=observed.kernel,
        gpu=gpu.name,
        time_us=total_us(parts.busy, gpu, calibration),
        kernel_us=calibration.scale * cycles / gpu.clock_mhz,
        cycles=cycles,
        terms=tuple(terms),
        occupancy=parts.resident,
        waves=parts.waves,
        barriers=board.barriers,
        registers=weights.resources.registers,
        simt_efficiency=work.simt_efficiency(),
        instructions=work.kinds(),
        static_instructions=weights.instructions,
        l1_hit_rate=work.moved.l1_hit_rate,
        l2_hit_rate=work.moved.l2_hit_rate,
        dram_bytes=work.moved.dram_bytes,
        lines=_lines(work, board, shares, cycles) if by_line else (),
        sources=_sources(observed, weights, gpu, work.moved, board, work.layout, calibration),
    )


def _busiest(observed: Observed, gpu: Gpu) -> int:
    """Blocks on the multiprocessor that gets most of them."""
    return -(-observed.geometry.blocks // gpu.multiprocessors)


FACTOR_OF = {
    "issue": "issue", "l1": "l1", "shared": "l1", "l2": "l2", "memory": "dram", "atomics": "atomic",
} | dict.fromkeys((p for p in PIPES if p not in ("imad", "lsu")), "pipes")  # fmt: skip
"""Which factor of a calibration belongs to which part; latency and barriers have theirs inside."""


def _calibrated(busy: Mapping[str, float], calibration: Calibration) -> dict[str, float]:
    return {n: getattr(calibration, FACTOR_OF[n]) * c if c and n in FACTOR_OF else c for n, c in busy.items()}


class Work:
    """What the launch does in all: turns at each pipe, sectors, wavefronts; each also by source line."""

    def __init__(self, layout: Layout, ran: npt.NDArray[np.float64], observed: Observed, moved: Traffic) -> None:
        self.layout = layout
        self.ran = ran
        self.observed = observed
        self.moved = moved
        self.turns = dict.fromkeys((*PIPES, "issue"), 0.0)
        for step, times in zip(layout.steps, ran.tolist(), strict=True):
            for pipe, n in step.pipes:
                self.turns["issue"] += n * times
                if pipe:
                    self.turns[pipe] += n * times * step.turns
        self.turns["fma"] += self.turns["imad"]

    def kinds(self) -> dict[str, float]:
        """Warp instructions that are issued over the launch, by class; sorted by name."""
        found: dict[str, float] = {}
        for step, times in zip(self.layout.steps, self.ran.tolist(), strict=True):
            if times and step.issues:
                found[step.kind] = found.get(step.kind, 0.0) + step.issues * times
        return dict(sorted(found.items()))

    def simt_efficiency(self) -> float:
        """A piece of a block counts as much as it has steps; 0 where nothing ran."""
        lanes = slots = 0
        for (start, end), piece in zip(self.layout.ranges, self.observed.blocks, strict=True):
            lanes += (end - start) * piece.lanes
            slots += (end - start) * piece.executions * WARP
        return lanes / slots if slots else 0.0

    def by_line(self, term: str) -> dict[tuple[str, int], float]:
        """The work of a term by source line, in any unit."""
        if term in ("l1", "shared", "constant", "l2", "memory", "atomics"):
            found: dict[tuple[str, int], float] = {}
            for index, access in enumerate(self.observed.accesses):
                operations = term == "atomics" and access.kind == "atomic" and access.space == "global"
                amount = (
                    sector_operations(self.observed, access)
                    if operations
                    else _of_access(term, access, self.moved.to_l2[index])
                )
                place = (access.file, access.line)
                found[place] = found.get(place, 0.0) + amount
            return found
        found = {}
        for step, times in zip(self.layout.steps, self.ran.tolist(), strict=True):
            amount = (
                sum(n * (1 if term == "issue" else step.turns) for pipe, n in step.pipes if _feeds(pipe, term)) * times
            )
            if amount:
                place = (step.position.file, step.position.line) if step.position else UNKNOWN_LINE
                found[place] = found.get(place, 0.0) + amount
        return found


def _feeds(pipe: str, term: str) -> bool:
    return term in ("issue", pipe) or (term == "fma" and pipe == "imad")


def _of_access(term: str, access: AccessCount, to_l2: float) -> float:
    turns = float(_shared_turns(access))
    return {
        "l1": turns + max(_outer_requests(access), access.passes, access.sectors / 4),
        "shared": turns,
        "constant": float(_constant_turns(access)),
        "l2": to_l2,
        "memory": to_l2,
        "atomics": 0.0,
    }[term]


def _shared_turns(access: AccessCount) -> int:
    """Wavefronts of shared memory, and the further turns of atomics there."""
    return access.wavefronts + (access.serial if access.space == "shared" else 0)


def _outer_requests(access: AccessCount) -> int:
    """Requests to global and local memory."""
    return 0 if access.space == "constant" else access.requests - access.shared_requests


def _constant_turns(access: AccessCount) -> int:
    """The constant cache serves one address after the other."""
    return access.requests + access.serial if access.space == "constant" else 0


def _busy(work: Work, moved: Traffic, gpu: Gpu, share: float) -> dict[str, float]:
    """Cycles that each part of the machine is busy: the busiest multiprocessor's ``share`` of the work, or the chip's whole."""
    sm = gpu.sm
    turns = {pipe: share * work.turns[pipe] * WARP / sm.rates[pipe] for pipe in PIPES}
    # Integer multiply-adds are done by the multiply-add pipe, or a part of it.
    turns["fma"] = max(turns["fma"], turns.pop("imad"))
    requests = turns.pop("lsu")
    accesses = work.observed.accesses
    near = share * sum(
        max(
            float(_outer_requests(a)),
            a.passes * WARP * 4 / sm.l1_bytes_per_cycle,
            a.sectors * SECTOR / sm.l1_bytes_per_cycle,
        )
        for a in accesses
    )
    inner = share * sum(map(_shared_turns, accesses)) * (WARP * 4 / sm.shared_bytes_per_cycle)
    to_l2 = moved.at_l2 * SECTOR
    return turns | {
        "issue": share * work.turns["issue"] / sm.issue,
        # From Volta on, shared memory and the L1 cache are one store behind one port.
        "l1": max(requests, near + inner if sm.carveouts else near),
        "shared": 0.0 if sm.carveouts else inner,
        "constant": share * sum(map(_constant_turns, accesses)),
        "l2": max(to_l2 / gpu.l2_bytes_per_cycle, share * to_l2 / sm.l2_bytes_per_cycle),
        "memory": moved.dram_bytes / gpu.dram_bytes_per_cycle,
        "atomics": moved.atomic_cycles,
        "blocks": gpu.block_cycles * (work.observed.geometry.blocks - 1),
    }


CHIP = frozenset({"l2", "memory", "atomics", "blocks"})
"""Parts of the whole chip; all others but the waits are of each multiprocessor."""
WAITS = ("latency", "barriers")
"""They follow each other: a warp that waits for one does not wait for the other."""
OWN_NORM, CHIP_NORM = 4, 16
"""Of parts of one place. Parts of the chip work side by side. So do those of a multiprocessor when nothing else is in the way (an H200
multiplies in 120 of 128 lanes while it issues as many), but branches and short dependences keep them apart: 4 ranks kernels better."""


def _together(busy: Mapping[str, float], norm: int, wait_norm: int) -> float:
    """What multiprocessors do, and what takes them beyond themselves: what the chip does, and waits. These overlap as the GPU's own
    ``wait_norm`` says, and with what multiprocessors do more the larger the norm: power means without the mean.

    Roots of powers of two alone, which are exact to the last bit on every machine.
    """
    own, chip, waits = _sizes(_groups(busy))
    return _joined((own, _joined((chip, waits), wait_norm)), norm)


def _groups(busy: Mapping[str, float]) -> tuple[dict[str, float], ...]:
    """The parts by place: multiprocessors, chip, waits."""
    own = {n: x for n, x in busy.items() if n not in CHIP and n not in WAITS}
    return own, {n: x for n, x in busy.items() if n in CHIP}, {n: busy[n] for n in WAITS}


def _sizes(groups: Sequence[Mapping[str, float]]) -> tuple[float, float, float]:
    own, chip, waits = (list(group.values()) for group in groups)
    return _joined(own, OWN_NORM), _joined(chip, CHIP_NORM), sum(waits)


def _joined(parts: Sequence[float], norm: int) -> float:
    most = max(parts, default=0.0)
    if most <= 0:
        return 0.0
    total = math.fsum(_power(part / most, norm) for part in parts)
    for _ in range(norm.bit_length() - 1):
        total = math.sqrt(total)
    return most * total


def _power(x: float, norm: int) -> float:
    for _ in range(norm.bit_length() - 1):
        x *= x
    return x


def _shares(busy: Mapping[str, float], norm: int, wait_norm: int) -> dict[str, float]:
    """How much of the result each part answers for; they add up to 1."""
    groups = _groups(busy)
    own, chip, waits = _sizes(groups)
    inside, beyond = _portions((own, _joined((chip, waits), wait_norm)), norm)
    at_chip, waiting = _portions((chip, waits), wait_norm)
    norms = OWN_NORM, CHIP_NORM, 1
    return {
        name: share * portion
        for group, share, within in zip(groups, (inside, beyond * at_chip, beyond * waiting), norms, strict=True)
        for name, portion in zip(group, _portions(list(group.values()), within), strict=True)
    }


def _portions(parts: Sequence[float], norm: int) -> list[float]:
    most = max(parts, default=0.0)
    powers = [_power(part / most, norm) if most > 0 else 0.0 for part in parts]
    total = math.fsum(powers)
    return [power / total if total else 0.0 for power in powers]


def _lines(work: Work, board: Scoreboard, shares: Mapping[str, float], cycles: float) -> tuple[LineCost, ...]:
    """The estimate divided among source lines: each part by the lines that keep it busy."""
    cost: dict[tuple[str, int], float] = {}

    def add(by_line: Mapping[tuple[str, int], float], share: float) -> None:
        total = math.fsum(by_line.values())
        if not total:
            cost[UNKNOWN_LINE] = cost.get(UNKNOWN_LINE, 0.0) + share
            return
        for place, amount in by_line.items():
            cost[place] = cost.get(place, 0.0) + share * amount / total

    waiting: dict[str, dict[tuple[str, int], float]] = {"latency": {}, "barriers": {}}
    for index, amount in board.cost.items():
        step = work.layout.steps[index]
        place = (step.position.file, step.position.line) if step.position else UNKNOWN_LINE
        part = waiting["barriers" if step.barrier else "latency"]
        part[place] = part.get(place, 0.0) + amount
    for name, share in shares.items():
        if share:
            add(waiting[name] if name in waiting else work.by_line(name), share)
    lines = [LineCost(file, line, cycles * share, share) for (file, line), share in cost.items() if share > 0]
    return tuple(sorted(lines, key=lambda each: (-each.share, each.file, each.line)))


def _sources(
    observed: Observed,
    weights: Weights,
    gpu: Gpu,
    moved: Traffic,
    board: Scoreboard,
    layout: Layout,
    calibration: Calibration,
) -> dict[str, str]:
    stand_in = weights.source == "machine code" and weights.arch != gpu.arch
    found = {
        "weights": f"{weights.source} of {weights.arch}" + (f", standing in for {gpu.arch}" if stand_in else ""),
        "registers": "assembler" if weights.registers_from == "machine code" else "ptx",
        "paths": "logged" if board.traced else "counts",
        "accesses": observed.counted_in,
        "caches": "replayed" if moved.logged else "assumed",
        "calibration": str(calibration),
    }
    if layout.unmatched:
        found["without frequency"] = f"{layout.unmatched} instructions of uncounted blocks"
    return found
