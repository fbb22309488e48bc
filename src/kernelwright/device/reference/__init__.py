"""The reference executor: slow, simple, and by definition right. What it does with a kernel is what the kernel means.

    launch          run_reference: grid, blocks, faults with names
    scheduler       the threads of a block: who runs, who waits
    thread_state    launch, blocks, threads and their memory while they run
    program         a kernel's functions, translated
    body            one function as Python; instructions, calls, intrinsics, operations say what each instruction is
    memory_access   memory, checked
    race_watch      races and reads of unwritten memory

Each GPU thread is a Python generator that runs the translated IR; blocks run one after another, threads in the order of
the schedule, from one synchronisation to the next. The fast executor is tested against this one.
"""

from __future__ import annotations

from kernelwright.device.geometry import check_geometry
from kernelwright.device.reference.launch import BUDGET, FORWARD, ReferenceResult, execute_reference, run_reference
from kernelwright.device.reference.program import Translation
from kernelwright.device.reference.race_watch import Watch

__all__ = [
    "BUDGET", "FORWARD", "ReferenceResult", "Translation", "Watch", "check_geometry", "execute_reference", "run_reference",
]  # fmt: skip
