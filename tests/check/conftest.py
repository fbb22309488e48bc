"""``kw check`` in a process of its own, as a user runs it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import kw_process

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Checked:
    """What came of ``kw check --json``."""

    exit_code: int
    findings: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    stderr: str


def kw(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return kw_process.kw(*arguments, cwd=cwd, timeout=120)


def check(path: Path, *flags: str, arguments: tuple[str, ...] = (), cwd: Path | None = None) -> Checked:
    done = kw("check", "--json", *flags, str(path), "--", *arguments, cwd=cwd)
    told = json.loads(done.stdout or '{"findings": []}')
    return Checked(done.returncode, told["findings"], told.get("notes", []), done.stderr)
