"""A sample of a cache's variants, each estimated or with the cause why not, and what simple predictors would have said."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from kernelwright.codegen.cost.block_weights import Weights
from kernelwright.device.model_check.kernel_description import KernelDescription
from kernelwright.device.model_check.observed_variant import observe_variant
from kernelwright.device.model_check.tuner_cache import MeasuredVariant, TunerCache
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import Estimate, estimate
from kernelwright.errors import CompileError, DeviceError, Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu

ALWAYS = 10
"""The fastest variants, which are in every sample: a search is about them."""


@dataclass(frozen=True)
class CheckedVariant:
    """``seen``: what the estimate is made of. ``trouble``: why there is none."""

    measured: MeasuredVariant
    estimate: Estimate | None
    seen: tuple[Observed, Weights] | None = None
    trouble: str = ""


def variants_of(description: KernelDescription, cache: TunerCache) -> list[MeasuredVariant]:
    """Those that the description's source has. Raises ``Misuse`` where there are none."""
    where = description.where
    found = [v for v in cache.variants if where is None or where.value(v.parameters)]
    if not found:
        raise Misuse(f"no variant of {cache.path} is as 'where' wants it: {where.text if where else ''}")
    return found


def sample(variants: Sequence[MeasuredVariant], n: int, seed: int) -> list[MeasuredVariant]:
    """The fastest ten (of small samples a quarter), and one at random from each of equal parts of the others by time."""
    order = sorted(variants, key=lambda v: (v.time_us, v.name))
    if n >= len(order):
        return order
    chosen = order[: min(ALWAYS, max(1, n // 4))]
    rest = order[len(chosen) :]
    draw = random.Random(seed)
    parts = n - len(chosen)
    cuts = [i * len(rest) // parts for i in range(parts + 1)]
    return chosen + [rest[draw.randrange(a, b)] for a, b in pairwise(cuts)]


def check_variants(
    description: KernelDescription, variants: Sequence[MeasuredVariant], gpu: Gpu
) -> Iterator[CheckedVariant]:
    """In the order given. What cannot be compiled, launched or estimated is told, not raised."""
    for each in variants:
        try:
            seen = observe_variant(description, each.parameters, gpu)
            yield CheckedVariant(each, estimate(*seen, gpu), seen)
        except (CompileError, DeviceError) as error:
            yield CheckedVariant(each, None, trouble=error.message)


PREDICTORS: Mapping[str, Callable[[Estimate], float]] = {
    "instructions": lambda e: sum(e.instructions.values()),
    "roofline": lambda e: max((t.cycles for t in e.terms if t.name in ("fma", "memory")), default=0.0),
    "occupancy": lambda e: -e.occupancy.share,
    "code size": lambda e: float(e.static_instructions),
}
"""Naive ones, which an estimate has to beat: the larger, the slower."""
