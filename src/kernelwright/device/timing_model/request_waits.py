"""How long the loads of one execution of a block wait: the mean of its own requests to global memory, not of everybody's.

A load whose lanes are all masked off finds a line in L1 that its neighbours use too; a warp of which one lane goes to memory waits
for memory. The mean of both is the wait of neither: it makes cheap warps dear and dear ones cheap, and a block is as slow as its
dearest warp. So each watched request has the wait of where its slowest sector came from, and a machine load takes the waits of that
execution of the IR block it was made from which belongs to the code's:

    path of a warp:   head  then  body  body          head issues, guarded, the load of `then`: the wait of the `then` behind this `head`;
                                                      where another `head` comes first, no lane is left, and nothing is waited for

Executions whose requests are not known take the mean of their access, as all do where no paths were logged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.cost.scoreboard_steps import Step
from kernelwright.device.timing_model.counters import AccessCount, BlockCount, BlockTrace, Observed
from kernelwright.lazy_dataclasses import dataclass

UNKNOWN = -1
Numbers = npt.NDArray[np.int32]
Exact = npt.NDArray[np.float64]
Key = tuple[str, str]
"""Function and label of an IR block."""


@dataclass(frozen=True)
class Columns:
    """``of_step``: per step of the table, which of its range's waits it takes, -1 for those that take none; ``wanted``: per block that
    issues (its home), the blocks whose loads it issues, and whether behind a guard."""

    of_step: tuple[int, ...]
    wanted: dict[Key, tuple[tuple[str, bool], ...]]


def columns_of(steps: Sequence[Step], homes: Sequence[Key], takes: Sequence[bool]) -> Columns:
    """``takes``: per step, whether it loads from global memory."""
    wanted: dict[Key, dict[tuple[str, bool], int]] = {}
    of_step = []
    for step, home, loads in zip(steps, homes, takes, strict=True):
        if not loads:
            of_step.append(-1)
            continue
        some = wanted.setdefault(home, {})
        of_step.append(some.setdefault((step.block, step.guarded and step.block != home[1]), len(some)))
    return Columns(tuple(of_step), {home: tuple(some) for home, some in wanted.items()})


@dataclass(frozen=True, eq=False)
class OwnWaits:
    """``begins``: per watched block, for each entry of its warps' paths one after the other, where its waits begin in ``exact``, which
    has them in fractions of cycles."""

    begins: tuple[Numbers, ...]
    exact: Exact

    def cycles(self, factor: float = 1.0) -> Numbers:
        """The waits, all so many times as long."""
        return np.rint(np.where(self.exact >= 0, factor * self.exact, self.exact)).astype(np.int32)


def own_waits(
    observed: Observed,
    trace: Sequence[BlockTrace],
    waits: Sequence[npt.NDArray[np.float64]],
    columns: Columns,
    near: float,
) -> OwnWaits:
    """``waits``: per block of ``trace``, the cycles that each of its requests waits; ``near``: those of a hit in L1."""
    paths = _Paths(observed, trace)
    known = _by_execution(observed, trace, waits, paths, near)
    keys = [(b.function, b.label) for b in observed.blocks]
    sizes = np.array([len(columns.wanted.get(key, ())) for key in keys] or [0], np.int64)[paths.pieces]
    begins = np.cumsum(sizes) - sizes
    exact = np.full(int(sizes.sum()), UNKNOWN, np.float64)
    for home, wanted in columns.wanted.items():
        if home not in paths.numbers:
            continue
        entries = np.flatnonzero(paths.keys == paths.numbers[home])
        for column, (label, guarded) in enumerate(wanted):
            exact[begins[entries] + column] = _taken(paths, known, entries, home, (home[0], label), guarded)
    cuts = np.cumsum([sum(map(len, block.paths)) for block in trace])[:-1]
    return OwnWaits(tuple(np.split(begins.astype(np.int32), cuts)), exact)


class _Paths:
    """The paths of all watched warps one after the other, and which entries are one execution of an IR block: its pieces between two
    places where warps can stop belong together."""

    def __init__(self, observed: Observed, trace: Sequence[BlockTrace]) -> None:
        lengths = [len(path) for block in trace for path in block.paths]
        self.base = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        """Where each warp's entries begin; at the end, their number."""
        self.pieces: npt.NDArray[np.int64] = np.concatenate(
            [path for block in trace for path in block.paths] or [np.zeros(0, np.int32)]
        ).astype(np.int64)
        self.numbers: dict[Key, int] = {}
        of_piece = [self.numbers.setdefault((b.function, b.label), len(self.numbers)) for b in observed.blocks]
        self.keys = np.array(of_piece or [0], np.int64)[self.pieces]
        self.until = np.repeat(self.base[1:], lengths)
        """Per entry: where its warp's end."""
        first = np.array([_begins(b) for b in observed.blocks] or [False])[self.pieces]
        group = np.repeat(np.arange(len(lengths)), lengths) * max(1, len(self.numbers)) + self.keys
        order = np.argsort(group, kind="stable")
        fresh = first[order]
        fresh[1:] |= group[order][1:] != group[order][:-1]
        if len(fresh):
            fresh[0] = True
        self.execution = np.empty(len(group), np.int64)
        self.execution[order] = np.cumsum(fresh) - 1
        self.begun = np.zeros(len(group), bool)
        self.begun[order] = fresh
        """Per entry: whether an execution begins there."""
        self._begins: dict[int, npt.NDArray[np.int64]] = {}

    def begins_of(self, key: Key) -> npt.NDArray[np.int64]:
        """The entries where executions of a block begin."""
        number = self.numbers.get(key, -1)
        if number not in self._begins:
            self._begins[number] = np.flatnonzero(self.begun & (self.keys == number))
        return self._begins[number]


