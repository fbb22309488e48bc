"""What a run ran on and with: facts that every journal and every benchmark writes down."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kernelwright import __version__

TOOLS = ("llvmlite", "ziglang", "numpy")


def machine() -> dict[str, str | int]:
    """Processor, cores this process may use, and operating system."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(models, platform.processor() or platform.machine()),
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def tool_versions() -> dict[str, str]:
    """Versions of Kernelwright, Python and what they stand on."""
    found = {"kernelwright": __version__, "python": platform.python_version()}
    for name in TOOLS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found
