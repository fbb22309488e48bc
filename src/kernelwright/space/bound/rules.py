"""The bound in Python: the definition that ``c/bound.c`` is tested against (paper 004, section 5.1).

Throughput: work that must be done divided by what the machine can do, part by part. Latency: a chain of dependent operations
that one thread must run through, times the rounds of blocks. Every quantity is a minimum over all completions of a candidate.

Which executions count beyond distinct results: an instruction inside another's BLOCK loop runs in every block; inside
another's LOOP, again only where that is around a LOOP of its own, for otherwise the value does not change there and is computed
once. Every thread executes the whole text, so what is not spread over all threads of a block is repeated by the others. That counts
for reductions in loops that stay and what they read there: anything else may be moved to where one thread stores it.
"""

from __future__ import annotations

from math import ceil, prod
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.bound.domains import Numbering, Thing
from kernelwright.space.bound.least_work import SECTOR_ELEMENTS, LeastWork, Reuse, least_work, reuses
from kernelwright.space.bound.machine import Machine
from kernelwright.space.computation.objects import Backbone, Dim, Instruction

MIRRORED = {"BEFORE": "AFTER", "AFTER": "BEFORE", "INNER": "OUTER", "OUTER": "INNER"}
LANES = 32
WIDEST = 4
THREADS = 1024
REAL_LOOP = 3
"""Iterations from which a LOOP stays one: LLVM threads the jumps of two iterations, and hoists what is then invariant."""


Key = TypeVar("Key")


@dataclass(frozen=True)
class _ReadAgain:
    """Requests by name of the ``get`` or the load; by array where a load or a ``get`` makes them."""

    of_gets: dict[str, float]
    of_loads: dict[str, float]
    of_either: dict[int, float]


