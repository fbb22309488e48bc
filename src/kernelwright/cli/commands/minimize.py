"""``kw minimize``: a variant down to the edits that matter."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from kernelwright.cli.support.variant_argument import RunAndVariant, opened
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evolution.genomes import Genes
from kernelwright.stories.candidate_words import edits_in_words, valid_for
from kernelwright.stories.minimise import minimise


def command(
    run: RunAndVariant,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; default one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """The fewest edits that are as fast: none of them can be left out. The result is a variant of the run."""
    found, variant = opened(run, write=True)
    with found:
        before = found.variant(variant)
        small = minimise(found, variant, jobs=jobs)
        words, valid = edits_in_words(found, small.candidate), valid_for(found, small)
    if as_json:
        made = {"variant": small.name, "of": before.name, "speedup": small.speedup, "edits": small.written}
        print(json.dumps({**made, "valid_for": valid}))
        return
    print(
        f"{before.name}, {_edits(before)}, {before.speedup:.3f}x -> {small.name}, {_edits(small)}, {small.speedup:.3f}x:"
    )
    for line in words:
        print(f"    {line}")
    print(valid)


def _edits(found: Found[Genes]) -> str:
    count = len(found.candidate)
    return f"{count} edit{'' if count == 1 else 's'}"
