"""What becomes of an item that has no result, as a value with its cause."""

from __future__ import annotations

import pickle
import signal
import traceback
from typing import Literal

from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.process_result import death

Stage = Literal["crash", "timeout", "memory"]

OUT_OF_MEMORY = 86
"""Exit code of a worker that ran out of the memory it may have."""

_NO_MEMORY = ("MemoryError", "out of memory", "std::bad_alloc", "Cannot allocate memory", "Allocation failed")
_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT})


@dataclass(frozen=True)
class Lost:
    """The item ended its worker, twice. ``stage`` is one of ``evaluate``'s; ``reason`` is one sentence."""

    stage: Stage
    reason: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason}"


@dataclass(frozen=True)
class Raised:
    """The item raised ``error``; ``trace`` is the worker's traceback, for finding the mistake."""

    error: Exception
    trace: str = ""

    @property
    def reason(self) -> str:
        """The error on one line: ``ValueError: no such thing``."""
        return f"{type(self.error).__name__}: {self.error}"

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Cause:
    """Why a worker ended. ``outside``: by a signal that no process sends to itself, so the item may well be innocent."""

    lost: Lost
    outside: bool = False


def raised(error: BaseException) -> Raised:
    """What a worker answers for an item that raised: the error itself where it can travel, else its text."""
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, Exception):
        bare = error.with_traceback(None)
        bare.__cause__ = bare.__context__ = None
        try:
            pickle.loads(pickle.dumps(bare))
            return Raised(bare, trace)
        except Exception:
            pass
    return Raised(ToolError(f"{type(error).__name__}: {error}"), trace)


def cause(code: int, log: str) -> Cause:
    """From a worker's exit status (negative for a signal) and the end of what it wrote."""
    last = log.strip().splitlines()[-1:] or [""]
    if code == OUT_OF_MEMORY or (code and any(each in log for each in _NO_MEMORY)):
        return Cause(Lost("memory", f"it needed more memory than it may have ({last[0][:200]})"))
    if -code in _FROM_OUTSIDE:
        name = signal.Signals(-code).name
        return Cause(
            Lost("crash", f"its process was ended by {name} from outside, which the system does when memory runs out"),
            outside=True,
        )
    if "LLVM ERROR: " in log:
        return Cause(Lost("crash", death(code, log[log.rindex("LLVM ERROR: ") :]).message))
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"
    said = f": {last[0][:200]}" if last[0] else ""
    return Cause(Lost("crash", f"it ended its process {how}{said}"))
