"""How long a GPU would take for a routine, at the least: its memory traffic or its arithmetic, whichever takes longer.

An estimate of another kind than a kernel's: the library's own kernels are not known here. Each operand is counted as read or
written once, through DRAM; arithmetic runs at the full rate of the pipe for its type. Tensor cores are not counted, so that
products of half precision may take less on a GPU that has them.
"""

from __future__ import annotations

from kernelwright.device.libraries.routine_call import Call
from kernelwright.target import Gpu


def estimate(call: Call, gpu: Gpu) -> None:
    """Sets the call's times, in microseconds."""
    moved = sum(size for _, size in call.reads) + sum(size for _, size in call.writes)
    memory_us = moved / (gpu.dram_gb_per_s * 1e3)
    pipes_us = {
        pipe: count / (gpu.sm.rates[pipe] * gpu.multiprocessors * gpu.clock_mhz)
        for pipe, count in call.instructions.items()
    }
    arithmetic_us = sum(pipes_us.values())
    call.time_us = max(memory_us, arithmetic_us)
    call.bound_by = "memory" if memory_us >= arithmetic_us else max(pipes_us, key=lambda pipe: pipes_us[pipe])
    call.launch_us = gpu.launch_us
