"""Where the launches of a case did what is undefined, by places that are the same for every candidate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from kernelwright.evaluate.judging.fault_sites import Places, Site, overread_site, site_of
from kernelwright.evaluate.judging.variant_launches import Done


def undefined_in(done: Iterable[Done]) -> set[Site]:
    """Where they raced, or read unwritten memory; ``silent`` where no value differed."""
    sites = set()
    for each in done:
        places = Places(each.built.module.functions[each.built.kernel])
        for found in filter(lambda one: one.is_of_memory, each.launched.result.found):
            memory = places.own_memory(found.address) or _buffer(found.address, each.bounds)
            sites.add(site_of(found, places, memory))
    return sites


def farthest_past_buffers(done: Iterable[Done]) -> dict[Site, int]:
    """Where they read past a buffer, and how far from it at most, in bytes."""
    found: dict[Site, int] = {}
    for each in done:
        for one in each.launched.overreads:
            places = Places(each.built.module.functions[each.built.kernel])
            site = overread_site(one, places, _buffer(one.buffer.address, each.bounds))
            found[site] = max(found.get(site, 0), one.farthest)
    return found


def _buffer(address: int, bounds: NDArray[Any]) -> str:
    """A buffer by its number in the order of addresses, which is the same for every candidate."""
    return f"buffer {int((bounds['start'] <= address).sum())}"
