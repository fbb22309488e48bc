"""``kw runs``: the runs there are.

kw runs                                what each has found
kw runs --delete hotspot-1             gone, with all it holds
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelwright.breeding.run import PROGRAMS, BreedRun
from kernelwright.cli.support.tables import print_rows
from kernelwright.errors import KernelwrightError, Misuse, ToolError, reason
from kernelwright.evaluate.run.journal_file import writer_of
from kernelwright.evaluate.run.run import FOLDER, JOURNAL, found_folder, kind_of, runs_in
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.run import ExploreRun
from kernelwright.versions.tune_run import TRIED_THRESHOLDS, TuneRun


def command(
    folder: Annotated[Path, typer.Argument(help="Where the runs are.")] = Path(FOLDER),
    as_json: Annotated[bool, typer.Option("--json", help="The rows as JSON.")] = False,
    delete: Annotated[
        list[str] | None,
        typer.Option(
            help="Delete this run, by its folder or its name below kw-runs, with all it holds; may be repeated."
        ),
    ] = None,
) -> None:
    """The runs of kw evolve, kw breed, kw explore and kw tune: what each has found, and whether it is finished."""
    if delete:
        _delete(delete)
        return
    rows = [_row(path) for path in runs_in(folder)]
    if as_json:
        print(json.dumps(rows))
    elif rows:
        print_rows(rows)
    else:
        print(f"there are no runs in {folder}")


def _delete(names: list[str]) -> None:
    """All or, when one of them cannot go, none."""
    folders = [found_folder(name) for name in names]
    for folder in folders:
        kind_of(folder, _ROWS)
        if writer := writer_of(folder / JOURNAL):
            raise Misuse(f"{folder} is being written by {writer}", hint="end it first; nothing was deleted")
        if Path.cwd().resolve().is_relative_to(folder.resolve()):
            raise Misuse(f"{folder} holds the folder you are in", hint="go elsewhere first; nothing was deleted")
    for folder in dict.fromkeys(folders):
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise ToolError(
                f"{folder} cannot be deleted whole: {reason(error)}", hint="look whose files are in it"
            ) from error
        print(f"deleted {folder}")


def _row(path: Path) -> dict[str, Any]:
    try:
        return _ROWS[kind_of(path, _ROWS)](path)
    except KernelwrightError as error:
        return {"run": str(path), "candidates": None, "speedup": None, "best": "", "state": error.message}


def _evolved_row(path: Path) -> dict[str, Any]:
    with EvolveRun.open(path, GENOMES) as run:
        best = run.best
        return {
            "run": str(path),
            "candidates": run.evaluations,
            "speedup": round(best.speedup, 3) if best else None,
            "best": best.name if best else "",
            "state": run.state,
        }


def _bred_row(path: Path) -> dict[str, Any]:
    with BreedRun.open(path, PROGRAMS) as run:
        best = run.best
        return {
            "run": str(path),
            "candidates": len(run.journal),
            "speedup": None,
            "best": f"{best.name}, fitness {best.fitness:g}" if best else "",
            "state": run.state,
        }


def _tuned_row(path: Path) -> dict[str, Any]:
    with TuneRun.open(path, TRIED_THRESHOLDS) as run:
        speedup = run.speedup
        return {
            "run": str(path),
            "candidates": len(run.journal),
            "speedup": round(speedup, 3) if speedup else None,
            "best": run.served,
            "state": run.state,
        }


def _explored_row(path: Path) -> dict[str, Any]:
    with ExploreRun.open(path, DECISIONS) as run:
        best, speedup = run.best, run.speedup
        return {
            "run": str(path),
            "candidates": len(run.journal),
            "speedup": round(speedup, 3) if speedup else None,
            "best": f"{best.name}, {best.time_us:.2f} us" if best else "",
            "state": run.state,
        }


_ROWS: Mapping[str, Callable[[Path], dict[str, Any]]] = {
    "evolve": _evolved_row,
    "breed": _bred_row,
    "explore": _explored_row,
    "tune": _tuned_row,
}
"""By what made the run."""
