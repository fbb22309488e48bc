"""Searches that a GPU's own times lead: what evolution finds there, and how much of it the timing model would have said.

The launches are those that a search on the virtual GPU was judged by (``preparing/measured_search.py``), and so is the program: what
the two find can be held against each other. Needs llvmlite, and z3 for the proofs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.errors import KernelwrightError, ToolError

SUBJECT = "subject.json"
RUNTIME, MODEL = "runtime", "model.so"
PROCESSORS = (("x86_64_v4", "avx512vl"), ("x86_64_v3", "avx2"))
"""As zig names them, the best first, and by which flag of ``/proc/cpuinfo`` one is known."""
EVALUATIONS = 150
MOST_SECONDS = 60.0
"""Of the search of one program; minimising, measuring again and the proof come after it."""
SEED = 1
TIMEOUT_S = 600.0
JOBS = min(8, os.cpu_count() or 1)


def run_searches(folder: Path, ordinal: int, say: Say, until: Deadline = NEVER) -> Measured:
    """A row for each program. No other process may hold the GPU meanwhile."""
    result = Measured("searches")
    try:
        bring_runtime(folder / RUNTIME)
    except (KernelwrightError, OSError) as error:
        result.notes.append(f"the virtual GPU was not brought: {error}")
    places = {place.parent.name: place.parent for place in sorted(folder.glob(f"*/{SUBJECT}"))}
    if not places:
        result.notes.append("no recordings were prepared: kw bench evolve leaves runs that they are taken from")
    for name in until.before(places, result):
        say(name)
        try:
            result.rows.append({"program": name, **_in_its_own_process(places[name], ordinal)})
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            result.rows.append({"program": name, "failed": str(error)})
    result.at_most("searches that fail", sum("failed" in row for row in result.rows), 0)
    return result


def bring_runtime(folder: Path) -> None:
    """Puts the virtual GPU's C code, compiled for this kind of processor, where it is looked for, unless zig can compile it here."""
    from kernelwright.cache import write_atomically
    from kernelwright.codegen.simt.launching import runtime_library
    from kernelwright.cuda.clang import ziglang_folder
    from kernelwright.device.timing_model import native_loops

    try:
        ziglang_folder()
        return
    except ToolError:
        pass
    flags = Path("/proc/cpuinfo").read_text().split()
    chosen = next(name for name, flag in PROCESSORS if flag in flags or name == PROCESSORS[-1][0])
    for path, made in ((runtime_library.kept_path(), f"{chosen}.so"), (native_loops.kept_path(), MODEL)):
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, (folder / made).read_bytes())


def _in_its_own_process(place: Path, ordinal: int) -> Row:
    """The workers of a search are copies of the process that begins it, which must have no threads of anything else."""
    words = [sys.executable, "-P", "-m", "kernelwright.bench.gpu.measured_search", str(place), str(ordinal)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["it said nothing"])[-1]}
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def _searched(place: Path, ordinal: int) -> Row:
    from kernelwright.evaluate.workload.subject import subject_from_json
    from kernelwright.stories.evolve import evolve

    subject = subject_from_json(json.loads((place / SUBJECT).read_text()), place.resolve())
    settings: dict[str, Any] = {"accept": "clean", "evaluations": EVALUATIONS, "seconds": MOST_SECONDS, "seed": SEED}
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        begin = time.monotonic()
        with evolve(subject, device=f"cuda:{ordinal}", folder=Path(scratch) / "run", jobs=JOBS, **settings) as run:
            row: Row = {"candidates": run.evaluations, "seconds": round(time.monotonic() - begin, 1)}
            original, best = run.original_us, run.best
            row |= {"original us": round(original, 2) if original else None, "as measured": None}
            if best is not None:
                interval = best.interval
                row |= {"variant": best.name, "as measured": round(best.speedup, 4)}
                row["interval"] = [round(each, 4) for each in interval] if interval else None
                row["label"] = (run.proof(best.name) or {}).get("label", "unproven")
                row["edits"] = best.size
            row["accepted"] = len(run.accepted)
    return row


if __name__ == "__main__":
    try:
        print(json.dumps(_searched(Path(sys.argv[1]), int(sys.argv[2]))))
    except KernelwrightError as error:
        print(json.dumps({"failed": error.message}))
