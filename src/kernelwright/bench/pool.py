"""A pool of worker processes: what it costs beside the work it does, here and on a Ray cluster.

Promises: under a millisecond an item, whatever it is about; a worker of a cluster does at least four fifths of what one of a
local pool does, measured with a worker each on items as long as evaluating a candidate.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kernelwright.bench.result import Measured, Row, Say
from kernelwright.farm import Cluster, Pool, available_cores

ITEMS, QUICK_ITEMS = 20_000, 2_000
LARGE_BYTES = 1 << 20
LARGE_ITEMS = 100
CRASHES = 10
WORK_S = 0.02
"""Processor time of an item of the cluster's: about what a candidate of a small kernel takes."""
WORKED, QUICK_WORKED = 200, 50
ROUNDS = 5


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


def working() -> Callable[[float], float]:
    """A set-up whose work takes the processor time it is told."""

    def work(seconds: float) -> float:
        begin = time.process_time()
        while time.process_time() - begin < seconds:
            pass
        return seconds

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
    say("a Ray cluster of one worker")
    _cluster(result, QUICK_WORKED if quick else WORKED)
    return result


def _cluster(result: Measured, count: int) -> None:
    """In turns with a pool of one worker, so that noise hits both alike."""
    name = "throughput of a cluster's worker, of a local one's"
    if importlib.util.find_spec("ray") is None:
        result.notes.append("Ray is not installed, so that no cluster was measured: pip install 'kernelwright[ray]'")
        result.at_least(name, None, 0.8)
        return
    rows: dict[str, list[Row]] = {"pool": [], "cluster": []}
    with (
        _one_node() as address,
        Pool(working, workers=1) as pool,
        Cluster(working, address=address, workers=1) as cluster,
    ):
        for each in (pool, cluster):
            list(each.map([WORK_S] * 10))
        for _ in range(ROUNDS):
            for kind, each in (("pool", pool), ("cluster", cluster)):
                what = f"item of {WORK_S * 1e3:.0f} ms, 1 worker of a {kind}"
                rows[kind].append(_row(what, count, lambda each=each: list(each.map([WORK_S] * count))))  # type: ignore[misc]
    for taken in rows.values():
        result.rows.append(min(taken, key=lambda row: float(row["wall us each"])))
    ratios = [a["wall us each"] / b["wall us each"] for a, b in zip(rows["pool"], rows["cluster"], strict=True)]
    result.at_least(name, statistics.median(ratios), 0.8)


@contextmanager
def _one_node() -> Iterator[str]:
    """The address of a Ray cluster on this machine, of one core."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # its workers find what this process finds
    from ray.cluster_utils import Cluster as Nodes

    nodes: Any = Nodes()
    try:
        nodes.add_node(num_cpus=1, include_dashboard=False, object_store_memory=80 << 20)
        yield str(nodes.address)
    finally:
        nodes.shutdown()
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


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
