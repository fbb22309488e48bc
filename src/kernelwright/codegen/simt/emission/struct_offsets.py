"""Byte offsets that generated code uses in the runtime's structs. The C side asserts every one of them."""

from __future__ import annotations

CONTEXT = {
    "budget": 0,
    "shared_host": 8,
    "local_host": 16,
    "parameters": 24,
    "symbols": 32,
    "sites": 40,
    "counts": 48,
    "by_value_host": 56,
    "ctaid": 64,
    "nctaid": 76,
    "ntid": 88,
    "barrier_result": 100,
    "clock": 104,
    "attention": 112,
    "watched": 116,
    "dynamic_shared": 120,
    "block_shared": 124,
    "cooperative": 128,
}

FRAME = {
    "resume": 0,
    "start": 4,
    "live": 8,
    "arrived": 12,
    "predicate": 16,
    "run": 20,
    "warp": 24,
    "waiting": 32,
    "barrier_point": 36,
    "conflict": 40,
    "segment_tid": 64,
    "tid": 128,
    "member": 512,
    "operand": 640,
    "operand2": 896,
    "result": 1152,
    "result2": 1408,
    "site": 1536,
}
FRAME_SAVED = 1664
"""Where the masks of the suspension points, and then the values saved across suspensions, begin; a multiple of 64."""

SITE = {"low": 0, "count": 8, "sectors": 16, "waves": 24, "serial": 32}
SITE_BYTES = 128
PATTERN_BYTES = 136
SHARED_SLACK = 4096
"""Bytes before and after shared memory that may be read, which mean nothing: lanes that are not active may lie there."""

QUICK = tuple(
    f"{kind}_{form}_{place}"
    for kind in ("load", "store")
    for form in ("index", "address")
    for place in ("global1", "global2", "global4", "global8", "shared4", "local4")
)
"""Loads and stores of the kinds that come often: how lanes tell their address, where it lies, bytes per lane."""
EVEN_BYTES = (1, 2, 4, 8)
EVEN = tuple(
    f"{kind}_{place}{size}"
    for kind in ("one", "two", "row_load", "row_store", "indexed_row_load", "indexed_row_store")
    for place in ("global", "shared")
    for size in EVEN_BYTES
)
"""Accesses that run evenly, as one call: see ``runtime_rows.py``."""
KEEPS = (1, 2, 4, 8, 16)
"""Bytes per lane of values that some lanes of a warp take and others do not."""
FUNCTIONS = (
    "load",
    "store",
    "atomic",
    "fill",
    "copy",
    "print",
    "stop",
    "synced",
    "passed",
    "together",
    "shuffled",
    "trace",
    "arrive",
    "fence",
    *QUICK,
    *EVEN,
    *(f"keep{size}" for size in KEEPS),
    "signs4",
    "signs8",
)
"""Helpers that generated code calls, ``simt_...`` in C; ``row_functions.py`` names the row functions, ``row_...``."""


def macros() -> list[str]:
    """The ``-D`` options that hand these numbers to the C compiler."""
    tables = {"CONTEXT": CONTEXT, "FRAME": FRAME, "SITE": SITE}
    named = [f"-DABI_{t}_{f.upper()}={o}" for t, fields in tables.items() for f, o in fields.items()]
    return [
        *named,
        f"-DABI_FRAME_SAVED={FRAME_SAVED}",
        f"-DABI_SITE_BYTES={SITE_BYTES}",
        f"-DABI_PATTERN_BYTES={PATTERN_BYTES}",
        f"-DABI_SHARED_SLACK={SHARED_SLACK}",
    ]
