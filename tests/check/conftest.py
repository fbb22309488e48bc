"""``kw check`` in a process of its own, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SRC = str(Path(__file__).parents[2] / "src")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Checked:
    """What came of ``kw check --json``."""

    exit_code: int
    findings: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    stderr: str


def kw(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernelwright", *arguments],
        env={**os.environ, "PYTHONPATH": SRC},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def check(path: Path, *flags: str, arguments: tuple[str, ...] = (), cwd: Path | None = None) -> Checked:
    done = kw("check", "--json", *flags, str(path), "--", *arguments, cwd=cwd)
    told = json.loads(done.stdout or '{"findings": []}')
    return Checked(done.returncode, told["findings"], told.get("notes", []), done.stderr)
