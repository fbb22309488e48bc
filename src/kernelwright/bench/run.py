"""Running unmodified programs: what a launch costs, what other calls cost, how long a worker takes to start.

A program measures its own calls (``run_calls.cu``): a launch goes from the program over the socket to the worker, runs an
empty kernel on the virtual GPU, and the program is answered. Starting is measured from outside, from the start of a program
to the end of its first kernel, once with a worker of its own and once by ``kw run``, which has one at hand. Promises: a
launch costs under 100 µs, both when the program waits for each and when it does not.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kernelwright.bench.result import Measured, Say
from kernelwright.cuda.link import LinkOptions
from kernelwright.executable import build_executable, worker_command
from kernelwright.pipeline import compile as compile_program

SOURCE = Path(__file__).parent / "run_calls.cu"
LAUNCH_BOUND_US = 100.0
WAITED_FOR = "launch of an empty kernel, and wait for it"
BEHIND_EACH_OTHER = "launch of an empty kernel, one of 50 behind each other"


def measure(quick: bool, say: Say) -> Measured:
    """Microseconds of launches and other calls, and seconds that a worker takes to start; ``quick``: fewer rounds."""
    result = Measured("run")
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        program = Path(folder) / "calls"
        build_executable(compile_program(SOURCE), [], program, LinkOptions(device="h200", worker=worker_command()))
        say("calls")
        calls = _calls(program, rounds)
        for name, values in calls.items():
            result.rows.append(
                {"call": name, "µs": round(statistics.median(values), 1), "least": round(min(values), 1)}
            )
        say("starts")
        for name, command in (
            ("the C runtime alone, no device", [str(program), "nothing"]),
            ("a program started by hand, to its first kernel's end", [str(program), "first"]),
            (
                "kw run of a built program, to its first kernel's end",
                [sys.executable, "-m", "kernelwright", "run", str(program), "--", "first"],
            ),
            (
                "kw run of its source, compiled before",
                [sys.executable, "-m", "kernelwright", "run", str(SOURCE), "--", "first"],
            ),
        ):
            seconds = [_seconds(command) for _ in range(rounds + 1)][1:]
            result.rows.append(
                {
                    "start": name,
                    "ms": round(1e3 * statistics.median(seconds), 1),
                    "least ms": round(1e3 * min(seconds), 1),
                }
            )
    for name in (WAITED_FOR, BEHIND_EACH_OTHER):
        result.at_most(f"{name}, µs", statistics.median(calls[name]), LAUNCH_BOUND_US)
    result.notes.append("the median of several runs, each the median of its calls, and the least")
    return result


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("KERNELWRIGHT_") or k == "KERNELWRIGHT_CACHE"}
    # The command is to be found wherever this package was.
    root = str(Path(__file__).parents[2])
    return kept | {"PYTHONPATH": f"{root}:{kept['PYTHONPATH']}" if kept.get("PYTHONPATH") else root}


def _calls(program: Path, rounds: int) -> dict[str, list[float]]:
    """Microseconds by what was called."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        done = subprocess.run([program, "calls"], capture_output=True, text=True, check=True, env=_environment())
        for line in done.stdout.splitlines():
            name, _, value = line.rpartition(": ")
            found.setdefault(name, []).append(float(value))
    return found


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=_environment())
    return time.perf_counter() - began
