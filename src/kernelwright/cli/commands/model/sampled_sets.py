"""Cache files and the kernels they belong to, each sampled and estimated: what ``kw model check`` and ``kw model fit`` begin with."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from kernelwright.cli.support.streams import progress
from kernelwright.device.model_check.check_variants import CheckedVariant, check_variants, sample, variants_of
from kernelwright.device.model_check.kernel_description import KernelDescription, read_description
from kernelwright.device.model_check.tuner_cache import TunerCache, read_tuner_cache
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import GPUS, OWN, Gpu, gpu, gpu_called

LEAST = 3
"""Variants without which ranks mean nothing."""


@dataclass(frozen=True)
class MeasuredSet:
    """A cache file with the kernel that its times are of."""

    cache: TunerCache
    description: KernelDescription


@dataclass(frozen=True)
class SampledSet:
    """``variants``: how many the file has that the description covers; ``checked``: those of the sample."""

    cache: TunerCache
    description: KernelDescription
    variants: int
    checked: tuple[CheckedVariant, ...]


def read_sets(caches: Sequence[Path], kernels: Sequence[Path]) -> list[MeasuredSet]:
    """Each cache with its description, in order; one description may serve all. Raises ``Misuse`` where they do not belong together."""
    if len(kernels) not in (1, len(caches)):
        raise Misuse(
            f"{len(caches)} cache files and {len(kernels)} kernels",
            hint="give --kernel once, or once for each cache, in the same order",
        )
    found = []
    for cache, kernel in zip(caches, [*kernels] * len(caches) if len(kernels) == 1 else kernels, strict=True):
        one = MeasuredSet(read_tuner_cache(cache), read_description(kernel))
        one.description.agrees_with(one.cache)
        found.append(one)
    return found


def gpu_of(sets: Sequence[MeasuredSet], name: str) -> Gpu:
    """The GPU called ``name``, else the one that the files name. Raises ``Misuse`` for none, for an unknown one, and for several."""
    devices = {each.cache.device: each.cache.path for each in sets if each.cache.device}
    if len(devices) > 1:
        (one, first), (other, second) = list(devices.items())[:2]
        raise Misuse(
            f"{first} was measured on {one!r}, and {second} on {other!r}", hint="take the files of one device at a time"
        )
    if name:
        return gpu(name)
    cache = sets[0].cache
    device = next(iter(devices), "")
    found = gpu_called(device)
    if found is None:
        said = f"was measured on {device!r}, which is not in the table" if device else "names no device"
        raise Misuse(f"{cache.path} {said}", hint=f"choose with --device one of {', '.join(GPUS)}, {OWN}")
    return found


def sampled(one: MeasuredSet, on: Gpu, variants: int, seed: int) -> SampledSet:
    """A sample of the set's variants, estimated; says on standard error how far it is. Raises ``Misuse`` where nearly none can be."""
    there = variants_of(one.description, one.cache)
    chosen = sample(there, variants, seed)
    checked: list[CheckedVariant] = []
    begin = time.monotonic()
    for each in check_variants(one.description, chosen, on):
        checked.append(each)
        left = (time.monotonic() - begin) / len(checked) * (len(chosen) - len(checked))
        progress(f"{one.cache.path.name}: {len(checked)} of {len(chosen)} variants, about {left:.0f} s left")
    good = [c for c in checked if c.estimate is not None]
    if len(good) < LEAST:
        why = next((c.trouble for c in checked if c.trouble), "")
        raise Misuse(
            f"{one.cache.path}: only {len(good)} of {len(checked)} variants could be estimated: {why}",
            hint="see --kernel",
        )
    return SampledSet(one.cache, one.description, len(there), tuple(checked))
