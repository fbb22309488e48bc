"""How well estimates agree with measured times: ranks first, because a search asks which of two is faster."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from kernelwright.device.timing_model.fit import spearman
from kernelwright.lazy_dataclasses import dataclass

FAVOURITES = 10


@dataclass(frozen=True)
class Agreement:
    """``rank``: Spearman's correlation, ``fastest_half`` of those measured fastest; None where all are equal.

    ``scale``: measured over estimated, the median; ``error``: the median relative error after it. ``regret``: how much slower
    than the best the model's favourite is, or the best of its ten favourites (0.05: 5 %).
    """

    rank: float | None
    fastest_half: float | None
    scale: float
    error: float
    regret: float
    regret_of_ten: float


def agreement(measured: Sequence[float], estimated: Sequence[float]) -> Agreement:
    """Of at least two variants."""
    order = sorted(range(len(measured)), key=lambda i: (measured[i], i))
    half = order[: max(2, len(order) // 2)]
    logs = [math.log(m / e) for m, e in zip(measured, estimated, strict=True)]
    middle = statistics.median(logs)
    favourites = sorted(range(len(measured)), key=lambda i: (estimated[i], i))
    best = min(measured)
    return Agreement(
        rank=spearman(measured, estimated),
        fastest_half=spearman([measured[i] for i in half], [estimated[i] for i in half]),
        scale=math.exp(middle),
        error=math.exp(statistics.median(abs(x - middle) for x in logs)) - 1,
        regret=measured[favourites[0]] / best - 1,
        regret_of_ten=min(measured[i] for i in favourites[:FAVOURITES]) / best - 1,
    )
