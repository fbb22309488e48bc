"""The suite's programs, as they are, on the GPU: outputs against the NumPy oracle and against the virtual GPU's.

Where there is nvcc, they are built by it, too, and run with our CUDA runtime in the place of NVIDIA's.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.gpu.nvcc import find_nvcc, flags_of
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.suite import load, run_and_verify, verify
from kernelwright.suite.program import SuiteProgram

SIZE = "small"


def run_suite(folder: Path, manifest: Mapping[str, Any], device: str, say: Say, until: Deadline = NEVER) -> Measured:
    """Runs every program that was prepared, several beside each other: nothing is timed but for a first impression."""
    result = Measured("suite")
    say("programs")
    names = manifest["suite"]
    virtual = {name: folder / "suite" / name / "virtual.npz" for name in names}
    missing = [name for name, path in virtual.items() if not path.is_file()]
    if missing:
        result.notes.append(f"no output of the virtual GPU to compare with: {', '.join(missing)}")

    def run(name: str) -> Row:
        executable = folder / "suite" / name / "program"
        executable.chmod(0o755)  # copies between machines lose it
        return {"program": name, **_run_program(load(name), executable, device, virtual[name])}

    result.rows += until.side_by_side(run, names, result)
    wrong = _wrong(result.rows)
    result.at_most("programs whose outputs are wrong or differ between the devices", wrong if names else None, 0)
    say("built by nvcc")
    built = _run_nvccs(folder / "runtime", names, device, until, result)
    result.at_most("programs built by nvcc whose outputs are wrong", _wrong(built) if built else None, 0)
    result.rows += built
    return result


def _wrong(rows: list[Row]) -> int:
    checked = ("against the oracle", "against the virtual GPU")
    return sum(any(row.get(key, "equal") != "equal" for key in checked) for row in rows)


def device_environment(device: str) -> dict[str, str]:
    """What makes a program that we built run on a device, with this Python's packages."""
    return {
        "KERNELWRIGHT_DEVICE": device,
        "KERNELWRIGHT_WORKER": f"{shlex.quote(sys.executable)} -P -m kernelwright.device.serving.worker",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }


def _run_program(
    program: SuiteProgram, executable: Path, device: str, virtual: Path, more: Mapping[str, str] | None = None
) -> Row:
    environment = {**device_environment(device), **(more or {})}
    with tempfile.TemporaryDirectory() as work:
        began = time.perf_counter()
        said = run_and_verify(program, executable, SIZE, folder=Path(work), environment=environment)  # type: ignore[arg-type]
        row: Row = {"seconds": round(time.perf_counter() - began, 2), "against the oracle": "; ".join(said) or "equal"}
        if virtual.is_file():
            import numpy as np

            with np.load(virtual) as file:
                arrays = {key: file[key] for key in file.files}
            differs = verify(replace(program, oracle=lambda *_: arrays), Path(work), ())
            row["against the virtual GPU"] = "; ".join(differs) or "equal"
        return row


def _run_nvccs(runtime: Path, names: list[str], device: str, until: Deadline, result: Measured) -> list[Row]:
    """The same programs built here by nvcc; ``runtime`` holds the libraries that stand in for NVIDIA's."""
    nvcc = find_nvcc()
    if nvcc is None or not runtime.is_dir():
        result.notes.append("programs built by nvcc were not run: " + ("no nvcc" if nvcc is None else "no runtime"))
        return []
    others = os.environ.get("LD_LIBRARY_PATH")
    ours = {"LD_LIBRARY_PATH": f"{runtime}:{others}" if others else str(runtime)}

    def run(name: str) -> Row | None:
        program = load(name)
        with tempfile.TemporaryDirectory() as scratch:
            executable = Path(scratch) / "program"
            words = [nvcc, "-w", "-cudart", "shared", *flags_of(program), "-o", executable]
            built = subprocess.run(
                list(map(str, [*words, *program.source_paths])), capture_output=True, text=True, errors="replace"
            )
            if built.returncode:
                last = (built.stderr.strip().splitlines() or ["it said nothing"])[-1]
                result.notes.append(f"nvcc does not build {name}: {last}")
                return None
            return {"nvcc's program": name, **_run_program(program, executable, device, Path("none"), ours)}

    return until.side_by_side(run, names, result)
