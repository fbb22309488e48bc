"""The axes of a temporary that need room, in the order of ``layout``: an axis whose ``put`` and ``get`` dims are merged needs none."""

from __future__ import annotations

from functools import cmp_to_key

from kernelwright.space.computation.objects import Dim, Temporary
from kernelwright.space.cuda_source.addresses import Address
from kernelwright.space.cuda_source.fused_loops import FusedLoops

Axes = tuple[tuple[Dim, Dim], ...]
"""Dims of ``put`` and ``get``, outermost first."""


def tile_axes(loops: FusedLoops, temporary: Temporary) -> Axes:
    """The axes of a temporary that need room, outermost first, each as its two dims."""

    def compare(p: tuple[Dim, Dim], q: tuple[Dim, Dim]) -> int:
        return -1 if loops.leaf.value("layout", p[0], q[0]) == "OUT" else 1

    return tuple(sorted(apart(loops, temporary.axes), key=cmp_to_key(compare)))


def apart(loops: FusedLoops, axes: Axes) -> Axes:
    """The axes whose two dims lie in different loops."""
    return tuple((a, b) for a, b in axes if loops.of[a] is not loops.of[b])


def address_of(loops: FusedLoops, axes: Axes, strides: tuple[int, ...], *, writes: bool) -> Address:
    """Where an iteration writes or reads in a temporary, in elements."""
    return Address(tuple((loops.of[a if writes else b], s) for (a, b), s in zip(axes, strides, strict=True)))
