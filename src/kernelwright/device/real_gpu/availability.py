"""Whether a real GPU can be used here, found out before anybody waits for it."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kernelwright.device.real_gpu.driver import INSTALL
from kernelwright.errors import DeviceError, KernelwrightError, ToolError

if TYPE_CHECKING:
    from kernelwright.codegen.toolchain import Driver, Gpu

VIRTUAL = "kw doctor lists the GPUs there are; --device h200 is a virtual one"


def require_gpu(ordinal: int) -> Gpu:
    """GPU number ``ordinal``. Raises ``ToolError`` without driver or binding, ``DeviceError`` for a GPU that is not there."""
    driver = _driver()
    if driver is None:
        raise ToolError(f"there is no cuda:{ordinal}: this machine has no NVIDIA driver", hint=VIRTUAL)
    if not driver.gpus:
        raise DeviceError(f"there is no cuda:{ordinal}: {driver.trouble or 'the driver reports no GPU'}", hint=VIRTUAL)
    if ordinal >= len(driver.gpus):
        many = f"{len(driver.gpus)} GPU{'s' if len(driver.gpus) > 1 else ''}"
        raise DeviceError(f"there is no cuda:{ordinal}: this machine has {many}, numbered from 0", hint=VIRTUAL)
    if not has_binding():
        raise ToolError("NVIDIA's Python binding of the CUDA driver is missing", hint=INSTALL)
    return driver.gpus[ordinal]


def is_usable() -> bool:
    """Whether there is a GPU that we can use; where there is none, which is the usual case, nothing is loaded."""
    if not has_device_file():
        return False
    try:
        require_gpu(0)
    except KernelwrightError:
        return False
    return True


def has_device_file() -> bool:
    """Whether the system shows a GPU of NVIDIA's to programs; under Windows' Linux it is another file."""
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()


def has_binding() -> bool:
    """Whether the package that speaks to the driver is installed."""
    try:
        return importlib.util.find_spec("cuda.bindings") is not None
    except ModuleNotFoundError:
        return False


@cache
def _driver() -> Driver | None:
    """Asked once: the driver wakes its GPUs for it."""
    from kernelwright.codegen.toolchain import find_driver

    return find_driver()
