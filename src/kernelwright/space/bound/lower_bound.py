"""How fast a partial candidate could still be, and what limits it.

    bound = LowerBound(backbone, space, gpu("h200"))
    bound.time_us(state)            # no completion of the candidate is estimated faster, its launch not counted
    print(bound.explain(state))

It is below what the timing model estimates of any completion, as tested on executed kernels (docs/generated-kernels.md).
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.bound.domains import Numbering
from kernelwright.space.bound.least_work import least_work, reuses
from kernelwright.space.bound.library import bound_library
from kernelwright.space.bound.machine import TERMS, Machine
from kernelwright.space.computation.objects import Backbone, Dim, Instruction
from kernelwright.target import Gpu

State = npt.NDArray[np.uint16]

MOST_DIMS, MOST_INSTRUCTIONS, MOST_ARRAYS, MOST_LOOPS, SIZES = 512, 128, 32, 64, 16
OPERATIONS = {"load": 0, "store": 1, "put": 2, "get": 3}
OTHER = 4

INSTRUCTION = np.dtype(
    [(n, "<i4") for n in ("first", "last", "own_first", "own_last", "step_first", "step_last")]
    + [(n, "<i4") for n in ("operation", "array", "unit_stride", "exists", "yes", "space")]
    + [(n, "<f8") for n in ("executions", "fma", "special", "issue", "chain", "per_sector", "bytes")]
)
STEP = np.dtype([("dim", "<i4"), ("begins_loop", "<i4"), ("stride", "<f8")])
REUSE = np.dtype(
    [(n, "<i4") for n in ("reduction", "producer", "is_load", "temporary")]
    + [(n, "<i4") for n in ("dim_first", "dim_last", "rest_first", "rest_last")]
)
TEMPORARY = np.dtype([("put", "<i4"), ("get", "<i4"), ("exists", "<i4"), ("yes", "<i4")])
FIGURES = (
    "multiprocessors", "blocks", "warps", "issue", "fma", "xu", "request", "l1_sector", "wavefront", "l2_sector",
    "l2_sector_of_one", "memory_byte", "add_latency", "load_latency", "shared_latency", "barrier", "joined",
)  # fmt: skip
WORK = (
    "instructions", "global requests", "sectors at L1", "shared requests", "sectors at L2", "fewest blocks", "most blocks",
)  # fmt: skip
"""Over the whole launch; instructions and requests are those of warps."""
COUNTS = ("dims", "instructions", "temporaries", "arrays", "store")
KINDS = ("LOOP", "UNROLL", "VECTOR", "BLOCK", "THREAD")
ORDERS = ("OUTER", "INNER", "MERGED")
AXES = ("MAPPED", "NOT")
SPACES = ("SHARED", "GLOBAL")
TABLES = (
    "kind", "size", "of", "value", "extent", "tile_first", "tile", "partial", "reduced",
)  # fmt: skip
MORE_TABLES = ("pair", "inside", "axes", "own", "loop_first", "loop")


class _Figures(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_double) for name in FIGURES)


class _Bound(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int32) for name in (*COUNTS, *KINDS, *ORDERS, *AXES, *SPACES, "reuses")),
        *((name, ctypes.c_void_p) for name in TABLES),
        ("partial_loops", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in MORE_TABLES),
        ("loops", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("instruction", "step", "temporary", "reuse", "reuse_dim")),
        ("machine", _Figures),
    )


@dataclass(frozen=True)
class Explanation:
    """``cycles`` by term, the largest deciding; ``origin`` says of each where it comes from."""

    time_us: float
    cycles: dict[str, float]
    origin: dict[str, str]

    @property
    def limit(self) -> str:
        """The name of the term with the most cycles."""
        return max(self.cycles, key=lambda name: self.cycles[name])

    def __str__(self) -> str:
        ordered = sorted(self.cycles.items(), key=lambda pair: -pair[1])
        lines = [f"    {name:8} {cycles:12,.0f} cycles  {self.origin[name]}" for name, cycles in ordered if cycles]
        return "\n".join([f"at least {self.time_us:.2f} us, limited by {self.limit}", *lines])


class LowerBound:
    """Of candidates of one space on one GPU. Not for several threads at once."""

    def __init__(
        self,
        backbone: Backbone,
        numbering: Numbering,
        gpu: Gpu,
        *,
        overlap: bool = False,
    ) -> None:
        """``overlap``: take parts of the machine to overlap perfectly, as no model can exclude; else as the timing model does.

        Raises ``Misuse`` for a computation with more than 512 dims, 128 instructions, 32 arrays or 64 loops, ``ToolError`` when C cannot
        be compiled.
        """
        for things, most, what in (
            (backbone.dims, MOST_DIMS, "dims"),
            (backbone.instructions, MOST_INSTRUCTIONS, "instructions"),
            (backbone.arrays, MOST_ARRAYS, "arrays"),
            (backbone.loops, MOST_LOOPS, "loops"),
        ):
            if len(things) > most:
                raise Misuse(f"{backbone.name} has {len(things)} {what}: at most {most} can be bounded")
        self.machine = Machine.of(gpu)
        self.title = gpu.label
        self._norms = (0.0, 0.0) if overlap else (float(self.machine.norm), float(self.machine.wait_norm))
        self._library = bound_library()
        self._arrays = _tables(backbone, numbering)
        numbers = _bits(backbone, numbering) | {
            "dims": len(backbone.dims),
            "instructions": len(backbone.instructions),
            "temporaries": len(backbone.temporaries),
            "arrays": len(backbone.arrays),
            "store": next(n for n, i in enumerate(backbone.instructions) if i.operation == "store"),
            "reuses": len(reuses(backbone)),
            "loops": len(self._arrays["loop_first"]) - 1,
            "partial_loops": len(backbone.partial_loops),
        }
        figures = _Figures(**{name: float(getattr(self.machine, name)) for name in FIGURES})
        addresses = {name: array.ctypes.data for name, array in self._arrays.items()}
        self._bound = _Bound(**numbers, **addresses, machine=figures)
        assert self._library.bound_struct_bytes() == ctypes.sizeof(_Bound), "lower_bound.py and bound.c disagree"
        self._address = ctypes.addressof(self._bound)
        self._cycles, self._work = np.zeros(len(TERMS)), np.zeros(len(WORK))
        self._out = self._cycles.ctypes.data, self._work.ctypes.data

    def time_us(self, state: State) -> float:
        """At least so many microseconds, without the launch itself."""
        cycles: float = self._library.bound_terms(self._address, state.ctypes.data, *self._norms, *self._out)
        return cycles / self.machine.clock_mhz

    def times_us(self, states: State) -> npt.NDArray[np.float64]:
        """Of each row of ``states``, shape (n, variables)."""
        found = np.empty(len(states))
        rows = np.ascontiguousarray(states)
        self._library.bound_many(self._address, rows.ctypes.data, *rows.shape, *self._norms, found.ctypes.data)
        return found / self.machine.clock_mhz

    def work(self, state: State) -> dict[str, float]:
        """What the launch does at least, by what is counted: ``WORK``."""
        self.time_us(state)
        return dict(zip(WORK, self._work.tolist(), strict=True))

    def explain(self, state: State) -> Explanation:
        """The bound of a partial candidate with the cycles of each term, and in words what makes them."""
        time_us = self.time_us(state)
        cycles = dict(zip(TERMS, self._cycles.tolist(), strict=True))
        issued, requests, sectors, shared, at_l2, fewest, most = self._work.tolist()
        m = self.machine
        together = _busy_together(fewest, most, m)
        busy = f"on at most {together:,.0f} of {m.multiprocessors} multiprocessors"
        # The figures of one term each: what is done, and what does it.
        origin = {
            "issue": f"{issued:,.0f} instructions of warps, {1 / m.issue:g} a cycle {busy}",
            "fma": f"{cycles['fma'] * together / m.fma:,.0f} multiply-adds of warps, {1 / m.fma:g} a cycle {busy}",
            "xu": f"{cycles['xu'] * together / m.xu:,.0f} special functions of warps, {1 / m.xu:g} a cycle {busy}",
            "l1": f"{requests:,.0f} requests for {sectors:,.0f} sectors, {shared:,.0f} to shared memory, {busy}",
            "l2": f"{at_l2:,.0f} sectors that blocks do not have in L1 yet, {1 / m.l2_sector:g} a cycle",
            "memory": f"{cycles['memory'] / m.memory_byte:,.0f} bytes that must come from memory or go there",
            "latency": f"a chain of dependent operations, in rounds of {fewest:,.0f} blocks at least",
        }
        return Explanation(time_us, cycles, origin)


def _busy_together(fewest: float, most: float, machine: Machine) -> float:
    """Multiprocessors that share the work, on average over the time of the one with most blocks."""
    if fewest == most:
        return most / math.ceil(most / machine.multiprocessors)
    return min(most, machine.multiprocessors)


def _bits(backbone: Backbone, numbering: Numbering) -> dict[str, int]:
    """The masks of kinds, orders and axes of threads, as the space numbers their values."""
    dim, other = backbone.dims[0], backbone.instructions[-1]
    kinds, orders = numbering.values("dim_kind", dim), numbering.values("order", dim, other)
    found = {name: 1 << kinds.index(name) for name in KINDS} | {name: 1 << orders.index(name) for name in ORDERS}
    if len(backbone.static_dims) > 1:
        mappings = numbering.values("thread_mapping", *backbone.static_dims[:2])
        found |= {name: 1 << mappings.index(name) for name in AXES}
    if backbone.temporaries:
        spaces = numbering.values("mem_space", backbone.temporaries[0])
        found |= {name: 1 << spaces.index(name) for name in SPACES}
    return found


def _tables(backbone: Backbone, numbering: Numbering) -> dict[str, npt.NDArray[Any]]:
    number = {d: n for n, d in enumerate(backbone.dims)}
    partial = {loop: n for n, loop in enumerate(backbone.partial_loops, 1)}
    of = {i.name: n for n, i in enumerate(backbone.instructions)}
    value = np.zeros((len(number), SIZES))
    for d, n in number.items():
        if d.is_static:
            sizes = numbering.values("size", d)
            value[n, : len(sizes)] = [float(s) for s in sizes]
    tiles = [_tiles(backbone, d) if not d.is_static else [] for d in backbone.dims]
    own = [backbone.own_dims(i) for i in backbone.instructions]
    steps = [list(_steps(i)) for i in backbone.instructions]
    store = next(i for i in backbone.instructions if i.operation == "store")
    loops = [[d for d in store.dims if d.loop == loop] for loop in dict.fromkeys(d.loop for d in store.dims)]
    rows = []
    at = own_at = step_at = 0
    for i, work, owned, walked in zip(backbone.instructions, least_work(backbone), own, steps, strict=True):
        unit = i.access is None or any(abs(s) == 1 for loop, s in i.access.strides if loop.extent > 1)
        exists, yes = _presence(backbone, numbering, i.temporary) if i.temporary is not None else (-1, 0)
        space = numbering.variable("mem_space", backbone.temporary(i.temporary))[0] if i.temporary is not None else -1
        rows.append(
            (at, at + len(i.dims), own_at, own_at + len(owned), step_at, step_at + len(walked),
             OPERATIONS.get(i.operation, OTHER), work.array, int(unit), exists, yes, space,
             work.executions, work.fma, work.special, work.issue, work.chain, work.per_sector, work.bytes)
        )  # fmt: skip
        at, own_at, step_at = at + len(i.dims), own_at + len(owned), step_at + len(walked)
    temporaries = [
        (of[t.put.name], of[t.get.name], *_presence(backbone, numbering, t.name)) for t in backbone.temporaries
    ]
    integers = {
        "kind": [numbering.variable("dim_kind", d)[0] for d in backbone.dims],
        "size": [numbering.variable("size", d)[0] if d.is_static else -1 for d in backbone.dims],
        "of": [of[d.instruction] for d in backbone.dims],
        "tile_first": _starts(tiles),
        "tile": [number[t] for each in tiles for t in each],
        "partial": [partial.get(d.loop, 0) for d in backbone.dims],
        "reduced": [int(not d.is_parallel) for d in backbone.dims],
        "pair": [_order(numbering, a, b) for a in backbone.dims for b in backbone.dims],
        "axes": [
            numbering.variable("thread_mapping", a, b)[0] if a != b and a.is_static and b.is_static else -1
            for a in backbone.dims
            for b in backbone.dims
        ],
        "inside": [_order(numbering, d, i) for d in backbone.dims for i in backbone.instructions],
        "own": [number[d] for each in own for d in each],
        "loop_first": _starts(loops),
        "loop": [number[d] for each in loops for d in each],
    }
    reuse_rows, reuse_dims = [], list[int]()
    for u in reuses(backbone):
        ends = [len(reuse_dims), len(reuse_dims) + len(u.dims), len(reuse_dims) + len(u.dims) + len(u.rests)]
        reuse_rows.append((u.reduction, u.producer, int(u.is_load), u.temporary, ends[0], ends[1], ends[1], ends[2]))
        reuse_dims += [number[d] for d in (*u.dims, *u.rests)]
    walked_rows = [(number[d], int(begins), stride) for each in steps for d, begins, stride in each]
    return {
        **{name: np.array(values or [0], np.int32) for name, values in integers.items()},
        "value": value,
        "extent": np.array([float(d.loop.extent) for d in backbone.dims]),
        "instruction": np.array(rows, INSTRUCTION),
        "step": np.array(walked_rows or [(0, 0, 0.0)], STEP),
        "reuse": np.array(reuse_rows or [(0,) * 8], REUSE),
        "reuse_dim": np.array(reuse_dims or [0], np.int32),
        "temporary": np.array(temporaries or [(0, 0, 0, 0)], TEMPORARY),
    }


def _presence(backbone: Backbone, numbering: Numbering, name: str) -> tuple[int, int]:
    temporary = backbone.temporary(name)
    index, _ = numbering.variable("exists", temporary)
    return index, 1 << numbering.values("exists", temporary).index("YES")


def _order(numbering: Numbering, a: Dim, b: Dim | Instruction) -> int:
    if a == b:
        return -1
    index, is_mirrored = numbering.variable("order", a, b)
    return 2 * index + int(is_mirrored)


def _tiles(backbone: Backbone, rest: Dim) -> list[Dim]:
    return [d for d in backbone.instruction(rest.instruction).dims if d.loop == rest.loop and d.is_static]


def _starts(groups: list[list[Dim]]) -> list[int]:
    found = [0]
    for group in groups:
        found.append(found[-1] + len(group))
    return found


def _steps(i: Instruction) -> Iterator[tuple[Dim, bool, float]]:
    """The dims of an access, loop by loop, innermost first, with the loop's stride."""
    for loop, stride in i.access.strides if i.access is not None else ():
        levels = sorted((d for d in i.dims if d.loop == loop), key=lambda d: -d.level)
        for n, dim in enumerate(levels):
            yield dim, n == 0, float(abs(stride))
