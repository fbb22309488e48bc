"""The back ends by name: ``kw breed --backend``, its choice by measurement, ``kw farm`` and the benchmarks read this table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelwright.breeding.back_end import BackEnd
from kernelwright.breeding.gpus import RealGpu, VirtualGpu
from kernelwright.breeding.host_code import HostCode
from kernelwright.breeding.interpreter import Interpreter
from kernelwright.breeding.kernels import kernels_on
from kernelwright.breeding.surrounding_code import CUDA, GPU_IR, HOST_IR, PTX, C
from kernelwright.errors import Misuse
from kernelwright.farm.backends.host import Host
from kernelwright.farm.backends.llvm_ir import LlvmIr
from kernelwright.farm.backends.nvrtc import Nvrtc
from kernelwright.farm.backends.optimised_ir import OptimisedIr
from kernelwright.farm.backends.own_compiler import OwnCompiler
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.farm.backends.tree import Tree

ROWS = (
    BackEnd(
        "interpreted",
        "nothing is compiled; cheapest where cases are few and programs have no loops",
        C,
        Tree,
        Interpreter,
        auto=True,
        remembers=True,
    ),
    BackEnd("host", "LLVM-IR to code for this processor", HOST_IR, Host, HostCode, auto=True),
    BackEnd(
        "optimised",
        "the same, optimised; for a million cases and more",
        HOST_IR,
        Host,
        HostCode,
        "full",
        optimises="host",
    ),
    BackEnd(
        "virtual",
        "CUDA C on a virtual GPU; takes any grammar",
        CUDA,
        OwnCompiler,
        kernels_on(VirtualGpu, skips=True),
        any_grammar=True,
    ),
    BackEnd("llvm", "LLVM-IR on a virtual GPU", GPU_IR, OptimisedIr, kernels_on(VirtualGpu)),
    BackEnd(
        "cuda",
        "CUDA C on a GPU; takes any grammar",
        CUDA,
        partial(OwnCompiler, makes="cubin"),
        kernels_on(RealGpu, skips=True),
        needs_gpu=True,
        any_grammar=True,
    ),
    BackEnd("cuda-llvm", "LLVM-IR to PTX to a cubin, on a GPU", GPU_IR, LlvmIr, kernels_on(RealGpu), needs_gpu=True),
    BackEnd(
        "ptx",
        "PTX of many programs to a cubin, without a compiler, on a GPU",
        PTX,
        Ptx,
        kernels_on(RealGpu),
        needs_gpu=True,
    ),
    BackEnd(
        "nvrtc",
        "CUDA C to a cubin by NVRTC, on a GPU; takes any grammar",
        CUDA,
        Nvrtc,
        kernels_on(RealGpu, skips=True),
        needs_gpu=True,
        any_grammar=True,
    ),
)

BACKENDS: Mapping[str, BackEnd] = {row.name: row for row in ROWS}


def back_end(name: str) -> BackEnd:
    """Raises ``Misuse`` for an unknown name."""
    if name not in BACKENDS:
        raise Misuse(f"there is no back end {name!r}", hint=f"there are {', '.join(BACKENDS)}, and auto")
    return BACKENDS[name]
