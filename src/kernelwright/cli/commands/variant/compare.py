"""``kw compare``: two runs, or two variants, side by side."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from kernelwright.cli.support.tables import print_rows
from kernelwright.stories.compare import Compared, ComparedBred, Side, compare

_ARGUMENT = typer.Argument(
    metavar="RUN[:VARIANT]", help="A run's folder or name; its best variant, or one by name (v17)."
)


def command(
    a: Annotated[str, _ARGUMENT],
    b: Annotated[str, _ARGUMENT],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Two runs of kw evolve, or two of their variants: gains by data set, labels, edits in common and apart. Two runs of kw breed:
    their best programs."""
    found = compare(a, b)
    if as_json:
        print(json.dumps(found.as_json()))
    elif isinstance(found, ComparedBred):
        _show_bred(found)
    else:
        _show(found)


def _show(found: Compared) -> None:
    print_rows([_row("a", found.a), _row("b", found.b)])
    if found.sets:
        print_rows([_set_row(each.arguments, each.held_out, each.a, each.b) for each in found.sets])
    for note in found.notes:
        print(f"note: {note}")
    for title, edits in (("in both", found.common), ("in a alone", found.only_a), ("in b alone", found.only_b)):
        print(f"{title}: {len(edits) or 'no'} edit{'' if len(edits) == 1 else 's'}")
        for words in edits:
            print(f"    {words}")
    for name, side in (("a", found.a), ("b", found.b)):
        print(f"{name}: {side.valid_for}")


def _row(name: str, side: Side) -> dict[str, Any]:
    return {
        "": name,
        "variant": f"{side.run}:{side.variant}",
        "speedup": round(side.speedup, 3),
        "us": round(side.us, 3),
        "original us": round(side.original_us, 3),
        "edits": side.edits,
        "label": side.label,
        "on": side.device,
    }


def _set_row(arguments: str, held_out: bool, a: float | None, b: float | None) -> dict[str, Any]:
    name = f"{arguments} (held out)" if held_out else arguments
    return {"data set": name, "a": a, "b": b, "b over a": round(b / a, 3) if a and b else None}


def _show_bred(found: ComparedBred) -> None:
    columns = ("run", "best", "fitness", "target", "evaluations", "generations", "seed")
    print_rows([{"": name, **{key: side[key] for key in columns}} for name, side in (("a", found.a), ("b", found.b))])
    for note in found.notes:
        print(f"note: {note}")
    for name, side in (("a", found.a), ("b", found.b)):
        print(f"{name}: {side['program'] or 'no program has a fitness'}")
