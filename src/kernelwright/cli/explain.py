"""``kw explain``: why a variant is faster."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from kernelwright.cli.tables import print_rows
from kernelwright.cli.variant import RunAndVariant, opened
from kernelwright.stories.explain import Explanation, explain


def command(
    run: RunAndVariant,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; default one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Each edit of a variant in words: what it does alone and within the whole, what changes in the counters, whether the
    assembler would have made the same of it, and what it relies on. Kept in the run, for kw report."""
    found, variant = opened(run, write=True)
    with found:
        explanation = explain(found, variant, jobs=jobs, say=lambda text: print(f"kw: {text}", file=sys.stderr))
    if as_json:
        print(json.dumps(explanation.as_json()))
    else:
        _show(explanation)


def _show(found: Explanation) -> None:
    print(f"{found.variant}: {found.speedup:.3f}x, {found.original_us:.4g} us to {found.variant_us:.4g} us")
    for guard in found.guards:
        print(f"only for {guard}")
    for edit in found.edits:
        print(f"{edit.number}. {edit.kind} in {edit.kernel}: {edit.sentence}")
        if edit.source:
            print(f"     {edit.place}  {edit.source.strip()}")
        code = {True: "; the machine code is the same without it", False: "", None: ""}[edit.same_code]
        print(f"     alone {_gain(edit.alone)}, within the whole {_gain(edit.within)}{code}")
        for sentence in edit.invariants:
            print(f"     relies on: {sentence}")
        changes = {name: pair for name, pair in edit.counters.items() if not name.endswith("us") and " " not in name}
        if changes:
            print("     " + ", ".join(f"{name} {a:,.6g} to {b:,.6g}" for name, (a, b) in changes.items()))
    for pair in found.pairs:
        print(f"edits {pair.a} and {pair.b}: {pair.relation} ({_gain(pair.together)} together)")
    print_rows(
        [{"counter": name, "original": f"{a:,.6g}", "variant": f"{b:,.6g}"} for name, (a, b) in found.counters.items()]
    )


def _gain(share: float | None) -> str:
    return "rejected" if share is None else f"{100 * share:+.1f} %"
