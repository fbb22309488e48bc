"""What comes back from another process: a result, the error it raised, or the reason it died."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable
from typing import Any

from kernelwright.errors import CompileError, KernelwrightError, ToolError


def answer(function: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    """Calls the function and packs what became of it. Runs in the other process; never raises an ``Exception``."""
    try:
        packed = ("done", function(*args))
    except KernelwrightError as error:
        packed = ("raised", error)
    except Exception as error:
        packed = ("raised", ToolError(f"the compile process failed: {type(error).__name__}: {error}"))
    return pickle.dumps(packed, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> Any:
    """The result, or raises what was raised over there."""
    kind, value = pickle.loads(data)
    if kind == "raised":
        raise value
    return value


def death(code: int, log: str) -> KernelwrightError:
    """Why a process ended without an answer: its exit status (negative for a signal) and what it wrote to standard error.

    A ``CompileError`` when LLVM said what it cannot do with the module, else a ``ToolError``.
    """
    lines = log.splitlines()
    reason = next((line for line in lines if "LLVM ERROR" in line or "Assertion" in line), "")
    if "LLVM ERROR: " in reason:
        return CompileError(
            f"LLVM cannot compile this module: {reason.partition('LLVM ERROR: ')[2]}",
            hint="the IR uses something that this architecture or PTX version does not have",
        )
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    detail = reason or (lines[-1] if lines else "without a word")
    return ToolError(f"the compile process ended by {how}: {detail}", hint="reduce the module and report it")


def too_slow(timeout_s: float) -> ToolError:
    """What is raised when LLVM took longer than its time."""
    return ToolError(f"LLVM took longer than {timeout_s:g} s and was stopped", hint="raise the time limit")
