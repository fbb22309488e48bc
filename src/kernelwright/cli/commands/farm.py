"""``kw farm``: what compiles many things at once."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from kernelwright.cache import Cache
from kernelwright.cli.commands.cache import clear_cache
from kernelwright.cli.support.tables import print_rows
from kernelwright.errors import Misuse
from kernelwright.farm.fitness_store import KIND

ACTIONS = ("status", "bench", "clear")
KINDS = (KIND,)
"""What farms keep in the cache."""


def command(
    action: Annotated[
        str,
        typer.Argument(help="status: cores, back ends, cache. bench: kw bench farm. clear: empty the farm's cache."),
    ] = "status",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With bench: fewer rounds.")] = False,
) -> None:
    """The compile farm: resident workers, the back ends they have, and what they keep."""
    if action not in ACTIONS:
        raise Misuse(f"kw farm does not know {action!r}", hint=f"give {', '.join(ACTIONS)}")
    if action == "bench":
        from kernelwright.cli.commands import bench

        bench.command("farm", as_json=as_json, quick=quick)
    elif action == "clear":
        freed = clear_cache(KINDS)
        print(json.dumps({"freed_bytes": freed}) if as_json else f"freed {freed / 1e6:.1f} MB")
    else:
        found = _status()
        if as_json:
            print(json.dumps(found, indent=1))
        else:
            _show(found)


def _status() -> dict[str, Any]:
    from kernelwright.breeding.back_end_table import BACKENDS
    from kernelwright.farm.machine import available_cores, total_memory

    rows = []
    for row in BACKENDS.values():
        missing = row.missing()
        rows.append(
            {
                "back_end": row.name,
                "language": row.compiler().language,
                "usable": not missing,
                "what": missing or row.what,
            }
        )
    cache = Cache()
    kept = [{"cache": kind, **dict(zip(("files", "bytes"), cache.measure(kind), strict=True))} for kind in KINDS]
    return {
        "cores": available_cores(),
        "memory_bytes": total_memory(),
        "cache": str(cache.folder),
        "backends": rows,
        "kept": kept,
    }


def _show(found: dict[str, Any]) -> None:
    print(f"{found['cores']} cores, {found['memory_bytes'] / 1e9:.1f} GB of memory; cache in {found['cache']}\n")
    print_rows(
        [
            {
                "back end": row["back_end"],
                "language": row["language"],
                "usable": "yes" if row["usable"] else "no",
                "": row["what"],
            }
            for row in found["backends"]
        ]
    )
    print_rows(found["kept"])
