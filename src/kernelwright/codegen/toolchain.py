"""What is installed for making machine code, as plain values that ``kw doctor`` prints. Nothing found is a value too."""

from __future__ import annotations

import ctypes as c
import importlib.metadata
from pathlib import Path

from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.errors import KernelwrightError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes import isolation
from kernelwright.passes.libdevice import find_libdevice
from kernelwright.passes.llvm import binding
from kernelwright.passes.options import DEFAULT

# CUdevice_attribute, from the driver API's documentation.
CAPABILITY_MAJOR = 75
CAPABILITY_MINOR = 76
NAME_LENGTH = 256
DRIVER_TIMEOUT_S = 120.0
"""The driver wakes GPUs that sleep, one after the other."""


@dataclass(frozen=True)
class Llvm:
    """``llvmlite`` is the package's version, ``llvm`` the LLVM inside it: ``0.50.0`` and ``22.1.0``."""

    llvmlite: str
    llvm: str


@dataclass(frozen=True)
class Tool:
    """An assembler. ``version`` is CUDA's, or empty with the reason in ``trouble`` when it does not load or run."""

    kind: str
    path: Path
    version: str
    trouble: str = ""


@dataclass(frozen=True)
class Gpu:
    """``arch`` is ``sm_90``; memory in bytes."""

    name: str
    arch: str
    memory_bytes: int


@dataclass(frozen=True)
class Driver:
    """NVIDIA's driver. ``version`` is the newest CUDA it serves, ``12.8``; ``trouble`` says why there are no GPUs."""

    version: str
    gpus: tuple[Gpu, ...]
    trouble: str = ""


@dataclass(frozen=True)
class Toolchain:
    llvm: Llvm | None
    libdevice: Path | None
    assemblers: tuple[Tool, ...]
    driver: Driver | None


def toolchain(cuda_path: Path | None = None) -> Toolchain:
    """Everything that was found. Raises ``Misuse`` only for a ``cuda_path`` that is no toolkit."""
    return Toolchain(find_llvm(), find_libdevice(cuda_path), find_tools(cuda_path), find_driver())


def find_llvm() -> Llvm | None:
    """None when llvmlite is missing or cannot generate PTX."""
    try:
        version = ".".join(str(n) for n in binding().llvm_version_info)
    except KernelwrightError:
        return None
    return Llvm(importlib.metadata.version("llvmlite"), version)


def find_tools(cuda_path: Path | None = None) -> tuple[Tool, ...]:
    """The assemblers, in the order they are tried."""
    found = []
    for each in find_assemblers(cuda_path):
        try:
            found.append(Tool(each.kind, each.path, each.version))
        except KernelwrightError as error:
            found.append(Tool(each.kind, each.path, "", error.message))
    return tuple(found)


def find_driver() -> Driver | None:
    """The driver and its GPUs, None where there is no ``libcuda.so.1``.

    Asks in a worker process: initialising CUDA would keep this one from forking processes that use it. Not in a copy of this
    process: CUDA does not start in one whose parent has used NVIDIA's libraries.
    """
    if isolation.is_worker():
        return _ask_driver()
    from kernelwright.passes import worker

    return worker.worker(DEFAULT).call(_ask_driver, (), DRIVER_TIMEOUT_S)


def _ask_driver() -> Driver | None:
    try:
        cuda = c.CDLL("libcuda.so.1")
    except OSError:
        return None
    number = c.c_int()
    status = cuda.cuDriverGetVersion(c.byref(number))
    version = f"{number.value // 1000}.{number.value % 1000 // 10}" if status == 0 else ""
    status = cuda.cuInit(0)
    if status:
        return Driver(version, (), f"cuInit answers {_reason(cuda, status)}")
    count = c.c_int()
    cuda.cuDeviceGetCount(c.byref(count))
    return Driver(version, tuple(_gpu(cuda, i) for i in range(count.value)))


def _gpu(cuda: c.CDLL, ordinal: int) -> Gpu:
    device, memory = c.c_int(), c.c_size_t()
    name = c.create_string_buffer(NAME_LENGTH)
    cuda.cuDeviceGet(c.byref(device), ordinal)
    cuda.cuDeviceGetName(name, NAME_LENGTH, device)
    cuda.cuDeviceTotalMem_v2(c.byref(memory), device)
    major, minor = (_attribute(cuda, a, device) for a in (CAPABILITY_MAJOR, CAPABILITY_MINOR))
    return Gpu(name.value.decode(), f"sm_{major}{minor}", memory.value)


def _attribute(cuda: c.CDLL, attribute: int, device: c.c_int) -> int:
    value = c.c_int()
    cuda.cuDeviceGetAttribute(c.byref(value), attribute, device)
    return value.value


def _reason(cuda: c.CDLL, status: int) -> str:
    text = c.c_char_p()
    cuda.cuGetErrorString(status, c.byref(text))
    return text.value.decode() if text.value else f"error {status}"
