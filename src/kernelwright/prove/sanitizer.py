"""NVIDIA's own checker, compute-sanitizer, on a program that runs a variant on a real GPU.

    outcome = sanitize(["./app", "1024"], environment={"KERNELWRIGHT_DEVICE": "cuda:0"})

It sees other things than we do (what the driver and the machine code make of it) and fewer: races in shared memory alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernelwright.errors import ToolError
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
FOUND = 86
"""The exit code we have it end with when it finds something."""
TIMEOUT_S = 600.0
_FIRST = re.compile(r"^=+ (?:Error: )?((?:Invalid|Uninitialized|Race|Barrier|Warning|Error)\b.*)$", re.MULTILINE)
_NO_GPU = re.compile(r"no CUDA-capable device|Unable to find|No supported GPU|driver", re.IGNORECASE)


def find_sanitizer(cuda_path: Path | None = None) -> Path:
    """The tool, of a toolkit or on PATH. Raises ``ToolError`` when there is none."""
    homes = [cuda_path, *(Path(os.environ[n]) for n in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(n))]
    places = [home / "bin" / "compute-sanitizer" for home in homes if home is not None]
    found = next((place for place in places if place.is_file()), None) or shutil.which("compute-sanitizer")
    if found is None:
        raise ToolError(
            "compute-sanitizer is not installed", hint="it comes with the CUDA toolkit: set CUDA_PATH to it"
        )
    return Path(found)


def sanitize(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    tools: Sequence[str] = TOOLS,
    cuda_path: Path | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Outcome:
    """Runs a program under each of ``tools``: ``Ok`` when none finds anything, else the first finding.

    ``environment`` is added to this process's. Raises ``ToolError`` when the tool is missing or cannot work here.
    """
    tool = find_sanitizer(cuda_path)
    for name in tools:
        command = [str(tool), "--tool", name, "--target-processes", "all", "--error-exitcode", str(FOUND), *argv]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=timeout_s,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Rejected("timeout", f"under compute-sanitizer's {name} it did not end in {timeout_s:g} s")
        except OSError as error:
            raise ToolError(f"{tool} cannot be run: {error.strerror}", hint="install the CUDA toolkit again") from error
        said = done.stdout + done.stderr
        if done.returncode == FOUND:
            first = _FIRST.search(said)
            return Rejected(
                "fault", f"{name}: {first[1].strip() if first else 'it found errors, and does not say which'}"
            )
        if done.returncode:
            last = (said.strip().splitlines() or ["it says nothing"])[-1]
            if _NO_GPU.search(said):
                raise ToolError(f"compute-sanitizer does not work here: {last}", hint="it needs a real GPU")
            return Rejected("program", f"under {name} the program ends with exit code {done.returncode}: {last}")
    return Ok(0.0, 0.0)
