"""How long compiles take, ours and nvcc's side by side: wall time and processor time of whole processes."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ARCH = "sm_80"
TOOLCHAIN = ("clang", "header", "recipe")
"""What the cache keeps about the installation rather than about any program: clang's version, our header precompiled,
clang's command line for a set of flags. A cold compile has these and nothing else; the first compile ever has not even
these ("first" in the table)."""

Times = tuple[float, float]
"""Seconds of wall time and of processor time, the latter with all processes that were started."""
WALL, PROCESSOR = 0, 1


def timed(command: Sequence[str], environment: dict[str, str]) -> Times:
    """One process. Raises ``RuntimeError`` with its last line when it fails."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, used = os.wait4(running.pid, 0)
        wall = time.perf_counter() - begin
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode:
            said.seek(0)
            last = said.read().strip().splitlines()
            raise RuntimeError(f"{' '.join(command)} failed: {last[-1] if last else running.returncode}")
    return wall, used.ru_utime + used.ru_stime


def total(times: Sequence[Times]) -> Times:
    """The sums of both."""
    return sum(wall for wall, _ in times), sum(processor for _, processor in times)


def ratio(times: dict[str, Times], ours: str, kind: int = WALL) -> float:
    """What we take over what nvcc takes; ``ours`` is the state of the cache."""
    return round(times[ours][kind] / times["nvcc"][kind], 3)


def against_nvcc(
    files: Sequence[Path], flags: Sequence[str], kw: Path, nvcc: str | None, repeat: int
) -> dict[str, Times]:
    """All of some CUDA files, one process per file: nvcc, ours with three states of the cache; medians of rounds with one run of each, so
    that noise hits all alike. ``flags`` are those of both compilers, ``kw`` is our command."""
    # An installation has its modules compiled; a working tree compiles them in its first run, unless it is told not to.
    plain = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)

        def by_us(state: str, kept: tuple[str, ...] | None) -> Times:
            """Before every file, the cache loses all that is not of the kinds ``kept``; None keeps everything."""
            cache, times = out / state, []
            for file in files:
                if kept is not None and cache.is_dir():
                    _lose(cache, kept)
                command = [str(kw), "compile", str(file), "-o", str(out / f"{file.stem}.ptx"), "--arch", ARCH]
                times.append(timed([*command, *flags], {**plain, "KERNELWRIGHT_CACHE": str(cache)}))
            return total(times)

        def by_nvcc() -> Times:
            assert nvcc is not None
            all_flags = ["-ptx", f"-arch={ARCH}", *flags]
            to = [(str(f), "-o", str(out / f"{f.stem}.nvcc.ptx")) for f in files]
            return total([timed([nvcc, *all_flags, *t], plain) for t in to])

        runs: dict[str, Callable[[], Times]] = {"nvcc": by_nvcc} if nvcc else {}
        runs |= {
            "first": lambda: by_us("first", ()),
            "cold": lambda: by_us("cold", TOOLCHAIN),
            "cached": lambda: by_us("cached", None),
        }
        for _ in range(2):  # what belongs to the installation is made, then found to be whole
            for run in runs.values():
                run()
        taken: dict[str, list[Times]] = {name: [] for name in runs}
        for _ in range(repeat):
            for name, run in runs.items():
                taken[name].append(run())
    return {name: (_median(times, WALL), _median(times, PROCESSOR)) for name, times in taken.items()}


def _lose(cache: Path, kept: tuple[str, ...]) -> None:
    for folder in cache.iterdir():
        if folder.name not in kept:
            shutil.rmtree(folder)


def _median(times: Sequence[Times], kind: int) -> float:
    return statistics.median(each[kind] for each in times)
