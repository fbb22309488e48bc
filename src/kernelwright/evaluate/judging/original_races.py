"""What the original does undefined itself, in sentences for the person who starts a search: which kernel, which lines, which kind.

the original races itself in expand_frontier: write at bfs.cu:29 and write at bfs.cu:29, by different blocks (no value differed)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelwright.cuda.names import readable
from kernelwright.device.checking.findings import SCOPES
from kernelwright.device.describe_access import plural
from kernelwright.evaluate.judging.fault_sites import End, Site

SHOWN = 4
"""Places of one kernel that are named."""
NEEDED = "so that what is found can be 'as safe as the original', not clean"


def remarks(sites: Iterable[Site], accept: str) -> list[str]:
    """``sites``: what was seen of the original. ``accept``: what is demanded of variants."""
    by_kernel: dict[tuple[str, str], list[Site]] = {}
    for site in sorted(sites):
        by_kernel.setdefault((site.kernel, site.kind), []).append(site)
    said = []
    for (kernel, kind), found in by_kernel.items():
        what = "races itself" if kind == "race" else "reads unwritten memory"
        places = _places(found)
        more = f"; and {plural(len(places) - SHOWN, 'more place')}" if len(places) > SHOWN else ""
        said.append(f"the original {what} in {readable(kernel)}: {'; '.join(places[:SHOWN])}{more}")
    if said:
        way = ", which --accept safe takes" if accept in ("proven", "clean") else ""
        said[-1] += f". Variants are compared with it place by place, {NEEDED}{way}"
    return said


def _places(found: Sequence[Site]) -> list[str]:
    """A pair of lines that races at several distances is one thing to fix."""
    scopes: dict[tuple[tuple[End, ...], bool], list[str]] = {}
    for site in found:
        scopes.setdefault((site.ends, site.silent), []).append(SCOPES[site.scope])
    return [_place(ends, silent, list(dict.fromkeys(apart))) for (ends, silent), apart in scopes.items()]


def _place(ends: tuple[End, ...], silent: bool, apart: Sequence[str]) -> str:
    if len(ends) == 1:
        return f"at {ends[0]}"
    one, other = ends
    by = " and ".join([", ".join(apart[:-1]), apart[-1]] if len(apart) > 1 else apart)
    return f"{one.verb} at {one} and {other.verb} at {other}, by {by}{' (no value differed)' if silent else ''}"
