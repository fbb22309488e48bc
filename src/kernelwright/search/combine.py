"""Greedy combination in groups: as many of a list of genes as work together, whether they pay alone or not.

Wins are nearly additive, so all together often work, and taking them in at once costs one evaluation instead of one
each. Where they do not, the group is halved, down to the gene that is in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from kernelwright.search.planned import Asking
from kernelwright.search.strategy import Result

G = TypeVar("G", bound=Hashable)

KEPT = 0.75
"""Share of the sum of its genes' gains that a group must bring. More than half, so that of two that do the same one stays
out."""


def combine(
    start: Result[tuple[G, ...]],
    gains: Sequence[tuple[G, float]],
    evaluate: Callable[[list[tuple[G, ...]]], Asking[tuple[G, ...], list[Result[tuple[G, ...]] | None]]],
    *,
    is_better: Callable[[Result[tuple[G, ...]], Result[tuple[G, ...]]], bool],
) -> Asking[tuple[G, ...], Result[tuple[G, ...]]]:
    """The start with the genes that work on top of it, tried in their order.

    ``gains``: each gene with how much it made the first objective smaller when alone. A group is taken in when it is
    better and keeps enough of that promise (``KEPT``); less means that some are in each other's way.
    """
    current = start
    groups = [list(gains)] if gains else []
    while groups:
        group = [(gene, gain) for gene, gain in groups.pop() if gene not in current.candidate]
        if not group:
            continue
        half = (len(group) + 1) // 2
        parts = [group, group[:half]] if len(group) > 1 else [group]
        results = yield from evaluate([(*current.candidate, *(gene for gene, _ in part)) for part in parts])
        for part, result in zip(parts, results, strict=True):
            if result is None or result.objectives is None or not is_better(result, current):
                continue
            assert current.objectives is not None
            promised = sum(gain for _, gain in part)
            if len(part) > 1 and current.objectives[0] - result.objectives[0] < KEPT * promised:
                continue
            current = result
            if part is not group:
                groups.append(group[half:])
            break
        else:
            if len(group) > 1:
                groups += [group[half:], group[:half]]
    return current


def add_harmless(
    start: Result[tuple[G, ...]],
    groups: Sequence[Sequence[G]],
    evaluate: Callable[[list[tuple[G, ...]]], Asking[tuple[G, ...], list[Result[tuple[G, ...]] | None]]],
    *,
    is_better: Callable[[Result[tuple[G, ...]], Result[tuple[G, ...]]], bool],
) -> Asking[tuple[G, ...], Result[tuple[G, ...]]]:
    """The start with genes that gain nothing alone, and something together: of waits that go on side by side the longest alone counts,
    so that each must become shorter before any gain shows.

    A group is taken in when it is better, left out when it ties, and halved when it is worse or rejected, for then one of it is in the
    way of the others.
    """
    current = start
    left = [list(group) for group in reversed(groups)]
    while left:
        group = [gene for gene in left.pop() if gene not in current.candidate]
        if not group:
            continue
        half = (len(group) + 1) // 2
        parts = [group, group[:half]] if len(group) > 1 else [group]
        results = yield from evaluate([(*current.candidate, *part) for part in parts])
        whole, first = results[0], results[-1]
        if whole is None:
            break  # the budget is spent
        if whole.objectives is not None and is_better(whole, current):
            current = whole
        elif len(group) == 1 or (whole.objectives is not None and not is_better(current, whole)):
            continue
        elif first is not None and first.objectives is not None and is_better(first, current):
            current = first
            left.append(group[half:])
        else:
            left += [group[half:], group[:half]]
    return current