def _begins(piece: BlockCount) -> bool:
    return piece.starts and not piece.barriers


def _by_execution(
    observed: Observed,
    trace: Sequence[BlockTrace],
    waits: Sequence[npt.NDArray[np.float64]],
    paths: _Paths,
    near: float,
) -> Exact:
    """Per execution: what a load of it waits; ``UNKNOWN`` where none was logged.

    Of accesses that code generation joined, those left out found their data in L1, so what is left waits longer (``caches.py``).
    """
    executions = int(paths.execution.max(initial=-1)) + 1
    counted = observed.executed or observed.accesses
    loads = np.array([a.kind == "load" and a.space == "global" for a in counted] or [False])
    kept = np.array(_kept(observed, counted) or [1.0])
    warp = 0
    total, number = np.zeros(executions), np.zeros(executions)
    slowest, part = np.zeros(executions), np.ones(executions)
    for block, wait in zip(trace, waits, strict=True):
        asked = block.requests
        some = loads[asked["access"]] & (asked["at"] >= 0) if len(asked) else np.zeros(0, bool)
        mine = asked[some]
        which = paths.execution[paths.base[warp + mine["warp"]] + mine["at"]]
        np.add.at(total, which, wait[some])
        np.add.at(number, which, 1.0)
        np.maximum.at(slowest, which, wait[some])
        part[which] = kept[mine["access"]]
        warp += len(block.paths)
    mean = total / np.maximum(1.0, number)
    fewer = part < 1
    made = np.maximum(part, 1e-9)
    joined = np.minimum(slowest, np.maximum(near, (mean - (1 - part) * near) / made))
    found = np.where(fewer, joined, mean)
    found[number == 0] = UNKNOWN
    return found


def _kept(observed: Observed, counted: Sequence[AccessCount]) -> list[float]:
    """Per access: of its block's loads of global memory, the share that the code makes; 1 where it makes none."""
    made: dict[Key, int] = {}
    executed: dict[Key, int] = {}
    for after, before in zip(observed.accesses, counted, strict=False):
        if before.kind == "load" and before.space == "global":
            key = (before.function, before.label)
            made[key] = made.get(key, 0) + after.requests
            executed[key] = executed.get(key, 0) + before.requests
    keys = [(a.function, a.label) for a in counted]
    return [made[key] / executed[key] if made.get(key) and executed.get(key) else 1.0 for key in keys]


def _taken(
    paths: _Paths, known: Exact, entries: npt.NDArray[np.int64], home: Key, made_from: Key, guarded: bool
) -> Exact:
    """What a load made from one block waits in each of these entries of the block that issues it: as long as the requests of the next
    execution of the block it was made from, up to the next of the issuing one; of the one before, where that comes first in a warp."""
    if made_from == home:
        return known[paths.execution[entries]]
    begins, homes = paths.begins_of(made_from), paths.begins_of(home)
    without = 0.0 if guarded else float(UNKNOWN)
    if not len(begins):
        return np.full(len(entries), without)
    if _comes_first(paths, begins, homes):
        found = begins[np.maximum(0, np.searchsorted(begins, entries) - 1)]
        own = np.maximum(0, np.searchsorted(homes, entries, side="right") - 1)
        before = np.concatenate([[-1], homes])[own]
        there = (found < entries) & (found > before) & (paths.until[found] == paths.until[entries])
    else:
        following = np.searchsorted(begins, entries)
        found = begins[np.minimum(following, len(begins) - 1)]
        again = np.concatenate([homes, [len(paths.keys)]])
        behind = np.searchsorted(again, entries, side="right").clip(max=len(again) - 1)
        there = (following < len(begins)) & (found < np.minimum(again[behind], paths.until[entries]))
    return np.where(there, known[paths.execution[found]], without)


def _comes_first(paths: _Paths, begins: npt.NDArray[np.int64], homes: npt.NDArray[np.int64]) -> bool:
    """Whether most warps come to the block a load was made from before they come to the one that issues it: the assembler charges whole
    blocks to one home, which may be the last of a loop's."""
    firsts = []
    for some in (begins, homes):
        warps, at = np.unique(paths.until[some], return_index=True)
        firsts.append(dict(zip(warps.tolist(), some[at].tolist(), strict=True)))
    early, late = firsts
    both = [bool(early[warp] < late[warp]) for warp in early if warp in late]
    return 2 * sum(both) > len(both)
