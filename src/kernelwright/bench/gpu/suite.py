"""The suite's programs, as they are, on the GPU: outputs against the NumPy oracle and against the virtual GPU's."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelwright.bench.measured import Measured, Row, Say
from kernelwright.suite import load, run_and_verify, verify

SIZE = "small"


def run_suite(folder: Path, manifest: Mapping[str, Any], device: str, say: Say) -> Measured:
    """Runs every program that was prepared."""
    result = Measured("suite")
    names = manifest["suite"]
    compared = wrong = 0
    for name in names:
        say(name)
        row, right, both = _run_program(folder / "suite" / name, name, device)
        result.rows.append(row)
        wrong += not right
        compared += both
    if compared < len(names):
        result.notes.append(
            f"{len(names) - compared} of {len(names)} have no output of the virtual GPU to compare with"
        )
    result.at_most("programs whose outputs are wrong or differ between the devices", wrong if names else None, 0)
    return result


def _run_program(place: Path, name: str, device: str) -> tuple[Row, bool, bool]:
    """The row, whether all was right, and whether there was something of the virtual GPU to compare with."""
    program = load(name)
    environment = {
        "KERNELWRIGHT_DEVICE": device,
        "KERNELWRIGHT_WORKER": worker_command(),
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    executable = place / "program"
    executable.chmod(0o755)  # copies between machines lose it
    with tempfile.TemporaryDirectory() as work:
        began = time.perf_counter()
        said = run_and_verify(program, executable, SIZE, folder=Path(work), environment=environment)  # type: ignore[arg-type]
        seconds = time.perf_counter() - began
        row: Row = {"program": name, "seconds": round(seconds, 2), "against the oracle": "; ".join(said) or "equal"}
        kept = place / "virtual.npz"
        if said or not kept.is_file():
            return row, not said, False
        import numpy as np

        with np.load(kept) as file:
            arrays = {key: file[key] for key in file.files}
        differs = verify(replace(program, oracle=lambda *_: arrays), Path(work), ())
        row["against the virtual GPU"] = "; ".join(differs) or "equal"
        return row, not differs, True