class SlowBound:
    def __init__(self, backbone: Backbone, numbering: Numbering, machine: Machine) -> None:
        self.backbone, self.numbering, self.machine = backbone, numbering, machine
        self.work = least_work(backbone)
        self.reuses = reuses(backbone)

    def terms(self, state: npt.NDArray[np.uint16]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Cycles of each part, in the order of ``TERMS``, and the work behind them, in that of ``WORK``."""
        return _Candidate(self, state).terms()


class _Candidate:
    def __init__(self, bound: SlowBound, state: npt.NDArray[np.uint16]) -> None:
        self.bound, self.state = bound, state
        backbone = bound.backbone
        self.instructions = [
            (i, work)
            for i, work in zip(backbone.instructions, bound.work, strict=True)
            if i.temporary is None or self.values("exists", backbone.temporary(i.temporary)) == {"YES"}
        ]
        self.dims = [d for i, _ in self.instructions for d in i.dims]
        self.kinds = {d: self.values("dim_kind", d) for d in self.dims}
        self.sizes: dict[Dim, tuple[float, float]] = {}
        self.there = dict.fromkeys(backbone.partial_loops, 1.0)
        """Of loops with iterations that may be only partly there: the share of all that is there, at least."""
        for d in self.dims:
            if d.is_static:
                sizes = [float(v) for v in self.values("size", d)]
                self.sizes[d] = min(sizes), max(sizes)
        for d in self.dims:
            if not d.is_static:
                tiles = [t for t in backbone.instruction(d.instruction).dims if t.loop == d.loop and t.is_static]
                most, least = (prod(self.sizes[t][end] for t in tiles) for end in (1, 0))
                self.sizes[d] = max(1.0, d.loop.extent / most), max(1.0, d.loop.extent / least)
                if d.loop in self.there:
                    fewest, largest = (float(ceil(n)) for n in self.sizes[d])
                    self.sizes[d] = fewest, largest
                    padded = fewest * most if most == least else d.loop.extent + most - 1
                    self.there[d.loop] = min(self.there[d.loop], d.loop.extent / padded)
        self.in_all_threads = {
            backbone.instructions[reuse.reduction].name for reuse in bound.reuses if self._stays_a_loop(reuse)
        }

    def values(self, choice: str, *objects: Thing) -> set[str | int]:
        index, is_mirrored = self.bound.numbering.variable(choice, *objects)
        mask = int(self.state[index])
        found = {v for bit, v in enumerate(self.bound.numbering.values(choice, *objects)) if mask >> bit & 1}
        return {MIRRORED.get(str(v), v) for v in found} if is_mirrored else found

    def order(self, a: Dim | Instruction, b: Dim | Instruction) -> set[str | int]:
        return self.values("order", a, b)

    def terms(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        m = self.bound.machine
        fewest_blocks, most_blocks = self._blocks()
        threads = self._threads()
        backbone = self.bound.backbone
        arrays = len(backbone.arrays)
        per_array = np.zeros((arrays, 4))  # requests, sectors at L1, sectors at L2, bytes of memory
        in_temporaries = np.zeros(3)  # of those in global memory: requests, sectors at L1, sectors at L2
        issued = fma = special = inner = shared_requests = somewhere = near = 0.0
        chain = waits = steps = 0.0
        again_read = self._read_again(threads)
        for i, work in self.instructions:
            blocks, around, again = self._repetitions(i)
            runs = work.executions * blocks * again
            warps = runs * self._warps_per_run(i, threads, around)
            fma += warps * work.fma
            special += warps * work.special
            wide = self._joined(i)
            inside = self.bound.backbone.own_dims(i)
            share = self._share(inside) * again
            sequential = prod(self.sizes[d][0] for d in inside if self.kinds[d] <= {"LOOP", "UNROLL"}) * share
            real = [d for d in inside if self._is_real_loop(d)]
            looped = prod(self.sizes[d][0] for d in inside if d in real or self._is_around(d, real)) * share
            if i.operation in ("load", "store"):
                requests = max(warps / wide, again_read.of_loads.get(i.name, 0.0))
                reads = work.executions * blocks
                row = per_array[work.array]
                found = (
                    requests,
                    max(runs / self._sector_elements(i, work), requests),
                    reads / work.per_sector,
                    work.bytes,
                )
                per_array[work.array] = np.maximum(row, found)
                steps += sequential / wide if i.operation == "store" else 0.0
                if i.operation == "load":
                    waits = max(waits, looped * m.load_latency)
            elif i.operation in ("put", "get"):
                if threads >= 2:
                    assert i.temporary is not None
                    requests = max(warps / wide, again_read.of_gets.get(i.name, 0.0))
                    spaces = self.values("mem_space", backbone.temporary(i.temporary))
                    if spaces == {"SHARED"}:
                        issued += requests
                        shared_requests += requests
                        inner += max(requests * m.request, requests * m.wavefront, runs / LANES * m.wavefront)
                    elif spaces == {"GLOBAL"}:
                        # What a block wrote it may read from L1; what it writes goes to L2, and need not go on to memory.
                        sectors = max(runs / SECTOR_ELEMENTS, requests)
                        written = work.executions * blocks / SECTOR_ELEMENTS if i.operation == "put" else 0.0
                        in_temporaries += (requests, sectors, written)
                        near += max(requests, sectors * m.l1_sector)
                    else:
                        somewhere += requests
                    if i.operation == "get":
                        latencies = {"SHARED": m.shared_latency, "GLOBAL": m.load_latency}
                        waits = max(waits, looped * min(latencies[str(each)] for each in spaces))
            else:
                issued += warps * work.issue
                steps += sequential * work.issue
                threads_of_sum = prod(
                    self.sizes[d][1] for d in inside if not d.is_parallel and "THREAD" in self.kinds[d]
                )
                chain = max(chain, work.chain / threads_of_sum * again * m.add_latency)
        requests, l1_sectors, l2_sectors, bytes_moved = per_array.sum(axis=0).tolist()
        requests, l1_sectors, l2_sectors = (
            a + b for a, b in zip((requests, l1_sectors, l2_sectors), in_temporaries.tolist(), strict=True)
        )
        either = somewhere + sum(max(0.0, n - per_array[array, 0]) for array, n in again_read.of_either.items())
        issued += requests + either
        near += float(np.maximum(per_array[:, 0], per_array[:, 1] * m.l1_sector).sum())
        if m.joined:  # else it is not known which of the two is kept busy
            near += min(1.0, m.wavefront) * either
        l1 = max((requests + shared_requests + either) * m.request, near + inner if m.joined else max(near, inner))
        busy = min(most_blocks, float(m.multiprocessors))
        if fewest_blocks == most_blocks:
            busy = most_blocks / ceil(most_blocks / m.multiprocessors)
        resident = min(m.blocks, m.warps // ceil(threads / LANES))
        rounds = ceil(ceil(fewest_blocks * prod(self.there.values()) / m.multiprocessors) / resident)
        barriers = self._barriers(threads) * m.barrier
        cycles = (
            issued * m.issue / busy,
            fma * m.fma / busy,
            special * m.xu / busy,
            l1 / busy,
            max(l2_sectors * m.l2_sector, l2_sectors * m.l2_sector_of_one / busy),
            bytes_moved * m.memory_byte,
            rounds * (max(chain, waits, steps) + barriers),
        )
        return cycles, (issued, requests, l1_sectors, shared_requests, l2_sectors, fewest_blocks, most_blocks)

    def _threads(self) -> float:
        """Threads of a block, at least: those of the instruction that has most, and axes that surely are others."""
        mine = [[d for d in i.dims if self.kinds[d] == {"THREAD"}] for i, _ in self.instructions]
        axes = max(mine, key=lambda dims: prod(self.sizes[d][0] for d in dims))
        for d in (each for each in self.dims if self.kinds[each] == {"THREAD"}):
            if all(d != a and self.values("thread_mapping", d, a) <= {"OUT", "IN"} for a in axes):
                axes = [*axes, d]
        return min(prod(self.sizes[d][0] for d in axes), THREADS)

    def _warps_per_run(self, i: Instruction, threads: float, around: float) -> float:
        """Executions by warps for each iteration of an instruction: its own dims spread it over so many threads, of which a warp holds
        32; one that all threads of a block execute runs in all warps."""
        spread = prod(self.sizes[d][1] for d in i.dims if "THREAD" in self.kinds[d])
        least = 1 / min(LANES, spread)
        if i.operation in ("store", "put"):
            return least
        if i.name not in self.in_all_threads:
            return max(least, around / LANES)
        # Warps without an iteration that is there read nothing.
        warps = threads / LANES if self.there else ceil(threads / LANES)
        return max(least, around / LANES, warps / min(spread, THREADS))

    def _share(self, dims: list[Dim]) -> float:
        """Of the iterations of dims, how many are there at least: those of a thread on average, or of repetitions."""
        return prod(self.there.get(loop, 1.0) for loop in dict.fromkeys(d.loop for d in dims))

    def _blocks(self) -> tuple[float, float]:
        """Fewest and most blocks: a BLOCK loop is around everything, so a store has a dim of its own in each."""
        store = next(i for i in self.bound.backbone.instructions if i.operation == "store")
        fewest = prod(self.sizes[d][0] for d in store.dims if self.kinds[d] == {"BLOCK"})
        most = 1.0
        for loop in dict.fromkeys(d.loop for d in store.dims):
            levels = [d for d in store.dims if d.loop == loop]
            others = prod(self.sizes[d][0] for d in levels if "BLOCK" not in self.kinds[d])
            spread = max(1.0, loop.extent / others)
            if loop in self.there:
                tiles = [d for d in levels if d.is_static and "BLOCK" in self.kinds[d]]
                spread = spread + prod(self.sizes[d][1] for d in tiles) if tiles else float(ceil(spread))
            most *= spread
        return fewest, most

    def _repetitions(self, i: Instruction) -> tuple[float, float, float]:
        """How often it runs beyond its own iterations: in other blocks, in other threads, in loops of others."""
        own = self.bound.backbone.own_dims(i)
        looped = [d for d in own if self._is_real_loop(d)]
        counted: list[Dim] = []
        blocks = around = again = 1.0
        for d in self.dims:
            kind = self.kinds[d]
            if len(kind) > 1 or d in own or self.order(d, i) != {"OUTER"}:
                continue
            if any("MERGED" in self.order(d, o) for o in (*own, *counted)):
                continue
            if kind == {"BLOCK"}:
                blocks *= self.sizes[d][0]
            elif kind == {"THREAD"}:
                around *= self.sizes[d][0]
            elif self._is_around(d, looped):
                again *= self.sizes[d][0]
            else:
                continue
            counted.append(d)
        share = self._share(counted)
        return (
            (max(1.0, blocks * share), max(1.0, around * share), max(1.0, again * share))
            if share < 1
            else (blocks, around, again)
        )

    def _read_again(self, threads: float) -> _ReadAgain:
        """Requests that read operands of reductions again (``Reuse``)."""
        found = _ReadAgain({}, {}, {})
        backbone = self.bound.backbone
        for reuse in self.bound.reuses:
            if not self._stays_a_loop(reuse):
                continue
            i, producer = backbone.instructions[reuse.reduction], backbone.instructions[reuse.producer]
            temporary = backbone.temporaries[reuse.temporary] if reuse.temporary >= 0 else None
            blocks, around, _ = self._repetitions(i)
            runs = self.bound.work[reuse.reduction].executions * blocks
            served = prod(self.sizes[d][1] for d in reuse.dims if "UNROLL" in self.kinds[d])
            requests = runs * self._warps_per_run(i, threads, around) / served
            exists = self.values("exists", temporary) if temporary is not None else {"NO"}
            if temporary is not None and exists == {"YES"}:
                found.of_gets[temporary.get.name] = requests / self._joined(temporary.get)
            elif reuse.is_load and exists == {"NO"}:
                self._most(found.of_loads, producer.name, requests / self._joined(producer))
            elif reuse.is_load:
                self._most(found.of_either, self.bound.work[reuse.producer].array, requests / WIDEST)
        return found

    def _stays_a_loop(self, reuse: Reuse) -> bool:
        return any(self.sizes[d][0] >= REAL_LOOP for d in reuse.rests)

    @staticmethod
    def _most(found: dict[Key, float], key: Key, value: float) -> None:
        found[key] = max(found.get(key, 0.0), value)

    def _is_real_loop(self, d: Dim) -> bool:
        return self.kinds[d] == {"LOOP"} and self.sizes[d][0] >= REAL_LOOP

    def _is_around(self, d: Dim, loops: list[Dim]) -> bool:
        """A LOOP whose every iteration runs one of ``loops``."""
        return self.kinds[d] == {"LOOP"} and any(d != o and self.order(d, o) == {"OUTER"} for o in loops)

    def _joined(self, i: Instruction) -> float:
        """Elements that one request of a lane moves at most: those of one thread may be neighbours."""
        if i.access is not None and not any(abs(s) == 1 for loop, s in i.access.strides if loop.extent > 1):
            return 1.0
        return min(WIDEST, prod(self._at_once(d, {"THREAD", "BLOCK"}) for d in i.dims))

    def _at_once(self, d: Dim, apart: set[str]) -> float:
        """Iterations that one request may cover at most; not those of kinds that are ``apart``, nor of a loop that stays one."""
        if not self.kinds[d] <= apart | {"LOOP"}:
            return self.sizes[d][1]
        dissolves = "LOOP" in self.kinds[d] and self.sizes[d][0] < REAL_LOOP
        return min(self.sizes[d][1], REAL_LOOP - 1) if dissolves else 1.0

    def _sector_elements(self, i: Instruction, work: LeastWork) -> float:
        """Different elements that one sector of one request holds at most: those of lanes whose addresses are near."""
        assert i.access is not None
        held = 1.0
        for loop, stride in i.access.strides:
            step = abs(stride)
            for d in sorted((d for d in i.dims if d.loop == loop), key=lambda d: -d.level):
                if step < SECTOR_ELEMENTS:
                    held *= min(self._at_once(d, {"BLOCK"}), (SECTOR_ELEMENTS - 1) // step + 1)
                step *= int(self.sizes[d][0])
        return min(held, work.per_sector)

    def _barriers(self, threads: float) -> float:
        """Barriers that each thread passes: one in each iteration of LOOPs around both ends of a temporary."""
        if threads < 2:
            return 0.0
        most = 0.0
        for t in self.bound.backbone.temporaries:
            if self.values("exists", t) != {"YES"}:
                continue
            counted: list[Dim] = []
            for d in self.dims:
                if self.kinds[d] != {"LOOP"} or d in t.put.dims or d in t.get.dims:
                    continue
                around = self.order(d, t.put) == {"OUTER"} and self.order(d, t.get) == {"OUTER"}
                if around and not any("MERGED" in self.order(d, o) for o in counted):
                    counted.append(d)
            most = max(most, prod(self.sizes[d][0] for d in counted))
        return most
