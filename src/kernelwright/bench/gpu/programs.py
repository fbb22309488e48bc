"""Whole programs of the suite with winners inside, on data of the size that papers use: are they faster there, on a GPU?

What a search found on small data is measured here on large ones, in the program that it came from, as ``kw compile --with`` makes
it: the same executable, with its winners and without, in turns. Times are the device's, of all launches of a program together,
and stand for launches that the host waits for as the program has it. nvcc's program runs beside them, with our runtime.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelwright.bench.gpu.deadline import NEVER, SIDE_BY_SIDE, Deadline
from kernelwright.bench.gpu.nvcc import find_nvcc, flags_of
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.errors import DeviceError, KernelwrightError
from kernelwright.suite import load, verify
from kernelwright.suite.program import SuiteProgram

TURNS = 3
"""Of each side, after one that is thrown away."""
TIMEOUT_S = 120.0
MANIFEST = "programs.json"


def prepare_programs(folder: Path, runs: Mapping[tuple[str, str], Path], say: Say, notes: list[str]) -> None:
    """Builds FOLDER/PROGRAM-ARM for each run, by program and arm, with what the run stands for inside."""
    from kernelwright.evolution.genomes import GENOMES, EvolveRun

    folder.mkdir(parents=True, exist_ok=True)
    made: list[Row] = []
    for (name, arm), path in runs.items():
        say(f"programs: {name}, {arm}")
        program = load(name)
        with EvolveRun.open(path, GENOMES) as run:
            best = run.best
            if best is None:
                continue
            label = (run.proof(best.name) or {}).get("label", "unproven")
            row: Row = {
                "program": name, "arm": arm, "variant": best.name, "label": label, "searched": round(best.speedup, 4),
            }  # fmt: skip
        target = folder / f"{name}-{arm}"
        words = [*map(str, program.source_paths), *program.flags, f"-I{program.folder}", "-o", str(target)]
        command = [sys.executable, "-m", "kernelwright", "compile", *words, "--with", str(path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["it said nothing"]
            notes.append(f"{name}, {arm}: not built with its winner: {said[0]}")
            continue
        made.append(row)
    (folder / MANIFEST).write_text(json.dumps(made, indent=1))


def run_programs(folder: Path, runtime: Path, device: str, say: Say, until: Deadline = NEVER) -> Measured:
    """A row for each program and arm. ``runtime`` holds the libraries that stand in for NVIDIA's."""
    result = Measured("programs")
    rows: dict[str, Row] = {
        f"{row['program']}-{row['arm']}": row for row in json.loads((folder / MANIFEST).read_text())
    }
    with tempfile.TemporaryDirectory() as scratch:
        nvccs = _all_by_nvcc(list(dict.fromkeys(row["program"] for row in rows.values())), Path(scratch), say)
        for name in until.before(rows, result):
            say(name)
            row = rows[name]
            program = load(row["program"])
            try:
                row |= _measured(program, (folder / name).resolve(), nvccs.get(program.name), runtime.resolve(), device)
            except KernelwrightError as error:
                row["failed"] = error.message
            result.rows.append(row)
    result.at_most("programs that fail", sum("failed" in row for row in result.rows), 0)
    result.rows += means(result.rows)
    wrong = sum(
        row.get("outputs", "equal") != "equal" for row in result.rows if row.get("label") in ("proven", "clean")
    )
    result.at_most("programs whose clean or proven winners give other outputs on large data", wrong, 0)
    return result


def means(rows: Sequence[Row]) -> list[Row]:
    """Geometric means by arm."""
    found = []
    for arm in dict.fromkeys(row["arm"] for row in rows):
        for column in ("over ours", "over nvcc"):
            values = [row[column] for row in rows if row["arm"] == arm and row.get(column)]
            if values:
                mean = statistics.geometric_mean(values)
                found.append({"mean": column, "arm": arm, "programs": len(values), "times as fast": round(mean, 4)})
    return found


