"""``kw show``: the front of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from kernelwright.breeding.run import PROGRAMS, BreedRun
from kernelwright.cli.commands.breed import lines, result_of
from kernelwright.cli.commands.explore.result import explore_lines, explore_result
from kernelwright.cli.support.evolve_result import fallen_of
from kernelwright.cli.support.tables import print_rows
from kernelwright.evaluate.run.run import kind_of
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evaluate.timing.data_sets import of_sets
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.run import ExploreRun
from kernelwright.report.selected_variant import label_of, spoken_of
from kernelwright.stories.candidate_words import edits_in_words, valid_for
from kernelwright.versions.tune_run import TRIED_THRESHOLDS, TuneRun


def command(
    run: Annotated[str, typer.Argument(help="A run's folder, or its name below kw-runs.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """What a run has found: the variants that no other beats, why candidates were rejected, and the best one's edits."""
    _SHOWN[kind_of(run, _SHOWN)](run, as_json)


def _show_evolved(run: str, as_json: bool) -> None:
    with EvolveRun.open(run, GENOMES) as opened:
        best, front, original = opened.best, opened.front, opened.original_us
        result: dict[str, Any] = {
            "run": str(opened.folder),
            "settings": opened.settings.as_json(),
            "notes": opened.notes,
            "candidates": opened.evaluations,
            "original_us": original,
            "measured_on": opened.settings.gpu or None,
            "rejected": opened.rejected,
            "best": best.name if best else None,
            "speedup": round(best.speedup, 4) if best else 1.0,
            "label": label_of(opened, best.name) if best else None,
            "error": best.outcome.error if best else 0.0,
            "fallen": fallen_of(opened),
            "sets": [gain.as_json() for gain in opened.gains(best)] if best else [],
            "front": [_row(opened, found) for found in front],
            "edits": best.written if best else [],
            "valid_for": None,
            "finished": opened.ended is not None,
            "state": opened.state,
        }
        sets = of_sets(opened.original.metrics) if opened.original else ""
        open_end = opened.open_end
        spoken = spoken_of(opened)
        # Minimised or salvaged, the best need not be on the front.
        apart = [_row(opened, spoken.found)] if spoken and spoken.found.name not in [f.name for f in front] else []
        gains = opened.gains(spoken.found) if spoken else []
        result["valid_for"] = valid_for(opened, spoken.found) if spoken else None
        words = edits_in_words(opened, spoken.found.candidate) if spoken and not as_json else []
    if as_json:
        print(json.dumps(result))
        return
    rejected = ", ".join(f"{stage} {count}" for stage, count in result["rejected"].items()) or "none"
    print(
        f"{result['run']}: {result['candidates']} candidates, seed {result['settings']['seed']}; rejected: {rejected}"
    )
    for note in result["notes"]:
        print(f"note: {note}")
    if result["original_us"] is not None:
        measured = f", measured on {result['measured_on']}" if result["measured_on"] else ""
        print(f"the original takes {result['original_us']:.3f} us in its kernels{sets}{measured}")
    print_rows([*result["front"], *apart])
    if open_end:
        print(open_end)
    if spoken is None:
        print("nothing faster was found")
        return
    found, count = spoken.found, len(spoken.found.candidate)
    less = "" if spoken.accepted else ", less than was demanded"
    between = " [{:.3f}, {:.3f}]".format(*found.interval) if found.interval else ""
    print(
        f"{found.name}, {found.speedup:.3f}x{between}, {spoken.label}{less}, in {count} edit{'s' if count > 1 else ''}:"
    )
    for gain in gains if len(gains) > 1 else ():
        print(f"    {gain}")
    for line in words:
        print(f"    {line}")
    which = result["run"] if spoken.accepted else f"{result['run']}:{found.name}"
    print(
        f"kw explain {which} says what each does, kw prove {which} what it depends on; kw report {result['run']} makes a page"
    )
    print(result["valid_for"])


def _row(run: EvolveRun, found: Found[Genes]) -> dict[str, Any]:
    metrics = found.outcome.metrics
    return {
        "variant": found.name,
        "speedup": round(found.speedup, 4),
        **({"interval": "{:.3f} to {:.3f}".format(*found.interval)} if found.interval else {}),
        "us": round(found.outcome.time_us, 3),
        "error": found.outcome.error,
        "edits": len(found.candidate),
        "registers": int(metrics.get("registers", 0)),
        "instructions": int(metrics.get("instructions", 0)),
        "label": label_of(run, found.name) if found.candidate else "the original",
    }


def _show_bred(path: str, as_json: bool) -> None:
    with BreedRun.open(path, PROGRAMS) as run:
        result = result_of(run, run.spent_seconds) | {"finished": run.ended is not None, "state": run.state}
        shown = "\n".join(filter(None, [lines(result), run.open_end]))
    print(json.dumps(result) if as_json else shown)


def _show_explored(path: str, as_json: bool) -> None:
    with ExploreRun.open(path, DECISIONS) as run:
        result = explore_result(run, run.spent_seconds)
        shown = explore_lines(result, run.open_end)
    print(json.dumps(result) if as_json else shown)


def _show_tuned(run: str, as_json: bool) -> None:
    with TuneRun.open(run, TRIED_THRESHOLDS) as opened:
        found = dict(opened.ended or {})
        lines = found.get("lines") or [opened.open_end]
        head = f"{opened.folder}: {opened.identity.program} on {opened.identity.device}; {len(opened.journal)} configurations"
        result = {
            "run": str(opened.folder),
            "finished": bool(found),
            "state": opened.state,
            "configurations": len(opened.journal),
            **found,
        }
    print(json.dumps(result) if as_json else "\n".join([head, *lines]))


_SHOWN: Mapping[str, Callable[[str, bool], None]] = {
    "evolve": _show_evolved,
    "breed": _show_bred,
    "explore": _show_explored,
    "tune": _show_tuned,
}
"""By what made the run."""
