"""Which CUDA error a program gets for what went wrong on its device."""

from __future__ import annotations

import functools
from enum import IntEnum

from kernelwright.device.fault import Fault
from kernelwright.lazy_dataclasses import dataclass


class CudaError(IntEnum):
    """cudaError_t, as far as a worker says it; ``kernelwright/error_table.h`` has all of them."""

    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_CONFIGURATION = 9
    INVALID_SYMBOL = 13
    INVALID_DEVICE_FUNCTION = 98
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_KERNEL_IMAGE = 200
    NO_KERNEL_IMAGE_FOR_DEVICE = 209
    INVALID_PTX = 218
    INVALID_RESOURCE_HANDLE = 400
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    HARDWARE_STACK_ERROR = 714
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILURE = 719
    NOT_SUPPORTED = 801
    UNKNOWN = 999


@dataclass(frozen=True)
class Failure:
    """An error as it is told: the number for the program, a sentence for the person (empty where the number says it all).

    After one that ``is_sticky`` the device does nothing more until it is reset.
    """

    error: CudaError
    sentence: str = ""
    is_sticky: bool = False


class Refused(Exception):
    """A message that cannot be obeyed, as the program is to learn it."""

    def __init__(self, error: CudaError, sentence: str = "") -> None:
        super().__init__(sentence or error.name)
        self.failure = Failure(error, sentence)


_OF_KIND: dict[str, CudaError] = {
    "out-of-bounds": CudaError.ILLEGAL_ADDRESS,
    "use-after-free": CudaError.ILLEGAL_ADDRESS,
    "misaligned": CudaError.MISALIGNED_ADDRESS,
    "assert": CudaError.ASSERT,
    "endless": CudaError.LAUNCH_TIMEOUT,
    "stack": CudaError.HARDWARE_STACK_ERROR,
    # A GPU hangs or goes on at a divergent barrier; a trap is an unspecified launch failure there too.
    "barrier": CudaError.LAUNCH_FAILURE,
    "trap": CudaError.LAUNCH_FAILURE,
}


def error_of(fault: Fault) -> CudaError:
    """The error that a kernel's fault is to the program that launched it."""
    return _OF_KIND.get(fault.kind, CudaError.LAUNCH_FAILURE)


def defect(error: Exception) -> str:
    """A mistake of ours in one sentence; the trace goes to a file that can be sent to us."""
    import traceback

    trace = "".join(traceback.format_exception(error))
    last = trace.strip().splitlines()[-1]
    return f"this is a defect in Kernelwright: {last}; please report it with {_kept(trace)}"


@functools.cache
def _kept(trace: str) -> str:
    """The file that holds a trace: one, however many launches end in it; the trace itself where none can be written."""
    import tempfile

    try:
        with tempfile.NamedTemporaryFile("w", prefix="kernelwright-", suffix=".trace", delete=False) as file:
            file.write(trace)
    except OSError:
        return f"this: {trace}"
    return file.name
