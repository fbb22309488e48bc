"""``kw explain``: why a variant is faster."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from kernelwright.cli.support.streams import progress
from kernelwright.cli.support.tables import print_rows
from kernelwright.cli.support.variant_argument import RunAndVariant, opened
from kernelwright.evaluate.timing.data_sets import of_sets
from kernelwright.report.counters import besides_time, counters
from kernelwright.report.explanation import Explanation, explanation_from_json
from kernelwright.report.finding_words import RELATIONS, SAME_CODE, alone, gain, within
from kernelwright.stories.candidate_words import valid_for
from kernelwright.stories.explain import explain


def command(
    run: RunAndVariant,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; default one per core.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Also when the run has an explanation of it already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Each edit of a variant in words: what it does alone and within the whole, what changes in the counters, whether the
    assembler would have made the same of it, and what it relies on. Kept in the run, for kw report."""
    found, variant = opened(run)
    with found:
        known = None if again else found.explained(found.variant(variant).name)
        explanation = explanation_from_json(known) if known is not None else None
        valid = valid_for(found, found.variant(variant)) if known is not None else ""
    if explanation is None:
        found, variant = opened(run, write=True)
        with found:
            explanation = explain(found, variant, jobs=jobs, say=progress)
            valid = valid_for(found, found.variant(explanation.variant))
    if as_json:
        print(json.dumps(explanation.as_json()))
    else:
        _show(explanation)
        print(valid)


def _show(found: Explanation) -> None:
    times = f"from {found.original_us:.4g} to {found.variant_us:.4g} us in kernels{of_sets(found.counters)}"
    print(f"{found.variant}: {found.speedup:.3f}x, {times}")
    for note in found.notes:
        print(f"note: {note}")
    if found.guards:
        print("\nonly for launches with (all others need the original):")
        for guard in found.guards:
            print(f"    {guard}")
    print(
        "\nedits (alone: what each gains by itself; within: what the variant loses without it; shares of the original's time):"
    )
    for edit in found.edits:
        print(f"{edit.number:>3} {edit.kind} in {edit.kernel}: {edit.sentence}")
        if edit.source:
            print(f"    {edit.place}  {edit.source.strip()}")
        code = SAME_CODE[edit.same_code]
        print(f"    alone {alone(edit.alone)}, within {within(edit.within)}{f'; {code}' if code else ''}")
        if changed := besides_time(edit.counters):
            print(f"    {'; '.join(map(str, changed))}")
        for sentence in edit.invariants:
            print(f"    relies on: {sentence}")
    for pair in found.pairs:
        print(f"    {pair.a} and {pair.b} {RELATIONS[pair.relation]} ({gain(pair.together)} together)")
    print()
    shown = counters(found.counters)
    print_rows([{"": c.title, "original": c.original, "variant": c.variant, "change": c.change} for c in shown])
