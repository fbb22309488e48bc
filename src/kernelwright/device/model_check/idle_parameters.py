"""Parameters that change no measured time: a source may mention one that was not in the code that was measured.

Published times of a convolution on two GPUs, for instance, are the same with shared memory padded and without it, where rows of eight
threads meet in banks: the padding was not there (docs/decisions/0045).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kernelwright.device.model_check.tuner_cache import MeasuredVariant, Value
from kernelwright.lazy_dataclasses import dataclass

EQUAL = 1.02
"""One time over another up to which they count as equal: what measuring twice tells apart."""
LEAST_SHARE, LEAST_PAIRS = 0.9, 10


@dataclass(frozen=True)
class IdleParameter:
    """``equal``: the share 0..1 of ``pairs`` of variants, which differ in nothing else, whose times are equal."""

    name: str
    pairs: int
    equal: float


def idle_parameters(variants: Sequence[MeasuredVariant]) -> list[IdleParameter]:
    """The parameters by which nearly no time differs, as the variants list them; of neighbouring values."""
    found = []
    for name in variants[0].parameters if variants else ():
        groups: dict[tuple[Value, ...], list[tuple[Value, float]]] = {}
        for each in variants:
            others = tuple(value for key, value in each.parameters.items() if key != name)
            groups.setdefault(others, []).append((each.parameters[name], each.time_us))
        pairs = [
            max(a, b) / min(a, b)
            for group in groups.values()
            for (_, a), (_, b) in pairwise(sorted(group, key=lambda each: (str(type(each[0])), each)))
        ]
        equal = sum(ratio <= EQUAL for ratio in pairs)
        if len(pairs) >= LEAST_PAIRS and equal >= LEAST_SHARE * len(pairs):
            found.append(IdleParameter(name, len(pairs), equal / len(pairs)))
    return found
