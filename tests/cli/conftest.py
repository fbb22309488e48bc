"""A way to run the command as a user would, in a process of its own, and inside this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.announced_lines import without_announced
from tests.warm_cache import WarmCache

SRC = str(Path(__file__).parents[2] / "src")

Kw = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def kw(tmp_path: Path, warm_cache: WarmCache) -> Iterator[Kw]:
    """``kw("compile", "app.cu", cwd=...)`` with a cache of its own per test."""

    def run(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "kernelwright", *arguments],
            cwd=cwd or tmp_path,
            env={**os.environ, "PYTHONPATH": SRC, "KERNELWRIGHT_CACHE": str(tmp_path / "cache"), **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        done.stderr = without_announced(done.stderr)
        return done

    with warm_cache.at(tmp_path / "cache"):
        yield run
