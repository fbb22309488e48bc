"""Where LLVM runs. Two things speak against this process: what LLVM's pass gate (``-opt-disable``) has switched off, and a
threshold that was set, stay so for as long as a process lives; and LLVM ends the process on input it cannot handle.

    run(emit, ir, "sm_80", options=options)     here, or in the worker that has these options (``worker.py``)
    run(..., isolate=True)                      where its end harms nothing: here when someone waits for this process
                                                (``command_fork.py``), in a copy of it (``call_fork.py``), or in a worker
"""

from __future__ import annotations

import os

from kernelwright.passes import command_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    from kernelwright.passes.options import PassOptions

    P = ParamSpec("P")
    R = TypeVar("R")

_here: tuple[str, ...] = ()
"""The switches this process was configured with: none, except in a worker."""


def run(
    function: Callable[P, R],
    /,
    *args: Any,
    options: PassOptions,
    isolate: bool = False,
    timeout_s: float = command_fork.TIMEOUT_S,
) -> R:
    """``function(*args)`` in a process configured for ``options``; ``function`` must be importable by its name.

    Raises what ``function`` raises; ``CompileError`` when LLVM gives the module up, with its reason; ``ToolError`` when the
    process dies without one or takes longer than ``timeout_s``. In a forked command these two end it.
    """
    if _switches(options) == _here:
        if not isolate or is_worker():
            return function(*args)  # type: ignore[call-arg]
        if command_fork.is_taken():
            return command_fork.call(function, args, timeout_s)
        from kernelwright.passes import call_fork

        if call_fork.possible():
            return call_fork.call(function, args, timeout_s)
    from kernelwright.passes import worker

    return worker.worker(options).call(function, args, timeout_s)


def _switches(options: PassOptions) -> tuple[str, ...]:
    if not options.without and not options.thresholds:
        return ()
    from kernelwright.passes.switches import process_switches

    return process_switches(options)


def is_worker() -> bool:
    """Whether this process is itself a worker, which needs no protection from itself."""
    return "KERNELWRIGHT_COMPILE_WORKER" in os.environ


def configure_here(switches: tuple[str, ...]) -> None:
    """Marks this process as configured; only ``worker_child`` calls it, after LLVM took the switches."""
    global _here
    _here = switches
