"""What a finished run leaves behind for people: its best variant explained, a page, and a folder to take along.

finish(run)      kw-runs/hotspot-1/report.html
                 kw-runs/hotspot-1/export-v78/
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kernelwright.errors import KernelwrightError
from kernelwright.evolution.genomes import EvolveRun
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.labels import REJECTED
from kernelwright.report.evolution import write_page
from kernelwright.report.selected_variant import UNPROVEN, spoken_of
from kernelwright.stories.explain import explain
from kernelwright.stories.export import export

T = TypeVar("T")

PART, OLD = ".part", ".old"
"""Endings of an export that is being written, and of one that is being replaced."""


@dataclass(frozen=True)
class Finished:
    """What there is now. ``troubles``: what could not be made, a sentence each; the rest was made all the same."""

    explained: bool
    report: Path | None
    exported: Path | None
    troubles: tuple[str, ...] = ()


def finish(run: EvolveRun, *, jobs: int | None = None, say: Callable[[str], None] = lambda _: None) -> Finished:
    """Explains the variant that the run is about unless that was done, exports it if it is the best, and writes the page.

    The run has come to its end and is open for writing. Everything goes into its folder, in the place of what an earlier
    call left there; killed at any moment, the next call makes what is missing. Raises nothing for what goes wrong on the
    way: a run that was searched for hours is not lost for a full disk at its end.
    """
    troubles: list[str] = []
    spoken = spoken_of(run)
    folder: Path | None = None
    if spoken is not None:
        name = spoken.found.name
        if run.explained(name) is None:
            say("explain")
            _tried(
                lambda: explain(run, name, jobs=jobs, say=lambda what: say(f"explain {what}")), "explaining", troubles
            )
        if spoken.accepted and spoken.label != UNPROVEN and spoken.label not in REJECTED:
            say("export")
            folder = _tried(lambda: _exported(run, name), "exporting", troubles)
    say("report")
    page = _tried(lambda: write_page(run, run.folder / "report.html"), "reporting", troubles)
    explained = spoken is not None and run.explained(spoken.found.name) is not None
    return Finished(explained, page, folder, tuple(troubles))


def _exported(run: EvolveRun, name: str) -> Path:
    """The folder as a whole takes the place of an earlier one, or nothing does."""
    target, part, old = (run.folder / f"export-{name}{ending}" for ending in ("", PART, OLD))
    for left in (part, old):
        shutil.rmtree(left, ignore_errors=True)
    export(run, name, part)
    if (target / "evidence.json").exists():  # ours, from an earlier end of this run
        target.rename(old)
    part.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    return target


def _tried(step: Callable[[], T], what: str, troubles: list[str]) -> T | None:
    try:
        return step()
    except (KernelwrightError, OSError) as error:
        troubles.append(f"{what} failed: {error}")
        return None
