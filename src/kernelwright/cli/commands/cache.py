"""``kw cache``: what is kept on disk between commands.

kw cache                     what there is, by kind
kw cache --clear             gone; all of it is made again where it is needed
kw cache --clear header      this kind alone
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

import typer

from kernelwright.cache import DEFAULT_LIMIT_BYTES, KINDS, Cache
from kernelwright.cli.support.tables import print_rows
from kernelwright.errors import Misuse, ToolError


def command(
    kinds: Annotated[list[str] | None, typer.Argument(help="These kinds alone.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """What is kept on disk between commands, by kind. Nothing in it is lost when it is cleared: it is made again."""
    for kind in kinds or ():
        if kind not in KINDS:
            raise Misuse(f"nothing of the kind {kind!r} is kept", hint=f"there are {', '.join(KINDS)}")
    asked = tuple(dict.fromkeys(kinds or KINDS))
    if clear:
        freed = clear_cache(asked)
        print(json.dumps({"freed_bytes": freed}) if as_json else f"freed {freed / 1e6:.1f} MB")
        return
    cache = Cache()
    sizes = {kind: cache.measure(kind) for kind in asked}
    total = sum(size for _, size in sizes.values())
    if as_json:
        rows = [{"kind": k, "files": files, "bytes": size, "what": KINDS[k]} for k, (files, size) in sizes.items()]
        found = {"folder": str(cache.folder), "limit_bytes": cache.limit_bytes, "bytes": total, "kinds": rows}
        print(json.dumps(found))
        return
    print(
        f"{cache.folder}: {total / 1e6:.1f} MB; beyond {DEFAULT_LIMIT_BYTES / 1e6:.0f} MB what was unused longest goes\n"
    )
    there = [(kind, *size) for kind, size in sizes.items() if size[0]]
    print_rows([{"kind": k, "files": files, "MB": round(size / 1e6, 1), "": KINDS[k]} for k, files, size in there])


def clear_cache(kinds: Iterable[str]) -> int:
    """Removes what is kept of these kinds; the bytes freed. Raises ``ToolError`` for what may not be removed."""
    try:
        return Cache().clear(kinds)
    except OSError as error:
        raise ToolError(f"{error.filename} cannot be removed: {error.strerror}", hint="check its permissions") from None
