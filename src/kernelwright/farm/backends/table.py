"""The back ends by name."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.farm.backends.backend import Backend
from kernelwright.farm.backends.host import Host
from kernelwright.farm.backends.llvm_ir import LlvmIr
from kernelwright.farm.backends.nvrtc import Nvrtc
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.farm.backends.tree import Tree

BACKENDS: dict[str, tuple[Callable[..., Backend], str]] = {
    "interpreted": (Tree, "nothing is compiled; cheapest for few cases"),
    "host": (Host, "LLVM-IR to code for this processor"),
    "ptx": (Ptx, "PTX of many individuals to a cubin, without a compiler"),
    "llvm": (LlvmIr, "LLVM-IR to PTX to a cubin"),
    "nvrtc": (Nvrtc, "CUDA C to a cubin, for any grammar"),
}
"""Those for a GPU take its architecture, ``arch``; without it, the default one's."""
