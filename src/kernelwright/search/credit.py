"""Which kinds of genes pay: adaptive pursuit (Thierens 2005, "An adaptive pursuit strategy for allocating operator
probabilities").

Each kind has a quality, a running mean of its rewards; the kind with the highest quality is pursued: its weight goes
towards the most that leaves every other kind ``LEAST``, theirs towards that least.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

LEAST = 0.5
"""What no kind's weight falls under, as a share of an even one: what pays late must still be tried."""
LEARNING = 0.05
"""How far one reward moves a quality."""
PURSUIT = 0.02
"""How far one reward moves the weights."""


class Credit:
    """Weights of the kinds seen so far, adding up to 1."""

    def __init__(self) -> None:
        self._quality: dict[str, float] = {}
        self._weight: dict[str, float] = {}

    @property
    def weights(self) -> Mapping[str, float]:
        """By kind its share, 0 to 1; a copy."""
        return dict(self._weight)

    def reward(self, kind: str, reward: float) -> None:
        """``reward`` between 0 (useless) and 1."""
        self._meet(kind)
        self._quality[kind] += LEARNING * (reward - self._quality[kind])
        least = LEAST / len(self._weight)
        most = 1 - (len(self._weight) - 1) * least
        leader = max(self._quality, key=lambda k: self._quality[k])
        for k, weight in self._weight.items():
            self._weight[k] = weight + PURSUIT * ((most if k == leader else least) - weight)

    def choose(self, rng: random.Random, offers: Sequence[tuple[str, T]]) -> T:
        """One of the (kind, thing) on offer, by the weights of their kinds."""
        for kind, _ in offers:
            self._meet(kind)
        return rng.choices([thing for _, thing in offers], [self._weight[kind] for kind, _ in offers])[0]

    def _meet(self, kind: str) -> None:
        """A new kind starts with the mean quality and an even weight."""
        if kind in self._weight:
            return
        count = len(self._weight)
        self._quality[kind] = sum(self._quality.values()) / count if count else 0.0
        self._weight = {k: w * count / (count + 1) for k, w in self._weight.items()}
        self._weight[kind] = 1 / (count + 1)
