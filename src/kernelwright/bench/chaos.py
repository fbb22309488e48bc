"""A pool of workers under attack: items that crash, hang and eat memory, and a hand that kills workers at random.

The work is arithmetic with a known answer, in batches, as compilation is done. Promises: every good item gets its result,
every bad one its cause, the run ends, and nothing is left behind: no process, no descriptor (shared memory has no name here,
so it is a descriptor too), no folder.
"""

from __future__ import annotations

import ctypes
import gc
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kernelwright.bench.result import Measured, Say
from kernelwright.farm import Lost, Pool, Raised, nursery

BATCHES, QUICK_BATCHES = 500, 30
BATCH = 20
SEED = 1
TIMEOUT_S = 0.4
MEMORY_BYTES = 64 << 20
KILL_EVERY_S = 1.0
"""On average. A hanging item must survive long enough to be seen to hang."""
LARGE_BYTES = 100_000


def _read_nowhere() -> None:
    ctypes.string_at(0)


def _endless() -> None:
    while True:
        pass


def _devour() -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 22))


def _complain() -> None:
    raise ValueError("a bad item")


CULPRITS: Mapping[str, tuple[str, int, Callable[[], object]]] = {
    "reads address 0": ("crash", 8, _read_nowhere),
    "aborts": ("crash", 8, os.abort),
    "exits": ("crash", 8, lambda: os._exit(0)),
    "kills itself": ("crash", 4, lambda: os.kill(os.getpid(), signal.SIGKILL)),
    "never ends": ("timeout", 2, _endless),
    "sleeps": ("timeout", 2, lambda: time.sleep(3600)),
    "stops itself": ("timeout", 1, lambda: os.kill(os.getpid(), signal.SIGSTOP)),
    "eats memory": ("memory", 6, _devour),
    "raises": ("raised", 8, _complain),
}
"""What a bad item does: the cause it must get, how many of them there are among 500 batches, and the deed."""


def attacked() -> Callable[[list[tuple[str, int, bytes]]], list[tuple[int, bytes]]]:
    """The set-up of the workers."""
    return lambda items: [_work(*each) for each in items]


def _work(deed: str, number: int, data: bytes) -> tuple[int, bytes]:
    if deed:
        CULPRITS[deed][2]()
    return number * number, data[::-1]


def measure(quick: bool, say: Say) -> Measured:
    """Rows: a kind of item, how many were planted, how many got what they should."""
    batches = QUICK_BATCHES if quick else BATCHES
    items = _items(batches)
    before = _belongings()
    begin = time.monotonic()
    found, starts, kills = _run(items, say)
    seconds = time.monotonic() - begin
    left = _left_behind(before)
    result = Measured("chaos")
    wrong = _rows(result, items, found)
    result.notes.append(
        f"{batches} batches of {BATCH}, {starts} workers started, {kills} killed from outside, {seconds:.1f} s, seed {SEED}"
    )
    result.notes.extend(f"left behind: {each}" for each in left)
    result.at_most("items with a wrong result or a wrong cause", wrong, 0)
    result.at_most("items without an answer", len(items) - len(found), 0)
    result.at_most("processes, descriptors and folders left behind", len(left), 0)
    return result


def _items(batches: int) -> list[tuple[str, int, bytes]]:
    """Some carry more than fits a datagram."""
    dice = random.Random(SEED)
    items = [
        ("", n, dice.randbytes(LARGE_BYTES if dice.random() < 0.02 else 20)) for n in range(batches * BATCH)
    ]  # fmt: skip
    deeds = [deed for deed, (_, count, _) in CULPRITS.items() for _ in range(max(1, count * batches // BATCHES))]
    for at, deed in zip(dice.sample(range(len(items)), len(deeds)), deeds, strict=True):
        items[at] = (deed, *items[at][1:])
    return items


def _run(items: list[tuple[str, int, bytes]], say: Say) -> tuple[dict[int, Any], int, int]:
    """The answers by index, how many workers there were, and how many were killed from outside."""
    stop = threading.Event()
    kills = [0]

    def kill_at_random() -> None:
        dice = random.Random(SEED)
        while not stop.wait(dice.uniform(0, 2 * KILL_EVERY_S)):
            alive = pool.pids()
            if alive:
                try:
                    os.kill(dice.choice(alive), dice.choice([signal.SIGKILL, signal.SIGTERM]))
                    kills[0] += 1
                except ProcessLookupError:
                    continue

    found: dict[int, Any] = {}
    with Pool(
        attacked, batch=(BATCH, BATCH), timeout_s=TIMEOUT_S, memory_bytes=MEMORY_BYTES, shared=True
    ) as pool:  # fmt: skip
        killer = threading.Thread(target=kill_at_random)
        killer.start()
        told = time.monotonic()
        try:
            for index, answer in pool.map(items):
                found[index] = answer
                if time.monotonic() - told > 2:
                    told = time.monotonic()
                    say(f"{len(found)} of {len(items)} items, {pool.starts} workers so far")
        finally:
            stop.set()
            killer.join()
        return found, pool.starts, kills[0]


def _rows(result: Measured, items: list[tuple[str, int, bytes]], found: Mapping[int, Any]) -> int:
    """Fills in the rows; returns how many answers are wrong."""
    wrong = 0
    for deed in ("", *CULPRITS):
        expected = CULPRITS[deed][0] if deed else "result"
        mine = [n for n, each in enumerate(items) if each[0] == deed]
        right = sum(n in found and _verdict(items[n], found[n]) == expected for n in mine)
        result.rows.append({"item": deed or "good", "expected": expected, "planted": len(mine), "right": right})
        wrong += len(mine) - right
    return wrong


def _verdict(item: tuple[str, int, bytes], answer: Any) -> str:
    if isinstance(answer, Lost):
        return answer.stage
    if isinstance(answer, Raised):
        return "raised" if isinstance(answer.error, ValueError) else "another error"
    return "result" if answer == (item[1] ** 2, item[2][::-1]) else "a wrong result"


def _belongings() -> set[str]:
    """Processes below this one, its descriptors, its pools' folders; the process that is kept for the next pool ends."""
    nursery.close()
    gc.collect()
    folders = Path(tempfile.gettempdir()).glob(f"kernelwright-farm-{os.getpid()}-*")
    return {
        *(f"process {pid}" for pid in _descendants()),
        *(f"descriptor {fd}" for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")),
        *(f"folder {each}" for each in folders),
    }


def _left_behind(before: set[str]) -> list[str]:
    return sorted(_belongings() - before)


def _descendants() -> set[int]:
    parents: dict[int, int] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(each.parent.name)] = int(each.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}
