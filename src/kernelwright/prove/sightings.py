"""What the checker saw in a run, by site (``evaluate/judging/fault_sites.py``): how often, and the first time in words."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.device.arena import Arena
from kernelwright.device.virtual_gpu.gpu import position
from kernelwright.evaluate.judging.fault_sites import SCOPES, End, Places, Site, SiteKind, site_of
from kernelwright.launch import Triple
from kernelwright.prove.evidence import Evidence


@dataclass
class Sight:
    """How often a site was seen, and the first time in words."""

    evidence: Evidence
    count: int


Sites = dict[Site, Sight]


def add(sites: Sites, site: Site, evidence: Evidence, count: int) -> None:
    known = sites.get(site)
    if known is None:
        sites[site] = Sight(evidence, count)
    else:
        known.count += count


def memory_at(address: int, size: int, places: Places, arena: Arena) -> tuple[str, bool]:
    """The memory at an address, and whether the access leaves it."""
    if own := places.own_memory(address):
        return own, False
    inside = arena.find(address)
    if inside is not None and address + size <= inside.end:
        return f"'{inside.name}'", False
    near = inside or arena.nearest(address)
    return (f"'{near.name}'" if near else "memory"), True


def note(sites: Sites, found: Found, places: Places, grid: Triple, block: Triple, arena: Arena) -> None:
    """Puts what a watched launch noticed among ``sites``."""
    memory, beyond = memory_at(found.address, found.size, places, arena)
    site = site_of(found, places, memory, beyond=beyond)
    if site in sites:
        sites[site].count += found.count
    else:
        sites[site] = Sight(_evidence(site, found, places, grid, block), found.count)


def _evidence(site: Site, found: Found, places: Places, grid: Triple, block: Triple) -> Evidence:
    here = f"block {position(found.block, grid)} thread {position(found.thread, block)}"
    if found.other is None:
        end = site.ends[0]
        what = "past the end of" if site.kind == "out-of-bounds" else "that nobody has written, of"
        sentence = f"{here} reads {found.size} bytes {what} {site.memory} at {end}"
        return Evidence(sentence, site.kind, kernel=site.kernel, place=str(end), count=found.count)
    first, second = places.end(found.verbs[0], found.other), places.end(found.verbs[1], found.origin)
    there = f"block {position(found.other_block, grid)} thread {position(found.other_thread, block)}"
    sentence = (
        f"{first.verb} at {first} by {there} and {second.verb} at {second} by {here}, {SCOPES[found.scope]}, "
        f"touch the same {found.size} bytes of {site.memory}, and nothing orders them"
    )
    return Evidence(sentence, "race", kernel=site.kernel, place=str(first), other=str(second), count=found.count)


__all__ = ["SCOPES", "End", "Places", "Sight", "Site", "SiteKind", "Sites", "add", "memory_at", "note"]
