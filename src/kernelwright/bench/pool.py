"""A pool of worker processes: what it costs beside the work it does.

Promise: under a millisecond an item, whatever it is about.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from kernelwright.bench.measured import Measured, Row, Say
from kernelwright.farm import Pool, available_cores

ITEMS, QUICK_ITEMS = 20_000, 2_000
LARGE_BYTES = 1 << 20
LARGE_ITEMS = 100
CRASHES = 10


def nothing() -> Callable[[object], object]:
    """A set-up whose work is to give back what it gets."""
    return lambda item: item


def crashing() -> Callable[[bool], bool]:
    """A set-up whose work ends its process when told to."""

    def work(crash: bool) -> bool:
        if crash:
            os.abort()
        return crash

    return work


def measure(quick: bool, say: Say) -> Measured:
    """Rows: what, how many, microseconds each; wall time and the caller's processor time."""
    result = Measured("pool")
    say("items, large items, workers that die")
    for workers in dict.fromkeys((1, available_cores())):
        result.rows.append(_items(workers, QUICK_ITEMS if quick else ITEMS))
    result.rows.append(_large())
    result.rows += _workers()
    worst = max(row["wall us each"] for row in result.rows if row["what"].startswith("item"))
    result.at_most("milliseconds of overhead per item", worst / 1e3, 1.0)
    return result


def _items(workers: int, count: int) -> Row:
    with Pool(nothing, workers=workers) as pool:
        list(pool.map(range(200)))
        return _row(f"item that needs no time, {workers} workers", count, lambda: list(pool.map(range(count))))


def _large() -> Row:
    items = [os.urandom(LARGE_BYTES) for _ in range(LARGE_ITEMS)]
    with Pool(nothing, workers=1) as pool:
        list(pool.map([b""] * 10))
        return _row("1 MiB there and back", LARGE_ITEMS, lambda: list(pool.map(items)))


def _workers() -> list[Row]:
    def first() -> None:
        with Pool(nothing, workers=1) as pool:
            list(pool.map([0]))

    with Pool(crashing, workers=1, shared=True) as pool:
        list(pool.map([False]))
        again = _row("crash: two workers die and are replaced", CRASHES, lambda: list(pool.map([True] * CRASHES)))
    return [_row("a pool from nothing to its first result and gone", 1, first), again]


def _row(what: str, count: int, run: Callable[[], object]) -> Row:
    wall, processor = time.perf_counter(), time.process_time()
    run()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return {
        "what": what,
        "count": count,
        "wall us each": round(wall / count * 1e6, 1),
        "caller's cpu us each": round(processor / count * 1e6, 1),
    }