def _measured(program: SuiteProgram, executable: Path, nvccs: Path | None, runtime: Path, device: str) -> Row:
    executable.chmod(0o755)  # copies between machines lose it
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / "work"
        work.mkdir()
        argv = program.generate(work, "large", 1)
        sides: dict[str, tuple[Path, str]] = {"ours": (executable, "off"), "winners": (executable, "on")}
        if nvccs is not None:
            sides["nvcc"] = nvccs, "off"
        taken: dict[str, list[list[Row]]] = {side: [] for side in sides}
        arrays: dict[str, Any] = {}
        outputs = ""
        for turn in range(TURNS + 1):
            for side, (path, winners) in sides.items():
                kernels = _run(path, argv, work, runtime if side == "nvcc" else None, device, winners)
                if turn == 0 and side == "ours":
                    arrays = dict(program.read(work))
                elif turn == 0 and side == "winners":
                    known = replace(program, oracle=lambda *_, arrays=arrays: arrays)
                    outputs = "; ".join(verify(known, work, argv)) or "equal"
                if turn:
                    taken[side].append(kernels)
    totals = {side: sum(_of(many, k["kernel"]) for k in many[0]) for side, many in taken.items()}
    row: Row = {"outputs": outputs, "launches": sum(k["launches"] for k in taken["ours"][0])}
    row |= {f"{side} us": round(us, 2) for side, us in totals.items()}
    row["over ours"] = round(totals["ours"] / totals["winners"], 4)
    spread = [_whole(a) / _whole(b) for a, b in zip(taken["ours"], taken["winners"], strict=True)]
    row["late"] = sum(k.get("late", 0) for many in taken.values() for kernels in many for k in kernels)
    row["between"] = [round(min(spread), 4), round(max(spread), 4)]
    if "nvcc" in totals:
        row["over nvcc"] = round(totals["nvcc"] / totals["winners"], 4)
    row["kernels"] = {
        k["kernel"]: [k["launches"], *(_of(taken[side], k["kernel"]) for side in sides)] for k in taken["ours"][0]
    }
    return row


def _whole(kernels: Sequence[Row]) -> float:
    """Microseconds of one turn."""
    return sum(_total(kernel["each_us"]) for kernel in kernels)


def _of(taken: Sequence[Sequence[Row]], kernel: str) -> float:
    """Microseconds of a kernel: of each launch the median over those turns in which it was not late; a launch that always was counts as
    the others of its kernel do."""
    turns = [[us for k in kernels if k["kernel"] == kernel for us in k["each_us"]] for kernels in taken]
    if len({len(turn) for turn in turns}) != 1:  # it depends on the outputs of another launch how many there are
        return round(statistics.median(_total(turn) for turn in turns), 2)
    medians = [
        statistics.median(in_time) if (in_time := [us for us in same if us is not None]) else None
        for same in zip(*turns, strict=True)
    ]
    return round(_total(medians), 2)


def _total(each_us: Sequence[float | None]) -> float:
    in_time = [us for us in each_us if us is not None]
    return sum(in_time) * len(each_us) / len(in_time) if in_time else 0.0


def _run(
    executable: Path, argv: Sequence[str], work: Path, runtime: Path | None, device: str, winners: str
) -> list[Row]:
    """The program's kernels with their times. Raises ``DeviceError`` for one that fails."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    if runtime is not None:
        before = os.environ.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = f"{runtime}:{before}" if before else str(runtime)
    words = [sys.executable, "-P", "-m", "kernelwright.bench.gpu.timed_run", device, winners, str(executable), *argv]
    try:
        done = subprocess.run(
            words, cwd=work, env=environment, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(f"{executable.name} was still running after {TIMEOUT_S:g} s") from None
    told: dict[str, Any] = (
        json.loads(done.stdout) if done.returncode == 0 and done.stdout else {"exit code": done.returncode}
    )
    if told["exit code"]:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise DeviceError(f"{executable.name} ended with exit code {told['exit code']}: {said[-1]}")
    rows: list[Row] = told["kernels"]
    return rows


def _all_by_nvcc(names: Sequence[str], folder: Path, say: Say) -> dict[str, Path]:
    """Programs as nvcc builds them, side by side; those that it does not build are left out."""
    say("building by nvcc")
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        built = pool.map(lambda name: _by_nvcc(load(name), folder / name), names)
    return {name: path for name, path in zip(names, built, strict=True) if path is not None}


def _by_nvcc(program: SuiteProgram, target: Path) -> Path | None:
    """The program as nvcc builds it; None where there is no nvcc, or it does not."""
    nvcc = find_nvcc()
    if nvcc is None:
        return None
    words = [nvcc, "-O3", "-w", "-arch=native", "-cudart", "shared", *flags_of(program), "-o", target]
    done = subprocess.run(list(map(str, [*words, *program.source_paths])), capture_output=True, text=True)
    return target if done.returncode == 0 else None
