"""The paths of watched warps through loops that the assembler has unrolled: which copy of a block each execution runs.

    path in the IR       head body body body body body body next
    in machine code      head [0.0 0.1 0.2 0.3] [1.0 1.1] next       a group of four copies, then one of two

An assembler's code takes as many iterations at once as it can: the group with most copies as often as there are iterations for it, then the
next. What no group is small enough for is done by one with more copies, whose others are guarded, else by the one that repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.cost.loop_copies import Group, UnrolledLoop, copy_label
from kernelwright.codegen.cost.slow_paths import slow_label
from kernelwright.device.timing_model.counters import BlockCount, Observed

Integers = npt.NDArray[np.int64]


def laid_on_copies(observed: Observed, loops: Sequence[UnrolledLoop]) -> Observed:
    """The launch with the executions of unrolled blocks as those of their copies; as it is where no loop is unrolled, or that is done.

    Counts are divided as the watched warps' are; where none was watched in a loop, all run the copies of its largest group in turn.
    """
    paths = _Paths(observed)
    done = [paths.lay_on(loop) for loop in loops]
    return paths.observed() if any(done) else observed


class _Paths:
    """The paths of all watched warps, one after the other."""

    def __init__(self, observed: Observed) -> None:
        self._before = observed
        self._blocks = list(observed.blocks)
        self._numbers: dict[tuple[str, str], list[int]] = {}
        """The pieces of each IR block."""
        for n, block in enumerate(observed.blocks):
            self._numbers.setdefault((block.function, block.label), []).append(n)

    @cached_property
    def _lengths(self) -> Integers:
        return np.array([len(path) for block in self._before.trace for path in block.paths], np.int64)

    @cached_property
    def _entries(self) -> Integers:
        paths = [path for block in self._before.trace for path in block.paths]
        return np.concatenate([np.zeros(0, np.int32), *paths]).astype(np.int64)

    @cached_property
    def _first(self) -> Integers:
        """Where the warps' entries begin."""
        return (np.cumsum(self._lengths) - self._lengths)[self._lengths > 0]

    def lay_on(self, loop: UnrolledLoop) -> bool:
        """Has the loop's entries stand for copies; whether there were any."""
        key = loop.function
        pieces = sorted(n for label in loop.blocks for n in self._numbers.get((key, label), ()))
        if not pieces or (key, copy_label(loop.header, 0, 0)) in self._numbers:
            return False
        place = np.full(len(self._blocks), -1, np.int64)
        place[pieces] = np.arange(len(pieces))
        names = [(g, c) for g, group in enumerate(loop.groups) for c in range(group.copies)]
        inside = self._inside(loop, pieces)
        copy = self._copies_taken(loop, inside)
        own = place[self._entries[inside]]
        inside, copy, own = inside[own >= 0], copy[own >= 0], own[own >= 0]
        taken = own * len(names) + copy
        self._entries[inside] = len(self._blocks) + taken
        counts = np.bincount(taken, minlength=len(pieces) * len(names))
        largest = max(range(len(loop.groups)), key=lambda g: (loop.groups[g].copies, loop.groups[g].repeats))
        unseen = np.array([g == largest for g, _ in names], np.int64)
        for n, seen in zip(pieces, counts.reshape(len(pieces), len(names)), strict=True):
            before = self._blocks[n]
            shares = seen if seen.any() else unseen
            parts = zip(names, _divided(before.executions, shares), _divided(before.lanes, shares), strict=True)
            self._blocks[n] = replace(before, executions=0, lanes=0)
            self._blocks += [
                BlockCount(key, copy_label(before.label, g, c), before.barriers, before.starts, executions, lanes)
                for (g, c), executions, lanes in parts
            ]
        return True

    def observed(self) -> Observed:
        """The launch with these paths and counts."""
        parts = iter(
            np.split(self._entries.astype(np.int32), np.cumsum(self._lengths)[:-1]) if len(self._lengths) else []
        )
        trace = (replace(block, paths=tuple(next(parts) for _ in block.paths)) for block in self._before.trace)
        return replace(self._before, blocks=tuple(self._blocks), trace=tuple(trace))

    def _inside(self, loop: UnrolledLoop, pieces: Sequence[int]) -> Integers:
        """The entries of a loop: of these pieces, and of slow paths of its divisions."""
        wanted = np.zeros(len(self._blocks), bool)
        slow = (n for label in loop.blocks for n in self._numbers.get((loop.function, slow_label(label)), ()))
        wanted[[*pieces, *slow]] = True
        return np.flatnonzero(wanted[self._entries])

    def _copies_taken(self, loop: UnrolledLoop, inside: Integers) -> Integers:
        """Per entry inside: which of all groups' copies runs it."""
        if not len(inside):
            return inside
        warps = np.searchsorted(self._first, inside, side="right")
        entered = np.concatenate([[True], (np.diff(inside) != 1) | (np.diff(warps) != 0)])
        run = np.cumsum(entered) - 1
        starts = np.flatnonzero(entered)
        headers = np.zeros(len(self._blocks), np.int64)
        for n in self._numbers.get((loop.function, loop.header), ()):
            headers[n] = self._blocks[n].starts and not self._blocks[n].barriers
        begins = headers[self._entries[inside]]
        # Counted from 0 in each run; what is before the first header of a run belongs to its first iteration.
        iteration = np.cumsum(begins)
        before: Integers = iteration[starts] - begins[starts]
        at = np.maximum(iteration - before[run] - 1, 0)
        many = np.maximum(np.add.reduceat(begins, starts), 1)
        found = np.zeros(len(inside), np.int64)
        base = 0
        for group, done in zip(loop.groups, _shared_out(many, loop.groups), strict=True):
            mine = (at >= 0) & (at < done[run])
            found[mine] = base + at[mine] % group.copies
            at -= done[run]
            base += group.copies
        return found


def _shared_out(many: Integers, groups: Sequence[Group]) -> list[Integers]:
    """How many of each run's iterations each group does."""
    left = many.copy()
    done = [np.zeros_like(many) for _ in groups]
    for g, group in enumerate(groups):
        if group.before:
            done[g] = np.minimum(left, group.copies)
            left = left - done[g]
    order = sorted((g for g in range(len(groups)) if not groups[g].before), key=lambda g: (-groups[g].copies, g))
    for g in order:
        copies = groups[g].copies
        done[g] = left // copies * copies if groups[g].repeats else np.where(left >= copies, copies, 0)
        left = left - done[g]
    for g in reversed(order):  # guarded copies do what is less than all of them
        if not groups[g].repeats:
            fits = (left > 0) & (groups[g].copies >= left) & (done[g] == 0)
            done[g] = np.where(fits, left, done[g])
            left = np.where(fits, 0, left)
    main = next((g for g in order if groups[g].repeats), order[0])
    done[main] = done[main] + left
    return done


def _divided(total: int, shares: Integers) -> list[int]:
    """``total`` in whole parts that are as the shares are, and together are it."""
    ends = [int(total) * int(s) // int(shares.sum()) for s in np.cumsum(shares)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
