"""The one place where an error becomes a message and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from kernelwright.errors import KernelwrightError


def leave_at_once(code: int) -> NoReturn:
    """Exits as ``sys.exit`` does, but leaves it to the system to take LLVM and Python apart, which takes us 15 ms."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def guarded(run: Callable[[], object], leave: Callable[[int], NoReturn] = sys.exit) -> NoReturn:
    """Runs and exits: 0 done, the error's own code when we raised it, 3 for what the system or we ourselves got wrong."""
    try:
        code = run()
        sys.stdout.flush()
        leave(code if isinstance(code, int) else 0)
    except KernelwrightError as error:
        tell(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        tell("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # `kw ... | head` closes our output early; that is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        what = error.strerror or error
        tell(f"the system refused:{where}: {what}\nnext: check permissions and free space, then run it again")
        sys.exit(3)
    except Exception:
        _own_mistake()


def tell(message: str) -> None:
    """Prints a message for the user on stderr."""
    with contextlib.suppress(BrokenPipeError):
        print(f"kw: {message}", file=sys.stderr)


def _own_mistake() -> NoReturn:
    """A defect of ours: the trace goes to a file that can be sent to us, the user gets a sentence."""
    import tempfile
    import traceback

    trace = traceback.format_exc()
    with tempfile.NamedTemporaryFile("w", prefix="kernelwright-", suffix=".trace", delete=False) as f:
        f.write(f"{sys.argv}\n{trace}")
    tell(f"this is a defect in Kernelwright: {trace.strip().splitlines()[-1]}\nnext: report it with {f.name}")
    sys.exit(3)
