"""What the checker saw in a run, by site (``evaluate/judging/fault_sites.py``): how often, and the first time in words."""

from __future__ import annotations

from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.device.arena import Arena
from kernelwright.device.checking.findings import SCOPES
from kernelwright.device.overread import Overread
from kernelwright.device.virtual_gpu.gpu import position
from kernelwright.evaluate.judging.fault_sites import (
    End,
    Places,
    Site,
    SiteKind,
    overread_site,
    site_of,
)
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.evidence import Evidence


@dataclass
class Sight:
    """How often a site was seen, and the first time in words."""

    evidence: Evidence
    count: int


Sites = dict[Site, Sight]


def add(sites: Sites, site: Site, evidence: Evidence, count: int) -> None:
    """Adds ``count`` sightings at a site; the first evidence is kept."""
    known = sites.get(site)
    if known is None:
        sites[site] = Sight(evidence, count)
    else:
        known.count += count


def memory_at(address: int, places: Places, arena: Arena) -> str:
    """The memory at an address."""
    inside = arena.find(address)
    return places.own_memory(address) or (f"'{inside.name}'" if inside else "memory")


def note(sites: Sites, found: Found, places: Places, grid: Triple, block: Triple, arena: Arena) -> None:
    """Puts what a watched launch noticed among ``sites``."""
    site = site_of(found, places, memory_at(found.address, places, arena))
    if site in sites:
        sites[site].count += found.count
    else:
        sites[site] = Sight(_evidence(site, found, places, grid, block), found.count)


def note_overread(sites: Sites, one: Overread, places: Places) -> None:
    """Puts reads past a buffer among ``sites``."""
    site = overread_site(one, places, f"'{one.buffer.name}'")
    place = str(site.ends[0])
    sentence = f"block {one.block} thread {one.thread} reads past a buffer at {place}, {one.reach}"
    add(sites, site, Evidence(sentence, site.kind, kernel=site.kernel, place=place, count=one.count), one.count)


def _evidence(site: Site, found: Found, places: Places, grid: Triple, block: Triple) -> Evidence:
    here = f"block {position(found.block, grid)} thread {position(found.thread, block)}"
    if found.other is None:
        end = site.ends[0]
        sentence = f"{here} reads {found.size} bytes that were never written, of {site.memory} at {end}"
        return Evidence(sentence, site.kind, kernel=site.kernel, place=str(end), count=found.count)
    first, second = places.end(found.verbs[0], found.other), places.end(found.verbs[1], found.origin)
    there = f"block {position(found.other_block, grid)} thread {position(found.other_thread, block)}"
    sentence = (
        f"{first.verb} at {first} by {there} and {second.verb} at {second} by {here}, {SCOPES[found.scope]}, "
        f"touch the same {found.size} bytes of {site.memory}, and nothing orders them"
    )
    return Evidence(sentence, "race", kernel=site.kernel, place=str(first), other=str(second), count=found.count)


__all__ = ["End", "Places", "Sight", "Site", "SiteKind", "Sites", "add", "memory_at", "note", "note_overread"]
