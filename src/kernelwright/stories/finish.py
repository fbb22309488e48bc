"""What a finished run leaves behind for people: its best variant explained, a page, and a folder to take along.

finish(run)      kw-runs/hotspot-1/report.html
                 kw-runs/hotspot-1/export-v78/
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.run import Run
from kernelwright.prove.labels import REJECTED
from kernelwright.report.evolution import write_page
from kernelwright.report.spoken import UNPROVEN, spoken_of
from kernelwright.stories.explain import explain
from kernelwright.stories.export import export

T = TypeVar("T")


@dataclass(frozen=True)
class Finished:
    """What there is now. ``troubles``: what could not be made, a sentence each; the rest was made all the same."""

    explained: bool
    report: Path | None
    exported: Path | None
    troubles: tuple[str, ...] = ()


def finish(run: Run, *, jobs: int | None = None, say: Callable[[str], None] = lambda _: None) -> Finished:
    """Explains the variant that the run is about unless that was done, exports it if it is the best, and writes the page.

    The run has come to its end and is open for writing. Everything goes into its folder, in the place of what an earlier
    call left there. Raises nothing for what goes wrong on the way: a run that was searched for hours is not lost for a full
    disk at its end.
    """
    troubles: list[str] = []
    spoken = spoken_of(run)
    folder: Path | None = None
    if spoken is not None:
        name = spoken.found.name
        if run.explained(name) is None:
            _tried(lambda: explain(run, name, jobs=jobs, say=say), "explaining", troubles)
        if spoken.accepted and spoken.label != UNPROVEN and spoken.label not in REJECTED:
            folder = _tried(lambda: _exported(run, name), "exporting", troubles)
    page = _tried(lambda: write_page(run, run.folder / "report.html"), "reporting", troubles)
    explained = spoken is not None and run.explained(spoken.found.name) is not None
    return Finished(explained, page, folder, tuple(troubles))


def _exported(run: Run, name: str) -> Path:
    target = run.folder / f"export-{name}"
    if (target / "evidence.json").exists():  # ours, from an earlier end of this run
        shutil.rmtree(target)
    return export(run, name, target)


def _tried(step: Callable[[], T], what: str, troubles: list[str]) -> T | None:
    try:
        return step()
    except (KernelwrightError, OSError) as error:
        troubles.append(f"{what} failed: {error}")
        return None
