"""The hypervolume indicator: the size of what a set of points dominates, up to a reference point. Larger is better."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.search.nsga2 import Point


def hypervolume(points: Sequence[Point], reference: Point) -> float:
    """Exact, by slicing along the last objective; all objectives to be made small.

    A point that is not better than the reference in every objective adds nothing. Two objectives take O(n log n), each
    further one a factor of n: meant for fronts of tens to hundreds of points.
    """
    inside = sorted({p for p in points if all(x < r for x, r in zip(p, reference, strict=True))}, key=lambda p: p[::-1])
    if not inside:
        return 0.0
    if len(reference) == 1:
        return reference[0] - inside[0][0]
    if len(reference) == 2:
        return _area(inside, reference)
    volume = 0.0
    for i, point in enumerate(inside):
        top = inside[i + 1][-1] if i + 1 < len(inside) else reference[-1]
        if top > point[-1]:
            volume += (top - point[-1]) * hypervolume([p[:-1] for p in inside[: i + 1]], reference[:-1])
    return volume


def _area(points: Sequence[Point], reference: Point) -> float:
    """Points in order of the second objective: each adds the strip by which it is better in the first than all before."""
    area, least = 0.0, reference[0]
    for x, y in points:
        if x < least:
            area += (least - x) * (reference[1] - y)
            least = x
    return area
