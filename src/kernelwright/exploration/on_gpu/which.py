"""The GPU that an exploration is for: whose model leads the search, and on which the best are measured in the end."""

from __future__ import annotations

from kernelwright.device.settings import real_gpu
from kernelwright.errors import check_kind
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class ChosenGpu:
    """``modelled``: of the table, or ``auto``; ``measured``: ``cuda:0``, empty where times are estimated; ``name``: what the driver calls
    that; ``arch``: ``sm_90``."""

    modelled: str
    measured: str = ""
    name: str = ""
    arch: str = ""


def chosen_gpu(device: str) -> ChosenGpu:
    """``auto`` is the first real GPU where there is one. Raises ``Misuse`` for a device that is not known, ``ToolError`` and
    ``DeviceError`` for a real GPU that is not there."""
    check_kind(device, str, "the name of a device", "as device='h200'")
    if not device.startswith("cuda") and not real_gpu(device):
        return ChosenGpu(device)
    found = RunSettings.on(real_gpu(device) or device)
    return ChosenGpu(found.virtual, found.device, found.gpu, found.arch)
