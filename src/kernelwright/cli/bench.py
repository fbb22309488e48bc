"""``kw bench NAME``: measure what the project promises."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Annotated

import typer

from kernelwright.bench import BENCHMARKS
from kernelwright.cli.tables import print_rows
from kernelwright.errors import Misuse


def command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(BENCHMARKS)}.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer programs and rounds.")] = False,
) -> None:
    """Measure what the project promises. Exit code 1 when a promise does not hold."""
    if name not in BENCHMARKS:
        raise Misuse(f"there is no benchmark {name!r}", hint=f"the benchmarks are {', '.join(BENCHMARKS)}")
    result = importlib.import_module(BENCHMARKS[name][0]).measure(
        quick, lambda line: print(f"  {line}", file=sys.stderr, flush=True)
    )
    if as_json:
        print(json.dumps(result.as_json(), indent=1))
    else:
        print_rows(result.rows)
        for note in result.notes:
            print(f"note: {note}")
        verdict = {True: "holds", False: "DOES NOT HOLD", None: "not measured here"}
        print_rows(
            [{"promise": p.name, "value": p.value, "bound": p.bound, "": verdict[p.holds]} for p in result.promises]
        )
    if any(p.holds is False for p in result.promises):
        raise typer.Exit(1)
