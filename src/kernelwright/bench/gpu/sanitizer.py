"""NVIDIA's compute-sanitizer on the suite's programs, beside what ``kw check`` said of them on the virtual GPU.

``TOOLS`` is the table of its four tools, each with the kinds of our findings that are its business. They agree when both find
something, or both nothing. Races in global memory and results that depend on the order are found by ``kw check`` alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.gpu.suite import device_environment
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.suite import load

TOOLS: Mapping[str, frozenset[str]] = {
    "memcheck": frozenset({"out-of-bounds", "misaligned", "use-after-free", "launch"}),
    "racecheck": frozenset({"race"}),
    "initcheck": frozenset({"uninitialised"}),
    "synccheck": frozenset({"barrier"}),
}
SIZE: Literal["tiny"] = "tiny"
SEED = 1
TIMEOUT_S = 600.0
VERDICT = "check.json"
"""What ``kw check`` said, beside the program."""
_SUMMARY = re.compile(r"=+ (?:ERROR SUMMARY: (\d+) errors?|RACECHECK SUMMARY: (\d+) hazards? displayed)")


def check_program(folder: Path, name: str) -> str:
    """Runs ``kw check`` on the program in ``folder`` and writes down what it finds; why it could not, or nothing."""
    with tempfile.TemporaryDirectory() as work:
        argv = load(name).generate(Path(work), SIZE, SEED)
        program = str((folder / "program").resolve())
        command = [sys.executable, "-m", "kernelwright", "check", "--json", program, "--", *argv]
        path = os.pathsep.join(p for p in sys.path if p)
        done = subprocess.run(
            command, cwd=work, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, errors="replace"
        )
    if done.returncode > 1:
        return f"kw check of {name} failed: " + (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    kinds = [finding["kind"] for finding in json.loads(done.stdout)["findings"]]
    (folder / VERDICT).write_text(json.dumps(kinds))
    return ""


def run_sanitizer(folder: Path, names: Sequence[str], device: str, say: Say, until: Deadline = NEVER) -> Measured:
    """Every program that was prepared in ``folder`` under each of the tools, on ``device`` (``cuda:0``)."""
    result = Measured("sanitizer")
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if sanitizer is None:
        result.notes.append("compute-sanitizer is not installed here: nothing to compare kw check with")
    say("compute-sanitizer")

    def judge(name: str) -> Row:
        return {"program": name, **_judge(sanitizer or "", folder / "suite" / name, name, device)}

    result.rows += until.side_by_side(judge, names if sanitizer else (), result)
    both = [row["kw check"] for row in result.rows if row["kw check"] in ("agrees", "differs")]
    result.at_most(
        "programs on which compute-sanitizer and kw check differ", both.count("differs") if both else None, 0
    )
    result.at_least("programs that both have judged", len(both) if sanitizer else None, len(names))
    return result


def _judge(sanitizer: str, place: Path, name: str, device: str) -> Row:
    """What each tool says, and whether ``kw check`` says so, too."""
    row: Row = {}
    verdict = place / VERDICT
    ours = set(json.loads(verdict.read_text())) if verdict.is_file() else None
    agree, complete = True, ours is not None
    for tool, kinds in TOOLS.items():
        errors, said = _errors(sanitizer, tool, place / "program", name, device)
        row[tool] = said
        if errors is None:
            complete = False
        elif ours is not None:
            agree &= bool(errors) == bool(ours & kinds)
    row["kw check found"] = "not known" if ours is None else ", ".join(sorted(ours)) or "nothing"
    row["kw check"] = "not compared" if not complete and agree else "agrees" if agree else "differs"
    return row


def _errors(sanitizer: str, tool: str, program: Path, name: str, device: str) -> tuple[int | None, str]:
    """How many errors the tool counts, None when it did not get so far; and the same in words."""
    program.chmod(0o755)  # copies between machines lose it
    with tempfile.TemporaryDirectory() as work:
        argv = load(name).generate(Path(work), SIZE, SEED)
        # The GPU is used by the program's device worker, its child.
        command = [sanitizer, "--tool", tool, "--target-processes", "all", str(program.resolve()), *argv]
        environment = {**os.environ, **device_environment(device)}
        try:
            done = subprocess.run(
                command, cwd=work, env=environment, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, f"not run: {error}".splitlines()[0]
    lines = (done.stdout + done.stderr).splitlines()
    counts = [int(found[1] or found[2]) for line in lines if (found := _SUMMARY.match(line))]
    if not counts:
        return None, f"no verdict: {lines[-1] if lines else 'it said nothing'}"
    return sum(counts), f"{sum(counts)} errors" + (f", exit code {done.returncode}" if done.returncode else "")
