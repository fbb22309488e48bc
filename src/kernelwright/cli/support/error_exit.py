"""The one place where an error becomes a message and an exit code."""

from __future__ import annotations

import atexit
import os
import sys

from kernelwright.cli.support.streams import say
from kernelwright.errors import KernelwrightError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def leave_at_once(code: int) -> NoReturn:
    """Exits as ``sys.exit`` does, but leaves it to the system to take LLVM and Python apart, which takes us 15 ms."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass  # who could not be told of it has been told before
    os._exit(code)


def guarded(run: Callable[[], object], leave: Callable[[int], NoReturn] = sys.exit) -> NoReturn:
    """Runs and exits: 0 done, the error's own code when we raised it, 3 for what the system or we ourselves got wrong."""
    try:
        result = run()
        sys.stdout.flush()
        leave(result if isinstance(result, int) else 0)
    except KernelwrightError as error:
        tell(str(error))
        code = error.exit_code
    except KeyboardInterrupt:
        tell("interrupted")
        code = 130
    except BrokenPipeError:
        give_up_output()
        code = 0
    except OSError as error:
        ended = _ended(error)
        if ended is not None:
            leave_at_once(ended)
        tell(f"the system refused: {_refused(error)}\nnext: check permissions and free space, then run it again")
        give_up_output()
        code = 3
    except SystemExit as error:
        # click and rich end the process when nothing reads on, with a code that means something else here.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        give_up_output()
        code = 0
    except Exception:
        _own_mistake()
        code = 3
    leave_at_once(code)


def _refused(error: OSError) -> str:
    """What the system said, of which file. It names none where an open one cannot grow, which mostly is our output."""
    what = str(error.strerror or error)
    if error.filename:
        return f"{error.filename}: {what}"
    try:
        output = os.readlink("/proc/self/fd/1")
    except OSError:
        return what
    return f"{what} (standard output goes to {output})" if output.startswith("/") else what


def _ended(error: BaseException) -> int | None:
    """The exit code of an end that was asked for, when ``error`` only got in the way of tidying up after it."""
    earlier = error.__context__
    while earlier is not None:
        if isinstance(earlier, SystemExit) and isinstance(earlier.code, int):
            return earlier.code
        if isinstance(earlier, KeyboardInterrupt):
            return 130
        earlier = earlier.__context__
    return None


def give_up_output() -> None:
    """Throws away what is still to be printed: `kw ... | head` closes our output early, and that is not an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def tell(message: str) -> None:
    """Prints a message for the user on stderr."""
    say(f"kw: {message}\n")


def _own_mistake() -> None:
    """A defect of ours: the trace goes to a file that can be sent to us, the user gets a sentence."""
    import tempfile
    import traceback

    trace = traceback.format_exc()
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="kernelwright-", suffix=".trace", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as f:
            f.write(f"{sys.argv}\n{trace}")
        report = f"report it with {f.name}"
    except OSError:
        report = f"report it with this:\n{trace}"
    tell(f"this is a defect in Kernelwright: {trace.strip().splitlines()[-1]}\nnext: {report}")
